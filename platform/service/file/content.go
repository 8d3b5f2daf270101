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

// incoming is the bytes of a file on their way to the storage: no more than the limit, and it remembers why it ended early.
type incoming struct {
	source  io.Reader
	limit   int64
	left    int64 // bytes until the limit
	failure error
}

// sniffed is how many bytes of a file are looked at to tell what it is.
const sniffed = 3072

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

// what is what the first bytes of a file tell.
type what struct {
	mimeType  string // without parameters
	extension string // without the dot; empty where the content does not tell
}

// sniff looks at the first bytes without taking them.
func (in *incoming) sniff() (what, error) {
	head, ok := in.source.(*bufio.Reader)
	if !ok {
		return what{}, errors.New("file: only what has just arrived can be looked at")
	}
	first, err := head.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return what{}, err
	}
	m := mimetype.Detect(first)
	mimeType, _, _ := strings.Cut(m.String(), ";")
	found := what{mimeType: mimeType, extension: strings.TrimPrefix(m.Extension(), ".")}
	if mimeType == "text/plain" || mimeType == "application/octet-stream" { // which every other kind of file is too
		found.extension = ""
	}
	return found, nil
}

// maxExtension is longer than extensions are.
const maxExtension = 20

// extensionOf is the extension of a name, where that has one.
func extensionOf(name string) string {
	extension := strings.TrimPrefix(path.Ext(name), ".")
	if len(extension) > maxExtension {
		return ""
	}
	return strings.ToLower(extension)
}

// typeOf is the type of a file that was found to be something, where the kind of the upload allows that.
func (k Kind) typeOf(field string, found what) (string, error) {
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
		// The containers of films hold music too, and their first bytes do not tell.
		if !isAudio && !isVideo && found.mimeType != "application/ogg" {
			return "", fail.Validation(field + ": must be audio; this is " + found.mimeType)
		}
	}
	return string(k), nil
}
