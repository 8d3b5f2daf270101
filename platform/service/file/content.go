package file

import (
	"bufio"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/picture"
)

// incoming reads the bytes of an upload up to the limit, and remembers why it ended early.
type incoming struct {
	source  io.Reader
	limit   int64
	left    int64 // bytes until the limit
	failure error
}

// sniffLength is the number of bytes that are examined to find the type of a file.
const sniffLength = 3072

func newIncoming(source io.Reader, limit int64) *incoming {
	return &incoming{source: bufio.NewReaderSize(source, 32<<10), limit: limit, left: limit}
}

func (in *incoming) Read(p []byte) (int, error) {
	n, err := in.source.Read(p)
	in.left -= int64(n)
	switch {
	case in.left < 0:
		in.failure = fail.FileTooLarge(in.limit)
	case err != nil && !errors.Is(err, io.EOF):
		in.failure = err
	}
	if in.failure != nil {
		return 0, in.failure
	}
	return n, err
}

// contentType is the type that the first bytes of a file show.
type contentType struct {
	mimeType  string // without parameters
	extension string // without the dot; empty where the content does not tell
}

// sniff examines the first bytes of the upload without consuming them.
func (in *incoming) sniff() (contentType, error) {
	head, ok := in.source.(*bufio.Reader)
	if !ok {
		return contentType{}, errors.New("file: content already consumed")
	}
	first, err := head.Peek(sniffLength)
	if err != nil && !errors.Is(err, io.EOF) {
		return contentType{}, err
	}
	m := mimetype.Detect(first)
	mimeType, _, _ := strings.Cut(m.String(), ";")
	found := contentType{mimeType: mimeType, extension: strings.TrimPrefix(m.Extension(), ".")}
	if mimeType == "text/plain" || mimeType == "application/octet-stream" { // the fallback types for unknown content
		found.extension = ""
	}
	return found, nil
}

// maxExtension is the maximum length of a file name extension.
const maxExtension = 20

// extensionOf returns the extension of a file name, or "".
func extensionOf(name string) string {
	extension := strings.TrimPrefix(path.Ext(name), ".")
	if len(extension) > maxExtension {
		return ""
	}
	return strings.ToLower(extension)
}

// typeOf returns the file type for content, if the kind of the upload allows it.
func (k Kind) typeOf(field string, found contentType) (string, error) {
	_, isImage := picture.FormatOf(found.mimeType)
	isVideo := strings.HasPrefix(found.mimeType, "video/")
	isAudio := strings.HasPrefix(found.mimeType, "audio/")
	switch k {
	case Any:
		switch {
		case isImage:
			return "image", nil
		case isVideo:
			return "video", nil
		case isAudio:
			return "audio", nil
		}
		return "file", nil
	case "image":
		if !isImage {
			return "", fail.Validation(field + ": must be an image of type JPEG, PNG, GIF or WebP; this is " + found.mimeType)
		}
	case "video", "clip":
		if !isVideo {
			return "", fail.Validation(field + ": must be a video; this is " + found.mimeType)
		}
	case "audio":
		// Video containers can hold music alone, which their first bytes do not show.
		if !isAudio && !isVideo && found.mimeType != "application/ogg" {
			return "", fail.Validation(field + ": must be audio; this is " + found.mimeType)
		}
	}
	return string(k), nil
}
