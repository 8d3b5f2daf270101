package storage_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	_ "gocloud.dev/blob/memblob" // mem://

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/storage"
)

// each runs a test on a directory and in memory, which represents remote storage.
func each(t *testing.T, test func(t *testing.T, s *storage.Storage)) {
	t.Helper()
	for name, address := range map[string]string{"folder": "file://" + t.TempDir() + "/new", "memory": "mem://"} {
		t.Run(name, func(t *testing.T) {
			s, err := storage.Open(t.Context(), map[region.Code]string{region.EU: address, region.US: address})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			test(t, s)
		})
	}
}

func read(t *testing.T, s *storage.Storage, id, part string) string {
	t.Helper()
	r, err := s.Open(t.Context(), id, part)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(content)
}

func TestStorage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *storage.Storage) {
		t.Helper()
		id, other := region.NewID(region.EU), region.NewID(region.EU)
		for _, part := range []string{"full", "small"} {
			n, err := s.Write(t.Context(), id, part, strings.NewReader("the "+part+" one"))
			require.NoError(t, err)
			require.EqualValues(t, len("the "+part+" one"), n)
		}
		_, err := s.Write(t.Context(), other, "full", strings.NewReader(""))
		require.NoError(t, err)
		require.Equal(t, "the full one", read(t, s, id, "full"))
		require.Equal(t, "the small one", read(t, s, id, "small"))
		require.Empty(t, read(t, s, other, "full"))
		for prefix, want := range map[string][]string{"": {"full", "small"}, "s": {"small"}, "x": nil} {
			parts, err := s.Parts(t.Context(), id, prefix)
			require.NoError(t, err)
			require.Equal(t, want, parts, prefix)
		}
		require.NoError(t, s.Delete(t.Context(), id, "small"))
		_, err = s.Open(t.Context(), id, "small")
		require.ErrorIs(t, err, storage.ErrNotFound)
		require.NoError(t, s.DeleteAll(t.Context(), id))
		require.NoError(t, s.DeleteAll(t.Context(), id), "idempotent")
		require.NoError(t, s.Delete(t.Context(), id, "small"))
		_, err = s.Open(t.Context(), id, "full")
		require.ErrorIs(t, err, storage.ErrNotFound)
		require.Empty(t, read(t, s, other, "full"), "other files are kept")
	})
}

func TestSeek(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *storage.Storage) {
		t.Helper()
		id := region.NewID(region.US)
		_, err := s.Write(t.Context(), id, "full", strings.NewReader("0123456789"))
		require.NoError(t, err)
		r, err := s.Open(t.Context(), id, "full")
		require.NoError(t, err)
		defer func() { require.NoError(t, r.Close()) }()
		require.NoError(t, iotest.TestReader(r, []byte("0123456789")))
		at, err := r.Seek(100, io.SeekStart)
		require.NoError(t, err)
		require.EqualValues(t, 100, at)
		_, err = r.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		_, err = r.Seek(-1, io.SeekStart)
		require.Error(t, err)
	})
}

// TestFailedWrite checks that nothing is stored if the source fails or the caller cancels.
func TestFailedWrite(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection lost")
	each(t, func(t *testing.T, s *storage.Storage) {
		t.Helper()
		id := region.NewID(region.EU)
		_, err := s.Write(t.Context(), id, "full", io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)))
		require.ErrorIs(t, err, broken)
		_, err = s.Open(t.Context(), id, "full")
		require.ErrorIs(t, err, storage.ErrNotFound)
		ended, end := context.WithCancel(t.Context())
		end()
		_, err = s.Write(ended, id, "full", strings.NewReader("whole"))
		require.Error(t, err)
		_, err = s.Open(t.Context(), id, "full")
		require.ErrorIs(t, err, storage.ErrNotFound)
	})
}

// TestUnfinishedFile checks that DeleteAll removes what a killed process left in a directory.
func TestUnfinishedFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s, err := storage.Open(t.Context(), map[region.Code]string{region.EU: "file://" + folder})
	require.NoError(t, err)
	id := region.NewID(region.EU)
	source, feed := io.Pipe()
	written := make(chan error, 1)
	go func() {
		_, err := s.Write(t.Context(), id, "full", source)
		written <- err
	}()
	_, err = feed.Write([]byte("half")) // a write in progress
	require.NoError(t, err)
	names := func() (found []string) {
		require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				found = append(found, path)
			}
			return err
		}))
		return found
	}
	require.Len(t, names(), 1)
	require.NoError(t, s.DeleteAll(t.Context(), id))
	require.Empty(t, names())
	require.NoError(t, feed.CloseWithError(errors.New("killed")))
	require.Error(t, <-written)
	require.Empty(t, names())
}

func TestOpen(t *testing.T) {
	t.Parallel()
	s, err := storage.Open(t.Context(), map[region.Code]string{region.EU: "mem://"})
	require.NoError(t, err)
	require.True(t, s.Has(region.EU))
	require.False(t, s.Has(region.SG))
	_, err = s.Write(t.Context(), region.NewID(region.SG), "full", strings.NewReader("x"))
	require.ErrorIs(t, err, storage.ErrNone)
	_, err = s.Open(t.Context(), "no id", "full")
	require.ErrorIs(t, err, region.ErrBadID)
	for _, address := range []string{"floppy://a", "file:///dev/null/x", "%"} {
		_, err := storage.Open(t.Context(), map[region.Code]string{region.EU: address})
		require.Error(t, err, address)
	}
	for _, address := range []string{"s3://bucket?region=eu-central-1", "azblob://container"} { // the drivers are linked in
		_, err := storage.Open(t.Context(), map[region.Code]string{region.EU: address})
		if err != nil {
			require.NotContains(t, err.Error(), "no driver registered", address)
		}
	}
}

// TestFolders checks that other users of the machine cannot read the folders of a directory, unless the address says so, and that
// they contain nothing but objects.
func TestFolders(t *testing.T) {
	t.Parallel()
	for query, mode := range map[string]fs.FileMode{"": 0o700, "?dir_file_mode=0711": 0o711} {
		folder := filepath.Join(t.TempDir(), "new")
		s, err := storage.Open(t.Context(), map[region.Code]string{region.EU: "file://" + folder + query})
		require.NoError(t, err)
		id := region.NewID(region.EU)
		_, err = s.Write(t.Context(), id, "full", strings.NewReader("x"))
		require.NoError(t, err)
		var names []string
		require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				info, statErr := entry.Info()
				require.NoError(t, statErr)
				require.Equal(t, mode, info.Mode().Perm(), path)
				return err
			}
			names = append(names, entry.Name())
			return nil
		}))
		require.Equal(t, []string{id + "-full"}, names)
		require.NoError(t, s.Close())
	}
}
