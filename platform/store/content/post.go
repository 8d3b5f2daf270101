package content

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/textsearch"
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
	Annotations        []byte // JSON object
	Flaggers           []string
	FlagCount          int64
	HasFlaggedChildren bool
	HasFlaggedComment  bool
	CreatedAt          time.Time
	UpdatedAt          time.Time
	EditedAt           time.Time
	DeletedAt          *time.Time

	// LatestComments are those of the first level. They are part of the row, so that comments and authors can be read in
	// the same round trip.
	LatestComments LatestComments
}

var postColumns = db.Columns[Post]("latest_comments")

// ContentColumns are the columns of posts, stories and messages with what users write, and their types. Who may see these does not
// depend on them.
var ContentColumns = map[string]string{
	"data": "jsonb", "metadata": "jsonb", "mentionees": "jsonb", "mentions": "jsonb", "annotations": "jsonb", "items": "jsonb",
	"tags":     "text[]",
	"hashtags": "text[]", "flaggers": "text[]",
}

// withComments wraps a statement that selects postColumns and adds the latest comments to each row.
func withComments(inner, order string) string {
	return withLatest(core.CountComments, postColumns, inner, order)
}

var (
	sqlPostsByID  = db.Register("posts.byID", withComments(`SELECT `+postColumns+` FROM posts WHERE home = $1 AND id = ANY($2::text[])`, ""))
	sqlPostsAlone = db.Register("posts.alone", `SELECT `+postColumns+`, NULL::text FROM posts WHERE home = $1 AND id = ANY($2::text[])`)
	sqlPostHeads  = db.Register("posts.heads", `SELECT `+db.Without(postColumns, ContentColumns)+`, NULL::text FROM posts WHERE home = $1
		AND id = ANY($2::text[])`)
	sqlPostOfComment = db.Register("posts.ofComment", withComments(`SELECT `+postColumns+` FROM posts
		WHERE home = $1 AND id = (SELECT reference_id FROM comments WHERE home = $1 AND comments.id = $2)`, ""))
	sqlPostInsert = db.Register("posts.insert", `INSERT INTO posts (home, id, target_type, target_id, target_public_id, author_id, author_public_id,
		parent_id, is_parent, children, feed_type, data_type, structure_type, data, metadata, tags, hashtags, mentionees,
		annotations, created_at, updated_at, edited_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::text[], $11, $12, $13, $14::jsonb, $15::jsonb, $16::text[], $17::text[], $18::jsonb,
		$19::jsonb,
		$20, GREATEST($20::timestamptz, $21::timestamptz), GREATEST($20::timestamptz, $22::timestamptz))`)
	sqlPostGuard = db.Register("posts.guardAlive", `SELECT 1 / count(*) FROM posts WHERE home = $1 AND id = $2 AND feed_type = $3
		AND deleted_at IS NULL`)
	sqlPostDelete = db.Register("posts.delete",
		`UPDATE posts SET deleted_at = $3, updated_at = $3 WHERE home = $1 AND id = $2`).Updates(core.SharedPosts, 2)
	sqlPostDeleteChildren = db.Register("posts.deleteChildren", `UPDATE posts SET deleted_at = $3, updated_at = $3 WHERE home = $1 AND parent_id = $2
		AND NOT is_parent AND deleted_at IS NULL`).Updates(core.SharedPosts, 2)
	sqlPostChildIDs = db.Register("posts.family", `SELECT id FROM posts WHERE home = $1 AND parent_id = $2 AND NOT is_parent ORDER BY created_at, id`)
	sqlPostChildren = db.Register("posts.childrenOf", withComments(`SELECT `+postColumns+` FROM posts WHERE home = $1 AND parent_id = ANY($2::text[])
		AND NOT is_parent AND deleted_at IS NULL`, ""))
	sqlPostRemoveChild = db.Register("posts.unlistChild", `UPDATE posts SET children = array_remove(children, $3::text) WHERE home = $1
		AND id = $2`).Updates(core.SharedPosts, 2)
	sqlPostUpdateFeedType = db.Register("posts.move",
		`UPDATE posts SET feed_type = $3, updated_at = $4 WHERE home = $1 AND (id = $2)`).Updates(core.SharedPosts, 2)
	sqlPostChildrenUpdateFeedType = db.Register("posts.moveChildren", `UPDATE posts SET feed_type = $3, updated_at = $4 WHERE home = $1 AND parent_id
		= $2 AND NOT is_parent`).Updates(core.SharedPosts, 2)
	sqlPostPurge = db.Register("posts.purge",
		`DELETE FROM posts WHERE home = $1 AND id = ANY($2::text[]) AND deleted_at IS NOT NULL`).Updates(core.SharedPosts, 2)

	sqlUserGuard = db.Register("users.isLive", `SELECT 1 / count(*) FROM users WHERE home = $1 AND id = $2 AND deleted_at IS NULL`)
)

// PostsByID reads posts of any homes in no particular order.
func (r ReadBatch) PostsByID(ids []string, into *[]Post) {
	core.ReadMany(r.ReadBatch, ids, sqlPostsByID, into)
}

// PostHeads is PostsByID without content and latest comments, for operations that check who may see posts.
func (r ReadBatch) PostHeads(ids []string, into *[]Post) {
	if defence.Off(defence.PostHeads) {
		r.PostsByID(ids, into)
		return
	}
	core.ReadMany(r.ReadBatch, ids, sqlPostHeads, into)
}

// Post reads one post; nil if there is none.
func (r ReadBatch) Post(id string, into **Post) {
	r.AddAt(id, sqlPostsByID, db.Row(into), []string{id})
}

