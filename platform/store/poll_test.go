package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
)

// newPoll stores a poll that ends at some seconds after now, or never.
func newPoll(t *testing.T, s *store.Store, seconds int) content.Poll {
	t.Helper()
	p := content.Poll{ID: region.NewID(region.EU), CreatorID: region.NewID(region.EU), AnswerType: "multiple", CreatedAt: now}
	if seconds > 0 {
		end := later(seconds)
		p.ClosesAt = &end
	}
	w := s.NewTx(region.EU)
	w.InsertPoll(p)
	commit(t, w)
	return p
}

// TestVotesOfPolls refuses votes in polls that are deleted, were closed or have ended.
func TestVotesOfPolls(t *testing.T) {
	s := openNew(t)
	closed, gone := fail.Forbidden("closed"), fail.NotFound()
	endless, ending, shut, deleted := newPoll(t, s, 0), newPoll(t, s, 10), newPoll(t, s, 0), newPoll(t, s, 0)
	w := s.NewTx(region.EU)
	w.ClosePoll(shut.ID, later(1), gone)
	w.DeletePoll(deleted.ID, later(1), gone)
	commit(t, w)
	vote := func(p content.Poll, userID string, seconds int) error {
		v := content.PollVote{PollID: p.ID, UserID: userID, AnswerID: "a", ID: region.NewID(region.EU), CreatedAt: later(seconds)}
		w := s.NewTx(region.EU)
		w.ChangeVotes(content.VoteChange{PollID: p.ID, UserID: userID, Added: []content.PollVote{v}}, later(seconds), gone, closed, refused)
		return w.Commit(t.Context())
	}
	for name, tc := range map[string]struct {
		poll    content.Poll
		seconds int
		want    error
	}{
		"without an end": {endless, 1000, nil},
		"before the end": {ending, 9, nil},
		"at the end":     {ending, 10, closed},
		"closed":         {shut, 2, closed},
		"deleted":        {deleted, 2, gone},
	} {
		user := region.NewID(region.EU)
		require.ErrorIs(t, vote(tc.poll, user, tc.seconds), tc.want, name)
		if tc.want == nil {
			require.ErrorIs(t, vote(tc.poll, user, tc.seconds), refused, "the votes have changed")
			require.Equal(t, int64(1), countsOf(t, s, tc.poll.ID).Of(tc.poll.ID, content.CountVotes("a")), name)
		}
	}
}

// TestClosePoll closes a poll once, at the first time, and not after its end.
func TestClosePoll(t *testing.T) {
	s := openNew(t)
	open, ended, another := newPoll(t, s, 0), newPoll(t, s, 10), newPoll(t, s, 0)
	closedAt := func(p content.Poll, seconds int) *time.Time {
		t.Helper()
		w := s.NewTx(region.EU)
		w.ClosePoll(p.ID, later(seconds), refused)
		var found *content.Poll
		w.SelectPoll(p.ID, &found)
		commit(t, w)
		return found.ClosedAt
	}
	for range 2 {
		require.True(t, later(5).Equal(*closedAt(open, 5)))
		require.True(t, later(5).Equal(*closedAt(open, 6)))
		require.Nil(t, closedAt(ended, 10))
	}
	var found *content.Poll
	r := s.NewReadBatch()
	r.Poll(another.ID, &found)
	run(t, r)
	require.Nil(t, found.ClosedAt)
}
