package content

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// MaxStoryLifetime is the maximum lifetime of a story.
const MaxStoryLifetime = 1440 * time.Minute

// Story is a row of stories.
type Story struct {
	ID                string
	TargetType        string // community or user
	TargetID          string // internal id
	TargetPublicID    string
	AuthorID          string // internal id
	AuthorPublicID    string
	ReferenceID       string // chosen by the client
	DataType          string // text, image or video
	Data              []byte // JSON object
	Items             []byte // JSON array
	Metadata          []byte // JSON object
	Mentionees        []byte // JSON array
	Flaggers          []string
	FlagCount         int64
	HasFlaggedComment bool
	CreatedAt         time.Time
	UpdatedAt         time.Time
	ExpiresAt         time.Time
	DeletedAt         *time.Time
	HiddenAt          *time.Time // when flags hid it; nil if it is visible

	LatestComments LatestComments // of the first level
}

// IsLive reports whether the story is neither deleted nor expired. It is false for a nil Story.
func (s *Story) IsLive(now time.Time) bool {
	return s != nil && s.DeletedAt == nil && now.Before(s.ExpiresAt)
}

var storyColumns = db.Columns[Story]("latest_comments")

// sqlStoryExpiry is the expiry of the target's ($2) last visible story; a time long ago if there is none.
const sqlStoryExpiry = `COALESCE((SELECT max(expires_at) FROM stories WHERE home = $1 AND target_id = $2 AND NOT is_deleted AND hidden_at
	IS NULL), '0001-01-01'::timestamptz)`

var (
	sqlStoriesByID = db.Register("stories.byID", withLatest(core.CountComments, storyColumns, `SELECT `+storyColumns+` FROM stories WHERE home = $1
		AND id = ANY($2::text[])`, ""))
	sqlStoryHeads = db.Register("stories.heads", `SELECT `+db.Without(storyColumns, ContentColumns)+`, NULL::text FROM stories WHERE home = $1
		AND id = ANY($2::text[])`)
	sqlStoryOfComment = db.Register("stories.ofComment", withLatest(core.CountComments, storyColumns, `SELECT `+storyColumns+` FROM stories
		WHERE home = $1 AND id = (SELECT reference_id FROM comments WHERE home = $1 AND comments.id = $2)`, ""))

	sqlStoryInsert = db.Register("stories.insert", `INSERT INTO stories (home, id, target_type, target_id, target_public_id, author_id,
		author_public_id,
		reference_id, data_type, data, items, metadata, mentionees, created_at, updated_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11::jsonb, $12::jsonb, $13::jsonb, $14, $14, $15)`)
	sqlStoryGuard     = db.Register("stories.guardThere", `SELECT 1 / count(*) FROM stories WHERE home = $1 AND id = $2 AND deleted_at IS NULL`)
	sqlStoryGuardRow  = db.Register("stories.guardRow", `SELECT 1 / count(*) FROM stories WHERE home = $1 AND id = $2`)
	sqlStoryGuardLive = db.Register("stories.guardLive", `SELECT 1 / count(*) FROM stories WHERE home = $1 AND id = $2 AND deleted_at IS NULL
		AND expires_at > $3::timestamptz`)
	sqlStoryDelete = db.Register("stories.delete",
		`UPDATE stories SET deleted_at = $3, updated_at = $3 WHERE home = $1 AND id = $2`).Updates(core.SharedStories, 2)
	sqlStoryPurge         = db.Register("stories.purge", `DELETE FROM stories WHERE home = $1 AND id = ANY($2::text[])`).Updates(core.SharedStories, 2)
	sqlStoriesEndedBefore = db.Register("stories.endedBefore", withLatest(core.CountComments, storyColumns, `SELECT `+storyColumns+` FROM stories
		WHERE home = $1 AND expires_at < $2::timestamptz ORDER BY expires_at, id LIMIT $3::bigint`, ""))
	// Deleting or hiding a story has already decremented the count.
	sqlStorySubtractCount = db.Register("stories.uncount", `INSERT INTO counters (home, ref, kind, shard, n) VALUES ($1, $2, $3, 0,
		-(SELECT count(*) FROM stories WHERE home = $1 AND id = $4 AND deleted_at IS NULL AND hidden_at IS NULL))
		ON CONFLICT (home, ref, kind, shard) DO UPDATE SET n = counters.n + excluded.n`).
		UpdatesUnlocked(core.SharedCounters, "the statement reads the story, which the transaction locks, before its deletion")
	sqlStoryTargetRecompute = db.Register("storyTargets.put", `INSERT INTO story_targets (home, target_id, target_type, target_public_id,
		last_expires_at, updated_at)
		VALUES ($1, $2, $3, $4, `+sqlStoryExpiry+`, $5) ON CONFLICT (home, target_id)
		DO UPDATE SET target_public_id = excluded.target_public_id, last_expires_at = excluded.last_expires_at, updated_at = excluded.updated_at`)
)

