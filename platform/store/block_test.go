package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/people"
)

// putBlock stores a block and its mirror.
func putBlock(t *testing.T, s *store.Store, blockerID, blockedID, status string, at time.Time) {
	t.Helper()
	w := s.NewTx(homeOf(blockerID))
	w.ChangeBlock(people.BlockChange{New: people.Block{
		BlockerID: blockerID, BlockedID: blockedID, Status: status, CreatedAt: at,
		UpdatedAt: at,
	}}, at, at)
	commit(t, w)
	w = s.NewTx(homeOf(blockedID))
	w.MirrorBlock(people.MirroredBlock{BlockerID: blockerID, BlockedID: blockedID, Status: status, Version: 1, ChangedAt: at})
	commit(t, w)
}

// TestHiddenUsers reads the users that a user blocks or is blocked by, all of them or those among some users. Blocks that have ended
// and those of other users do not count.
func TestHiddenUsers(t *testing.T) {
	s := openNew(t)
	user, stranger := region.NewID(region.EU), region.NewID(region.EU)
	blocked, blocker, more, moreBlocking := region.NewID(region.EU), region.NewID(region.US), region.NewID(region.EU), region.NewID(region.EU)
	unblocked, unblocking, neither := region.NewID(region.EU), region.NewID(region.EU), region.NewID(region.EU)
	for _, b := range []struct{ blocker, blocked, status string }{
		{user, blocked, people.BlockBlocked},
		{user, more, people.BlockBlocked},
		{blocker, user, people.BlockBlocked},
		{moreBlocking, user, people.BlockBlocked},
		{user, unblocked, people.BlockNone},
		{unblocking, user, people.BlockNone},
		{stranger, neither, people.BlockBlocked},
		{neither, stranger, people.BlockBlocked},
	} {
		putBlock(t, s, b.blocker, b.blocked, b.status, now)
	}
	asked := []string{blocked, blocker, unblocked, unblocking, neither, stranger}
	var hidden, blockers, hiddenAmong, blockersAmong, amongNone []string
	r := s.NewReadBatch()
	r.HiddenFrom(user, &hidden)
	r.BlockersOf(user, &blockers)
	r.HiddenAmong(user, asked, &hiddenAmong)
	r.BlockersAmong(user, asked, &blockersAmong)
	r.HiddenAmong(user, nil, &amongNone)
	run(t, r)
	require.ElementsMatch(t, []string{blocked, more, blocker, moreBlocking}, hidden)
	require.ElementsMatch(t, []string{blocker, moreBlocking}, blockers)
	require.ElementsMatch(t, []string{blocked, blocker}, hiddenAmong, "only those that were asked for")
	require.Equal(t, []string{blocker}, blockersAmong)
	require.Empty(t, amongNone)
}

// TestGuardNotBlocked refuses what one user does to another one if either of the two blocks the other.
func TestGuardNotBlocked(t *testing.T) {
	s := openNew(t)
	user, other, third := region.NewID(region.EU), region.NewID(region.EU), region.NewID(region.EU)
	guard := func(a, b string) error {
		w := s.NewTx(region.EU)
		w.GuardNotBlocked(a, b, refused)
		return w.Commit(t.Context())
	}
	putBlock(t, s, user, third, people.BlockNone, now)
	putBlock(t, s, user, other, people.BlockBlocked, now)
	require.ErrorIs(t, guard(user, other), refused)
	require.ErrorIs(t, guard(other, user), refused)
	for _, pair := range [][2]string{{user, third}, {third, user}, {other, third}, {third, other}} {
		require.NoError(t, guard(pair[0], pair[1]))
	}
}
