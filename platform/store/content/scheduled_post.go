package content

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// ScheduleLanes is the number of lanes of a home's scheduled posts. The workers of one lane do not wait for those of
// another.
const ScheduleLanes = 4

// The statuses of scheduled posts.
const (
	ScheduleWaiting = "WAIT"
	SchedulePosted  = "posted"
	ScheduleFailed  = "failed"
)

// ScheduledPost is a row of scheduled_posts.
type ScheduledPost struct {
	ID             string
	AuthorID       string
	AuthorPublicID string
	TargetType     string
	TargetID       string // internal id
	TargetPublicID string
	PostIDs        []string // the ids of the parent and then its children
	Draft          []byte   // JSON object
	Mentions       []byte   // JSON array
	ScheduledAt    time.Time
	Attempts       int64
	Status         string
	Description    string
	Version        int64 // incremented by each change
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

var scheduledColumns = db.Columns[ScheduledPost]()

var (
	sqlScheduledByID = db.Register("scheduledPosts.byID", `SELECT `+scheduledColumns+` FROM scheduled_posts WHERE home = $1 AND id = $2`)
	scheduledDue     = core.ForEachIn([]int{ScheduleLanes}, "scheduledPosts.due", 3, core.NoLane, `SELECT `+scheduledColumns+`
		FROM scheduled_posts /*@{FORCE_INDEX=scheduled_posts_due}*/
		WHERE home = $1 AND lane = {value}::bigint AND status = 'WAIT' AND due_at > $2::timestamptz AND due_at <= $3::timestamptz
		ORDER BY due_at, id LIMIT $4::bigint`, "")
	sqlScheduledInsert = db.Register("scheduledPosts.insert", `INSERT INTO scheduled_posts (home, id, lane, author_id, author_public_id, target_type,
		target_id, target_public_id, post_ids, draft, mentions, scheduled_at, due_at, status, description, created_at, updated_at)
		VALUES ($1, $2, $3::bigint, $4, $5, $6, $7, $8, $9::text[], $10::jsonb, $11::jsonb, $12, $12, $13, $14, $15, $15)`)
	sqlScheduledGuard = db.Register("scheduledPosts.guard", `SELECT 1 / count(*) FROM scheduled_posts
		WHERE home = $1 AND id = $2 AND version = $3::bigint AND status <> 'posted'`)
	sqlScheduledGuardWaiting = db.Register("scheduledPosts.guardWaits", `SELECT 1 / count(*) FROM scheduled_posts
		WHERE home = $1 AND id = $2 AND version = $3::bigint AND status = 'WAIT'`)
	sqlScheduledUpdate = db.Register("scheduledPosts.update", `UPDATE scheduled_posts SET post_ids = $3::text[], draft = $4::jsonb,
		mentions = $5::jsonb,
		scheduled_at = $6, due_at = $6, attempts = 0, status = $7, description = $8, updated_at = $9, version = version + 1 WHERE home = $1
		AND id = $2`)
	sqlScheduledDelete  = db.Register("scheduledPosts.delete", `DELETE FROM scheduled_posts WHERE home = $1 AND id = $2`)
	sqlScheduledResolve = db.Register("scheduledPosts.resolve", `UPDATE scheduled_posts SET status = $3, description = $4, updated_at = $5,
		version = version + 1
		WHERE home = $1 AND id = $2`)
	sqlScheduledDelay = db.Register("scheduledPosts.delay", `UPDATE scheduled_posts SET attempts = attempts + 1, due_at = $4
		WHERE home = $1 AND id = $2 AND version = $3::bigint AND status = 'WAIT'`)
)

// The statements of ListScheduledPosts.
var (
	scheduledPosts         = scheduledPostList("All", "")
	scheduledPostsOfAuthor = scheduledPostList("OfAuthor", " AND author_id = $6")
)

func scheduledPostList(name, filter string) core.TimeLists {
	return core.OrderedByTime(core.Source{
		Name: "scheduledPosts.list" + name, Columns: scheduledColumns,
		From: `scheduled_posts WHERE home = $1 AND is_posted = $2::boolean` + filter, After: 3,
	}.List)
}

// ScheduledPost reads one scheduled post; nil if there is none.
func (r ReadBatch) ScheduledPost(id string, into **ScheduledPost) {
	r.AddAt(id, sqlScheduledByID, db.Row(into), id)
}

// ScheduledPostList is a page of the scheduled posts of all homes.
type ScheduledPostList struct {
	AuthorID  string // empty means all
	NotPosted bool   // excludes published posts
	ByUpdate  bool
	Desc      bool
	// The position that the page starts after.
	After   time.Time
	AfterID string
	Limit   int
}

// Key returns the time that the list is ordered by.
func (l ScheduledPostList) Key(s ScheduledPost) time.Time {
	if l.ByUpdate {
		return s.UpdatedAt
	}
	return s.CreatedAt
}

// ListScheduledPosts reads up to Limit published and up to Limit other posts of each home, in no particular order.
func (r ReadBatch) ListScheduledPosts(l ScheduledPostList, into *[]ScheduledPost) {
	*into = nil
	for _, posted := range []bool{false, true} {
		if posted && l.NotPosted {
			continue
		}
		list, args := scheduledPosts, []any{posted, l.After, l.AfterID, l.Limit}
		if l.AuthorID != "" {
			list, args = scheduledPostsOfAuthor, append(args, l.AuthorID)
		}
		core.ReadEveryHome(r.ReadBatch, list.In(l.ByUpdate, l.Desc), into, args...)
	}
}

// ScheduledPostsDue reads up to limit posts of each of some lanes that became due after a time, longest overdue first. Two workers can read
// the same post; the guard of ResolveScheduledPost ensures that only one publishes it.
func (r ReadBatch) ScheduledPostsDue(home region.Code, lanes []int64, after, now time.Time, limit int, into *map[int64][]ScheduledPost) {
	due := new([]ScheduledPost)
	core.ReadEachAt(r.ReadBatch, home, lanes, scheduledDue, due, after, now, limit)
	r.Then(func() { *into = core.ByLane(*due, func(p ScheduledPost) int64 { return scheduleLane(p.ID) }) })
}

// InsertScheduledPost inserts a waiting scheduled post.
func (w Tx) InsertScheduledPost(s ScheduledPost) {
	w.IdempotentBy("scheduled_posts_pkey")
	w.Exec(sqlScheduledInsert, s.ID, scheduleLane(s.ID), s.AuthorID, s.AuthorPublicID, s.TargetType, s.TargetID, s.TargetPublicID, s.PostIDs,
		s.Draft, s.Mentions, s.ScheduledAt, s.Status, s.Description, s.CreatedAt)
	w.InsertFileUses(s.fileUse(), core.DraftFileIDs(s.Draft))
}

func (s ScheduledPost) fileUse() core.FileUse {
	return core.FileUse{ObjectID: s.ID, Kind: core.UseScheduledPost, AuthorID: s.AuthorID, PlaceID: s.TargetID}
}

func scheduleLane(id string) int64 { return int64(id[len(id)-1]) % ScheduleLanes }

// UpdateScheduledPost stores the content, time and status of a scheduled post. The transaction fails with refusal if
// the post was published or changed since it was read.
func (w Tx) UpdateScheduledPost(s ScheduledPost, refusal error) {
	w.Guard(sqlScheduledGuard, refusal, s.ID, s.Version)
	w.Exec(sqlScheduledUpdate, s.ID, s.PostIDs, s.Draft, s.Mentions, s.ScheduledAt, s.Status, s.Description, s.UpdatedAt)
	w.ReplaceFileUses(s.fileUse(), core.DraftFileIDs(s.Draft))
}

// DeleteScheduledPost deletes a scheduled post. The transaction fails with refusal if the post was published or changed
// since it was read.
func (w Tx) DeleteScheduledPost(s ScheduledPost, refusal error) {
	w.Guard(sqlScheduledGuard, refusal, s.ID, s.Version)
	w.Exec(sqlScheduledDelete, s.ID)
	w.ReleaseFiles([]string{s.ID})
}

// ResolveScheduledPost sets the final status of a waiting scheduled post. The transaction fails with conflict if the
// post is not waiting or was changed since it was read.
func (w Tx) ResolveScheduledPost(s ScheduledPost, status, description string, now time.Time, conflict error) {
	w.Guard(sqlScheduledGuardWaiting, conflict, s.ID, s.Version)
	w.Exec(sqlScheduledResolve, s.ID, status, description, now)
	if status == SchedulePosted { // the posts refer to the files from now on
		w.ReleaseFiles([]string{s.ID})
	}
}

// DelayScheduledPost postpones a post that could not be published.
func (w Tx) DelayScheduledPost(s ScheduledPost, next time.Time) {
	w.Exec(sqlScheduledDelay, s.ID, s.Version, next)
}
