package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/network"
)

// firstAttempt is the attempt of a request that holds its key for a minute and expires after an hour.
func firstAttempt(key string) network.Idempotency {
	return network.Idempotency{Key: []byte(key), Request: []byte("one"), Attempt: "first", LockedUntil: later(60), ExpiresAt: later(3600)}
}

// reserve reserves the key of an attempt at some seconds after now.
func reserve(t *testing.T, s *store.Store, i network.Idempotency, seconds int) (before, stored *network.Idempotency) {
	t.Helper()
	w := s.NewTx(region.EU)
	w.ReserveIdempotency(i, later(seconds), &before, &stored)
	commit(t, w)
	return before, stored
}

// TestReserveIdempotency has a second attempt with a key: it gets the key if the first one has given it up, unless it is of another
// request, and when the key has expired.
func TestReserveIdempotency(t *testing.T) {
	s := openNew(t)
	for key, tc := range map[string]struct {
		answered bool
		request  string
		seconds  int
		taken    bool
	}{
		"held":                          {false, "one", 59, false},
		"held, of another request":      {false, "two", 59, false},
		"not held any more":             {false, "one", 60, true},
		"not held, of another request":  {false, "two", 60, false},
		"answered":                      {true, "one", 3599, false},
		"expired":                       {false, "two", 3600, true},
		"expired with an answer":        {true, "two", 3600, true},
		"expired with an answer, again": {true, "one", 3600, true},
	} {
		first := firstAttempt(key)
		before, stored := reserve(t, s, first, 0)
		require.Nil(t, before, key)
		require.Equal(t, "first", stored.Attempt, key)
		if tc.answered {
			w := s.NewTx(region.EU)
			w.FinishIdempotency(first, []byte("answer"))
			commit(t, w)
		}
		second := network.Idempotency{
			Key: []byte(key), Request: []byte(tc.request), Attempt: "second", LockedUntil: later(tc.seconds + 60),
			ExpiresAt: later(tc.seconds + 3600),
		}
		before, stored = reserve(t, s, second, tc.seconds)
		require.Equal(t, "first", before.Attempt, key)
		require.Equal(t, tc.answered, before.Answer != nil, key)
		want := first
		if tc.taken {
			want = second
		}
		require.Equal(t, want.Attempt, stored.Attempt, key)
		require.Equal(t, want.Request, stored.Request, key)
		require.True(t, want.LockedUntil.Equal(stored.LockedUntil), key)
		require.True(t, want.ExpiresAt.Equal(stored.ExpiresAt), key)
		require.Equal(t, tc.answered && !tc.taken, stored.Answer != nil, key)
	}
}

// TestOutcomeOfAnAttempt stores the outcome of an attempt that holds its key, and that of one that does not.
func TestOutcomeOfAnAttempt(t *testing.T) {
	s := openNew(t)
	first := firstAttempt("key")
	other := first
	other.Attempt = "other"
	reserve(t, s, first, 0)
	neighbor := firstAttempt("neighbor")
	reserve(t, s, neighbor, 0)
	end := func(queue func(*store.Tx)) *network.Idempotency {
		t.Helper()
		w := s.NewTx(region.EU)
		queue(w)
		commit(t, w)
		before, _ := reserve(t, s, other, 1)
		return before
	}
	kept := end(func(w *store.Tx) {
		w.FinishIdempotency(other, []byte("answer"))
		w.UnlockIdempotency(other, now)
		w.ReleaseIdempotency(other)
	})
	require.Nil(t, kept.Answer, "the other attempt does not hold the key")
	require.True(t, first.LockedUntil.Equal(kept.LockedUntil))
	require.Equal(t, "first", end(func(w *store.Tx) { w.UnlockIdempotency(first, later(2)) }).Attempt, "held for another second")
	require.Equal(t, []byte("answer"), end(func(w *store.Tx) {
		w.FinishIdempotency(first, []byte("answer"))
		w.ReleaseIdempotency(first)
	}).Answer, "a key with an answer is not released")

	released := firstAttempt("released")
	reserve(t, s, released, 0)
	w := s.NewTx(region.EU)
	w.ReleaseIdempotency(released)
	commit(t, w)
	released.Request, released.Attempt = []byte("two"), "second"
	before, stored := reserve(t, s, released, 0)
	require.Nil(t, before)
	require.Equal(t, "second", stored.Attempt)

	before, _ = reserve(t, s, neighbor, 0)
	require.Nil(t, before.Answer, "another key")
	require.True(t, neighbor.LockedUntil.Equal(before.LockedUntil))
}

// TestIdempotencyMarks has attempts of a request change rows: the second one only when the mark of the first one has expired.
func TestIdempotencyMarks(t *testing.T) {
	s := openNew(t)
	ref := region.NewID(region.EU)
	changeOf := func(key, attempt string, seconds int, created ...string) error {
		i := firstAttempt(key)
		i.Attempt, i.ExpiresAt = attempt, later(seconds+3600)
		marked, _ := network.WithIdempotency(t.Context(), i, later(seconds), refused, func() []string { return created })
		w := s.NewTx(region.EU)
		w.Count(ref, core.CountMembers, 1)
		return w.Commit(marked)
	}
	change := func(attempt string, seconds int, created ...string) error {
		return changeOf("key", attempt, seconds, created...)
	}
	marks := func(seconds int) []network.IdempotencyMark {
		t.Helper()
		var found []network.IdempotencyMark
		r := s.NewReadBatch()
		r.IdempotencyMarks([]byte("key"), later(seconds), &found)
		run(t, r)
		return found
	}
	require.NoError(t, changeOf("another key", "second", 0))
	require.NoError(t, change("first", 0))
	require.NoError(t, change("first", 1, "a", "b"))
	require.ErrorIs(t, change("second", 3600), refused)
	require.Equal(t, []network.IdempotencyMark{{Attempt: "first", Created: []string{"a", "b"}, Known: true}}, marks(3600))
	require.Empty(t, marks(3601))
	require.EqualValues(t, 3, countsOf(t, s, ref).Of(ref, core.CountMembers))
	require.NoError(t, change("second", 3601, "c"))
	require.Equal(t, []network.IdempotencyMark{{Attempt: "second", Created: []string{"c"}, Known: true}}, marks(3601))
}

// TestSweepIdempotency deletes the keys and the marks that have expired, and counts both.
func TestSweepIdempotency(t *testing.T) {
	s := openNew(t)
	for key, seconds := range map[string]int{"oldest": 7, "old": 9, "ends now": 10, "lasts": 11} {
		i := firstAttempt(key)
		i.ExpiresAt = later(seconds)
		reserve(t, s, i, 0)
		if key == "oldest" {
			continue
		}
		marked, _ := network.WithIdempotency(t.Context(), i, now, refused, func() []string { return nil })
		w := s.NewTx(region.EU)
		w.Count(region.NewID(region.EU), core.CountMembers, 1)
		require.NoError(t, w.Commit(marked))
	}
	for _, want := range [][2]int64{{2, 1}, {0, 0}} {
		var removed [2]int64
		w := s.NewTx(region.EU)
		w.SweepIdempotency(later(10), &removed[0], &removed[1])
		commit(t, w)
		require.Equal(t, want, removed)
	}
	before, _ := reserve(t, s, firstAttempt("ends now"), 0)
	require.NotNil(t, before)
}
