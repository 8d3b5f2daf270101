package picture_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/picture"
)

// open is a Gate that admits everything and counts.
type open struct{ acquired, released int64 }

func (o *open) Acquire(_ context.Context, pixels int64) error { o.acquired += pixels; return nil }
func (o *open) Release(pixels int64)                          { o.released += pixels }

func examine(t *testing.T, content []byte, f picture.Format, limit int64) (*picture.Facts, error) {
	t.Helper()
	gate := &open{}
	facts, err := picture.Examine(t.Context(), bytes.NewReader(content), f, limit, gate)
	require.Equal(t, gate.acquired, gate.released)
	require.LessOrEqual(t, gate.acquired, limit)
	return facts, err
}

// TestTimeBudget decodes an image without any time for it.
func TestTimeBudget(t *testing.T) {
	defer picture.SetTimeBudget(0)()
	var content bytes.Buffer
	require.NoError(t, png.Encode(&content, gradient(10, 10)))
	_, err := examine(t, content.Bytes(), picture.PNG, 1000)
	require.ErrorIs(t, err, picture.ErrTooSlow)
}

func strip(t *testing.T, content []byte, f picture.Format, orientation int) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, picture.Strip(t.Context(), &out, bytes.NewReader(content), f, orientation))
	return out.Bytes()
}

// gradient returns an image with different corners: dark, red, green and blue, starting at the upper left.
func gradient(width, height int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.RGBA{A: 0xff}
			switch {
			case x*2 >= width && y*2 < height:
				c.R = 0xff
			case x*2 < width && y*2 >= height:
				c.G = 0xff
			case x*2 >= width:
				c.B = 0xff
			}
			img.Set(x, y, c)
		}
	}
	return img
}

func encoded(t *testing.T, f picture.Format, img image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	switch f {
	case picture.JPEG:
		require.NoError(t, jpeg.Encode(&out, img, nil))
	case picture.GIF:
		require.NoError(t, gif.Encode(&out, img, nil))
	default:
		require.NoError(t, png.Encode(&out, img))
	}
	return out.Bytes()
}

// withExif inserts an EXIF block with an orientation into a PNG.
func withExif(content []byte, orientation int) []byte {
	tiff := []byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")
	tiff[19] = byte(orientation)
	return withChunk(content, "eXIf", tiff)
}

// withTexts inserts an EXIF block with texts by tag into a PNG: those of the image, and those of the photo, which are in another
// block.
func withTexts(content []byte, ofImage, ofPhoto map[uint16]string) []byte {
	const exifBlock = 0x8769 // the tag with the place of the block about the photo
	block := func(at int, texts map[uint16]string, next int) []byte {
		tags := slices.Sorted(maps.Keys(texts))
		count := len(tags)
		if next != 0 {
			count++
		}
		out := binary.BigEndian.AppendUint16(nil, uint16(count))
		data, end := []byte(nil), at+2+12*count+4
		for _, tag := range tags {
			text := texts[tag] + "\x00"
			out = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(out, tag), 2) // text
			out = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(out, uint32(len(text))), uint32(end+len(data)))
			data = append(data, text...)
		}
		if next != 0 {
			out = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(out, exifBlock), 4) // a number
			out = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(out, 1), uint32(next))
		}
		return append(binary.BigEndian.AppendUint32(out, 0), data...)
	}
	first := block(8, ofImage, 1)
	tiff := append([]byte("MM\x00*\x00\x00\x00\x08"), block(8, ofImage, 8+len(first))...)
	return withChunk(content, "eXIf", append(tiff, block(8+len(first), ofPhoto, 0)...))
}

// TestTexts examines the texts of a photo. The notes of its maker are left out: their content is unknown, and may say where the
// photo was taken.
func TestTexts(t *testing.T) {
	t.Parallel()
	const camera, lens, makerNote = 0x0110, 0xa434, 0x927c
	content := withTexts(encoded(t, picture.PNG, gradient(20, 10)), map[uint16]string{camera: "a camera"},
		map[uint16]string{lens: "a lens", makerNote: "52.5163 N 13.3777 E"})
	facts, err := examine(t, content, picture.PNG, 1000)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"Model": "a camera", "LensModel": "a lens"}, facts.Exif)
}

