package main

import (
	"context"
	"io/fs"
	"net/http"
	"path/filepath"

	"github.com/plaza-social/plaza/platform/defence"
)

const downloadsPerSecond = 200 // by the rate limit of an address

// fileAttacks upload and download files.
func fileAttacks() []attack {
	return []attack{
		{
			name: "uploads beyond the quota", finding: "A3", unit: "MiB on disk", most: 1, run: uploadTooMuch, without: defence.UploadQuota,
		},
		{
			name: "downloads without a token", finding: "A12", unit: "downloads beyond the rate", most: 1100, run: download,
			settings: []string{"PLAZA_DOWNLOAD_RATE_LIMIT=off"},
		},
	}
}

// uploadTooMuch uploads files that exceed the quota of the user, all at once.
func uploadTooMuch(ctx context.Context, n *network) (float64, error) {
	user, err := n.newUser(ctx)
	if err != nil {
		return 0, err
	}
	form, contentType, err := formOf("large.bin", make([]byte, 4*mebibyte))
	if err != nil {
		return 0, err
	}
	size := func(context.Context) (float64, error) { return sizeOf(n.files()) }
	bytes, err := added(ctx, size, func() error {
		_, err := accepted(ctx, 10, func(ctx context.Context, _ int) (answer, error) {
			return user.do(ctx, http.MethodPost, "/api/v4/files", form, "Content-Type", contentType)
		})
		return err
	})
	return bytes / mebibyte, err
}

// sizeOf returns the bytes of the files in a folder.
func sizeOf(folder string) (size float64, err error) {
	err = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			size += float64(info.Size())
		}
		return err
	})
	return size, err
}

// download downloads a file without a token.
func download(ctx context.Context, n *network) (float64, error) {
	user, err := n.newUser(ctx)
	if err != nil {
		return 0, err
	}
	form, contentType, err := formOf("small.txt", []byte("hello"))
	if err != nil {
		return 0, err
	}
	a, err := user.must(ctx, http.MethodPost, "/api/v4/files", form, "Content-Type", contentType)
	if err != nil {
		return 0, err
	}
	path := "/api/v3/files/" + a.text("0.fileId") + "/download"
	visitor := n.anonymous(3, http.Header{})
	return beyondRefill(ctx, 4000, downloadsPerSecond, func(ctx context.Context, _ int) (answer, error) {
		return visitor.do(ctx, http.MethodGet, path, "")
	})
}
