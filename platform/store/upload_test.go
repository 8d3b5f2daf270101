package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
)

// TestAbandonedUploads abandons an upload that has become a file, whose objects must stay, and one that has not.
func TestAbandonedUploads(t *testing.T) {
	s := openNew(t)
	whole, open, now := region.NewID(region.EU), region.NewID(region.EU), time.Now()
	for _, id := range []string{whole, open} {
		w := s.NewTx(region.EU)
		w.InsertUpload(id, now, now)
		commit(t, w)
	}
	file := media.File{ID: whole, Type: "file", AccessType: "public", Exif: []byte("{}"), GPS: []byte("{}"), CreatedAt: now, UpdatedAt: now}
	w := s.NewTx(region.EU)
	w.InsertFile(file, core.ErrConflict)
	commit(t, w)
	for range 2 { // also those that are abandoned already
		var abandoned []string
		w = s.NewTx(region.EU)
		w.AbandonUploads([]string{whole, open}, &abandoned)
		commit(t, w)
		require.Equal(t, []string{open}, abandoned)
	}
	file.ID = open
	w = s.NewTx(region.EU)
	w.InsertFile(file, core.ErrConflict)
	require.ErrorIs(t, w.Commit(t.Context()), core.ErrConflict, "an abandoned upload cannot become a file")
}