// PostAlone is Post without the latest comments, which take several times as long to read as the post.
func (r ReadBatch) PostAlone(id string, into **Post) {
	r.AddAt(id, sqlPostsAlone, db.Row(into), []string{id})
}

// PostsAlone is PostsByID without the latest comments.
func (r ReadBatch) PostsAlone(ids []string, into *[]Post) {
	core.ReadMany(r.ReadBatch, ids, sqlPostsAlone, into)
}

// PostOfComment reads the post of a comment.
func (r ReadBatch) PostOfComment(commentID string, into **Post) {
	r.AddAt(commentID, sqlPostOfComment, db.Row(into), commentID)
}

// ChildIDs reads the ids of all child posts. It includes deleted ones, unlike Post.Children.
func (r ReadBatch) ChildIDs(parentID string, into *[]string) {
	r.AddAt(parentID, sqlPostChildIDs, db.Values(into), parentID)
}

// ChildrenOf reads the live child posts of parents in no particular order.
func (r ReadBatch) ChildrenOf(parentIDs []string, into *[]Post) {
	core.ReadMany(r.ReadBatch, parentIDs, sqlPostChildren, into)
}

// SelectPost reads a post after the preceding statements.
func (w Tx) SelectPost(id string, into **Post) {
	w.Query(sqlPostsByID, db.Row(into), []string{id})
}

// GuardTarget makes the transaction fail with refusal if the community or the owner of the wall is deleted.
func (w Tx) GuardTarget(targetType, targetID string, refusal error) {
	switch targetType {
	case "community":
		w.Guard(communities.CommunityGuard, refusal, targetID)
	case "user":
		w.Guard(sqlUserGuard, refusal, targetID)
	}
}

// InsertPost inserts a post. A retry after a lost connection inserts it once.
func (w Tx) InsertPost(p Post) {
	w.IdempotentBy("posts_pkey")
	w.Exec(sqlPostInsert, p.ID, p.TargetType, p.TargetID, p.TargetPublicID, p.AuthorID, p.AuthorPublicID, p.ParentID, p.IsParent,
		core.EmptyIfNil(p.Children), p.FeedType, p.DataType, p.StructureType, p.Data, p.Metadata, core.EmptyIfNil(p.Tags),
		core.EmptyIfNil(p.Hashtags),
		p.Mentionees,
		core.ObjectIfNil(p.Annotations), p.CreatedAt, p.UpdatedAt, p.EditedAt)
	w.InsertFileUses(p.fileUse(), core.FileIDs(p.Data))
	if p.IsParent {
		textsearch.Tx{Tx: w.Tx}.InsertSearchWords(p.searchDocument())
	}
}

func (p Post) fileUse() core.FileUse {
	return core.FileUse{ObjectID: p.ID, Kind: core.UsePost, AuthorID: p.AuthorID, PlaceID: p.TargetID}
}

// GuardPost makes the transaction fail with refusal if the post is deleted or its feed type has changed since it was
// read.
func (w Tx) GuardPost(p Post, refusal error) { w.Guard(sqlPostGuard, refusal, p.ID, p.FeedType) }

// DeletePost marks a post and its children as deleted and updates counts and flags. GuardPost must precede it.
func (w Tx) DeletePost(p Post, now time.Time) {
	w.Exec(sqlPostDelete, p.ID, now)
	w.DeletePendingEdits(p.ID)
	w.CloseFlagItems(p.ID, now)
	w.Exec(sqlPinsDeleteOfPost, p.ID)
	if p.IsParent {
		textsearch.Tx{Tx: w.Tx}.DeleteSearchWords(p.ID)
		w.Exec(sqlPostDeleteChildren, p.ID, now)
		w.Count(p.TargetID, PostCounter(p.FeedType), -1)
	} else {
		w.Exec(sqlPostRemoveChild, p.ParentID, p.ID)
		w.Exec(sqlPostRecomputeFlaggedChildren, p.ParentID)
	}
	w.recomputeCommunityFlags(p.TargetType, p.TargetID)
}

// PostCounter returns the kind of the count of posts of a feed type.
func PostCounter(feedType string) core.CounterKind { return core.CounterKind(feedType) }

// UpdatePostFeedType changes the feed type of a post and its children. GuardPost must precede it.
func (w Tx) UpdatePostFeedType(p Post, feedType string, now time.Time) {
	w.Exec(sqlPostUpdateFeedType, p.ID, feedType, now)
	w.Exec(sqlPostChildrenUpdateFeedType, p.ID, feedType, now)
	w.Count(p.TargetID, PostCounter(p.FeedType), -1)
	w.Count(p.TargetID, PostCounter(feedType), +1)
}

// PurgePosts deletes the rows of posts that are marked as deleted, with their flags, reactions, views and counts.
func (w Tx) PurgePosts(ids []string) {
	w.PurgeReferences(ids)
	w.Exec(sqlViewsPurge, ids)
	w.Exec(core.CountersPurge, ids)
	w.Exec(sqlPostPurge, ids)
}

// searchDocument returns what searches find a parent post by.
func (p Post) searchDocument() textsearch.Document {
	var data struct {
		Title string `json:"title"`
		Text  string `json:"text"`
	}
	_ = json.Unmarshal(p.Data, &data) // other types than text are of custom posts, which have no text
	return textsearch.Document{
		ID: p.ID, Kind: textsearch.SearchPosts, CreatedAt: p.CreatedAt, Title: data.Title + " " + strings.Join(p.Tags, " "),
		Text: data.Text, Hashtags: p.Hashtags,
	}
}
