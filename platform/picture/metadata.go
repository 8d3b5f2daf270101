package picture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bep/imagemeta"
)

// Metadata is the metadata embedded in an image.
type Metadata struct {
	// Exif are the EXIF tags by name: numbers, strings and lists of them. Never nil.
	Exif map[string]any
	// GPS are the GPS tags by name, and `latitude` and `longitude` in degrees if the image has a position. Never nil.
	GPS map[string]any
	// Orientation is the EXIF orientation, 1 to 8.
	Orientation int
}

// Limits of the tags that are kept.
const (
	maxTags     = 500
	maxTagBytes = 1000     // per value
	maxExifJSON = 16 << 10 // in total
	tagPatience = 10 * time.Second
)

// readMetadata reads the tags. Invalid tags are ignored, because only the pixels matter.
func readMetadata(r io.ReadSeeker, f Format) (Metadata, error) {
	m := Metadata{Exif: map[string]any{}, GPS: map[string]any{}, Orientation: 1}
	format, ok := map[Format]imagemeta.ImageFormat{JPEG: imagemeta.JPEG, PNG: imagemeta.PNG, WebP: imagemeta.TIFF}[f]
	if !ok {
		return m, nil
	}
	if f == WebP { // imagemeta mishandles chunks of odd length; the block itself is a TIFF
		layout, err := readWebP(r)
		if err != nil || len(layout.exif) == 0 {
			return m, err
		}
		r = bytes.NewReader(layout.exif)
	}
	source := &faultyReader{ReadSeeker: r}
	_, _ = imagemeta.Decode(imagemeta.Options{
		R: source, ImageFormat: format, Sources: imagemeta.EXIF, LimitNumTags: maxTags, LimitTagSize: maxTagBytes,
		ShouldHandleTag: func(tag imagemeta.TagInfo) bool {
			return strings.HasPrefix(tag.Namespace, "IFD0") && !strings.HasPrefix(tag.Tag, "MakerNote") // such as MakerNoteApple
		},
		HandleTag: func(tag imagemeta.TagInfo) error { m.take(tag); return nil },
	})
	m.position()
	m.trim()
	return m, source.failure
}

// faultyReader records a storage failure, which imagemeta would report as a fault of the image.
type faultyReader struct {
	io.ReadSeeker
	failure error
	since   time.Time
}

func (f *faultyReader) Read(p []byte) (int, error) {
	if f.since.IsZero() {
		f.since = time.Now()
	}
	if time.Since(f.since) > tagPatience {
		return 0, io.EOF
	}
	n, err := f.ReadSeeker.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		f.failure = err
	}
	return n, err
}

func (m *Metadata) take(tag imagemeta.TagInfo) {
	value, ok := plain(reflect.ValueOf(tag.Value))
	switch {
	case !ok:
	case strings.HasPrefix(tag.Tag, "GPS"):
		m.GPS[tag.Tag] = value
	default:
		m.Exif[tag.Tag] = value
		if n, isNumber := value.(float64); isNumber && tag.Tag == "Orientation" && n >= 1 && n <= 8 {
			m.Orientation = int(n)
		}
	}
}

// position adds the position in degrees if the tags contain one.
func (m *Metadata) position() {
	latitude, isLatitude := m.GPS["GPSLatitude"].(float64)
	longitude, isLongitude := m.GPS["GPSLongitude"].(float64)
	if !isLatitude || !isLongitude || math.Abs(latitude) > 90 || math.Abs(longitude) > 180 {
		return
	}
	if m.GPS["GPSLatitudeRef"] == "S" {
		latitude = -math.Abs(latitude)
	}
	if m.GPS["GPSLongitudeRef"] == "W" {
		longitude = -math.Abs(longitude)
	}
	m.GPS["latitude"], m.GPS["longitude"] = latitude, longitude
}

// trim removes tags that are too long to keep.
func (m *Metadata) trim() {
	for _, tags := range []map[string]any{m.Exif, m.GPS} {
		size := 0
		for name, value := range tags {
			raw, err := json.Marshal(value)
			size += len(name) + len(raw)
			if err != nil || size > maxExifJSON {
				delete(tags, name)
			}
		}
	}
}

// plain converts a tag's value to a JSON value: a number, string, bool or list. It returns false for bytes and other
// types.
func plain(v reflect.Value) (any, bool) {
	if !v.IsValid() {
		return nil, false
	}
	switch value := v.Interface().(type) {
	case interface{ Float64() float64 }: // a fraction
		return number(value.Float64())
	case []byte:
		return nil, false
	case fmt.Stringer:
		return text(value.String())
	}
	switch v.Kind() {
	case reflect.String:
		return text(v.String())
	case reflect.Bool:
		return v.Bool(), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return float64(v.Int()), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return float64(v.Uint()), true
	case reflect.Float32, reflect.Float64:
		return number(v.Float())
	case reflect.Slice, reflect.Array:
		return plainList(v)
	case reflect.Interface, reflect.Pointer:
		return plain(v.Elem())
	default:
		return nil, false
	}
}

func plainList(v reflect.Value) (any, bool) {
	list := make([]any, 0, v.Len())
	for i := range v.Len() {
		if item, ok := plain(v.Index(i)); ok {
			list = append(list, item)
		}
	}
	return list, len(list) > 0
}

func number(n float64) (any, bool) { return n, !math.IsNaN(n) && !math.IsInf(n, 0) }

func text(s string) (any, bool) {
	s = strings.TrimSpace(strings.ReplaceAll(s, "\x00", ""))
	return s, s != "" && utf8.ValidString(s)
}
