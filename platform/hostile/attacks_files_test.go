package hostile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"time"

	"github.com/plaza-social/plaza/platform/defence"
)

const downloadsPerSecond = 200 // by the rate limit of an address

// fileAttacks upload and download files.
func fileAttacks() []attack {
	return []attack{
		{
			name: "uploads in progress", finding: "A3", unit: "MiB on disk", most: 2, run: uploadSlowly, without: defence.UploadQuota,
		},
		{
			name: "refused uploads", finding: "A3", unit: "MiB on disk", most: 1, run: uploadTooMuch, without: defence.UploadRemoval,
		},
		{
			name: "downloads without a token", finding: "A12", unit: "downloads beyond the rate", most: 1100, run: download,
			settings: []string{"PLAZA_DOWNLOAD_RATE_LIMIT=off"},
		},
	}
}

// uploadTooMuch uploads pairs of files: the first one is within the quota of the user, and the second one is not.
func uploadTooMuch(ctx context.Context, n *network) (float64, error) {
	user, err := n.newUser(ctx)
	if err != nil {
		return 0, err
	}
	form, contentType, err := formOf("large.bin", make([]byte, dailyBytes*9/10), make([]byte, 4*mebibyte))
	if err != nil {
		return 0, err
	}
	size := func(context.Context) (float64, error) { return sizeOf(n.files()) }
	bytes, err := added(ctx, size, func() error {
		for range 10 {
			a, err := user.do(ctx, http.MethodPost, "/api/v4/files", form, "Content-Type", contentType)
			if err != nil || a.status != http.StatusTooManyRequests {
				return fmt.Errorf("status %d: %s: %w", a.status, a.body, err)
			}
		}
		return nil
	})
	return bytes / mebibyte, err
}

// uploadSlowly sends files that exceed the quota of the user, all at once, and ends none of them. It returns the bytes that are on disk in
// the meantime.
func uploadSlowly(ctx context.Context, n *network) (float64, error) {
	user, err := n.newUser(ctx)
	if err != nil {
		return 0, err
	}
	form, contentType, err := formOf("large.bin", make([]byte, 4*mebibyte))
	if err != nil {
		return 0, err
	}
	before, err := sizeOf(n.files())
	if err != nil {
		return 0, err
	}
	uploading, stop := context.WithCancel(ctx)
	defer stop()
	for range 10 {
		go func() { _ = user.uploadWithoutEnd(uploading, form[:4*mebibyte], contentType) }() // the server may refuse it
	}
	var most float64
	for range 50 {
		pause(ctx, 100*time.Millisecond)
		size, err := sizeOf(n.files())
		if err != nil {
			return 0, err
		}
		most = max(most, size-before)
	}
	return most / mebibyte, ctx.Err()
}

// uploadWithoutEnd sends the beginning of a form, and waits for the answer or the end of ctx.
func (c *client) uploadWithoutEnd(ctx context.Context, beginning, contentType string) error {
	content, end := io.Pipe()
	go func() {
		_, _ = io.WriteString(end, beginning)
		<-ctx.Done()
		_ = end.CloseWithError(ctx.Err())
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/api/v4/files", content)
	if err != nil {
		return err
	}
	request.Header = c.header.Clone()
	request.Header.Set("Content-Type", contentType)
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// sizeOf returns the bytes of the files in a folder.
func sizeOf(folder string) (size float64, err error) {
	err = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			var info fs.FileInfo
			if info, err = entry.Info(); err == nil {
				size += float64(info.Size())
			}
		}
		if errors.Is(err, fs.ErrNotExist) { // it was removed in the meantime
			return nil
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