// CountStories is the kind of the count of a target's stories, including expired ones, without deleted and hidden ones.
const CountStories core.CounterKind = "stories"

// Story reads one story; nil if there is none.
func (r ReadBatch) Story(id string, into **Story) {
	r.AddAt(id, sqlStoriesByID, db.Row(into), []string{id})
}

// StoriesByID reads stories of any homes in no particular order.
func (r ReadBatch) StoriesByID(ids []string, into *[]Story) {
	core.ReadMany(r.ReadBatch, ids, sqlStoriesByID, into)
}

// StoryHeads is StoriesByID without content and latest comments, for operations that check who may see stories.
func (r ReadBatch) StoryHeads(ids []string, into *[]Story) {
	core.ReadMany(r.ReadBatch, ids, sqlStoryHeads, into)
}

// StoryOfComment reads the story of a comment; nil if the comment is not on a story.
func (r ReadBatch) StoryOfComment(commentID string, into **Story) {
	r.AddAt(commentID, sqlStoryOfComment, db.Row(into), commentID)
}

// StoriesEndedBefore reads up to limit stories of a home that expired before a time, including deleted ones, earliest
// first.
func (r ReadBatch) StoriesEndedBefore(home region.Code, before time.Time, limit int, into *[]Story) {
	r.Add(home, sqlStoriesEndedBefore, db.Rows(into), before, limit)
}

// InsertStory inserts a story and counts it. A retry after a lost connection inserts it once.
func (w Tx) InsertStory(s Story) {
	w.IdempotentBy("stories_pkey")
	w.Exec(sqlStoryInsert, s.ID, s.TargetType, s.TargetID, s.TargetPublicID, s.AuthorID, s.AuthorPublicID, s.ReferenceID, s.DataType, s.Data,
		s.Items,
		s.Metadata, s.Mentionees, s.CreatedAt, s.ExpiresAt)
	w.InsertFileUses(core.FileUse{ObjectID: s.ID, Kind: core.UseStory, AuthorID: s.AuthorID, PlaceID: s.TargetID}, core.FileIDs(s.Data))
	w.Count(s.TargetID, CountStories, +1)
	w.recomputeStoryTarget(s, s.CreatedAt)
}

// recomputeStoryTarget recomputes the row of a story's target from its stories.
func (w Tx) recomputeStoryTarget(s Story, now time.Time) {
	w.Exec(sqlStoryTargetRecompute, s.TargetID, s.TargetType, s.TargetPublicID, now)
}

// GuardStory makes the transaction fail with refusal if the story is deleted.
func (w Tx) GuardStory(id string, refusal error) { w.Guard(sqlStoryGuard, refusal, id) }

// GuardStoryRow makes the transaction fail with refusal if the story has no row. A story that is marked as deleted has
// one.
func (w Tx) GuardStoryRow(id string, refusal error) { w.Guard(sqlStoryGuardRow, refusal, id) }

// GuardLiveStory makes the transaction fail with refusal if the story is deleted or expired.
func (w Tx) GuardLiveStory(id string, now time.Time, refusal error) {
	w.Guard(sqlStoryGuardLive, refusal, id, now)
}

// DeleteStory marks a story as deleted and updates the counts. GuardStory must precede it.
func (w Tx) DeleteStory(s Story, now time.Time) {
	w.Exec(sqlStorySubtractCount, s.TargetID, string(CountStories), s.ID)
	w.Exec(sqlStoryDelete, s.ID, now)
	w.CloseFlagItems(s.ID, now)
	w.recomputeStoryTarget(s, now)
}

// PurgeStory deletes the row of a story with its flags, reactions, views and counts. Its comments must be deleted
// first.
func (w Tx) PurgeStory(s Story, now time.Time) {
	ids := []string{s.ID}
	w.PurgeReferences(ids)
	w.Exec(sqlViewsPurge, ids)
	w.Exec(core.CountersPurge, ids)
	w.Exec(sqlStorySubtractCount, s.TargetID, string(CountStories), s.ID)
	w.Exec(sqlStoryPurge, ids)
	w.recomputeStoryTarget(s, now)
}

// SelectStory reads a story after the preceding statements.
func (w Tx) SelectStory(id string, into **Story) {
	w.Query(sqlStoriesByID, db.Row(into), []string{id})
}