// withChunk inserts a chunk after the header of a PNG.
func withChunk(content []byte, name string, data []byte) []byte {
	chunk := append([]byte(name), data...)
	const head = 8 + 25
	out := binary.BigEndian.AppendUint32(bytes.Clone(content[:head]), uint32(len(data)))
	out = binary.BigEndian.AppendUint32(append(out, chunk...), crc32.ChecksumIEEE(chunk))
	return append(out, content[head:]...)
}

// TestOrientations examines an image in each of the eight orientations and checks its corners.
func TestOrientations(t *testing.T) {
	t.Parallel()
	dark, red, green, blue := color.RGBA{A: 0xff}, color.RGBA{R: 0xff, A: 0xff}, color.RGBA{G: 0xff, A: 0xff}, color.RGBA{B: 0xff, A: 0xff}
	plain := encoded(t, picture.PNG, gradient(400, 200))
	for orientation, want := range map[int][4]color.RGBA{
		1: {dark, red, green, blue}, 2: {red, dark, blue, green}, 3: {blue, green, red, dark}, 4: {green, blue, dark, red},
		5: {dark, green, red, blue}, 6: {green, dark, blue, red}, 7: {blue, red, green, dark}, 8: {red, blue, dark, green},
	} {
		facts, err := examine(t, withExif(plain, orientation), picture.PNG, 80_000)
		require.NoError(t, err)
		require.Equal(t, orientation, facts.Orientation)
		size := image.Pt(160, 80)
		if orientation > 4 {
			size = image.Pt(80, 160)
		}
		require.Equal(t, size.X > size.Y, facts.Width > facts.Height)
		require.Len(t, facts.Smaller, 1)
		require.Equal(t, "small", facts.Smaller[0].Size)
		require.Equal(t, "image/jpeg", facts.Smaller[0].MimeType)
		img, err := jpeg.Decode(bytes.NewReader(facts.Smaller[0].Bytes))
		require.NoError(t, err)
		require.Equal(t, size, img.Bounds().Size())
		for i, corner := range []image.Point{{4, 4}, {size.X - 5, 4}, {4, size.Y - 5}, {size.X - 5, size.Y - 5}} {
			r, g, b, _ := img.At(corner.X, corner.Y).RGBA()
			got := [3]bool{r > 0x8000, g > 0x8000, b > 0x8000}
			require.Equal(t, [3]bool{want[i].R > 0, want[i].G > 0, want[i].B > 0}, got, "orientation %d, corner %d", orientation, i)
		}
	}
}

// TestSizes checks from which side on an image gets each of the smaller sizes.
func TestSizes(t *testing.T) {
	t.Parallel()
	for side, want := range map[int][]string{
		160: nil, 161: {"small"}, 600: {"small"}, 601: {"medium", "small"}, 1500: {"medium", "small"}, 1501: {"large", "medium", "small"},
	} {
		for _, size := range []image.Point{{side, 4}, {4, side}} {
			facts, err := examine(t, encoded(t, picture.PNG, image.NewGray(image.Rectangle{Max: size})), picture.PNG, 10_000)
			require.NoError(t, err)
			var names []string
			for _, s := range facts.Smaller {
				names = append(names, s.Size)
			}
			require.Equal(t, want, names, size)
		}
	}
}

// TestUnknownOrientations checks that an orientation which does not exist is that of an image without one.
func TestUnknownOrientations(t *testing.T) {
	t.Parallel()
	plain := encoded(t, picture.PNG, gradient(20, 10))
	for _, orientation := range []int{0, 9} {
		facts, err := examine(t, withExif(plain, orientation), picture.PNG, 1000)
		require.NoError(t, err)
		require.Equal(t, 1, facts.Orientation)
		require.Equal(t, strip(t, plain, picture.PNG, 1), strip(t, plain, picture.PNG, orientation))
	}
}

