package content

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// The types of references of comments and reactions.
const (
	ReferencePost    = "post"
	ReferenceStory   = "story"
	ReferenceContent = "content" // a post on content that is stored outside of Plaza
	ReferenceComment = "comment" // of reactions only
)

// Comment is a row of comments.
type Comment struct {
	ID             string
	ReferenceType  string // post, content or story
	ReferenceID    string
	TargetType     string // of the reference
	TargetID       string // internal id
	TargetPublicID string
	ParentID       string // empty at the first level
	RootID         string
	AuthorID       string
	AuthorPublicID string
	DataTypes      []string
	Data           []byte // JSON object
	Metadata       []byte // JSON object
	Mentionees     []byte // JSON array
	Annotations    []byte // JSON object
	Attachments    []byte // JSON array
	Segment        int64
	ApprovalStatus string // Approved, Pending or Declined
	Flaggers       []string
	FlagCount      int64
	CreatedAt      time.Time
	UpdatedAt      time.Time
	EditedAt       time.Time
	DeletedAt      *time.Time

	LatestReplies LatestComments // direct ones
}

// MaxUnapprovedComments is the maximum number of pending and declined comments of an author on one reference, also deleted ones, with
// which the author can add a pending one. Lists of approved comments read past them, and the author's own list of them reads all.
const MaxUnapprovedComments = 100

// The approval statuses of a comment. Only approved comments are counted and embedded.
const (
	Approved = "approved"
	Pending  = "pending"
	Declined = "declined"
)

var (
	commentColumns = db.Columns[Comment]("latest_replies")
	commentZeros   = db.Zeros[Comment]("latest_replies")
)

// withReplies wraps a statement that selects commentColumns and adds the latest replies to each row.
func withReplies(inner, order string) string {
	return withLatest(core.CountReplies, commentColumns, inner, order)
}

var (
	sqlCommentsByID = db.Register("comments.byID",
		withReplies(`SELECT `+commentColumns+` FROM comments WHERE home = $1 AND id = ANY($2::text[])`, ""))
	sqlCommentInsert = db.Register("comments.insert", `INSERT INTO comments (home, id, reference_type, reference_id, target_type, target_id,
		target_public_id,
		parent_id, root_id, author_id, author_public_id, data_types, data, metadata, mentionees, attachments, segment, approval_status,
		annotations, created_at, updated_at, edited_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::text[], $13::jsonb, $14::jsonb, $15::jsonb, $16::jsonb, $17::bigint, $18,
		$19::jsonb,
		$20, $20, $20)`)
	sqlCommentGuardUnapproved = db.Register("comments.guardUnapproved", `SELECT 1 / CASE WHEN count(*) < $4::bigint THEN 1 ELSE 0 END FROM (
		SELECT 1 FROM comments WHERE home = $1 AND reference_id = $2 AND author_id = $3 AND approval_status IN ('pending', 'declined')
		LIMIT $4::bigint) AS unapproved`)
	sqlCommentGuard = db.Register("comments.guardAlive", `SELECT 1 / count(*) FROM comments WHERE home = $1 AND id = $2 AND deleted_at
		IS NULL`)
	sqlCommentGuardStatus = db.Register("comments.guardStatus", `SELECT 1 / count(*) FROM comments WHERE home = $1 AND id = $2 AND approval_status
		= $3 AND deleted_at IS NULL`)
	sqlCommentGuardUnchanged = db.Register("comments.guardUnchanged", `SELECT 1 / count(*) FROM comments WHERE home = $1 AND id = $2
		AND updated_at = $3::timestamptz AND deleted_at IS NULL`)
	sqlCommentReview = db.Register("comments.review", `UPDATE comments SET approval_status = $3, updated_at = `+changedAt("$4")+` WHERE home = $1
		AND id = $2`).Updates(core.SharedComments, 2)
	sqlCommentUpdate = db.Register("comments.edit", `UPDATE comments SET data_types = $3::text[], data = $4::jsonb, metadata = $5::jsonb, mentionees
		= $6::jsonb,
		attachments = $7::jsonb, annotations = $10::jsonb, edited_at = CASE WHEN $9::boolean OR (data = $4::jsonb AND attachments = $7::jsonb)
		THEN edited_at ELSE $8::timestamptz END,
		updated_at = `+changedAt("$8")+` WHERE home = $1 AND id = $2`).Updates(core.SharedComments, 2)
	sqlCommentDelete = db.Register("comments.delete",
		`UPDATE comments SET deleted_at = $3, updated_at = $3 WHERE home = $1 AND id = $2`).Updates(core.SharedComments, 2)
	sqlCommentPurge = db.Register("comments.purge",
		`DELETE FROM comments WHERE home = $1 AND id = ANY($2::text[]) AND deleted_at IS NOT NULL`).Updates(core.SharedComments, 2)
	sqlCommentSomeIDs = db.Register("comments.someIDs", `SELECT id FROM comments WHERE home = $1 AND reference_id = $2 ORDER BY created_at, id
		LIMIT 500`)
	sqlCommentSubtractCount = db.Register("comments.subtractCount", `INSERT INTO counters (home, ref, kind, shard, n) VALUES ($1, $2, $3, 0,
		-(SELECT count(*) FROM comments WHERE home = $1 AND id = ANY($4::text[]) AND ($5::boolean OR (approval_status = 'approved' AND deleted_at
		IS NULL))))
		ON CONFLICT (home, ref, kind, shard) DO UPDATE SET n = counters.n + excluded.n`).UpdatesFirst(core.SharedCounters, 2, 3)
	sqlCommentDeleteRows = db.Register("comments.deleteRows",
		`DELETE FROM comments WHERE home = $1 AND id = ANY($2::text[])`).Updates(core.SharedComments, 2)
)

