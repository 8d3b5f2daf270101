package store_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/people"
)

// TestPresences renews the presence of a user, which begins again after it has ended and is never shortened.
func TestPresences(t *testing.T) {
	s := openNew(t)
	room, user := region.NewID(region.EU), region.NewID(region.US)
	for _, tc := range []struct{ joins, until, joined, ends int }{
		{0, 10, 0, 10},
		{5, 8, 0, 10},   // shorter
		{10, 20, 0, 20}, // as it ends
		{21, 30, 21, 30},
	} {
		w := s.NewTx(region.EU)
		w.RenewPresences([]people.Presence{{Place: room, UserID: user, JoinedAt: later(tc.joins), Until: later(tc.until)}})
		commit(t, w)
		var found []people.Presence
		r := s.NewReadBatch()
		r.ListPresences(room, now, 10, &found)
		run(t, r)
		require.Len(t, found, 1)
		require.True(t, later(tc.joined).Equal(found[0].JoinedAt), tc)
		require.True(t, later(tc.ends).Equal(found[0].Until), tc)
	}
}

// TestPresencesInAPlace reads and counts the users in a place, and deletes presences that have ended.
func TestPresencesInAPlace(t *testing.T) {
	s := openNew(t)
	room, other, elsewhere := region.NewID(region.EU), region.NewID(region.EU), region.NewID(region.EU)
	ids := []string{region.NewID(region.EU), region.NewID(region.EU), region.NewID(region.EU)}
	slices.Sort(ids)
	w := s.NewTx(region.EU)
	for i, id := range ids {
		w.RenewPresences([]people.Presence{{Place: room, UserID: id, JoinedAt: now, Until: later(10 - i)}})
	}
	w.RenewPresences([]people.Presence{{Place: other, UserID: elsewhere, JoinedAt: now, Until: later(60)}})
	commit(t, w)
	for seconds, want := range map[int][]string{7: ids, 8: ids[:2], 9: ids[:1], 10: {}} {
		var list, among []people.Presence
		var count int64
		r := s.NewReadBatch()
		r.ListPresences(room, later(seconds), 10, &list)
		r.PresencesAmong(room, append([]string{elsewhere}, ids[1:]...), later(seconds), &among)
		r.CountPresences(room, later(seconds), &count)
		run(t, r)
		require.Equal(t, want, userIDsOf(list), seconds)
		require.Len(t, among, max(len(want)-1, 0), seconds)
		require.EqualValues(t, len(want), count, seconds)
	}
	var first []people.Presence
	r := s.NewReadBatch()
	r.ListPresences(room, now, 2, &first)
	run(t, r)
	require.Equal(t, ids[:2], userIDsOf(first))
	for _, want := range []int64{1, 0} {
		var removed int64
		w := s.NewTx(region.EU)
		w.SweepPresences(later(9), &removed)
		commit(t, w)
		require.Equal(t, want, removed, "one ends at that time")
	}
}

func userIDsOf(all []people.Presence) []string {
	ids := make([]string, len(all))
	for i, p := range all {
		ids[i] = p.UserID
	}
	return ids
}
