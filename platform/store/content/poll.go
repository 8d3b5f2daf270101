package content

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/people"
)

// Poll is a row of polls.
type Poll struct {
	ID              string
	CreatorID       string // internal id
	CreatorPublicID string
	Title           string
	Question        string
	Answers         []PollAnswer
	AnswerType      string // single or multiple
	ClosedIn        int64  // milliseconds; 0 if it has no end
	ClosesAt        *time.Time
	ClosedAt        *time.Time // when a user closed it
	PostID          string     // the post that it is attached to; empty if not attached
	CreatedAt       time.Time
	UpdatedAt       time.Time
	DeletedAt       *time.Time
}

// PollAnswer is one answer of a poll as stored in its row.
type PollAnswer struct {
	ID       string `json:"id"`
	DataType string `json:"dataType"`
	Data     string `json:"data"`
	FileID   string `json:"fileId"`
}

// End returns when the poll was or will be closed; nil if it has no end.
func (p *Poll) End() *time.Time {
	if p.ClosedAt != nil {
		return p.ClosedAt
	}
	return p.ClosesAt
}

// IsClosed reports whether voting has ended.
func (p *Poll) IsClosed(now time.Time) bool {
	return p.End() != nil && !now.Before(*p.End())
}

// PollVote is a row of poll_votes: one user's vote for one answer.
type PollVote struct {
	PollID    string
	UserID    string // internal id
	AnswerID  string
	ID        string
	CreatedAt time.Time
}

var (
	pollColumns = db.Columns[Poll]()
	voteColumns = db.Columns[PollVote]()
)

var (
	sqlPollsByID   = db.Register("polls.byID", `SELECT `+pollColumns+` FROM polls WHERE home = $1 AND id = ANY($2::text[])`)
	sqlPollCreator = db.Register("polls.creator", `SELECT `+people.UserColumns+` FROM users WHERE home = $1 AND id = (SELECT creator_id FROM polls
		WHERE home = $1 AND polls.id = $2)`)
	sqlPollInsert = db.Register("polls.insert", `INSERT INTO polls (home, id, creator_id, creator_public_id, title, question, answers, answer_type,
		closed_in,
		closes_at, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9::bigint, $10, $11, $11)`)
	sqlPollGuard     = db.Register("polls.guardLive", `SELECT 1 / count(*) FROM polls WHERE home = $1 AND id = $2 AND deleted_at IS NULL`)
	sqlPollGuardOpen = db.Register("polls.guardOpen", `SELECT 1 / count(*) FROM polls WHERE home = $1 AND id = $2 AND closed_at IS NULL
		AND (closes_at IS NULL OR closes_at > $3::timestamptz)`)
	sqlPollClose = db.Register("polls.close", `UPDATE polls SET closed_at = $3, updated_at = $3 WHERE home = $1 AND id = $2 AND closed_at IS NULL
		AND (closes_at IS NULL OR closes_at > $3)`).Updates(core.SharedPolls, 2)
	sqlPollDelete = db.Register("polls.delete",
		`UPDATE polls SET deleted_at = $3, updated_at = $3 WHERE home = $1 AND id = $2`).Updates(core.SharedPolls, 2)
	sqlPollAttach = db.Register("polls.attach", AttachStatement("polls", "")).Updates(core.SharedPolls, 2)
	sqlPollDetach = db.Register("polls.detach", `UPDATE polls SET post_id = '' WHERE home = $1 AND id = $2 AND post_id = $3`).Updates(core.SharedPolls, 2)

	sqlVotesOf = db.Register("pollVotes.ofUser", `SELECT `+voteColumns+` FROM poll_votes WHERE home = $1 AND poll_id = ANY($2::text[])
		AND user_id = $3`)
	sqlVotesGuardUnchanged = db.Register("pollVotes.guardSame", `SELECT 1 / CASE WHEN (SELECT count(*) FROM poll_votes WHERE home = $1
		AND poll_id = $2 AND user_id = $3) = $5::bigint
		AND (SELECT count(*) FROM poll_votes WHERE home = $1 AND poll_id = $2 AND user_id = $3 AND answer_id = ANY($4::text[])) = $5::bigint
		THEN 1 ELSE 0 END`)
	sqlVoteInsert = db.Register("pollVotes.insert", `INSERT INTO poll_votes (home, poll_id, user_id, answer_id, id, created_at) VALUES ($1, $2, $3,
		$4, $5, $6)`)
	sqlVoteDelete = db.Register("pollVotes.delete", `DELETE FROM poll_votes WHERE home = $1 AND poll_id = $2 AND user_id = $3 AND answer_id = $4`)

	votesByCreation = core.OrderedBy(core.CreatedOrders, "created_at", core.Source{
		Name: "pollVotes.list", Columns: voteColumns, From: `poll_votes WHERE home = $1 AND poll_id = $2 AND answer_id = $3`, After: 4,
	}.List)
)

// CountVotes returns the kind of the count of votes for an answer.
func CountVotes(answerID string) core.CounterKind { return core.CounterKind("vote:" + answerID) }

