// Package storage keeps the bytes of uploaded files, in a folder, in an S3-compatible store, in Google Cloud Storage or in
// Azure Blob Storage.
//
// Every home has a storage of its own, as it has a database: an object lives where the row of its file does, and the id of
// the file tells where. The objects of a file are named parts of it: full, and the smaller images.
package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://container
	_ "gocloud.dev/blob/fileblob"  // file:///folder
	_ "gocloud.dev/blob/gcsblob"   // gs://bucket
	_ "gocloud.dev/blob/s3blob"    // s3://bucket
	"gocloud.dev/gcerrors"

	"github.com/plaza-social/plaza/platform/region"
)

// Errors that callers tell apart.
var (
	// ErrNone is returned for a home that has no storage.
	ErrNone = errors.New("no storage is configured")
	// ErrNotFound is returned by Open for an object that is not there.
	ErrNotFound = errors.New("no such object")

	errNegative = errors.New("storage: a position before the start")
)

// Storage is the storage of every home. Safe for use by several goroutines.
type Storage struct {
	buckets map[region.Code]*blob.Bucket
}

// Open prepares the storage of each home that urls names. Homes with the same URL share a bucket. It makes the folder of a
// file:// URL; it does not ask the others whether they answer.
func Open(ctx context.Context, urls map[region.Code]string) (*Storage, error) {
	s := &Storage{buckets: map[region.Code]*blob.Bucket{}}
	opened := map[string]*blob.Bucket{}
	for home, address := range urls {
		if opened[address] == nil {
			bucket, err := openBucket(ctx, address)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("storage of home %s: %w", home, err), s.Close())
			}
			opened[address] = bucket
		}
		s.buckets[home] = opened[address]
	}
	return s, nil
}

func openBucket(ctx context.Context, address string) (*blob.Bucket, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the address is not a URL") // the parser's text would show it
	}
	if u.Scheme == "file" {
		query := u.Query()
		query.Set("create_dir", "true")
		query.Set("no_tmp_dir", "true") // or a file system of its own could not be used
		query.Set("metadata", "skip")   // the row has it
		if !query.Has("dir_file_mode") {
			query.Set("dir_file_mode", "0700")
		}
		u.RawQuery = query.Encode()
	}
	return blob.OpenBucket(ctx, u.String())
}

// Close gives the buckets up.
func (s *Storage) Close() error {
	var errs []error
	closed := map[*blob.Bucket]bool{}
	for _, bucket := range s.buckets {
		if !closed[bucket] {
			closed[bucket] = true
			errs = append(errs, bucket.Close())
		}
	}
	return errors.Join(errs...)
}

// Has reports whether a home has storage.
func (s *Storage) Has(home region.Code) bool { return s.buckets[home] != nil }

func (s *Storage) bucketOf(fileID string) (*blob.Bucket, error) {
	home, err := region.HomeOf(fileID)
	if err != nil {
		return nil, err
	}
	if s.buckets[home] == nil {
		return nil, ErrNone
	}
	return s.buckets[home], nil
}

// prefix is how the keys of a file's objects begin. The folder keeps a file system from having millions of names in one.
func prefix(fileID string) string { return fileID[region.IDLength-3:] + "/" + fileID + "-" }

// Write stores what source gives as a part of a file, and returns its size in bytes. Where source fails, or ctx ends, no
// object is left.
func (s *Storage) Write(ctx context.Context, fileID, part string, source io.Reader) (int64, error) {
	bucket, err := s.bucketOf(fileID)
	if err != nil {
		return 0, err
	}
	ctx, abort := context.WithCancel(ctx)
	defer abort()
	w, err := bucket.NewWriter(ctx, prefix(fileID)+part, &blob.WriterOptions{ContentType: "application/octet-stream"})
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(w, source)
	if err != nil {
		abort() // a writer that is closed after that stores nothing
		_ = w.Close()
		return n, err
	}
	return n, w.Close()
}

// Open returns a part of a file to read at will. The caller closes it.
func (s *Storage) Open(ctx context.Context, fileID, part string) (io.ReadSeekCloser, error) {
	bucket, err := s.bucketOf(fileID)
	if err != nil {
		return nil, err
	}
	r, err := bucket.NewReader(ctx, prefix(fileID)+part, nil)
	switch {
	case gcerrors.Code(err) == gcerrors.NotFound:
		return nil, fmt.Errorf("%w: %s of file %s", ErrNotFound, part, fileID)
	case err != nil:
		return nil, err
	}
	return &object{stored: r}, nil
}

// Delete removes one part of a file; one that is not there is fine.
func (s *Storage) Delete(ctx context.Context, fileID, part string) error {
	bucket, err := s.bucketOf(fileID)
	if err != nil {
		return err
	}
	return deleteKey(ctx, bucket, prefix(fileID)+part)
}

// DeleteAll removes every object of a file, and what a process that died left of them. Nothing to remove is fine.
func (s *Storage) DeleteAll(ctx context.Context, fileID string) error {
	keys, bucket, err := s.keys(ctx, fileID)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := deleteKey(ctx, bucket, key); err != nil {
			return err
		}
	}
	return nil
}

// keys are those of a file's objects. In a folder they include the unfinished ones.
func (s *Storage) keys(ctx context.Context, fileID string) ([]string, *blob.Bucket, error) {
	bucket, err := s.bucketOf(fileID)
	if err != nil {
		return nil, nil, err
	}
	var keys []string
	list := bucket.List(&blob.ListOptions{Prefix: prefix(fileID)})
	for {
		object, err := list.Next(ctx)
		if errors.Is(err, io.EOF) {
			return keys, bucket, nil
		}
		if err != nil {
			return nil, nil, err
		}
		keys = append(keys, object.Key)
	}
}

func deleteKey(ctx context.Context, bucket *blob.Bucket, key string) error {
	if err := bucket.Delete(ctx, key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return err
	}
	return nil
}
