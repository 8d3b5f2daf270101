package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// What comments and reactions refer to.
const (
	ReferencePost    = "post"
	ReferenceStory   = "story"
	ReferenceContent = "content" // a post under something that is kept elsewhere
	ReferenceComment = "comment" // of reactions alone
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
	Attachments    []byte // JSON array
	Segment        int64
	ApprovalStatus string // Approved, Pending or Declined
	Flaggers       []string
	FlagCount      int64
	CreatedAt      time.Time
	UpdatedAt      time.Time
	EditedAt       time.Time
	DeletedAt      *time.Time

	// ReplyIDs are the latest direct replies, newest first, and ReplyAuthors who wrote them.
	ReplyIDs     []string
	ReplyAuthors []string
}

// States of a comment. Only approved ones count, and only they are embedded in what they stand on.
const (
	Approved = "approved"
	Pending  = "pending"
	Declined = "declined"
)

const commentColumns = `id, reference_type, reference_id, target_type, target_id, target_public_id, parent_id, root_id, author_id,
	author_public_id, data_types, data, metadata, mentionees, attachments, segment, approval_status, flaggers, flag_count,
	created_at, updated_at, edited_at, deleted_at`

func (c *Comment) fields() []any {
	return []any{
		&c.ID, &c.ReferenceType, &c.ReferenceID, &c.TargetType, &c.TargetID, &c.TargetPublicID, &c.ParentID, &c.RootID, &c.AuthorID,
		&c.AuthorPublicID, &c.DataTypes, &c.Data, &c.Metadata, &c.Mentionees, &c.Attachments, &c.Segment, &c.ApprovalStatus, &c.Flaggers, &c.FlagCount,
		&c.CreatedAt, &c.UpdatedAt, &c.EditedAt, &c.DeletedAt,
	}
}

func scanComment(rows pgx.Rows) (Comment, error) {
	var c Comment
	err := rows.Scan(append(c.fields(), &c.ReplyIDs, &c.ReplyAuthors)...)
	return c, err
}

// withReplies wraps a statement that selects commentColumns, and adds the latest replies to each row.
func withReplies(inner, order string) string {
	return `SELECT ` + prefixed("p", commentColumns) + `, latest.ids, latest.authors FROM (` + inner + `) AS p CROSS JOIN LATERAL (
		SELECT array_agg(c.id ORDER BY c.created_at DESC, c.id DESC) AS ids, array_agg(c.author_id ORDER BY c.created_at DESC, c.id DESC) AS authors
		FROM (SELECT id, author_id, created_at FROM comments WHERE home = $1 AND reference_id = p.reference_id AND parent_id = p.id
			AND approval_status = 'approved' AND deleted_at IS NULL ORDER BY created_at DESC, id DESC LIMIT 3) AS c) AS latest` + order
}

var (
	sqlCommentsByID  = stmt("comments.byID", withReplies(`SELECT `+commentColumns+` FROM comments WHERE home = $1 AND id = ANY($2::text[])`, ""))
	sqlCommentInsert = stmt("comments.insert", `INSERT INTO comments (home, id, reference_type, reference_id, target_type, target_id, target_public_id,
		parent_id, root_id, author_id, author_public_id, data_types, data, metadata, mentionees, attachments, segment, approval_status,
		created_at, updated_at, edited_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::text[], $13::jsonb, $14::jsonb, $15::jsonb, $16::jsonb, $17::bigint, $18, $19, $19, $19)`)
	sqlCommentAlive  = stmt("comments.guardAlive", `SELECT 1 / count(*) FROM comments WHERE home = $1 AND id = $2 AND deleted_at IS NULL`)
	sqlCommentIs     = stmt("comments.guardStatus", `SELECT 1 / count(*) FROM comments WHERE home = $1 AND id = $2 AND approval_status = $3 AND deleted_at IS NULL`)
	sqlCommentSame   = stmt("comments.guardUnchanged", `SELECT 1 / count(*) FROM comments WHERE home = $1 AND id = $2 AND updated_at = $3::timestamptz AND deleted_at IS NULL`)
	sqlCommentReview = stmt("comments.review", `UPDATE comments SET approval_status = $3, updated_at = `+changedAt("$4")+` WHERE home = $1 AND id = $2`)
	sqlCommentEdit   = stmt("comments.edit", `UPDATE comments SET data_types = $3::text[], data = $4::jsonb, metadata = $5::jsonb, mentionees = $6::jsonb,
		attachments = $7::jsonb, edited_at = CASE WHEN $9::boolean OR (data = $4::jsonb AND attachments = $7::jsonb) THEN edited_at ELSE $8::timestamptz END,
		updated_at = `+changedAt("$8")+` WHERE home = $1 AND id = $2`)
	sqlCommentDelete  = stmt("comments.delete", `UPDATE comments SET deleted_at = $3, updated_at = $3 WHERE home = $1 AND id = $2`)
	sqlCommentPurge   = stmt("comments.purge", `DELETE FROM comments WHERE home = $1 AND id = ANY($2::text[]) AND deleted_at IS NOT NULL`)
	sqlCommentSome    = stmt("comments.someOfPost", `SELECT id FROM comments WHERE home = $1 AND reference_id = $2 ORDER BY created_at, id LIMIT 500`)
	sqlCommentUncount = stmt("comments.uncountWiped", `INSERT INTO counters (home, ref, kind, shard, n) VALUES ($1, $2, $3, 0,
		-(SELECT count(*) FROM comments WHERE home = $1 AND id = ANY($4::text[]) AND ($5::boolean OR (approval_status = 'approved' AND deleted_at IS NULL))))
		ON CONFLICT (home, ref, kind, shard) DO UPDATE SET n = counters.n + excluded.n`)
	sqlCommentWipe = stmt("comments.wipe", `DELETE FROM comments WHERE home = $1 AND id = ANY($2::text[])`)
)