// Comment reads one comment; nil if there is none.
func (r ReadBatch) Comment(id string, into **Comment) {
	r.AddAt(id, sqlCommentsByID, db.Row(into), []string{id})
}

// CommentsByID reads comments of any homes in no particular order.
func (r ReadBatch) CommentsByID(ids []string, into *[]Comment) {
	core.AddMany(r.ReadBatch, ids, sqlCommentsByID, into)
}

// SelectComment reads a comment after the preceding statements.
func (w Tx) SelectComment(id string, into **Comment) {
	w.Query(sqlCommentsByID, db.Row(into), []string{id})
}

// GuardComment makes the transaction fail with refusal if the comment is deleted.
func (w Tx) GuardComment(id string, refusal error) { w.Guard(sqlCommentGuard, refusal, id) }

// GuardUnapprovedComments makes the transaction fail with refusal if an author has MaxUnapprovedComments on a reference.
func (w Tx) GuardUnapprovedComments(referenceID, authorID string, refusal error) {
	w.Guard(sqlCommentGuardUnapproved, refusal, referenceID, authorID, MaxUnapprovedComments)
}

// GuardCommentStatus makes the transaction fail with refusal if the comment is deleted or its approval status has
// changed since it was read.
func (w Tx) GuardCommentStatus(c Comment, refusal error) {
	w.Guard(sqlCommentGuardStatus, refusal, c.ID, c.ApprovalStatus)
}

// GuardCommentUnchanged makes the transaction fail with refusal if the comment was deleted, edited or reviewed since it
// was read.
func (w Tx) GuardCommentUnchanged(c Comment, refusal error) {
	w.Guard(sqlCommentGuardUnchanged, refusal, c.ID, c.UpdatedAt)
}

// UpdateComment stores the data, attachments, metadata, mentionees and annotations of a comment. It counts as edited if the data or
// attachments differ, unless keepEdited is set. GuardCommentUnchanged must precede it.
func (w Tx) UpdateComment(c Comment, now time.Time, keepEdited bool) {
	w.Exec(sqlCommentUpdate, c.ID, core.EmptyIfNil(c.DataTypes), c.Data, c.Metadata, c.Mentionees, c.Attachments, now, keepEdited,
		core.ObjectIfNil(c.Annotations))
	w.ReplaceFileUses(c.fileUse(), core.AttachedFileIDs(c.Attachments))
}

func (c Comment) fileUse() core.FileUse {
	return core.FileUse{ObjectID: c.ID, Kind: core.UseComment, AuthorID: c.AuthorID, PlaceID: c.TargetID}
}

