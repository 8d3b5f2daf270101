package storage_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	_ "gocloud.dev/blob/memblob" // mem://

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/storage"
)

// TestCopies copies a file to the storage of another home and removes one of the copies, also if both homes share a bucket.
func TestCopies(t *testing.T) {
	t.Parallel()
	shared := "file://" + t.TempDir()
	for name, us := range map[string]string{"own storage": "file://" + t.TempDir(), "shared storage": shared} {
		t.Run(name, func(t *testing.T) {
			s, err := storage.Open(t.Context(), map[region.Code]string{region.EU: shared, region.US: us})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			home := region.EU
			s.SetHomeOf(func(string) (region.Code, error) { return home, nil })
			id := region.NewID(region.EU)
			_, err = s.Write(t.Context(), id, "full", strings.NewReader("content"))
			require.NoError(t, err)
			require.NoError(t, s.CopyAll(t.Context(), id, region.EU, region.US))
			require.NoError(t, s.DeleteCopies(t.Context(), id, region.EU))
			require.Equal(t, "content", read(t, s, id, "full"), "the file is at its home")
			home = region.US
			require.Equal(t, "content", read(t, s, id, "full"))
			require.NoError(t, s.DeleteCopies(t.Context(), id, region.EU))
			require.Equal(t, "content", read(t, s, id, "full"), "the copy at the former home was removed")
			home = region.EU
			_, err = s.Open(t.Context(), id, "full")
			require.Equal(t, us != shared, err != nil, err)
		})
	}
}
