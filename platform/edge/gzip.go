package edge

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"sync"

	"connectrpc.com/connect"
	"github.com/klauspost/compress/gzip"
)

const compressionGzip = "gzip"

// compressMinBytes is the size from which responses are compressed. Smaller ones fit into one packet anyway.
const compressMinBytes = 1400

// compressionLevel takes a third of the time of the default level and produces about a tenth more bytes.
const compressionLevel = gzip.BestSpeed

var (
	gzipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}
	gzipWriters = sync.Pool{New: func() any { return newCompressor() }}
)

func newGzipReader() *gzip.Reader {
	reader, _ := gzipReaders.Get().(*gzip.Reader)
	return reader
}

func newDecompressor() connect.Decompressor { return new(gzip.Reader) }

func newCompressor() connect.Compressor {
	writer, err := gzip.NewWriterLevel(io.Discard, compressionLevel)
	if err != nil {
		panic(err) // the level is a constant of package gzip
	}
	return writer
}

// compress appends the compressed data to out.
func compress(out *bytes.Buffer, data []byte) error {
	writer, _ := gzipWriters.Get().(connect.Compressor)
	defer gzipWriters.Put(writer)
	writer.Reset(out)
	if _, err := writer.Write(data); err != nil {
		return err
	}
	return writer.Close()
}

// acceptsGzip reports whether an Accept-Encoding header accepts gzip.
func acceptsGzip(header string) bool {
	accepts := false
	for entry := range strings.SplitSeq(header, ",") {
		name, parameters, _ := strings.Cut(entry, ";")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case compressionGzip, "x-gzip":
			return weight(parameters) > 0
		case "*":
			accepts = weight(parameters) > 0
		}
	}
	return accepts
}

// weight returns the q parameter of an entry, 1 without one.
func weight(parameters string) float64 {
	value, ok := strings.CutPrefix(strings.TrimSpace(parameters), "q=")
	if !ok {
		return 1
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil {
		return 0
	}
	return q
}
