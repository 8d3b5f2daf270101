package follow_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/follow"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
)

// TestBlocksEndFollows has the home of the blocked user learn of a block, of its end, or of both in the wrong order.
func TestBlocksEndFollows(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		delivered []int // by version, from 0
		want      string
	}{
		"a block":                           {[]int{0}, people.FollowNone},
		"a block and its end":               {[]int{0, 1}, people.FollowNone},
		"the end of a block that it missed": {[]int{1}, people.FollowNone},
		"the end before the block":          {[]int{1, 0}, people.FollowNone},
		"nothing":                           {nil, people.FollowAccepted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := servicetest.NewWorld(t)
			follow.Register(w.Deps)
			blocker, blocked := region.NewID(region.EU), region.NewID(region.US)
			followed := people.Follow{
				FollowerID: blocked, FolloweeID: blocker, Status: people.FollowAccepted, CreatedAt: servicetest.Noon, UpdatedAt: servicetest.Noon,
			}
			tx := w.Store.NewTx(region.US)
			tx.ChangeFollow(people.FollowChange{New: followed}, servicetest.Noon, servicetest.Noon.Add(time.Hour))
			require.NoError(t, tx.Commit(t.Context()))
			rows := blockAndUnblock(t, w, blocker, blocked)
			for _, i := range tc.delivered {
				w.Deps.Outbox.Deliver(t.Context(), region.EU, rows[i])
			}
			require.Equal(t, tc.want, statusOf(t, w, blocked, blocker))
		})
	}
}

// blockAndUnblock stores a block and its end at the home of the blocker, and returns what is to be delivered to that of the blocked user.
func blockAndUnblock(t *testing.T, w *servicetest.World, blocker, blocked string) []core.OutboxRow {
	t.Helper()
	var rows []core.OutboxRow
	var old *people.Block
	for i, status := range []string{people.BlockBlocked, people.BlockNone} {
		b := people.Block{BlockerID: blocker, BlockedID: blocked, Status: status, CreatedAt: servicetest.Noon, UpdatedAt: servicetest.Noon}
		tx := w.Store.NewTx(region.EU)
		rows = append(rows, tx.ChangeBlock(people.BlockChange{Old: old, New: b}, servicetest.Noon, servicetest.Noon.Add(events.Grace)))
		require.NoError(t, tx.Commit(t.Context()))
		b.Version = int64(i + 1)
		old = &b
	}
	return rows
}

// statusOf returns the status of a follow at the home of the follower.
func statusOf(t *testing.T, w *servicetest.World, follower, followee string) string {
	t.Helper()
	var f *people.Follow
	reads := w.Store.NewReadBatch()
	reads.Follow(follower, followee, &f)
	require.NoError(t, reads.Run(t.Context()))
	require.NotNil(t, f)
	return f.Status
}
