package picture

import (
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io"

	scale "golang.org/x/image/draw"
)

// fit makes an image smaller, so that its longer side has side pixels.
//
// First it averages whole blocks of pixels, in strips, which costs no memory to speak of whatever the size of the image;
// what is left to do is less than a halving, where a sample of four neighbours sees every pixel.
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

// shrink averages blocks of block by block pixels; those at the right and lower edge may be smaller.
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

// average writes the mean of a block of strip, which starts at column x, into the pixel.
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
		pixel[i] = byte((sum[i] + n/2) / n) //nolint:gosec // a mean of bytes
	}
}

// turn shows an image as its EXIF orientation says.
func turn(img *image.RGBA, orientation int) *image.RGBA {
	width, height := img.Bounds().Dx(), img.Bounds().Dy()
	// Where the pixel x, y of the turned image comes from.
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

// quality of JPEG: one at which people see no difference.
const quality = 85

func encode(w io.Writer, img image.Image, mimeType string) error {
	if mimeType == "image/jpeg" {
		return jpeg.Encode(w, img, &jpeg.Options{Quality: quality})
	}
	return png.Encode(w, img)
}
