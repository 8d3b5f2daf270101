package store

import (
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// Post is a row of posts.
type Post struct {
	ID                 string
	TargetType         string // community, user or content
	TargetID           string // internal id
	TargetPublicID     string
	AuthorID           string
	AuthorPublicID     string
	ParentID           string // empty for a parent
	IsParent           bool
	Children           []string // ids of the live child posts, in the order of the attachments
	FeedType           string   // published, reviewing or declined
	DataType           string
	StructureType      string
	Data               []byte // JSON object
	Metadata           []byte // JSON object
	Tags               []string
	Hashtags           []string
	Mentionees         []byte // JSON array
	Flaggers           []string
	FlagCount          int64
	HasFlaggedChildren bool
	HasFlaggedComment  bool
	CreatedAt          time.Time
	UpdatedAt          time.Time
	EditedAt           time.Time
	DeletedAt          *time.Time

	// CommentIDs are the latest comments of the first level, newest first, and CommentAuthors who wrote them. They come
	// with the row so that the comments and their authors are read at the same time.
	CommentIDs     []string
	CommentAuthors []string
}

const postColumns = `id, target_type, target_id, target_public_id, author_id, author_public_id, parent_id, is_parent,
	children, feed_type, data_type, structure_type, data, metadata, tags, hashtags, mentionees, flaggers, flag_count,
	has_flagged_children, has_flagged_comment, created_at, updated_at, edited_at, deleted_at`

func (p *Post) fields() []any {
	return []any{
		&p.ID, &p.TargetType, &p.TargetID, &p.TargetPublicID, &p.AuthorID, &p.AuthorPublicID, &p.ParentID, &p.IsParent,
		&p.Children, &p.FeedType, &p.DataType, &p.StructureType, &p.Data, &p.Metadata, &p.Tags, &p.Hashtags, &p.Mentionees, &p.Flaggers, &p.FlagCount,
		&p.HasFlaggedChildren, &p.HasFlaggedComment, &p.CreatedAt, &p.UpdatedAt, &p.EditedAt, &p.DeletedAt,
	}
}

func scanPost(rows pgx.Rows) (Post, error) {
	var p Post
	err := rows.Scan(append(p.fields(), &p.CommentIDs, &p.CommentAuthors)...)
	return p, err
}

// prefixed names columns by their table.
func prefixed(table, columns string) string {
	names := strings.Split(columns, ",")
	for i, name := range names {
		names[i] = table + "." + strings.TrimSpace(name)
	}
	return strings.Join(names, ", ")
}

// withComments wraps a statement that selects postColumns, and adds the latest comments to each row.
func withComments(inner, order string) string { return withLatestComments(postColumns, inner, order) }

// withLatestComments wraps a statement that selects columns of what can be commented on, its id among them, and adds the
// latest comments to each row.
func withLatestComments(columns, inner, order string) string {
	return `SELECT ` + prefixed("p", columns) + `, latest.ids, latest.authors FROM (` + inner + `) AS p CROSS JOIN LATERAL (
		SELECT array_agg(c.id ORDER BY c.created_at DESC, c.id DESC) AS ids, array_agg(c.author_id ORDER BY c.created_at DESC, c.id DESC) AS authors
		FROM (SELECT id, author_id, created_at FROM comments WHERE home = $1 AND reference_id = p.id AND parent_id = ''
			AND approval_status = 'approved' AND deleted_at IS NULL ORDER BY created_at DESC, id DESC LIMIT 3) AS c) AS latest` + order
}

var (
	sqlPostsByID = stmt("posts.byID", withComments(`SELECT `+postColumns+` FROM posts WHERE home = $1 AND id = ANY($2::text[])`, ""))
	sqlPostOf    = stmt("posts.ofComment", withComments(`SELECT `+postColumns+` FROM posts
		WHERE home = $1 AND id = (SELECT reference_id FROM comments WHERE home = $1 AND comments.id = $2)`, ""))
	sqlPostInsert = stmt("posts.insert", `INSERT INTO posts (home, id, target_type, target_id, target_public_id, author_id, author_public_id,
		parent_id, is_parent, children, feed_type, data_type, structure_type, data, metadata, tags, hashtags, mentionees,
		created_at, updated_at, edited_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::text[], $11, $12, $13, $14::jsonb, $15::jsonb, $16::text[], $17::text[], $18::jsonb, $19, $19, $19)`)
	sqlPostAlive    = stmt("posts.guardAlive", `SELECT 1 / count(*) FROM posts WHERE home = $1 AND id = $2 AND feed_type = $3 AND deleted_at IS NULL`)
	sqlPostDelete   = stmt("posts.delete", `UPDATE posts SET deleted_at = $3, updated_at = $3 WHERE home = $1 AND id = $2`)
	sqlPostOrphans  = stmt("posts.deleteChildren", `UPDATE posts SET deleted_at = $3, updated_at = $3 WHERE home = $1 AND parent_id = $2 AND NOT is_parent AND deleted_at IS NULL`)
	sqlPostFamily   = stmt("posts.family", `SELECT id FROM posts WHERE home = $1 AND parent_id = $2 AND NOT is_parent ORDER BY created_at, id`)
	sqlPostChildren = stmt("posts.childrenOf", withComments(`SELECT `+postColumns+` FROM posts WHERE home = $1 AND parent_id = ANY($2::text[])
		AND NOT is_parent AND deleted_at IS NULL`, ""))
	sqlPostUnlist = stmt("posts.unlistChild", `UPDATE posts SET children = array_remove(children, $3::text) WHERE home = $1 AND id = $2`)
	sqlPostMove   = stmt("posts.move", `UPDATE posts SET feed_type = $3, updated_at = $4 WHERE home = $1 AND (id = $2)`)
	sqlPostMoveC  = stmt("posts.moveChildren", `UPDATE posts SET feed_type = $3, updated_at = $4 WHERE home = $1 AND parent_id = $2 AND NOT is_parent`)
	sqlPostPurge  = stmt("posts.purge", `DELETE FROM posts WHERE home = $1 AND id = ANY($2::text[]) AND deleted_at IS NOT NULL`)

	sqlUserIsLive = stmt("users.isLive", `SELECT 1 / count(*) FROM users WHERE home = $1 AND id = $2 AND deleted_at IS NULL`)
)

// PostsByID reads posts of any homes; their order is not defined.
func (r *ReadBatch) PostsByID(ids []string, into *[]Post) {
	*into = nil
	for home, ids := range byHome(ids) {
		part := new([]Post)
		r.add(home, sqlPostsByID, scanAll(part, scanPost), ids)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// Post reads one post; nil where there is none.
func (r *ReadBatch) Post(id string, into **Post) {
	if home, err := region.HomeOf(id); err == nil {
		r.add(home, sqlPostsByID, scanOne(into, scanPost), []string{id})
	}
}

// PostOfComment reads the post that a comment stands on.
func (r *ReadBatch) PostOfComment(commentID string, into **Post) {
	if home, err := region.HomeOf(commentID); err == nil {
		r.add(home, sqlPostOf, scanOne(into, scanPost), commentID)
	}
}

// ChildIDs reads the ids of all child posts, deleted ones too, which a post's own list leaves out.
func (r *ReadBatch) ChildIDs(parentID string, into *[]string) {
	if home, err := region.HomeOf(parentID); err == nil {
		r.add(home, sqlPostFamily, scanAll(into, scanText), parentID)
	}
}

// ChildrenOf reads the live child posts of parents, in no order: a parent lists the ids of its own.
func (r *ReadBatch) ChildrenOf(parentIDs []string, into *[]Post) {
	*into = nil
	for home, ids := range byHome(parentIDs) {
		part := new([]Post)
		r.add(home, sqlPostChildren, scanAll(part, scanPost), ids)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// SelectPost reads the post as it stands once the statements before it have run.
func (w *Tx) SelectPost(id string, into **Post) {
	w.query(sqlPostsByID, scanOne(into, scanPost), []string{id})
}

// GuardTarget refuses the transaction where the community or wall owner is gone; content is always there.
func (w *Tx) GuardTarget(targetType, targetID string, refusal error) {
	switch targetType {
	case "community":
		w.guard(sqlCommunityIsLive, refusal, targetID)
	case "user":
		w.guard(sqlUserIsLive, refusal, targetID)
	}
}

// InsertPost inserts a post; sent again after a lost connection it is stored once.
func (w *Tx) InsertPost(p Post) {
	w.once = "posts_pkey"
	w.exec(sqlPostInsert, p.ID, p.TargetType, p.TargetID, p.TargetPublicID, p.AuthorID, p.AuthorPublicID, p.ParentID, p.IsParent,
		emptyIfNil(p.Children), p.FeedType, p.DataType, p.StructureType, p.Data, p.Metadata, emptyIfNil(p.Tags), emptyIfNil(p.Hashtags), p.Mentionees, p.CreatedAt)
}

func emptyIfNil(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// GuardPost refuses the transaction where the post is deleted or no longer in the feed it was read in.
func (w *Tx) GuardPost(p Post, refusal error) { w.guard(sqlPostAlive, refusal, p.ID, p.FeedType) }

// DeletePost marks a post and its children deleted, and brings what counts them up to date. GuardPost goes before it.
func (w *Tx) DeletePost(p Post, now time.Time) {
	w.exec(sqlPostDelete, p.ID, now)
	w.exec(sqlPinsOfPost, p.ID)
	if p.IsParent {
		w.exec(sqlPostOrphans, p.ID, now)
		w.Count(p.TargetID, FeedCounter(p.FeedType), -1)
	} else {
		w.exec(sqlPostUnlist, p.ParentID, p.ID)
		w.exec(sqlBubbleChildren, p.ParentID)
	}
	w.recomputeCommunityFlags(p.TargetType, p.TargetID)
}

// FeedCounter is the count of the posts of a feed type.
func FeedCounter(feedType string) CounterKind { return CounterKind(feedType) }

// MovePost moves a post and its children to another feed type. GuardPost goes before it.
func (w *Tx) MovePost(p Post, feedType string, now time.Time) {
	w.exec(sqlPostMove, p.ID, feedType, now)
	w.exec(sqlPostMoveC, p.ID, feedType, now)
	w.Count(p.TargetID, FeedCounter(p.FeedType), -1)
	w.Count(p.TargetID, FeedCounter(feedType), +1)
}

// PurgePosts removes deleted posts and their flags for good.
func (w *Tx) PurgePosts(ids []string) {
	w.exec(sqlReactionPurge, ids)
	w.exec(sqlFlagsPurge, ids)
	w.exec(sqlViewsPurge, ids)
	w.exec(sqlCountersPurge, ids)
	w.exec(sqlPostPurge, ids)
}
