// Package storage stores the contents of uploaded files in a local directory, an S3-compatible store, Google Cloud
// Storage or Azure Blob Storage.
//
// Every home has its own storage, as it has its own database: an object is stored in the home of its file's row, which
// the file's id determines. A file has several objects, its parts: full, and the smaller images.
package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://container
	_ "gocloud.dev/blob/fileblob"  // file:///folder
	_ "gocloud.dev/blob/gcsblob"   // gs://bucket
	_ "gocloud.dev/blob/s3blob"    // s3://bucket
	"gocloud.dev/gcerrors"

	"github.com/plaza-social/plaza/platform/region"
)

// Errors that callers distinguish.
var (
	// ErrNone is returned for a home without storage.
	ErrNone = errors.New("no storage is configured")
	// ErrNotFound is returned by Open for an object that does not exist.
	ErrNotFound = errors.New("no such object")

	errNegative = errors.New("storage: negative position")
)

// PartFull is the part that contains a file as it was uploaded.
const PartFull = "full"

// Storage stores the objects of all homes. It is safe for concurrent use.
type Storage struct {
	buckets map[region.Code]*blob.Bucket
	homeOf  func(id string) (region.Code, error)
}

// Open opens the storage of each home in urls. Homes with the same URL share a bucket. It creates the directory of a
// file:// URL but does not connect to remote storage.
func Open(ctx context.Context, urls map[region.Code]string) (*Storage, error) {
	s := &Storage{buckets: map[region.Code]*blob.Bucket{}, homeOf: region.HomeOf}
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
		return nil, errors.New("the address is not a URL") // the parser's error would quote it
	}
	if u.Scheme == "file" {
		query := u.Query()
		query.Set("create_dir", "true")
		query.Set("no_tmp_dir", "true") // allows a dedicated file system
		query.Set("metadata", "skip")   // stored in the row
		if !query.Has("dir_file_mode") {
			query.Set("dir_file_mode", "0700")
		}
		u.RawQuery = query.Encode()
	}
	return blob.OpenBucket(ctx, u.String())
}

// Close closes all buckets.
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

// Has reports whether home has storage.
func (s *Storage) Has(home region.Code) bool { return s.buckets[home] != nil }

// SetHomeOf sets the function that returns the home of a file, which is region.HomeOf initially. It must be called before
// the storage is used.
func (s *Storage) SetHomeOf(homeOf func(id string) (region.Code, error)) { s.homeOf = homeOf }

func (s *Storage) bucketOf(fileID string) (*blob.Bucket, error) {
	home, err := s.homeOf(fileID)
	if err != nil {
		return nil, err
	}
	return s.bucketAt(home)
}

func (s *Storage) bucketAt(home region.Code) (*blob.Bucket, error) {
	if s.buckets[home] == nil {
		return nil, ErrNone
	}
	return s.buckets[home], nil
}

// keyPrefix returns the prefix of the keys of a file's objects. Its directory limits the number of entries per directory.
func keyPrefix(fileID string) string { return fileID[region.IDLength-3:] + "/" + fileID + "-" }

// Write stores the content of source as a part of a file and returns its size in bytes. If source fails or ctx ends, no
// object is stored.
func (s *Storage) Write(ctx context.Context, fileID, part string, source io.Reader) (int64, error) {
	bucket, err := s.bucketOf(fileID)
	if err != nil {
		return 0, err
	}
	return write(ctx, bucket, keyPrefix(fileID)+part, source)
}

// write stores the content of source as an object, or stores nothing if source fails or ctx ends.
func write(ctx context.Context, bucket *blob.Bucket, key string, source io.Reader) (int64, error) {
	ctx, abort := context.WithCancel(ctx)
	defer abort()
	w, err := bucket.NewWriter(ctx, key, &blob.WriterOptions{ContentType: "application/octet-stream"})
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(w, source)
	if err != nil {
		abort() // closing the writer now discards its data
		_ = w.Close()
		return n, err
	}
	return n, w.Close()
}

// Open opens a part of a file for reading. The caller must close it.
func (s *Storage) Open(ctx context.Context, fileID, part string) (io.ReadSeekCloser, error) {
	bucket, err := s.bucketOf(fileID)
	if err != nil {
		return nil, err
	}
	r, err := bucket.NewReader(ctx, keyPrefix(fileID)+part, nil)
	switch {
	case gcerrors.Code(err) == gcerrors.NotFound:
		return nil, fmt.Errorf("%w: %s of file %s", ErrNotFound, part, fileID)
	case err != nil:
		return nil, err
	}
	return &object{stored: r}, nil
}

// Delete removes one part of a file. It succeeds if the part does not exist.
func (s *Storage) Delete(ctx context.Context, fileID, part string) error {
	bucket, err := s.bucketOf(fileID)
	if err != nil {
		return err
	}
	return deleteKey(ctx, bucket, keyPrefix(fileID)+part)
}

// DeleteAll removes every object of a file, including unfinished ones of crashed processes. It succeeds if there are
// none.
func (s *Storage) DeleteAll(ctx context.Context, fileID string) error {
	bucket, err := s.bucketOf(fileID)
	if err != nil {
		return err
	}
	return deleteFile(ctx, bucket, fileID)
}

func deleteFile(ctx context.Context, bucket *blob.Bucket, fileID string) error {
	keys, err := keysIn(ctx, bucket, fileID)
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

// Parts returns the names of a file's parts that begin with prefix, in order.
func (s *Storage) Parts(ctx context.Context, fileID, prefix string) ([]string, error) {
	bucket, err := s.bucketOf(fileID)
	if err != nil {
		return nil, err
	}
	keys, err := keysIn(ctx, bucket, fileID)
	var parts []string
	for _, key := range keys {
		if part := strings.TrimPrefix(key, keyPrefix(fileID)); strings.HasPrefix(part, prefix) {
			parts = append(parts, part)
		}
	}
	slices.Sort(parts)
	return parts, err
}

// keysIn returns the keys of a file's objects. In a directory they include unfinished ones.
func keysIn(ctx context.Context, bucket *blob.Bucket, fileID string) ([]string, error) {
	var keys []string
	list := bucket.List(&blob.ListOptions{Prefix: keyPrefix(fileID)})
	for {
		object, err := list.Next(ctx)
		if errors.Is(err, io.EOF) {
			return keys, nil
		}
		if err != nil {
			return nil, err
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
