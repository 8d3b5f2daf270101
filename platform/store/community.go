package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
)

// Community is a row of communities.
type Community struct {
	ID                string
	DisplayName       string
	CreatorID         string // internal id
	CreatorPublicID   string
	Description       string
	AvatarFileID      string
	IsOfficial        bool
	IsPublic          bool
	IsDiscoverable    bool
	OnlyAdminCanPost  bool
	PostApproval      bool
	CommentApproval   bool
	JoinApproval      bool
	StoryComments     bool
	NotificationMode  string // default, silent or subscribe
	Type              string // default or event
	Tags              []string
	Metadata          []byte // JSON object
	CategoryIDs       []string
	HasFlaggedPost    bool
	HasFlaggedComment bool
	CreatedAt         time.Time
	UpdatedAt         time.Time
	DeletedAt         *time.Time
}

const communityColumns = `id, display_name, creator_id, creator_public_id, description, avatar_file_id, is_official, is_public,
	is_discoverable, only_admin_can_post, post_approval, comment_approval, join_approval, story_comments, notification_mode,
	type, tags, metadata, category_ids, has_flagged_post, has_flagged_comment, created_at, updated_at, deleted_at`

func (c *Community) fields() []any {
	return []any{
		&c.ID, &c.DisplayName, &c.CreatorID, &c.CreatorPublicID, &c.Description, &c.AvatarFileID, &c.IsOfficial, &c.IsPublic,
		&c.IsDiscoverable, &c.OnlyAdminCanPost, &c.PostApproval, &c.CommentApproval, &c.JoinApproval, &c.StoryComments, &c.NotificationMode,
		&c.Type, &c.Tags, &c.Metadata, &c.CategoryIDs, &c.HasFlaggedPost, &c.HasFlaggedComment, &c.CreatedAt, &c.UpdatedAt, &c.DeletedAt,
	}
}

func scanCommunity(rows pgx.Rows) (Community, error) {
	var c Community
	err := rows.Scan(c.fields()...)
	return c, err
}

// The community that a post or a comment is in, as a condition; nothing where it is on a wall.
const (
	communityOfPost    = `(SELECT target_id FROM posts WHERE home = $1 AND posts.id = $2 AND target_type = 'community')`
	communityOfComment = `(SELECT target_id FROM comments WHERE home = $1 AND comments.id = $2 AND target_type = 'community')`
)

var (
	sqlCommunitiesByID    = stmt("communities.byID", `SELECT `+communityColumns+` FROM communities WHERE home = $1 AND id = ANY($2::text[])`)
	sqlCommunityOfPost    = stmt("communities.ofPost", `SELECT `+communityColumns+` FROM communities WHERE home = $1 AND communities.id = `+communityOfPost)
	sqlCommunityOfComment = stmt("communities.ofComment", `SELECT `+communityColumns+` FROM communities WHERE home = $1 AND communities.id = `+communityOfComment)
	sqlCommunityInsert    = stmt("communities.insert", `INSERT INTO communities (home, id, display_name, name_key, creator_id,
		creator_public_id, description, avatar_file_id, is_official, is_public, is_discoverable, only_admin_can_post, post_approval,
		comment_approval, join_approval, story_comments, notification_mode, type, tags, metadata, category_ids, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19::text[], $20::jsonb, $21::text[], $22, $22)`)
	sqlCommunityUpdate = stmt("communities.update", `UPDATE communities SET
		display_name = COALESCE($4::text, display_name), name_key = COALESCE($5::text, name_key),
		description = COALESCE($6::text, description), avatar_file_id = COALESCE($7::text, avatar_file_id),
		is_official = COALESCE($8::boolean, is_official), is_public = COALESCE($9::boolean, is_public),
		is_discoverable = COALESCE($10::boolean, is_discoverable), only_admin_can_post = COALESCE($11::boolean, only_admin_can_post),
		post_approval = COALESCE($12::boolean, post_approval), comment_approval = COALESCE($13::boolean, comment_approval),
		join_approval = COALESCE($14::boolean, join_approval), story_comments = COALESCE($15::boolean, story_comments),
		notification_mode = COALESCE($16::text, notification_mode), tags = COALESCE($17::text[], tags),
		metadata = COALESCE($18::jsonb, metadata), category_ids = COALESCE($19::text[], category_ids), updated_at = $3
		WHERE home = $1 AND id = $2 AND deleted_at IS NULL RETURNING `+communityColumns)
	sqlCommunityDelete = stmt("communities.delete", `UPDATE communities SET deleted_at = $3, updated_at = $3
		WHERE home = $1 AND id = $2 AND deleted_at IS NULL`)
	sqlCommunityIsLive = stmt("communities.isLive", `SELECT 1 / count(*) FROM communities WHERE home = $1 AND id = $2 AND deleted_at IS NULL`)
	sqlNameIsFree      = stmt("communities.nameIsFree", `SELECT 1 / CASE WHEN EXISTS (SELECT 1 FROM communities
		WHERE home = $1 AND name_key = $2 AND display_name = $3 AND id <> $4 AND deleted_at IS NULL) THEN 0 ELSE 1 END`)
	sqlIntoCategories = stmt("communities.intoCategories", `INSERT INTO community_categories (home, category_id, community_id, name_key, created_at)
		SELECT $1, unnest(category_ids), id, name_key, created_at FROM communities WHERE home = $1 AND id = $2`)
	sqlOutOfCategories = stmt("communities.outOfCategories", `DELETE FROM community_categories WHERE home = $1 AND community_id = $2`)
)

