package storage

import (
	"context"
	"fmt"

	"gocloud.dev/blob"

	"github.com/plaza-social/plaza/platform/region"
)

// CopyAll copies every object of a file from the storage of one home to that of another. It replaces objects of an earlier
// attempt, and has no effect if the homes share their storage or the file has no objects.
func (s *Storage) CopyAll(ctx context.Context, fileID string, from, to region.Code) error {
	source, err := s.bucketAt(from)
	if err != nil {
		return err
	}
	target, err := s.bucketAt(to)
	if err != nil || source == target {
		return err
	}
	keys, err := keysIn(ctx, source, fileID)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := copyObject(ctx, source, target, key); err != nil {
			return fmt.Errorf("copy of file %s: %w", fileID, err)
		}
	}
	return nil
}

func copyObject(ctx context.Context, source, target *blob.Bucket, key string) error {
	r, err := source.NewReader(ctx, key, nil)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	_, err = write(ctx, target, key, r)
	return err
}

// DeleteCopies removes every object of a file from the storage of a home, unless the file's home shares it.
func (s *Storage) DeleteCopies(ctx context.Context, fileID string, at region.Code) error {
	bucket, err := s.bucketAt(at)
	if err != nil {
		return err
	}
	if current, err := s.bucketOf(fileID); err != nil || current == bucket {
		return err
	}
	return deleteFile(ctx, bucket, fileID)
}
