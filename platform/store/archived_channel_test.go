package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// TestArchiveChannel archives as many channels as a user can, and one more.
func TestArchiveChannel(t *testing.T) {
	s := openNew(t)
	user, full := region.NewID(region.EU), fail.Forbidden("full")
	archive := func(ids ...string) error {
		w := s.NewTx(region.EU)
		for _, id := range ids {
			w.ArchiveChannel(user, id, full, now)
		}
		return w.Commit(t.Context())
	}
	ids := make([]string, messaging.MaxArchivedChannels)
	for i := range ids {
		ids[i] = region.NewID(region.US)
	}
	require.NoError(t, archive(ids...))
	require.NoError(t, archive(ids[0]), "a channel that is archived already")
	require.ErrorIs(t, archive(region.NewID(region.US)), full)
	w := s.NewTx(region.EU)
	w.UnarchiveChannel(user, ids[0])
	commit(t, w)
	added := region.NewID(region.SG)
	require.NoError(t, archive(added))
	var read []string
	r := s.NewReadBatch()
	r.ArchivedChannels(user, &read)
	run(t, r)
	require.ElementsMatch(t, append(ids[1:], added), read)
}
