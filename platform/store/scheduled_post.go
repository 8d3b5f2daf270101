package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// ScheduleLanes is how many lanes the scheduled posts of a home have; workers of one lane do not wait for another's.
const ScheduleLanes = 4

// The states of scheduled posts.
const (
	ScheduleWaits  = "WAIT"
	SchedulePosted = "posted"
	ScheduleFailed = "failed"
)

// ScheduledPost is a row of scheduled_posts.
type ScheduledPost struct {
	ID             string
	AuthorID       string
	AuthorPublicID string
	TargetType     string
	TargetID       string // internal id
	TargetPublicID string
	PostIDs        []string // of the parent and its children, in this order
	Draft          []byte   // JSON object
	Mentions       []byte   // JSON array
	ScheduledAt    time.Time
	Attempts       int64
	Status         string
	Description    string
	Version        int64 // counts the changes
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

const scheduledColumns = `id, author_id, author_public_id, target_type, target_id, target_public_id, post_ids, draft, mentions,
	scheduled_at, attempts, status, description, version, created_at, updated_at`

func scanScheduled(rows pgx.Rows) (ScheduledPost, error) {
	var s ScheduledPost
	err := rows.Scan(&s.ID, &s.AuthorID, &s.AuthorPublicID, &s.TargetType, &s.TargetID, &s.TargetPublicID, &s.PostIDs, &s.Draft, &s.Mentions,
		&s.ScheduledAt, &s.Attempts, &s.Status, &s.Description, &s.Version, &s.CreatedAt, &s.UpdatedAt)
	return s, err
}

var (
	sqlScheduledByID = stmt("scheduledPosts.byID", `SELECT `+scheduledColumns+` FROM scheduled_posts WHERE home = $1 AND id = $2`)
	sqlScheduledDue  = stmt("scheduledPosts.due", `SELECT `+scheduledColumns+` FROM scheduled_posts
		WHERE home = $1 AND lane = $2::bigint AND status = 'WAIT' AND due_at <= $3::timestamptz ORDER BY due_at, id LIMIT $4::bigint`)
	sqlScheduledInsert = stmt("scheduledPosts.insert", `INSERT INTO scheduled_posts (home, id, lane, author_id, author_public_id, target_type,
		target_id, target_public_id, post_ids, draft, mentions, scheduled_at, due_at, status, description, created_at, updated_at)
		VALUES ($1, $2, $3::bigint, $4, $5, $6, $7, $8, $9::text[], $10::jsonb, $11::jsonb, $12, $12, $13, $14, $15, $15)`)
	sqlScheduledGuard = stmt("scheduledPosts.guard", `SELECT 1 / count(*) FROM scheduled_posts
		WHERE home = $1 AND id = $2 AND version = $3::bigint AND status <> 'posted'`)
	sqlScheduledGuardWaits = stmt("scheduledPosts.guardWaits", `SELECT 1 / count(*) FROM scheduled_posts
		WHERE home = $1 AND id = $2 AND version = $3::bigint AND status = 'WAIT'`)
	sqlScheduledUpdate = stmt("scheduledPosts.update", `UPDATE scheduled_posts SET post_ids = $3::text[], draft = $4::jsonb, mentions = $5::jsonb,
		scheduled_at = $6, due_at = $6, attempts = 0, status = $7, description = $8, updated_at = $9, version = version + 1 WHERE home = $1 AND id = $2`)
	sqlScheduledDelete = stmt("scheduledPosts.delete", `DELETE FROM scheduled_posts WHERE home = $1 AND id = $2`)
	sqlScheduledSettle = stmt("scheduledPosts.settle", `UPDATE scheduled_posts SET status = $3, description = $4, updated_at = $5, version = version + 1
		WHERE home = $1 AND id = $2`)
	sqlScheduledDelay = stmt("scheduledPosts.delay", `UPDATE scheduled_posts SET attempts = attempts + 1, due_at = $4
		WHERE home = $1 AND id = $2 AND version = $3::bigint AND status = 'WAIT'`)

	scheduledLists = makeScheduledLists()
)

func makeScheduledLists() map[string]*Statement {
	lists := map[string]*Statement{}
	for _, o := range timeOrders {
		for whose, where := range map[string]string{"All": "", "OfAuthor": " AND author_id = $6"} {
			name := "scheduledPosts.list" + whose + o.name
			lists[name] = stmt(name, `SELECT `+scheduledColumns+` FROM scheduled_posts WHERE home = $1 AND is_posted = $2::boolean`+where+
				` AND `+o.after(o.column(), "id", "$3::timestamptz", "$4")+` ORDER BY `+o.by(o.column(), "id")+` LIMIT $5::bigint`)
		}
	}
	return lists
}

// ScheduledPost reads one scheduled post; nil where there is none.
func (r *ReadBatch) ScheduledPost(id string, into **ScheduledPost) {
	if home, err := region.HomeOf(id); err == nil {
		r.add(home, sqlScheduledByID, scanOne(into, scanScheduled), id)
	}
}

// ScheduledPostList is a page of scheduled posts to read from every home.
type ScheduledPostList struct {
	AuthorID  string // everybody's when empty
	NotPosted bool   // leaves out those that are published
	ByUpdate  bool
	Desc      bool
	// The position after which the page starts.
	After   time.Time
	AfterID string
	Limit   int
}

// Key is the time that the list orders by.
func (l ScheduledPostList) Key(s ScheduledPost) time.Time {
	if l.ByUpdate {
		return s.UpdatedAt
	}
	return s.CreatedAt
}

// ListScheduledPosts reads up to Limit rows of each kind and home; they are in no order together.
func (r *ReadBatch) ListScheduledPosts(l ScheduledPostList, into *[]ScheduledPost) {
	*into = nil
	whose := "All"
	if l.AuthorID != "" {
		whose = "OfAuthor"
	}
	st := scheduledLists["scheduledPosts.list"+whose+timeOrder(l.ByUpdate, l.Desc).name]
	for _, home := range region.All() {
		for _, posted := range []bool{false, true} {
			if posted && l.NotPosted {
				continue
			}
			args := []any{posted, l.After, l.AfterID, l.Limit}
			if l.AuthorID != "" {
				args = append(args, l.AuthorID)
			}
			part := new([]ScheduledPost)
			r.add(home, st, scanAll(part, scanScheduled), args...)
			r.Then(func() { *into = append(*into, *part...) })
		}
	}
}

// ScheduledPostsDue reads up to limit waiting posts of a lane whose time has come, those that wait longest first. Two
// workers may see the same post; GuardScheduleWaits lets one of them publish it.
func (s *Store) ScheduledPostsDue(ctx context.Context, home region.Code, lane int64, now time.Time, limit int) ([]ScheduledPost, error) {
	var due []ScheduledPost
	r := s.NewReadBatch()
	r.add(home, sqlScheduledDue, scanAll(&due, scanScheduled), lane, now, limit)
	err := r.Run(ctx)
	return due, err
}

// InsertScheduledPost inserts a scheduled post that waits.
func (w *Tx) InsertScheduledPost(s ScheduledPost) {
	w.once = "scheduled_posts_pkey"
	w.exec(sqlScheduledInsert, s.ID, scheduleLane(s.ID), s.AuthorID, s.AuthorPublicID, s.TargetType, s.TargetID, s.TargetPublicID, s.PostIDs,
		s.Draft, s.Mentions, s.ScheduledAt, s.Status, s.Description, s.CreatedAt)
}

func scheduleLane(id string) int64 { return int64(id[len(id)-1]) % ScheduleLanes }

// ChangeScheduledPost stores a changed content, time and status of a row that was read; refusal answers where it was
// published or changed meanwhile.
func (w *Tx) ChangeScheduledPost(s ScheduledPost, refusal error) {
	w.guard(sqlScheduledGuard, refusal, s.ID, s.Version)
	w.exec(sqlScheduledUpdate, s.ID, s.PostIDs, s.Draft, s.Mentions, s.ScheduledAt, s.Status, s.Description, s.UpdatedAt)
}

// DeleteScheduledPost removes a row that was read; refusal answers where it was published or changed meanwhile.
func (w *Tx) DeleteScheduledPost(s ScheduledPost, refusal error) {
	w.guard(sqlScheduledGuard, refusal, s.ID, s.Version)
	w.exec(sqlScheduledDelete, s.ID)
}

// SettleScheduledPost ends the waiting of a row that was read, in the transaction that publishes it or without one; taken
// answers where it does not wait any more, or was changed meanwhile.
func (w *Tx) SettleScheduledPost(s ScheduledPost, status, description string, now time.Time, taken error) {
	w.guard(sqlScheduledGuardWaits, taken, s.ID, s.Version)
	w.exec(sqlScheduledSettle, s.ID, status, description, now)
}

// DelayScheduledPost leaves a post that could not be published until next.
func (w *Tx) DelayScheduledPost(s ScheduledPost, next time.Time) {
	w.exec(sqlScheduledDelay, s.ID, s.Version, next)
}
