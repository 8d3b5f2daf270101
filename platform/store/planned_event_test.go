package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// newEvent stores an event of an origin and a creator that takes place between some seconds after now.
func newEvent(t *testing.T, s *store.Store, id, originID, creatorID string, start, end int) content.PlannedEvent {
	t.Helper()
	e := content.PlannedEvent{
		ID: id, CreatorID: creatorID, Type: "virtual", StartTime: later(start), EndTime: later(end), OriginType: "user", OriginID: originID,
		Metadata:  []byte(`{}`),
		CreatedAt: later(start - 100),
	}
	w := s.NewTx(homeOf(id))
	w.InsertPlannedEvent(e)
	commit(t, w)
	return e
}

// TestRsvps counts the answers to an event that is neither over, cancelled nor deleted.
func TestRsvps(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	origin, closed := region.NewID(region.EU), fail.Forbidden("closed")
	var ids []string
	for range 4 {
		ids = append(ids, newEvent(t, s, region.NewID(region.EU), origin, origin, 0, 10).ID)
	}
	open, cancelled, deleted, another := ids[0], ids[1], ids[2], ids[3]
	_,
		err := conn.Exec(t.Context(),
		`UPDATE planned_events SET cancelled_at = CASE WHEN id = $1 THEN now() END, deleted_at = CASE WHEN id = $2 THEN now() END`, cancelled,
		deleted)
	require.NoError(t, err)
	answer := func(eventID, userID, status string, seconds int) (content.EventRsvp, error) {
		a := content.EventRsvp{EventID: eventID, UserID: userID, Status: status, RespondedAt: later(seconds)}
		w := s.NewTx(region.EU)
		w.InsertRsvp(a, closed, refused)
		return a, w.Commit(t.Context())
	}
	update := func(read content.EventRsvp, status string, seconds int) error {
		changed := read
		changed.Status, changed.RespondedAt = status, later(seconds)
		w := s.NewTx(region.EU)
		w.UpdateRsvp(read, changed, closed, refused)
		return w.Commit(t.Context())
	}
	requireCounts := func(going, interested int64) {
		t.Helper()
		counts := countsOf(t, s, open)
		require.Equal(t, []int64{going, interested},
			[]int64{counts.Of(open, content.CountRsvps(content.RsvpGoing)), counts.Of(open, content.CountRsvps(content.RsvpInterested))})
	}
	user, other := region.NewID(region.EU), region.NewID(region.EU)
	for name, id := range map[string]string{"cancelled": cancelled, "deleted": deleted, "none": region.NewID(region.EU)} {
		_, err := answer(id, user, content.RsvpGoing, 9)
		require.ErrorIs(t, err, closed, name)
	}
	_, err = answer(open, user, content.RsvpGoing, 10)
	require.ErrorIs(t, err, closed, "it has ended")
	mine, err := answer(open, user, content.RsvpGoing, 9)
	require.NoError(t, err)
	_, err = answer(open, user, content.RsvpGoing, 9)
	require.ErrorIs(t, err, refused, "the user has answered")
	theirs, err := answer(open, other, content.RsvpGoing, 8)
	require.NoError(t, err)
	_, err = answer(another, user, content.RsvpGoing, 8)
	require.NoError(t, err)
	requireCounts(2, 0)
	require.NoError(t, update(mine, content.RsvpInterested, 9))
	requireCounts(1, 1)
	require.ErrorIs(t, update(mine, content.RsvpNotGoing, 9), refused, "the answer has changed")
	require.ErrorIs(t, update(theirs, content.RsvpNotGoing, 10), closed)
	require.NoError(t, update(theirs, content.RsvpGoing, 9), "the same answer")
	requireCounts(1, 1)
	var answers []content.EventRsvp
	r := s.NewReadBatch()
	r.RsvpsOf([]string{open, cancelled}, user, &answers)
	run(t, r)
	require.Len(t, answers, 1)
	require.Equal(t, content.RsvpInterested, answers[0].Status)
}

// TestPagesOfEvents lists the events of an origin or creator, or all of them, by their start: those that are live, between two times, or
// that are cancelled.
func TestPagesOfEvents(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	origin, creator, other, ids := region.NewID(region.EU), region.NewID(region.EU), region.NewID(region.EU), listIDs(region.EU)
	put := func(start, end int) string {
		t.Helper()
		return newEvent(t, s, region.NewID(region.EU), origin, creator, start, end).ID
	}
	for i, id := range ids {
		newEvent(t, s, id, origin, creator, listSeconds[i], 11)
	}
	put(2, 10)  // over
	put(0, 11)  // too early
	put(4, 11)  // too late
	put(11, 12) // scheduled
	cancelled, deleted := put(2, 11), put(2, 11)
	ofOther := newEvent(t, s, region.NewID(region.EU), other, other, 2, 11).ID
	_,
		err := conn.Exec(t.Context(),
		`UPDATE planned_events SET cancelled_at = CASE WHEN id = $1 THEN now() END, deleted_at = CASE WHEN id = $2 THEN now() END`, cancelled,
		deleted)
	require.NoError(t, err)
	from, to := later(1), later(3)
	list := func(l content.EventList) (rows []content.PlannedEvent) {
		t.Helper()
		l.Now, l.From, l.To = later(10), &from, &to
		r := s.NewReadBatch()
		r.ListPlannedEvents(l, &rows)
		run(t, r)
		return rows
	}
	for _, l := range []content.EventList{{OriginID: origin}, {CreatorID: creator}} {
		requirePages(t, ids, func(after core.Position, desc bool) []core.Position {
			l.Status, l.Desc, l.After, l.AfterID, l.Limit = content.EventLive, desc, after.Time, after.ID, 2
			return positions(list(l), func(e content.PlannedEvent) (time.Time, string) { return e.StartTime, e.ID })
		})
		rows := list(content.EventList{OriginID: l.OriginID, CreatorID: l.CreatorID, Status: content.EventCancelled, Limit: 9})
		require.Len(t, rows, 1)
		require.Equal(t, cancelled, rows[0].ID)
		require.Len(t, list(content.EventList{OriginID: l.OriginID, CreatorID: l.CreatorID, Limit: 9}), 6,
			"also the one that has ended and the cancelled one")
	}
	var all []string
	for _, e := range list(content.EventList{Status: content.EventLive, Limit: 9}) {
		all = append(all, e.ID)
	}
	require.ElementsMatch(t, append(slices.Clone(ids), ofOther), all)
}
