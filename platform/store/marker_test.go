package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// markerStep is a move of the markers of two users to a segment, and their state after it.
type markerStep struct {
	name      string
	seconds   int
	segment   int64
	moves     messaging.MarkerMoves
	anna, ben [5]int64
	isDeleted bool            // whether the marker of anna is
	before    func(*store.Tx) // nil for nothing
}

func markerSteps(feed, anna, ben string) []markerStep {
	until := later(9)
	move := func(m messaging.MarkerMove) messaging.MarkerMoves {
		return messaging.MarkerMoves{FeedID: feed, Moved: []messaging.MarkerMove{m, {UserID: ben}}}
	}
	return []markerStep{
		{
			"a mention", 7, 7, move(messaging.MarkerMove{UserID: anna, LastMention: 7}),
			[5]int64{7, 5, 5, 7, 7},
			[5]int64{7, 0, 0, 5, 7},
			false,
			nil,
		},
		{
			"an earlier message", 6, 6, move(messaging.MarkerMove{UserID: anna, LastMention: 6, ReadTo: 4}),
			[5]int64{7, 5, 5, 7, 7},
			[5]int64{7, 0, 0, 5, 7},
			false, nil,
		},
		{
			"an own message", 8, 8, move(messaging.MarkerMove{UserID: anna, ReadTo: 6}),
			[5]int64{8, 6, 6, 7, 8},
			[5]int64{8, 0, 0, 5, 8},
			false,
			nil,
		},
		{
			"while the user reads", 8, 9, move(messaging.MarkerMove{UserID: anna}),
			[5]int64{9, 9, 9, 7, 8},
			[5]int64{9, 0, 0, 5, 8},
			false,
			func(w *store.Tx) { w.UpdateReadingUntil(anna, feed, &until) },
		},
		{
			"when the user no longer reads", 9, 10, move(messaging.MarkerMove{UserID: anna}),
			[5]int64{10, 9, 9, 7, 9},
			[5]int64{10, 0, 0, 5, 9},
			false, nil,
		},
		{
			"a deleted marker", 10, 11, move(messaging.MarkerMove{UserID: anna}),
			[5]int64{11, 9, 9, 7, 10},
			[5]int64{11, 0, 0, 5, 10},
			true,
			func(w *store.Tx) { w.DeleteFeedMarker(anna, feed, later(10)) },
		},
		{
			"a restored marker", 11, 12,
			messaging.MarkerMoves{FeedID: feed, Restored: []messaging.MarkerMove{{UserID: anna, ReadTo: 12}}},
			[5]int64{12, 12, 12, 7, 11},
			[5]int64{11, 0, 0, 5, 10},
			false, nil,
		},
		{
			"read positions", 12, 13, move(messaging.MarkerMove{UserID: anna}),
			[5]int64{13, 12, 12, 7, 12},
			[5]int64{13, 2, 11, 5, 12},
			false,
			func(w *store.Tx) {
				w.UpdateReadPosition(ben, feed, 2, 99, later(11)) // at most to the last segment of then
				w.UpdateReadPosition(ben, feed, 1, 1, later(10))
			},
		},
	}
}

// TestMovesOfFeedMarkers moves the markers of users for a feed in any order: they never move backward. Those of other users and feeds stay.
func TestMovesOfFeedMarkers(t *testing.T) {
	s := openNew(t)
	feed, otherFeed, channel := region.NewID(region.EU), region.NewID(region.EU), region.NewID(region.EU)
	anna, ben, carl := region.NewID(region.EU), region.NewID(region.EU), region.NewID(region.EU)
	change := func(fill func(*store.Tx)) {
		t.Helper()
		w := s.NewTx(region.EU)
		fill(w)
		commit(t, w)
	}
	// state returns the last segment, the read and delivered position, the last mention and the seconds of the change.
	state := func(userID, feedID string) ([5]int64, bool) {
		t.Helper()
		var found []messaging.FeedMarker
		r := s.NewReadBatch()
		r.FeedMarkers(userID, []string{feedID}, &found)
		run(t, r)
		require.Len(t, found, 1)
		m := found[0]
		return [5]int64{m.LastSegment, m.ReadTo, m.DeliveredTo, m.LastMention, int64(m.UpdatedAt.Sub(now) / time.Second)}, m.IsDeleted
	}
	for _, id := range []string{feed, otherFeed} {
		change(func(w *store.Tx) {
			inserted := []messaging.MarkerMove{{UserID: anna, ReadTo: 5}, {UserID: ben, LastMention: 5}, {UserID: carl}}
			w.MoveFeedMarkers(messaging.MarkerMoves{FeedID: id, EntityID: channel, LastSegment: 5, Inserted: inserted}, later(5))
		})
	}
	for _, step := range markerSteps(feed, anna, ben) {
		if step.before != nil {
			change(step.before)
		}
		step.moves.LastSegment = step.segment
		change(func(w *store.Tx) { w.MoveFeedMarkers(step.moves, later(step.seconds)) })
		got, isDeleted := state(anna, feed)
		require.Equal(t, step.anna, got, step.name)
		require.Equal(t, step.isDeleted, isDeleted, step.name)
		got, _ = state(ben, feed)
		require.Equal(t, step.ben, got, step.name)
	}
	for _, id := range []string{feed, otherFeed} {
		got, _ := state(carl, id)
		require.Equal(t, [5]int64{5, 0, 0, 0, 5}, got, "another user")
		got, _ = state(anna, otherFeed)
		require.Equal(t, [5]int64{5, 5, 5, 0, 5}, got, "another feed")
	}
	w := s.NewTx(region.EU)
	w.MoveFeedMarkers(messaging.MarkerMoves{
		FeedID: feed, EntityID: channel, LastSegment: 99,
		Inserted: []messaging.MarkerMove{{UserID: anna}},
	}, now)
	require.ErrorIs(t, w.Commit(t.Context()), messaging.ErrMarkerExists)
}