// TestTransparency checks that every size stays transparent.
func TestTransparency(t *testing.T) {
	t.Parallel()
	facts, err := examine(t, encoded(t, picture.PNG, image.NewNRGBA(image.Rect(0, 0, 2000, 1))), picture.PNG, 2000)
	require.NoError(t, err)
	require.Len(t, facts.Smaller, 3)
	for _, s := range facts.Smaller {
		require.Equal(t, "image/png", s.MimeType)
		img, err := png.Decode(bytes.NewReader(s.Bytes))
		require.NoError(t, err)
		_, _, _, alpha := img.At(0, 0).RGBA()
		require.Zero(t, alpha)
	}
}

// TestSlightTransparency checks that all sizes have one media type, although the smallest one is opaque.
func TestSlightTransparency(t *testing.T) {
	t.Parallel()
	img := image.NewNRGBA(image.Rect(0, 0, 2000, 40))
	for i := range img.Pix {
		img.Pix[i] = 0xff
	}
	for x := range 4 {
		img.SetNRGBA(1000+x, 20, color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xfc})
	}
	facts, err := examine(t, encoded(t, picture.PNG, img), picture.PNG, 80_000)
	require.NoError(t, err)
	require.Len(t, facts.Smaller, 3)
	for _, s := range facts.Smaller {
		require.Equal(t, "image/png", s.MimeType)
	}
	last, err := png.Decode(bytes.NewReader(facts.Smaller[2].Bytes))
	require.NoError(t, err)
	opaque, ok := last.(interface{ Opaque() bool })
	require.True(t, ok && opaque.Opaque())
}

func TestTooManyPixels(t *testing.T) {
	t.Parallel()
	content := encoded(t, picture.PNG, image.NewGray(image.Rect(0, 0, 50, 20)))
	_, err := examine(t, content, picture.PNG, 1000)
	require.NoError(t, err)
	_, err = examine(t, content, picture.PNG, 999)
	var large *picture.TooManyPixelsError
	require.ErrorAs(t, err, &large)
	require.EqualValues(t, 1000, large.Pixels())
	require.NotErrorIs(t, err, picture.ErrBroken)
}

// TestTooManyScans checks that a small progressive JPEG cannot cause hours of decoding.
func TestTooManyScans(t *testing.T) {
	t.Parallel()
	content := encoded(t, picture.JPEG, image.NewGray(image.Rect(0, 0, 8, 8)))
	at := bytes.Index(content, []byte{0xff, 0xda})
	bomb := append(bytes.Clone(content[:at]), bytes.Repeat(content[at:len(content)-2], 100)...)
	_, err := examine(t, append(bomb, 0xff, 0xd9), picture.JPEG, 1000)
	require.ErrorIs(t, err, picture.ErrBroken)
}

// TestCutOff truncates an image of each format at every byte: no prefix is accepted, and all fail with ErrBroken.
func TestCutOff(t *testing.T) {
	t.Parallel()
	for f, content := range samples(t) {
		for cut := range len(content) - 1 {
			facts, err := examine(t, content[:cut], f, 10_000)
			if err == nil && (f == picture.GIF || f == picture.WebP) { // between frames or chunks: some encoders omit the end
				continue
			}
			require.ErrorIs(t, err, picture.ErrBroken, "%s cut at %d of %d: %v", f, cut, len(content), facts)
		}
		_, err := examine(t, content, f, 10_000)
		require.NoError(t, err, f)
	}
}

// samples returns an image of each format; the WebP one is animated.
func samples(t *testing.T) map[picture.Format][]byte {
	t.Helper()
	return map[picture.Format][]byte{
		picture.JPEG: encoded(t, picture.JPEG, gradient(20, 10)), picture.PNG: encoded(t, picture.PNG, gradient(20, 10)),
		picture.GIF: movingGIF(t), picture.WebP: movingWebP(),
	}
}

func movingGIF(t *testing.T) []byte {
	t.Helper()
	return movingGIFOf(t, 20)
}

