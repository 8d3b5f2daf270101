package posting_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store"
)

// TestAttachedByEarlierVersions delivers the outbox rows that servers of earlier versions wrote after they inserted posts: the first one
// attaches a poll to its post, and the second one, for the same poll, changes nothing and is not delivered again.
func TestAttachedByEarlierVersions(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	posting.RegisterEmbed(w.Deps)
	poll, first, second := region.NewID(region.EU), region.NewID(region.SG), region.NewID(region.SG)
	tx := w.Store.NewTx(region.EU)
	tx.InsertPoll(store.Poll{ID: poll, CreatorID: region.NewID(region.EU), AnswerType: "single", CreatedAt: servicetest.Noon, UpdatedAt: servicetest.Noon})
	require.NoError(t, tx.Commit(t.Context()))
	for _, post := range []string{first, second} {
		tx := w.Store.NewTx(region.SG)
		row := tx.Emit("carried", map[string]string{"pollId": poll, "postId": post}, servicetest.Noon, servicetest.Noon)
		require.NoError(t, tx.Commit(t.Context()))
		w.Deps.Outbox.Deliver(t.Context(), region.SG, row)
		require.Equal(t, first, w.Text(t, `SELECT post_id FROM polls`))
	}
	require.Equal(t, "0", w.Text(t, `SELECT count(*)::text FROM outbox`))
}
