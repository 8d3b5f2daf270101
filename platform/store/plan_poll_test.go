package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
)

// Every poll has two answers; 20,000 users voted in the first one of home us.
var _ = planned((*collector).collectPolls,
	`INSERT INTO polls (home, id, creator_id, creator_public_id, title, question, answers, answer_type, closed_in, created_at, updated_at)
		SELECT HOME(n), ID(q, n, n), ID(u, n, n), 'user-' || n::text, '', '?', '[]', 'single', 0, AT(n, 60), AT(n, 60) FROM generate_series(1,
		10000) AS n`,
	`INSERT INTO poll_votes (home, poll_id, user_id, answer_id, id, created_at)
		SELECT 'us', ID(q, 3, 3), ID(u, n, n), CASE WHEN n % 500 = 0 THEN 'b' ELSE 'a' END, ID(v, n, 3), AT(n, 3) FROM generate_series(1, 20000)
		AS n`,
)

func (c *collector) collectPolls() {
	id := worldID("q", 3, 3)
	var poll *content.Poll
	var polls []content.Poll
	var users []people.User
	var votes []content.PollVote
	c.reads(func(r *store.ReadBatch) { r.Poll(id, &poll) })
	c.reads(func(r *store.ReadBatch) { r.Polls([]string{id, worldID("q", 4, 4), worldID("q", 6, 6)}, &polls) })
	c.reads(func(r *store.ReadBatch) { r.CreatorOfPoll(id, &users) })
	c.reads(func(r *store.ReadBatch) { r.VotesOf([]string{id, worldID("q", 6, 6)}, userID(3), &votes) })
	both(20_000*3/2, func(desc bool, at time.Time, after string) {
		for _, answer := range []string{"a", "b"} {
			l := content.VoteList{PollID: id, AnswerID: answer, Desc: desc, After: at, AfterID: after, Limit: pageRows}
			c.reads(func(r *store.ReadBatch) { r.ListVotes(l, &votes) })
		}
	})
	change := content.VoteChange{
		PollID: id, UserID: userID(3), Old: []string{"a"}, Removed: []string{"a"},
		Added: []content.PollVote{{PollID: id, UserID: userID(3), AnswerID: "b", ID: region.NewID(region.US), CreatedAt: worldStart}},
	}
	c.write(func(w *store.Tx) {
		w.InsertPoll(content.Poll{ID: region.NewID(region.US), CreatorID: userID(3), AnswerType: "single", CreatedAt: worldStart})
		w.AttachPoll(id, postID(4), core.ErrConflict)
		w.DetachPoll(id, postID(4))
		w.ChangeVotes(change, worldStart, core.ErrConflict, core.ErrConflict, core.ErrConflict)
		w.SelectPoll(id, &poll)
		w.ClosePoll(id, worldStart, core.ErrConflict)
		w.DeletePoll(id, worldStart, core.ErrConflict)
	})
}
