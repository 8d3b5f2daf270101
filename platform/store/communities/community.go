package communities

import (
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/textsearch"
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

// CommunityColumns are the columns of Community.
var CommunityColumns = db.Columns[Community]()

var (
	sqlCommunitiesByID = db.Register("communities.byID", `SELECT `+CommunityColumns+` FROM communities WHERE home = $1 AND id = ANY($2::text[])`)
	sqlCommunityInsert = db.Register("communities.insert", `INSERT INTO communities (home, id, display_name, name_key, creator_id,
		creator_public_id, description, avatar_file_id, is_official, is_public, is_discoverable, only_admin_can_post, post_approval,
		comment_approval, join_approval, story_comments, notification_mode, type, tags, metadata, category_ids, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19::text[], $20::jsonb, $21::text[], $22,
		GREATEST($22::timestamptz, $23::timestamptz))`)
	sqlCommunityUpdate = db.Register("communities.update", `UPDATE communities SET
		display_name = COALESCE($4::text, display_name), name_key = COALESCE($5::text, name_key),
		description = COALESCE($6::text, description), avatar_file_id = COALESCE($7::text, avatar_file_id),
		is_official = COALESCE($8::boolean, is_official), is_public = COALESCE($9::boolean, is_public),
		is_discoverable = COALESCE($10::boolean, is_discoverable), only_admin_can_post = COALESCE($11::boolean, only_admin_can_post),
		post_approval = COALESCE($12::boolean, post_approval), comment_approval = COALESCE($13::boolean, comment_approval),
		join_approval = COALESCE($14::boolean, join_approval), story_comments = COALESCE($15::boolean, story_comments),
		notification_mode = COALESCE($16::text, notification_mode), tags = COALESCE($17::text[], tags),
		metadata = COALESCE($18::jsonb, metadata), category_ids = COALESCE($19::text[], category_ids), updated_at = $3
		WHERE home = $1 AND id = $2 AND deleted_at IS NULL RETURNING `+CommunityColumns).Updates(core.SharedCommunities, 2)
	sqlCommunityDelete = db.Register("communities.delete", `UPDATE communities SET deleted_at = $3, updated_at = $3
		WHERE home = $1 AND id = $2 AND deleted_at IS NULL`).Updates(core.SharedCommunities, 2)
	// CommunityGuard fails the transaction if the community $2 is deleted.
	CommunityGuard = db.Register("communities.isLive", `SELECT 1 / count(*) FROM communities WHERE home = $1 AND id = $2 AND deleted_at
		IS NULL`)
	sqlCommunityGuardName = db.Register("communities.nameIsFree", `SELECT 1 / CASE WHEN EXISTS (SELECT 1 FROM communities
		WHERE home = $1 AND name_key = $2 AND display_name = $3 AND id <> $4 AND deleted_at IS NULL) THEN 0 ELSE 1 END`)
	sqlCommunityInsertCategories = db.Register("communities.intoCategories", `INSERT INTO community_categories (home, category_id, community_id,
		name_key, created_at)
		SELECT $1, unnest(category_ids), id, name_key, created_at FROM communities WHERE home = $1 AND id = $2`)
	sqlCommunityDeleteCategories = db.Register("communities.outOfCategories",
		`DELETE FROM community_categories WHERE home = $1 AND community_id = $2`)
)

// Community reads one community, including a deleted one.
func (r ReadBatch) Community(id string, into **Community) {
	r.AddAt(id, sqlCommunitiesByID, db.Row(into), []string{id})
}

// Communities reads communities of any homes, including deleted ones, in no particular order.
func (r ReadBatch) Communities(ids []string, into *[]Community) {
	core.ReadMany(r.ReadBatch, ids, sqlCommunitiesByID, into)
}

// InsertCommunity inserts a community and adds it to its categories, which must be distinct. If taken is not nil and a
// live community in the same home has the same name, the transaction fails with taken. Members are inserted separately.
func (w Tx) InsertCommunity(c Community, taken error, now time.Time) {
	key := core.NameKey(c.DisplayName, core.PublicNameKeyRunes)
	w.IdempotentBy("communities_pkey")
	w.Exec(sqlCommunityInsert, c.ID, c.DisplayName, key, c.CreatorID, c.CreatorPublicID, c.Description, c.AvatarFileID, c.IsOfficial,
		c.IsPublic, c.IsDiscoverable, c.OnlyAdminCanPost, c.PostApproval, c.CommentApproval, c.JoinApproval, c.StoryComments,
		c.NotificationMode, c.Type, core.EmptyIfNil(c.Tags), c.Metadata, core.EmptyIfNil(c.CategoryIDs), now, c.UpdatedAt)
	w.InsertFileUses(core.FileUse{ObjectID: c.ID, Kind: core.UseCommunity, AuthorID: c.CreatorID}, []string{c.AvatarFileID})
	c.CreatedAt = now
	textsearch.Tx{Tx: w.Tx}.InsertSearchWords(c.searchDocument())
	if taken != nil {
		w.Guard(sqlCommunityGuardName, taken, key, c.DisplayName, c.ID)
	}
	if len(c.CategoryIDs) > 0 {
		w.Exec(sqlCommunityInsertCategories, c.ID)
	}
}

// CommunityChange contains the fields of a community to change; nil fields are unchanged.
type CommunityChange struct {
	EditorID                                                   string     // internal id; empty for an administrator
	Old                                                        *Community // before the change, by which searches find it
	DisplayName, Description, AvatarFileID, NotificationMode   *string
	IsOfficial, IsPublic, IsDiscoverable, OnlyAdminCanPost     *bool
	PostApproval, CommentApproval, JoinApproval, StoryComments *bool
	Tags, CategoryIDs                                          []string
	Metadata                                                   []byte // JSON object
}

// described returns the community with the texts of the change.
func (c CommunityChange) described() Community {
	after := *c.Old
	if c.DisplayName != nil {
		after.DisplayName = *c.DisplayName
	}
	if c.Description != nil {
		after.Description = *c.Description
	}
	if c.Tags != nil {
		after.Tags = c.Tags
	}
	return after
}

// UpdateCommunity changes a community and reads it back. The transaction fails with 400400 if the community is deleted.
func (w Tx) UpdateCommunity(id string, c CommunityChange, now time.Time, into **Community) {
	w.GuardCommunity(id)
	w.Query(sqlCommunityUpdate, db.Row(into), id, now, c.DisplayName, core.KeyOf(c.DisplayName, core.PublicNameKeyRunes), c.Description,
		c.AvatarFileID, c.IsOfficial, c.IsPublic, c.IsDiscoverable, c.OnlyAdminCanPost, c.PostApproval, c.CommentApproval, c.JoinApproval,
		c.StoryComments, c.NotificationMode, c.Tags, c.Metadata, c.CategoryIDs)
	w.ReplaceFile(core.FileUse{ObjectID: id, Kind: core.UseCommunity, AuthorID: c.EditorID}, c.AvatarFileID)
	if c.Old != nil && (c.DisplayName != nil || c.Description != nil || c.Tags != nil) {
		textsearch.Tx{Tx: w.Tx}.ReplaceSearchWords(c.described().searchDocument())
	}
	if c.DisplayName != nil || c.CategoryIDs != nil {
		w.Exec(sqlCommunityDeleteCategories, id)
		w.Exec(sqlCommunityInsertCategories, id)
	}
}

// DeleteCommunity marks a community as deleted. The transaction fails with 400400 if it is deleted already.
func (w Tx) DeleteCommunity(id string, now time.Time) {
	w.GuardCommunity(id)
	w.Exec(sqlCommunityDelete, id, now)
	textsearch.Tx{Tx: w.Tx}.DeleteSearchWords(id)
	w.Exec(sqlPinsDeleteOfCommunity, id)
}

// GuardCommunity makes the transaction fail with 400400 if the community is deleted.
func (w Tx) GuardCommunity(id string) { w.Guard(CommunityGuard, fail.NotFound(), id) }

// SelectCommunity reads a community again after the preceding statements. A nil community, that of a wall, is not read.
func (w Tx) SelectCommunity(c *Community) {
	if c == nil {
		return
	}
	w.Query(sqlCommunitiesByID, func(rows pgx.Rows) error {
		var current *Community
		err := db.Row(&current)(rows)
		if current != nil {
			*c = *current
		}
		return err
	}, []string{c.ID})
}

var sqlPinsDeleteOfCommunity = db.Register("pins.deleteOfCommunity", `DELETE FROM pins WHERE home = $1 AND community_id = $2`)

// searchDocument returns what searches find a community by.
func (c Community) searchDocument() textsearch.Document {
	return textsearch.Document{
		ID: c.ID, Kind: textsearch.SearchCommunities, CreatedAt: c.CreatedAt, Title: c.DisplayName + " " + strings.Join(c.Tags,
			" "), Text: c.Description,
	}
}
