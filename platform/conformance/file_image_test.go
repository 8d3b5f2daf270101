package conformance

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
)

// photoOf returns a JPEG with an orientation, a camera and a position (36.5° N, 4.25° W); its left half is dark.
func photoOf(t *testing.T, width, height, orientation int) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, width, height))
	for y := range height {
		for x := width / 2; x < width; x++ {
			img.SetGray(x, y, color.Gray{Y: 0xff})
		}
	}
	var plain bytes.Buffer
	require.NoError(t, jpeg.Encode(&plain, img, nil))
	tiff := exifOf(orientation)
	out := []byte{0xff, 0xd8, 0xff, 0xe1}
	out = binary.BigEndian.AppendUint16(out, uint16(2+6+len(tiff)))
	out = append(append(out, "Exif\x00\x00"...), tiff...)
	return append(out, plain.Bytes()[2:]...)
}

// exifOf returns a TIFF with two directories: the image's and its position's.
func exifOf(orientation int) []byte {
	u16, u32 := binary.BigEndian.AppendUint16, binary.BigEndian.AppendUint32
	entry := func(out []byte, tag, kind uint16, n, value uint32) []byte {
		return u32(u32(u16(u16(out, tag), kind), n), value)
	}
	out := []byte("MM\x00*\x00\x00\x00\x08")
	const gps, data = 8 + 2 + 3*12 + 4, 8 + 2 + 3*12 + 4 + 2 + 4*12 + 4
	out = u16(out, 3)
	out = entry(out, 0x010f, 2, 4, binary.BigEndian.Uint32([]byte("Cam\x00")))
	out = entry(out, 0x0112, 3, 1, uint32(orientation)<<16)
	out = entry(out, 0x8825, 4, 1, gps)
	out = u16(u32(out, 0), 4)
	out = entry(out, 1, 2, 2, uint32('N')<<24)
	out = entry(out, 2, 5, 3, data)
	out = entry(out, 3, 2, 2, uint32('W')<<24)
	out = entry(out, 4, 5, 3, data+24)
	out = u32(out, 0)
	for _, n := range []uint32{36, 1, 30, 1, 0, 1, 4, 1, 15, 1, 0, 1} {
		out = u32(out, n)
	}
	return out
}

func metadataOf(f object) object { return attributesOf(f)["metadata"].(object) }

// downloadSize returns an image in one of its sizes.
func downloadSize(t *testing.T, c *apptest.Client, f object, size string) (image.Image, *apptest.Response) {
	t.Helper()
	r := c.Do(t, http.MethodGet, pathOf(t, f)+"?size="+size, nil).OK(t)
	img, format, err := image.Decode(bytes.NewReader(r.Body))
	require.NoError(t, err)
	require.Equal(t, "image/"+format, r.Header.Get("Content-Type"))
	return img, r
}

// TestImageMetadata reads the metadata of a rotated photo in a network that keeps positions.
func TestImageMetadata(t *testing.T) {
	t.Parallel()
	uploader := apptest.Start(t, apptest.WithConfig(func(cfg *config.Config) { cfg.StripGPS = false })).NewUser(t, region.EU, "uploader")
	content := photoOf(t, 2000, 1000, 6)
	f := upload(t, uploader, "image", "photo.jpg", content)
	m := metadataOf(f)
	require.Equal(t, []any{1000.0, 2000.0, true}, []any{m["width"], m["height"], m["isFull"]}, "as it is shown")
	require.Equal(t, "Cam", m["exif"].(object)["Make"])
	require.InDelta(t, 6, m["exif"].(object)["Orientation"], 0)
	gps := m["gps"].(object)
	require.InDelta(t, 36.5, gps["latitude"], 1e-9)
	require.InDelta(t, -4.25, gps["longitude"], 1e-9)
	require.InDelta(t, len(content), attributesOf(f)["size"], 0)
	full := uploader.Do(t, http.MethodGet, pathOf(t, f), nil).OK(t)
	require.Equal(t, content, full.Body, "to the byte")
	for size, want := range map[string]image.Point{"large": {X: 750, Y: 1500}, "medium": {X: 300, Y: 600}, "small": {X: 80, Y: 160}} {
		img, _ := downloadSize(t, uploader, f, size)
		require.Equal(t, want, img.Bounds().Size(), size)
		require.Less(t, gray(img, want.X/2, want.Y/4), 10, "dark above: it was turned")
		require.Greater(t, gray(img, want.X/2, want.Y*3/4), 245, "light below")
	}
}

