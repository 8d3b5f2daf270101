package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// folderLayout is how CockroachDB names the folder of a full backup: by the time of which it has the rows.
const folderLayout = "2006/01/02-150405.00"

// backupFolder matches the beginning of an object's key in the folder of a full backup.
var backupFolder = regexp.MustCompile(`^[0-9]{4}/[0-9]{2}/[0-9]{2}-[0-9]{6}\.[0-9]{2}/`)

// Prune deletes the objects of backups that are older than the time before. It leaves everything that is not in the folder of a
// backup. It returns the number of deleted objects.
func Prune(ctx context.Context, bucket *blob.Bucket, before time.Time) (int, error) {
	deleted := 0
	objects := bucket.List(nil)
	for {
		object, err := objects.Next(ctx)
		if errors.Is(err, io.EOF) {
			return deleted, nil
		}
		if err != nil {
			return deleted, fmt.Errorf("list the backups: %w", err)
		}
		if object.IsDir || !isOlder(object.Key, before) {
			continue
		}
		if err := bucket.Delete(ctx, object.Key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return deleted, fmt.Errorf("delete an old backup: %w", err)
		}
		deleted++
	}
}

// isOlder reports whether an object is in the folder of a backup of before a time.
func isOlder(key string, before time.Time) bool {
	folder := backupFolder.FindString(key)
	if folder == "" {
		return false
	}
	at, err := time.Parse(folderLayout+"/", folder)
	return err == nil && at.Before(before)
}