// movingGIFOf returns an animated image of a width.
func movingGIFOf(t *testing.T, width int) []byte {
	t.Helper()
	moving := &gif.GIF{Delay: []int{1, 1}, LoopCount: 0}
	for range 2 {
		moving.Image = append(moving.Image, image.NewPaletted(image.Rect(0, 0, width, 10), color.Palette{color.Black, color.White}))
	}
	var out bytes.Buffer
	require.NoError(t, gif.EncodeAll(&out, moving))
	return out.Bytes()
}

// chunk returns a chunk of a WebP container.
func chunk(name string, data string) []byte {
	out := binary.LittleEndian.AppendUint32([]byte(name), uint32(len(data)))
	return append(append(out, data...), make([]byte, len(data)%2)...)
}

func container(chunks ...[]byte) []byte {
	body := append([]byte("WEBP"), bytes.Join(chunks, nil)...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

func movingWebP(more ...[]byte) []byte {
	return container(append([][]byte{
		chunk("VP8X", "\x0e\x00\x00\x00\x13\x00\x00\x09\x00\x00"), chunk("ANIM", "\x00\x00\x00\x00\x00\x00"),
		chunk("ANMF", "a frame"),
	}, more...)...)
}

// TestMoving checks that animated images are not scaled down.
func TestMoving(t *testing.T) {
	t.Parallel()
	for f, content := range map[picture.Format][]byte{picture.GIF: movingGIF(t), picture.WebP: movingWebP()} {
		facts, err := examine(t, content, f, 1000)
		require.NoError(t, err)
		require.True(t, facts.Moves)
		require.Equal(t, []int{20, 10}, []int{facts.Width, facts.Height})
		require.Empty(t, facts.Smaller)
	}
	facts, err := examine(t, movingGIFOf(t, 200), picture.GIF, 2000)
	require.NoError(t, err)
	require.True(t, facts.Moves)
	require.Empty(t, facts.Smaller, "although it is large")
	facts, err = examine(t, encoded(t, picture.GIF, gradient(200, 10)), picture.GIF, 2000)
	require.NoError(t, err)
	require.False(t, facts.Moves)
	require.Len(t, facts.Smaller, 1)
}

// TestMovingGIFWithBrokenFrame checks that the first frame of an animated image is decoded, although it is not scaled down.
func TestMovingGIFWithBrokenFrame(t *testing.T) {
	t.Parallel()
	content := movingGIF(t)
	frame := bytes.Index(content, []byte{0x2c, 0, 0, 0, 0, 20, 0, 10, 0})
	colours := 3 << (content[frame+9]&7 + 1)
	block := content[frame+10+colours+1:] // after the size of the codes
	for i := range block[0] {
		block[1+i] = 0xff
	}
	_, err := examine(t, content, picture.GIF, 1000)
	require.ErrorIs(t, err, picture.ErrBroken)
}

// TestStrip puts a secret everywhere a format allows metadata and checks that Strip removes it.
func TestStrip(t *testing.T) {
	t.Parallel()
	const secret = "52.5163 N 13.3777 E"
	photo := encoded(t, picture.JPEG, gradient(20, 10))
	segment := func(marker byte, text string) []byte {
		return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(text)+2)), text...)
	}
	full := bytes.Join([][]byte{
		photo[:2], segment(0xe0, "JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"), segment(0xe0, "JFXX\x00"+secret),
		segment(0xe1, "Exif\x00\x00"+secret),
		segment(0xe1, "http://ns.adobe.com/xap/1.0/\x00"+secret), segment(0xe2, "ICC_PROFILE\x00the colours"), segment(0xe2, "MPF\x00"+secret),
		segment(0xed, "Photoshop 3.0\x00"+secret), segment(0xfe, secret), photo[2:], []byte(secret), photo,
	}, nil)
	drawing := encoded(t, picture.PNG, gradient(20, 10))
	noted := bytes.Clone(drawing)
	for _, name := range []string{"tEXt", "zTXt", "iTXt", "eXIf", "tIME", "prVt"} {
		noted = withChunk(noted, name, []byte("Comment\x00"+secret))
	}
	noted = append(withChunk(noted, "gAMA", []byte{0, 0, 0xb1, 0x8f}), secret...)
	moving := movingGIF(t)
	spoken := bytes.Join([][]byte{
		moving[:13], []byte("\x21\xfe\x13" + secret + "\x00\x21\xff\x0bXMP DataXMP\x13" + secret + "\x00"), moving[13:], []byte(secret),
	}, nil)
	for f, c := range map[picture.Format]struct{ content, kept []byte }{
		picture.JPEG: {full, []byte("the colours")},
		picture.PNG:  {noted, []byte("gAMA")},
		picture.GIF:  {spoken, []byte("NETSCAPE2.0")},
		picture.WebP: {append(movingWebP(chunk("ICCP", "the colours"), chunk("EXIF", secret), chunk("XMP ", secret), chunk("ABCD", secret)),
			secret...), []byte("the colours")},
	} {
		t.Run(string(f), func(t *testing.T) {
			require.Contains(t, string(c.content), secret)
			out := strip(t, c.content, f, 1)
			require.NotContains(t, string(out), secret)
			require.Contains(t, string(out), string(c.kept))
			require.Equal(t, out, strip(t, out, f, 1), "idempotent")
			before, err := examine(t, c.content, f, 1000)
			require.NoError(t, err)
			after, err := examine(t, out, f, 1000)
			require.NoError(t, err)
			require.Equal(t, []any{before.Width, before.Height, before.Moves}, []any{after.Width, after.Height, after.Moves})
			if f == picture.WebP {
				return // no decoder reads its frames
			}
			want, _, err := image.Decode(bytes.NewReader(c.content))
			require.NoError(t, err)
			got, _, err := image.Decode(bytes.NewReader(out))
			require.NoError(t, err)
			require.Equal(t, want, got, "the same pixels")
		})
	}
}