// Polls reads polls of any homes, including deleted ones, in no particular order.
func (r ReadBatch) Polls(ids []string, into *[]Poll) {
	core.ReadMany(r.ReadBatch, ids, sqlPollsByID, into)
}

// Poll reads one poll; nil if there is none.
func (r ReadBatch) Poll(id string, into **Poll) {
	r.AddAt(id, sqlPollsByID, db.Row(into), []string{id})
}

// CreatorOfPoll reads the creator of a poll, who has the same home.
func (r ReadBatch) CreatorOfPoll(id string, into *[]people.User) {
	r.AddAt(id, sqlPollCreator, db.Rows(into), id)
}

// VotesOf reads a user's votes in polls of any homes and appends them to into.
func (r ReadBatch) VotesOf(pollIDs []string, userID string, into *[]PollVote) {
	core.AddMany(r.ReadBatch, pollIDs, sqlVotesOf, into, userID)
}

// VoteList is a page of the votes for one answer.
type VoteList struct {
	PollID   string
	AnswerID string
	Desc     bool
	// The position that the page starts after.
	After   time.Time
	AfterID string
	Limit   int
}

// ListVotes reads up to Limit votes in the order of the list.
func (r ReadBatch) ListVotes(l VoteList, into *[]PollVote) {
	r.AddAt(l.PollID, votesByCreation.In(l.Desc), db.Rows(into), l.PollID, l.AnswerID, l.After, l.AfterID, l.Limit)
}

// InsertPoll inserts a poll. A retry after a lost connection inserts it once.
func (w Tx) InsertPoll(p Poll) {
	w.IdempotentBy("polls_pkey")
	w.Exec(sqlPollInsert, p.ID, p.CreatorID, p.CreatorPublicID, p.Title, p.Question, core.PlainJSON(p.Answers), p.AnswerType, p.ClosedIn,
		p.ClosesAt, p.CreatedAt)
	images := make([]string, len(p.Answers))
	for i, a := range p.Answers {
		images[i] = a.FileID
	}
	w.InsertFileUses(core.FileUse{ObjectID: p.ID, Kind: core.UsePoll, AuthorID: p.CreatorID}, images)
}

// ClosePoll closes a poll unless it is closed already. The transaction fails with gone if it is deleted.
func (w Tx) ClosePoll(id string, now time.Time, gone error) {
	w.Guard(sqlPollGuard, gone, id)
	w.Exec(sqlPollClose, id, now)
}

// DeletePoll marks a poll as deleted. The transaction fails with gone if it is deleted already.
func (w Tx) DeletePoll(id string, now time.Time, gone error) {
	w.Guard(sqlPollGuard, gone, id)
	w.Exec(sqlPollDelete, id, now)
}

// AttachStatement attaches a row of table to a post, unless it is deleted or attached to another one. set are further columns
// to set.
func AttachStatement(table, set string) string {
	return `WITH attached AS (UPDATE ` + table + ` SET post_id = $3` + set + ` WHERE home = $1 AND id = $2 AND post_id IN ('', $3::text)
		AND deleted_at IS NULL RETURNING id) SELECT 1 / count(*) FROM attached`
}

// AttachPoll attaches a poll to a post. The transaction fails with refusal if the poll is deleted or attached to
// another post.
func (w Tx) AttachPoll(id, postID string, refusal error) {
	w.Guard(sqlPollAttach, refusal, id, postID)
}

// DetachPoll detaches a poll from a post, if it is attached to it.
func (w Tx) DetachPoll(id, postID string) { w.Exec(sqlPollDetach, id, postID) }

// VoteChange is the change of a user's votes in a poll from the votes that were read.
type VoteChange struct {
	PollID  string
	UserID  string
	Old     []string   // answers
	Added   []PollVote // with ID and CreatedAt
	Removed []string   // answers
}

// ChangeVotes changes and counts a user's votes. The transaction fails with gone if the poll is deleted, with closed if
// it is closed, and with conflict if the votes are not the ones that were read.
func (w Tx) ChangeVotes(c VoteChange, now time.Time, gone, closed, conflict error) {
	w.Guard(sqlPollGuard, gone, c.PollID)
	w.Guard(sqlPollGuardOpen, closed, c.PollID, now)
	w.Guard(sqlVotesGuardUnchanged, conflict, c.PollID, c.UserID, core.EmptyIfNil(c.Old), len(c.Old))
	for _, answer := range c.Removed {
		w.Exec(sqlVoteDelete, c.PollID, c.UserID, answer)
		w.Count(c.PollID, CountVotes(answer), -1)
	}
	for _, v := range c.Added {
		w.Exec(sqlVoteInsert, v.PollID, v.UserID, v.AnswerID, v.ID, v.CreatedAt).OnConflict("poll_votes_pkey", conflict)
		w.Count(c.PollID, CountVotes(v.AnswerID), +1)
	}
}

// SelectPoll reads a poll after the preceding statements.
func (w Tx) SelectPoll(id string, into **Poll) {
	w.Query(sqlPollsByID, db.Row(into), []string{id})
}
