package directory_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/people"
)

// handles is a directory with a clock that tests set.
type handles struct {
	*directory.Directory
	t     *testing.T
	store *store.Store
	clock time.Time
	dbtest.Interruption
}

func newHandles(t *testing.T) *handles {
	t.Helper()
	h := &handles{t: t, clock: now}
	st, err := store.Open(t.Context(), db.Config{
		URLs: map[region.Code]string{"": dbtest.New(t)}, Log: slog.New(slog.DiscardHandler), StatementTimeout: patience, Sent: h.Sent,
	})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	h.store = st
	h.Directory = directory.New(st, region.EU, key, func() time.Time { return h.clock }, slog.New(slog.DiscardHandler))
	return h
}

// user inserts a user with a handle and the id of its claim.
func (h *handles) user(home region.Code, handle, claimID string) string {
	h.t.Helper()
	h.clock = h.clock.Add(time.Second)
	id := region.NewID(home)
	tx := h.store.NewTx(home)
	tx.InsertUser(people.User{ID: id, PublicID: id, DisplayName: "x", ProfileHandle: handle, HandleClaim: claimID}, h.clock)
	require.NoError(h.t, tx.Commit(h.t.Context()))
	return id
}

func (h *handles) claim(handle, userID string) (string, error) {
	h.t.Helper()
	return h.ClaimHandle(h.t.Context(), handle, userID)
}

// TestStaleClaims checks that a claim whose handle never reached the user's row, because the server died, and that of a
// deleted user are taken over, but not within the time in which a request may be in progress.
func TestStaleClaims(t *testing.T) {
	h := newHandles(t)
	for _, home := range region.All() {
		handle := "acrobat in " + home.String()
		dead, next, last := h.user(home, "", ""), h.user(region.US, "", ""), h.user(region.SG, handle, "")
		lost, err := h.claim(handle, dead)
		require.NoError(t, err)
		h.clock = h.clock.Add(59 * time.Second)
		_, err = h.claim(handle, next)
		require.ErrorIs(t, err, fail.HandleTaken())
		h.clock = h.clock.Add(time.Second)
		_, err = h.claim(handle, last)
		require.NoError(t, err)
		require.NoError(t, h.ReleaseHandle(t.Context(), handle, lost), "the claim has been replaced")
		h.clock = h.clock.Add(time.Hour)
		_, err = h.claim(handle, next)
		require.ErrorIs(t, err, fail.HandleTaken(), "the last one has the handle in its row")
		own, err := h.claim(handle, last)
		require.NoError(t, err)
		require.NoError(t, h.ReleaseHandle(t.Context(), handle, own))
		_, err = h.claim(handle, next)
		require.NoError(t, err)
	}
}

// TestTwoTakeOvers has another user take a stale claim over after it was found to be stale: one of the two gets the handle.
func TestTwoTakeOvers(t *testing.T) {
	h := newHandles(t)
	dead, first, second := h.user(region.EU, "", ""), h.user(region.US, "", ""), h.user(region.SG, "", "")
	_, err := h.claim("acrobat", dead)
	require.NoError(t, err)
	h.clock = h.clock.Add(time.Minute)
	h.Before("handles.takeOver", func() {
		_, err := h.claim("acrobat", first)
		require.NoError(t, err)
	})
	_, err = h.claim("acrobat", second)
	require.ErrorIs(t, err, fail.HandleTaken())
	require.False(t, h.Pending())
	_, err = h.claim("acrobat", first)
	require.NoError(t, err, "the first one holds it")
}

// TestCachedEntriesExpire checks that a server finds the entry of a user that another server has released for a minute.
func TestCachedEntriesExpire(t *testing.T) {
	h := newHandles(t)
	id, err := h.Claim(t.Context(), "alice", region.NewID(region.EU))
	require.NoError(t, err)
	other := directory.New(h.store, region.US, key, func() time.Time { return h.clock }, slog.New(slog.DiscardHandler))
	require.NoError(t, other.Release(t.Context(), "alice", id))
	h.clock = h.clock.Add(time.Minute - time.Nanosecond)
	found, err := h.Lookup(t.Context(), "alice")
	require.NoError(t, err)
	require.Equal(t, id, found)
	h.clock = h.clock.Add(time.Nanosecond)
	found, err = h.Lookup(t.Context(), "alice")
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestCheckName(t *testing.T) {
	t.Parallel()
	for name, valid := range map[string]bool{
		"a": true, "a b": true, "é": true, "日本": true, "👩": true,
		" a": false, "a ": false, "a\u200b": false, "a\u202eb": false, "e\u0301": false, "a\nb": false, "a\u00a0b": false, "\ue000": false,
		"👩\u200d🚀": false,
		"a\u2800":  false,
	} {
		err := directory.CheckName("userId", name)
		require.Equal(t, valid, err == nil, "%q: %v", name, err)
	}
}
