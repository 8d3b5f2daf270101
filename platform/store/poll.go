package store

import (
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
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
	ClosedIn        int64  // milliseconds; 0 where it stays open until somebody closes it
	ClosesAt        *time.Time
	ClosedAt        *time.Time // when somebody closed it
	PostID          string     // the post that it is part of; empty before there is one
	CreatedAt       time.Time
	UpdatedAt       time.Time
	DeletedAt       *time.Time
}

// PollAnswer is one answer, as a row holds it.
type PollAnswer struct {
	ID       string `json:"id"`
	DataType string `json:"dataType"`
	Data     string `json:"data"`
	FileID   string `json:"fileId"`
}

// End is when the poll closed or will, nil where that is open.
func (p *Poll) End() *time.Time {
	if p.ClosedAt != nil {
		return p.ClosedAt
	}
	return p.ClosesAt
}

// IsClosed reports whether nobody may vote any more.
func (p *Poll) IsClosed(now time.Time) bool {
	return p.End() != nil && !now.Before(*p.End())
}

// PollVote is a row of poll_votes: one user votes for one answer.
type PollVote struct {
	PollID    string
	UserID    string // internal id
	AnswerID  string
	ID        string
	CreatedAt time.Time
}

const (
	pollColumns = `id, creator_id, creator_public_id, title, question, answers, answer_type, closed_in, closes_at, closed_at, post_id,
	created_at, updated_at, deleted_at`
	voteColumns = `poll_id, user_id, answer_id, id, created_at`
)

func scanPoll(rows pgx.Rows) (Poll, error) {
	var p Poll
	var answers []byte
	err := rows.Scan(&p.ID, &p.CreatorID, &p.CreatorPublicID, &p.Title, &p.Question, &answers, &p.AnswerType, &p.ClosedIn, &p.ClosesAt, &p.ClosedAt,
		&p.PostID, &p.CreatedAt, &p.UpdatedAt, &p.DeletedAt)
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(answers, &p.Answers)
}

func scanVote(rows pgx.Rows) (PollVote, error) {
	var v PollVote
	err := rows.Scan(&v.PollID, &v.UserID, &v.AnswerID, &v.ID, &v.CreatedAt)
	return v, err
}

var (
	sqlPollsByID  = stmt("polls.byID", `SELECT `+pollColumns+` FROM polls WHERE home = $1 AND id = ANY($2::text[])`)
	sqlPollMaker  = stmt("polls.creator", `SELECT `+userColumns+` FROM users WHERE home = $1 AND id = (SELECT creator_id FROM polls WHERE home = $1 AND polls.id = $2)`)
	sqlPollInsert = stmt("polls.insert", `INSERT INTO polls (home, id, creator_id, creator_public_id, title, question, answers, answer_type, closed_in,
		closes_at, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9::bigint, $10, $11, $11)`)
	sqlPollLive = stmt("polls.guardLive", `SELECT 1 / count(*) FROM polls WHERE home = $1 AND id = $2 AND deleted_at IS NULL`)
	sqlPollOpen = stmt("polls.guardOpen", `SELECT 1 / count(*) FROM polls WHERE home = $1 AND id = $2 AND closed_at IS NULL
		AND (closes_at IS NULL OR closes_at > $3::timestamptz)`)
	sqlPollClose = stmt("polls.close", `UPDATE polls SET closed_at = $3, updated_at = $3 WHERE home = $1 AND id = $2 AND closed_at IS NULL
		AND (closes_at IS NULL OR closes_at > $3)`)
	sqlPollDelete = stmt("polls.delete", `UPDATE polls SET deleted_at = $3, updated_at = $3 WHERE home = $1 AND id = $2`)
	sqlPollAttach = stmt("polls.attach", `UPDATE polls SET post_id = $3 WHERE home = $1 AND id = $2 AND post_id = ''`)

	sqlVotesOf    = stmt("pollVotes.ofUser", `SELECT `+voteColumns+` FROM poll_votes WHERE home = $1 AND poll_id = ANY($2::text[]) AND user_id = $3`)
	sqlVotesGuard = stmt("pollVotes.guardSame", `SELECT 1 / CASE WHEN (SELECT count(*) FROM poll_votes WHERE home = $1 AND poll_id = $2 AND user_id = $3) = $5::bigint
		AND (SELECT count(*) FROM poll_votes WHERE home = $1 AND poll_id = $2 AND user_id = $3 AND answer_id = ANY($4::text[])) = $5::bigint THEN 1 ELSE 0 END`)
	sqlVoteInsert = stmt("pollVotes.insert", `INSERT INTO poll_votes (home, poll_id, user_id, answer_id, id, created_at) VALUES ($1, $2, $3, $4, $5, $6)`)
	sqlVoteDelete = stmt("pollVotes.delete", `DELETE FROM poll_votes WHERE home = $1 AND poll_id = $2 AND user_id = $3 AND answer_id = $4`)

	voteLists = makeVoteLists()
)