// TestStripKeepsOrientation checks that only the orientation of a rotated photo's metadata is kept.
func TestStripKeepsOrientation(t *testing.T) {
	t.Parallel()
	for f, content := range map[picture.Format][]byte{
		picture.JPEG: encoded(t, picture.JPEG, gradient(20, 10)), picture.PNG: encoded(t, picture.PNG, gradient(20, 10)),
		picture.WebP: movingWebP(),
	} {
		for orientation := 1; orientation <= 8; orientation++ {
			facts, err := examine(t, strip(t, content, f, orientation), f, 1000)
			require.NoError(t, err)
			require.Equal(t, orientation, facts.Orientation, f)
			require.LessOrEqual(t, len(facts.Exif), 1)
		}
	}
}

// TestStorageFailure checks that an unreadable image is not reported as broken.
func TestStorageFailure(t *testing.T) {
	t.Parallel()
	failed := errors.New("storage unavailable")
	content := encoded(t, picture.PNG, gradient(200, 100))
	for tenth := range int64(10) {
		at := int64(len(content)) * tenth / 10
		_, err := picture.Examine(t.Context(), &faulty{ReadSeeker: bytes.NewReader(content), left: at, err: failed}, picture.PNG, 1<<20, &open{})
		require.ErrorIs(t, err, failed)
		require.NotErrorIs(t, err, picture.ErrBroken)
		err = picture.Strip(t.Context(), io.Discard, &faulty{ReadSeeker: bytes.NewReader(content), left: at, err: failed}, picture.PNG, 1)
		require.ErrorIs(t, err, failed)
		require.NotErrorIs(t, err, picture.ErrBroken)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	_, err := picture.Examine(ended, bytes.NewReader(content), picture.PNG, 1<<20, &open{})
	require.ErrorIs(t, err, context.Canceled)
	given, giveUp := context.WithCancel(t.Context())
	_, err = picture.Examine(given, bytes.NewReader(content), picture.PNG, 1<<20, endingGate(giveUp))
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, picture.ErrTooSlow)
}

// endingGate ends a context when an image is admitted.
type endingGate context.CancelFunc

func (g endingGate) Acquire(context.Context, int64) error { g(); return nil }
func (g endingGate) Release(int64)                        {}

// faulty fails after some bytes.
type faulty struct {
	io.ReadSeeker
	left int64
	err  error
}

