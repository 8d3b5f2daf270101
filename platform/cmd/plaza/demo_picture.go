package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
)

// demoSide is the width and height of a demo picture in pixels.
const demoSide = 640

// picture uploads a picture derived from name and returns its id.
func (d *demo) picture(ctx context.Context, by demoClient, name string) (string, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("files", name+".png")
	if err != nil {
		return "", err
	}
	if err := png.Encode(part, demoPicture(name)); err != nil {
		return "", err
	}
	if err := form.Close(); err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, by.url+"/api/v4/images", &body)
	if err != nil {
		return "", err
	}
	request.Header = by.header.Clone()
	request.Header.Set("Content-Type", form.FormDataContentType())
	return d.uploaded(request)
}

func (d *demo) uploaded(request *http.Request) (string, error) {
	response, err := d.http.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	var files []struct {
		FileID string `json:"fileId"`
	}
	if err := json.Unmarshal(text, &files); err != nil || len(files) != 1 {
		return "", fmt.Errorf("upload failed: %s: %s", response.Status, text)
	}
	return files[0].FileID, nil
}

// demoPicture returns a landscape in two colours derived from name.
func demoPicture(name string) image.Image {
	hash := sha256.Sum256([]byte(name))
	sky := color.RGBA{R: hash[0], G: hash[1], B: 0xd0, A: 0xff}
	land := color.RGBA{R: hash[2], G: 0x80, B: hash[3], A: 0xff}
	img := image.NewPaletted(image.Rect(0, 0, demoSide, demoSide), color.Palette{sky, land})
	for x := range demoSide {
		hill := demoSide/2 + (x-demoSide/2)*(x-demoSide/2)/demoSide
		for y := min(hill, demoSide); y < demoSide; y++ {
			img.SetColorIndex(x, y, 1)
		}
	}
	return img
}