func gray(img image.Image, x, y int) int {
	return int(color.GrayModel.Convert(img.At(x, y)).(color.Gray).Y)
}

// TestImageSizes checks that no size is larger than the image itself.
func TestImageSizes(t *testing.T) {
	t.Parallel()
	uploader := newUser(t, region.EU, "uploader")
	for _, side := range []int{160, 161, 600, 601, 1500, 1501} {
		f := upload(t, uploader, "image", "a.png", pngOf(t, side, 2))
		for size, most := range map[string]int{"full": 10000, "large": 1500, "medium": 600, "small": 160} {
			img, _ := downloadSize(t, uploader, f, size)
			require.Equal(t, min(side, most), img.Bounds().Dx(), "%d in %s", side, size)
		}
	}
	moving := &gif.GIF{Delay: []int{1, 1}}
	for range 2 {
		moving.Image = append(moving.Image, image.NewPaletted(image.Rect(0, 0, 700, 10), color.Palette{color.Black, color.White}))
	}
	var content bytes.Buffer
	require.NoError(t, gif.EncodeAll(&content, moving))
	f := upload(t, uploader, "image", "a.gif", content.Bytes())
	require.InDelta(t, 700, metadataOf(f)["width"], 0)
	_, r := downloadSize(t, uploader, f, "small")
	require.Equal(t, content.Bytes(), r.Body, "what moves stays whole")
}

// TestStripGPS checks that the position and all other metadata of a photo are removed by default.
func TestStripGPS(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	uploader := n.NewUser(t, region.EU, "uploader")
	content := photoOf(t, 700, 400, 8)
	require.Contains(t, string(content), "Cam")
	f := upload(t, uploader, "image", "photo.jpg", content)
	m := metadataOf(f)
	require.Empty(t, m["gps"])
	require.Equal(t, "Cam", m["exif"].(object)["Make"])
	require.Equal(t, []any{400.0, 700.0}, []any{m["width"], m["height"]})
	full, r := downloadSize(t, uploader, f, "full")
	require.InDelta(t, len(r.Body), attributesOf(f)["size"], 0)
	require.NotContains(t, string(r.Body), "Cam")
	require.NotContains(t, string(r.Body), string(exifOf(8)[60:]), "the position")
	want, err := jpeg.Decode(bytes.NewReader(content))
	require.NoError(t, err)
	require.Equal(t, want, full, "the pixels are untouched")
	again := upload(t, uploader, "image", "photo.jpg", r.Body)
	require.InDelta(t, 8, metadataOf(again)["exif"].(object)["Orientation"], 0, "it lies as it did")
	require.Len(t, stored(t, n, text(f, "fileId")), 3, "full, medium and small; what was sent is gone")
}

// pngHead returns the header of a large PNG without its pixels.
func pngHead(width, height uint32) []byte {
	head := []byte("IHDR")
	head = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(head, width), height)
	head = append(head, 8, 2, 0, 0, 0)
	out := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), head...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(head))
}

// TestBrokenImages checks that incomplete and oversized images are refused and leave nothing in the storage.
func TestBrokenImages(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t, apptest.WithConfig(func(cfg *config.Config) { cfg.MaxImagePixels = 10_000 }))
	uploader := n.NewUser(t, region.EU, "uploader")
	photo, drawing := photoOf(t, 80, 50, 1), pngOf(t, 80, 50)
	for name, content := range map[string][]byte{
		"half a photo":         photo[:len(photo)/2],
		"a photo without end":  photo[:len(photo)-2],
		"half a drawing":       drawing[:len(drawing)-20],
		"a head":               pngHead(10, 10),
		"a head and noise":     append([]byte{0xff, 0xd8, 0xff, 0xe0}, strings.Repeat("noise", 100)...),
		"no pixels":            pngHead(0, 0),
		"half a GIF":           []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00"),
		"a WebP of nothing":    []byte("RIFF\x04\x00\x00\x00WEBP"),
		"10001 pixels":         pngOf(t, 10_001, 1),
		"more than any memory": pngHead(1<<31-1, 1<<31-1),
		"one bit too many":     pngHead(1<<16, 1<<16),
	} {
		t.Run(name, func(t *testing.T) {
			requireFailure(t, invalid("files[0]"), uploader.Upload(t, "image", "a", content))
		})
	}
	require.Empty(t, stored(t, n, "-"))
	f := upload(t, uploader, "image", "a", pngOf(t, 100, 100))
	require.InDelta(t, 100, metadataOf(f)["width"], 0, "10,000 pixels")
	require.Len(t, stored(t, n, "-"), 1)
}