func (f *faulty) Read(p []byte) (int, error) {
	if f.left <= 0 {
		return 0, f.err
	}
	n, err := f.ReadSeeker.Read(p[:min(int64(len(p)), f.left)])
	f.left -= int64(n)
	return n, err
}

// noise returns an image whose JPEG has several thousand bytes, with 0xff among them.
func noise(side int) image.Image {
	img := image.NewGray(image.Rect(0, 0, side, side))
	state := uint32(1)
	for i := range img.Pix {
		state = state*1664525 + 1013904223
		img.Pix[i] = byte(state >> 24)
	}
	return img
}

// TestStripLargePhoto strips a photo that is larger than a buffer, with the marker of a colour transform and one without a segment.
func TestStripLargePhoto(t *testing.T) {
	t.Parallel()
	photo := encoded(t, picture.JPEG, noise(200))
	require.Greater(t, bytes.Count(photo, []byte{0xff, 0}), 10)
	adobe := append([]byte{0xff, 0xee, 0, 14}, "Adobe\x00\x64\x00\x00\x00\x00\x01"...)
	full := bytes.Join([][]byte{photo[:2], adobe, {0xff, 0x01}, {0xff, 0xff}, photo[2:]}, nil)
	want := bytes.Join([][]byte{photo[:2], adobe, {0xff, 0x01}, photo[2:]}, nil)
	require.Equal(t, want, strip(t, full, picture.JPEG, 1))
}

// TestStripRefusals strips what is no image of its format.
func TestStripRefusals(t *testing.T) {
	t.Parallel()
	photo, moving := encoded(t, picture.JPEG, gradient(20, 10)), movingGIF(t)
	for name, test := range map[string]struct {
		format  picture.Format
		content []byte
	}{
		"no JPEG":                {picture.JPEG, moving},
		"no marker of a JPEG":    {picture.JPEG, append(bytes.Clone(photo[:2]), "abc"...)},
		"a segment without size": {picture.JPEG, bytes.Join([][]byte{photo[:2], {0xff, 0xe0, 0, 1}, photo[2:]}, nil)},
		"a JPEG without an end":  {picture.JPEG, photo[:len(photo)-2]},
		"no GIF":                 {picture.GIF, photo},
		"a block of no GIF":      {picture.GIF, bytes.Join([][]byte{moving[:len(moving)-1], {0x42}}, nil)},
		"no PNG":                 {picture.PNG, photo},
		"no WebP":                {picture.WebP, photo},
		"another container":      {picture.WebP, bytes.Replace(movingWebP(), []byte("WEBP"), []byte("WAVE"), 1)},
	} {
		err := picture.Strip(t.Context(), io.Discard, bytes.NewReader(test.content), test.format, 1)
		require.ErrorIs(t, err, picture.ErrBroken, name)
	}
	require.EqualError(t, picture.Strip(t.Context(), io.Discard, bytes.NewReader(photo), "bmp", 1), "picture: unknown format bmp")
	empty := bytes.Clone(moving)
	copy(empty[6:], []byte{0, 0, 0, 0}) // the size of the screen
	_, err := examine(t, empty, picture.GIF, 1000)
	require.ErrorIs(t, err, picture.ErrBroken)
}

func FuzzExamine(f *testing.F) {
	f.Add([]byte("GIF89a"), 0)
	f.Add(movingWebP(), 3)
	f.Add([]byte(strings.Repeat("\xff\xd8\xff\xe1", 10)), 1)
	formats := []picture.Format{picture.JPEG, picture.PNG, picture.GIF, picture.WebP}
	f.Fuzz(func(t *testing.T, content []byte, format int) {
		chosen := formats[uint(format)%uint(len(formats))]
		facts, err := examine(t, content, chosen, 10_000)
		var out bytes.Buffer
		stripped := picture.Strip(t.Context(), &out, bytes.NewReader(content), chosen, 1)
		if err == nil && stripped == nil {
			after, err := examine(t, out.Bytes(), chosen, 10_000)
			require.NoError(t, err)
			require.ElementsMatch(t, []int{facts.Width, facts.Height}, []int{after.Width, after.Height})
		}
	})
}
