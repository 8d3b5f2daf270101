package picture

import (
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io"

	scale "golang.org/x/image/draw"

	"github.com/plaza-social/plaza/platform/narrow"
)

// fit scales an image down so that its longer side has side pixels.
//
// First it averages blocks of pixels, in strips, whose memory use does not depend on the image's height. The remaining
// factor is less than two, for which bilinear sampling considers every pixel.
func fit(img image.Image, side int) *image.RGBA {
	bounds := img.Bounds()
	longest := max(bounds.Dx(), bounds.Dy())
	width, height := max(1, bounds.Dx()*side/longest), max(1, bounds.Dy()*side/longest)
	if block := longest / side; block > 1 {
		img = shrink(img, block)
	}
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	scale.ApproxBiLinear.Scale(out, out.Bounds(), img, img.Bounds(), draw.Src, nil)
	return out
}

// shrink averages blocks of block by block pixels; those at the right and lower edges may be smaller.
func shrink(img image.Image, block int) *image.RGBA {
	bounds := img.Bounds()
	out := image.NewRGBA(image.Rect(0, 0, (bounds.Dx()+block-1)/block, (bounds.Dy()+block-1)/block))
	strip := image.NewRGBA(image.Rect(0, 0, bounds.Dx(), block))
	for y := range out.Bounds().Dy() {
		rows := min(block, bounds.Dy()-y*block)
		part := image.Rect(0, 0, bounds.Dx(), rows)
		draw.Draw(strip, part, img, bounds.Min.Add(image.Pt(0, y*block)), draw.Src)
		for x := range out.Bounds().Dx() {
			columns := min(block, bounds.Dx()-x*block)
			average(out.Pix[out.PixOffset(x, y):][:4], strip, x*block, columns, rows)
		}
	}
	return out
}

// average stores the mean of the block of strip that starts at column x in pixel.
func average(pixel []byte, strip *image.RGBA, x, columns, rows int) {
	var sum [4]int
	for row := range rows {
		line := strip.Pix[strip.PixOffset(x, row):][:4*columns]
		for i := 0; i < len(line); i += 4 {
			sum[0] += int(line[i])
			sum[1] += int(line[i+1])
			sum[2] += int(line[i+2])
			sum[3] += int(line[i+3])
		}
	}
	n := columns * rows
	for i := range sum {
		pixel[i] = narrow.To[byte]((sum[i] + n/2) / n)
	}
}

// turn applies an EXIF orientation to an image.
func turn(img *image.RGBA, orientation int) *image.RGBA {
	width, height := img.Bounds().Dx(), img.Bounds().Dy()
	// The source coordinates of the pixel x, y of the turned image.
	from, ok := map[int]func(x, y int) (int, int){
		2: func(x, y int) (int, int) { return width - 1 - x, y },
		3: func(x, y int) (int, int) { return width - 1 - x, height - 1 - y },
		4: func(x, y int) (int, int) { return x, height - 1 - y },
		5: func(x, y int) (int, int) { return y, x },
		6: func(x, y int) (int, int) { return y, height - 1 - x },
		7: func(x, y int) (int, int) { return width - 1 - y, height - 1 - x },
		8: func(x, y int) (int, int) { return width - 1 - y, x },
	}[orientation]
	if !ok {
		return img
	}
	bounds := image.Rect(0, 0, width, height)
	if orientation > 4 {
		bounds = image.Rect(0, 0, height, width)
	}
	out := image.NewRGBA(bounds)
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			fromX, fromY := from(x, y)
			copy(out.Pix[out.PixOffset(x, y):][:4], img.Pix[img.PixOffset(fromX, fromY):][:4])
		}
	}
	return out
}

// quality is a JPEG quality without visible artifacts.
const quality = 85

func encode(w io.Writer, img image.Image, mimeType string) error {
	if mimeType == "image/jpeg" {
		return jpeg.Encode(w, img, &jpeg.Options{Quality: quality})
	}
	return png.Encode(w, img)
}