// Comment reads one comment; nil where there is none.
func (r *ReadBatch) Comment(id string, into **Comment) {
	if home, err := region.HomeOf(id); err == nil {
		r.add(home, sqlCommentsByID, scanOne(into, scanComment), []string{id})
	}
}

// CommentsByID reads comments of any homes; their order is not defined.
func (r *ReadBatch) CommentsByID(ids []string, into *[]Comment) {
	for home, ids := range byHome(ids) {
		part := new([]Comment)
		r.add(home, sqlCommentsByID, scanAll(part, scanComment), ids)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// FlaggedBy reads whether the user flags the target.
func (r *ReadBatch) FlaggedBy(targetID, userID string, into *bool) {
	if home, err := region.HomeOf(targetID); err == nil {
		r.add(home, sqlFlagMine, scanValue(into), targetID, userID)
	}
}

// SelectComment reads the comment as it stands once the statements before it have run.
func (w *Tx) SelectComment(id string, into **Comment) {
	w.query(sqlCommentsByID, scanOne(into, scanComment), []string{id})
}

// GuardComment refuses the transaction where the comment is deleted.
func (w *Tx) GuardComment(id string, refusal error) { w.guard(sqlCommentAlive, refusal, id) }

// GuardCommentStatus refuses the transaction where the comment is deleted or no longer in the state it was read in.
func (w *Tx) GuardCommentStatus(c Comment, refusal error) {
	w.guard(sqlCommentIs, refusal, c.ID, c.ApprovalStatus)
}

// GuardCommentUnchanged refuses the transaction where anybody deleted, edited or reviewed the comment since it was read.
func (w *Tx) GuardCommentUnchanged(c Comment, refusal error) {
	w.guard(sqlCommentSame, refusal, c.ID, c.UpdatedAt)
}

// EditComment stores what a comment holds: data, attachments, metadata and mentionees. It counts as edited where the first two
// differ from what was stored, unless keepEdited. GuardCommentUnchanged goes before it.
func (w *Tx) EditComment(c Comment, now time.Time, keepEdited bool) {
	w.exec(sqlCommentEdit, c.ID, emptyIfNil(c.DataTypes), c.Data, c.Metadata, c.Mentionees, c.Attachments, now, keepEdited)
}

// ReviewComment moves a pending comment to another state, and counts it where that is Approved. GuardCommentStatus goes before it.
func (w *Tx) ReviewComment(c Comment, status string, now time.Time) {
	w.exec(sqlCommentReview, c.ID, status, now)
	c.ApprovalStatus = status
	w.countComment(c, +1)
}

// countComment counts a comment, or takes it out of the counts: an approved one alone is in them.
func (w *Tx) countComment(c Comment, delta int64) {
	if c.ApprovalStatus != Approved {
		return
	}
	w.Count(c.ReferenceID, CountComments, delta)
	if c.ParentID != "" {
		w.Count(c.ParentID, CountReplies, delta)
	}
}

// InsertComment inserts a comment and counts it, if it is approved; sent again after a lost connection it is stored once.
func (w *Tx) InsertComment(c Comment) {
	w.once = "comments_pkey"
	w.exec(sqlCommentInsert, c.ID, c.ReferenceType, c.ReferenceID, c.TargetType, c.TargetID, c.TargetPublicID, c.ParentID, c.RootID,
		c.AuthorID, c.AuthorPublicID, emptyIfNil(c.DataTypes), c.Data, c.Metadata, c.Mentionees, c.Attachments, c.Segment, c.ApprovalStatus, c.CreatedAt)
	w.Count(c.ReferenceID, CountSegment, +1)
	w.countComment(c, +1)
}

// DeleteComment marks a comment deleted, and brings what counts it up to date. GuardCommentStatus goes before it.
func (w *Tx) DeleteComment(c Comment, now time.Time) {
	w.exec(sqlCommentDelete, c.ID, now)
	w.countComment(c, -1)
	w.RecomputeCommentFlags(c)
}

// PurgeComments removes deleted comments and their flags for good.
func (w *Tx) PurgeComments(ids []string) {
	w.exec(sqlReactionPurge, ids)
	w.exec(sqlFlagsPurge, ids)
	w.exec(sqlCountersPurge, ids)
	w.exec(sqlCommentPurge, ids)
}

// SomeComments reads the ids of up to 500 comments on a post or story, live or deleted.
func (r *ReadBatch) SomeComments(referenceID string, into *[]string) {
	if home, err := region.HomeOf(referenceID); err == nil {
		r.add(home, sqlCommentSome, scanAll(into, scanText), referenceID)
	}
}

func scanText(rows pgx.Rows) (string, error) {
	var s string
	err := rows.Scan(&s)
	return s, err
}

// WipeComments removes comments of a post that is being purged, with their counts and flags. Every batch leaves the post's
// counts as true as it found them: the purge may be cut short.
func (w *Tx) WipeComments(postID string, ids []string) {
	w.wipeComments(postID, ids)
	w.exec(sqlBubblePost, postID)
}

// WipeStoryComments is WipeComments for a story.
func (w *Tx) WipeStoryComments(storyID string, ids []string) {
	w.wipeComments(storyID, ids)
	w.exec(sqlBubbleStory, storyID)
}

func (w *Tx) wipeComments(referenceID string, ids []string) {
	w.exec(sqlCommentUncount, referenceID, string(CountComments), ids, false)
	w.exec(sqlCommentUncount, referenceID, string(CountSegment), ids, true)
	w.exec(sqlReactionPurge, ids)
	w.exec(sqlFlagsPurge, ids)
	w.exec(sqlCountersPurge, ids)
	w.exec(sqlCommentWipe, ids)
}