// ReviewComment changes the status of a pending comment and counts it if it is approved. GuardCommentStatus must
// precede it.
func (w Tx) ReviewComment(c Comment, status string, now time.Time) {
	w.Exec(sqlCommentReview, c.ID, status, now)
	c.ApprovalStatus = status
	w.countComment(c)
}

// countComment adds the comment to the counts and the latest comments. Only approved comments are counted.
func (w Tx) countComment(c Comment) {
	if c.ApprovalStatus != Approved {
		return
	}
	ref, kind := c.shownAt()
	w.Exec(sqlCounterAddLatest, ref, string(kind), db.AnyShard, latestEntry(c))
	if c.ParentID != "" {
		w.Count(c.ReferenceID, core.CountComments, +1)
	}
}

// uncountComment removes the comment, which was deleted, from the counts and the latest comments.
func (w Tx) uncountComment(c Comment) {
	if c.ApprovalStatus != Approved {
		return
	}
	w.Count(c.ReferenceID, core.CountComments, -1)
	if c.ParentID != "" {
		w.Count(c.ParentID, core.CountReplies, -1)
	}
	w.refreshLatest(c)
}

// InsertComment inserts a comment and counts it if it is approved. A retry after a lost connection inserts it once.
func (w Tx) InsertComment(c Comment) {
	w.IdempotentBy("comments_pkey")
	w.Exec(sqlCommentInsert, c.ID, c.ReferenceType, c.ReferenceID, c.TargetType, c.TargetID, c.TargetPublicID, c.ParentID, c.RootID,
		c.AuthorID, c.AuthorPublicID, core.EmptyIfNil(c.DataTypes), c.Data, c.Metadata, c.Mentionees, c.Attachments, c.Segment, c.ApprovalStatus,
		core.ObjectIfNil(c.Annotations), c.CreatedAt)
	w.InsertFileUses(c.fileUse(), core.AttachedFileIDs(c.Attachments))
	w.Count(c.ReferenceID, core.CountSegment, +1)
	w.countComment(c)
}

// DeleteComment marks a comment as deleted and updates the counts and flags. GuardCommentStatus must precede it.
func (w Tx) DeleteComment(c Comment, now time.Time) {
	w.Exec(sqlCommentDelete, c.ID, now)
	w.DeletePendingEdits(c.ID)
	w.CloseFlagItems(c.ID, now)
	w.uncountComment(c)
	w.RecomputeCommentFlags(c)
}

// PurgeComments deletes the rows of comments that are marked as deleted, with their flags, reactions and counts.
func (w Tx) PurgeComments(ids []string) {
	w.PurgeReferences(ids)
	w.Exec(core.CountersPurge, ids)
	w.Exec(sqlCommentPurge, ids)
}

// SomeCommentIDs reads the ids of up to 500 comments on a post or story, including deleted ones.
func (r ReadBatch) SomeCommentIDs(referenceID string, into *[]string) {
	r.AddAt(referenceID, sqlCommentSomeIDs, db.Values(into), referenceID)
}

// DeleteCommentsOfPost deletes the rows of comments on a post that is being purged, with their counts and flags. The
// counts of the post are correct after every transaction, because a purge can be interrupted.
func (w Tx) DeleteCommentsOfPost(postID string, ids []string) {
	w.wipeComments(postID, ids)
	w.Exec(sqlPostRecomputeFlaggedComment, postID)
}

// DeleteCommentsOfStory is like DeleteCommentsOfPost for a story.
func (w Tx) DeleteCommentsOfStory(storyID string, ids []string) {
	w.wipeComments(storyID, ids)
	w.Exec(sqlStoryRecomputeFlaggedComment, storyID)
}

func (w Tx) wipeComments(referenceID string, ids []string) {
	w.Exec(sqlCommentSubtractCount, referenceID, string(core.CountComments), ids, false)
	w.Exec(sqlCommentSubtractCount, referenceID, string(core.CountSegment), ids, true)
	w.Exec(sqlLatestClear, referenceID)
	w.PurgeReferences(ids)
	w.DeletePendingEdits(ids...)
	w.Exec(core.CountersPurge, ids)
	w.Exec(sqlCommentDeleteRows, ids)
}