func makeVoteLists() map[listOrder]*Statement {
	lists := map[listOrder]*Statement{}
	for _, o := range []listOrder{orderCreatedDesc, orderCreatedAsc} {
		lists[o] = stmt("pollVotes.list"+o.name, `SELECT `+voteColumns+` FROM poll_votes WHERE home = $1 AND poll_id = $2 AND answer_id = $3
			AND `+o.after("created_at", "id", "$4::timestamptz", "$5")+` ORDER BY `+o.by("created_at", "id")+` LIMIT $6::bigint`)
	}
	return lists
}

// CountVotes is the kind of the count of votes for an answer of a poll.
func CountVotes(answerID string) CounterKind { return CounterKind("vote:" + answerID) }

// Polls reads polls of any homes, deleted ones too; their order is not defined.
func (r *ReadBatch) Polls(ids []string, into *[]Poll) {
	*into = nil
	for home, ids := range byHome(ids) {
		part := new([]Poll)
		r.add(home, sqlPollsByID, scanAll(part, scanPoll), ids)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// Poll reads one poll; nil where there is none.
func (r *ReadBatch) Poll(id string, into **Poll) {
	if home, err := region.HomeOf(id); err == nil {
		r.add(home, sqlPollsByID, scanOne(into, scanPoll), []string{id})
	}
}

// CreatorOfPoll reads who made a poll: they live where it does.
func (r *ReadBatch) CreatorOfPoll(id string, into *[]User) {
	if home, err := region.HomeOf(id); err == nil {
		r.add(home, sqlPollMaker, scanAll(into, scanUser), id)
	}
}

// VotesOf reads a user's votes in polls of any homes, and adds them to into.
func (r *ReadBatch) VotesOf(pollIDs []string, userID string, into *[]PollVote) {
	for home, ids := range byHome(pollIDs) {
		part := new([]PollVote)
		r.add(home, sqlVotesOf, scanAll(part, scanVote), ids, userID)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// VoteList is a page of the votes for one answer.
type VoteList struct {
	PollID   string
	AnswerID string
	Desc     bool
	// The position after which the page starts.
	After   time.Time
	AfterID string
	Limit   int
}

// ListVotes reads up to Limit votes in the order of the list.
func (r *ReadBatch) ListVotes(l VoteList, into *[]PollVote) {
	if home, err := region.HomeOf(l.PollID); err == nil {
		r.add(home, voteLists[pick(l.Desc, orderCreatedDesc, orderCreatedAsc)], scanAll(into, scanVote), l.PollID, l.AnswerID, l.After, l.AfterID, l.Limit)
	}
}

// InsertPoll inserts a poll; sent again after a lost connection it is stored once.
func (w *Tx) InsertPoll(p Poll) {
	answers, err := json.Marshal(p.Answers)
	if err != nil {
		panic("store: answers of a poll: " + err.Error()) // plain texts
	}
	w.once = "polls_pkey"
	w.exec(sqlPollInsert, p.ID, p.CreatorID, p.CreatorPublicID, p.Title, p.Question, answers, p.AnswerType, p.ClosedIn, p.ClosesAt, p.CreatedAt)
}

// ClosePoll closes a poll that is open; one that is closed stays as it is, and gone answers for one that is deleted.
func (w *Tx) ClosePoll(id string, now time.Time, gone error) {
	w.guard(sqlPollLive, gone, id)
	w.exec(sqlPollClose, id, now)
}

// DeletePoll marks a poll deleted; gone answers where it is already.
func (w *Tx) DeletePoll(id string, now time.Time, gone error) {
	w.guard(sqlPollLive, gone, id)
	w.exec(sqlPollDelete, id, now)
}

// AttachPoll makes a poll part of a post, unless it is part of one already.
func (w *Tx) AttachPoll(id, postID string) { w.exec(sqlPollAttach, id, postID) }

// VoteChange is what a user votes for in a poll, and what they voted for when it was read.
type VoteChange struct {
	PollID  string
	UserID  string
	Old     []string   // answers
	Added   []PollVote // with ids and times of their own
	Removed []string   // answers
}

// ChangeVotes changes a user's votes and counts them. gone, closed and changed answer where the poll is deleted, where it
// is closed, and where the user's votes are not what was read any more.
func (w *Tx) ChangeVotes(c VoteChange, now time.Time, gone, closed, changed error) {
	w.guard(sqlPollLive, gone, c.PollID)
	w.guard(sqlPollOpen, closed, c.PollID, now)
	w.guard(sqlVotesGuard, changed, c.PollID, c.UserID, texts(c.Old), len(c.Old))
	for _, answer := range c.Removed {
		w.exec(sqlVoteDelete, c.PollID, c.UserID, answer)
		w.Count(c.PollID, CountVotes(answer), -1)
	}
	for _, v := range c.Added {
		w.exec(sqlVoteInsert, v.PollID, v.UserID, v.AnswerID, v.ID, v.CreatedAt).conflict("poll_votes_pkey", changed)
		w.Count(c.PollID, CountVotes(v.AnswerID), +1)
	}
}

// SelectPoll reads a poll as it stands once the statements before it have run.
func (w *Tx) SelectPoll(id string, into **Poll) {
	w.query(sqlPollsByID, scanOne(into, scanPoll), []string{id})
}