// Community reads one community, deleted ones too.
func (r *ReadBatch) Community(id string, into **Community) {
	if home, err := region.HomeOf(id); err == nil {
		r.add(home, sqlCommunitiesByID, scanOne(into, scanCommunity), []string{id})
	}
}

// Communities reads communities of any homes, deleted ones too; their order is not defined.
func (r *ReadBatch) Communities(ids []string, into *[]Community) {
	*into = nil
	for home, ids := range byHome(ids) {
		part := new([]Community)
		r.add(home, sqlCommunitiesByID, scanAll(part, scanCommunity), ids)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// CommunityOfPost reads the community that a post is in; nil where the post is on a wall or not there.
func (r *ReadBatch) CommunityOfPost(postID string, into **Community) {
	r.ofContent(postID, sqlCommunityOfPost, scanOne(into, scanCommunity))
}

// CommunityOfComment reads the community that a comment is in; nil where it is on a wall or not there.
func (r *ReadBatch) CommunityOfComment(commentID string, into **Community) {
	r.ofContent(commentID, sqlCommunityOfComment, scanOne(into, scanCommunity))
}

// ofContent queues a statement about the community of a post or comment; an id without a home has no rows.
func (r *ReadBatch) ofContent(id string, st *Statement, scan func(pgx.Rows) error, args ...any) {
	if home, err := region.HomeOf(id); err == nil {
		r.add(home, st, scan, append([]any{id}, args...)...)
	}
}

// InsertCommunity inserts a community, whose categories are each named once, and puts it in them. With a taken error, a
// live community of the same name in the same home makes the transaction fail with it. Its members are added beside it.
func (w *Tx) InsertCommunity(c Community, taken error, now time.Time) {
	key := NameKey(c.DisplayName, PublicNameKeyRunes)
	w.once = "communities_pkey"
	w.exec(sqlCommunityInsert, c.ID, c.DisplayName, key, c.CreatorID, c.CreatorPublicID, c.Description, c.AvatarFileID, c.IsOfficial,
		c.IsPublic, c.IsDiscoverable, c.OnlyAdminCanPost, c.PostApproval, c.CommentApproval, c.JoinApproval, c.StoryComments,
		c.NotificationMode, c.Type, texts(c.Tags), c.Metadata, texts(c.CategoryIDs), now)
	if taken != nil {
		w.guard(sqlNameIsFree, taken, key, c.DisplayName, c.ID)
	}
	if len(c.CategoryIDs) > 0 {
		w.exec(sqlIntoCategories, c.ID)
	}
}

// CommunityChange holds the fields of a community to change; nil ones stay.
type CommunityChange struct {
	DisplayName, Description, AvatarFileID, NotificationMode   *string
	IsOfficial, IsPublic, IsDiscoverable, OnlyAdminCanPost     *bool
	PostApproval, CommentApproval, JoinApproval, StoryComments *bool
	Tags, CategoryIDs                                          []string
	Metadata                                                   []byte // JSON object
}

// UpdateCommunity changes a live community and reads it back; one that is gone makes the transaction fail with 400400.
func (w *Tx) UpdateCommunity(id string, c CommunityChange, now time.Time, into **Community) {
	var key *string
	if c.DisplayName != nil {
		k := NameKey(*c.DisplayName, PublicNameKeyRunes)
		key = &k
	}
	w.CommunityIsLive(id)
	w.query(sqlCommunityUpdate, scanOne(into, scanCommunity), id, now, c.DisplayName, key, c.Description, c.AvatarFileID,
		c.IsOfficial, c.IsPublic, c.IsDiscoverable, c.OnlyAdminCanPost, c.PostApproval, c.CommentApproval, c.JoinApproval,
		c.StoryComments, c.NotificationMode, c.Tags, c.Metadata, c.CategoryIDs)
	if c.DisplayName != nil || c.CategoryIDs != nil {
		w.exec(sqlOutOfCategories, id)
		w.exec(sqlIntoCategories, id)
	}
}

// DeleteCommunity marks a community as deleted; one that is gone makes the transaction fail with 400400.
func (w *Tx) DeleteCommunity(id string, now time.Time) {
	w.CommunityIsLive(id)
	w.exec(sqlCommunityDelete, id, now)
	w.exec(sqlPinsOfDeletedC, id)
}

// CommunityIsLive makes the transaction fail with 400400 where the community is gone.
func (w *Tx) CommunityIsLive(id string) { w.guard(sqlCommunityIsLive, fail.NotFound(), id) }

// texts is list as a parameter: nil would be NULL.
func texts(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
