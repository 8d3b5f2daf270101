package communities

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// What the activity of communities is derived from: the newest posts of each home, on walls too, and its newest communities.
const (
	recentPosts       = 2_000
	recentCommunities = 100
)

// CommunityActivity is how active a community, or a wall, was recently, see ActivityAt.
type CommunityActivity struct {
	TargetID string
	Activity int64
}

// Rankable is what the ranking of a community needs.
type Rankable struct {
	ID             string
	IsPublic       bool
	IsDiscoverable bool
	CategoryIDs    []string
}

// sqlCommunityActivity counts each author of a target once, by the latest post. The creator of a community counts as an author.
var sqlCommunityActivity = db.Register("communities.activity", `SELECT target_id, round(sum(24000000::numeric / (24 + hours)))::bigint AS activity
	FROM (
	SELECT target_id, author_id, floor(extract(epoch FROM $2::timestamptz - max(created_at))::float8 / 3600)::bigint AS hours FROM (
		(SELECT target_id, author_id, created_at FROM posts WHERE home = $1 AND is_listed AND created_at <= $2::timestamptz
			ORDER BY created_at DESC, id DESC LIMIT $3::bigint)
		UNION ALL (SELECT id AS target_id, creator_id AS author_id, created_at FROM communities WHERE home = $1 AND created_at <= $2::timestamptz
			ORDER BY created_at DESC, id DESC LIMIT $4::bigint)) AS recent
		GROUP BY target_id, author_id) AS authors
	GROUP BY target_id`)

var (
	sqlRankables = db.Register("communities.rankable", `SELECT id, is_public, is_discoverable, category_ids FROM communities
		WHERE home = $1 AND id = ANY($2::text[]) AND deleted_at IS NULL`)
	sqlCommunitiesBanned = db.Register("members.bansOfUser", `SELECT community_id FROM user_communities WHERE home = $1 AND user_id = $2
		AND state = 'banned'`)
	communitiesOfUsers = core.ForEach("members.ofUsers", 1, "", `SELECT user_id, community_id FROM user_communities
		WHERE home = $1 AND user_id = {value} AND state = 'member' ORDER BY community_id LIMIT $2::bigint`, "")
)

// ActivityAt reads the activity of the communities and walls of all homes at a time, in no particular order. The activity is
// the sum over the authors of recent posts of a million times 24 / (24 + hours since the author's latest post): an author
// counts once, half after a day, and an eighth after a week.
func (r ReadBatch) ActivityAt(at time.Time, into *[]CommunityActivity) {
	*into = nil
	core.ReadEveryHome(r.ReadBatch, sqlCommunityActivity, into, at, recentPosts, recentCommunities)
}

// Rankables reads the communities among ids that are not deleted, in no particular order. Other ids are ignored.
func (r ReadBatch) Rankables(ids []string, into *[]Rankable) {
	core.ReadMany(r.ReadBatch, ids, sqlRankables, into)
}

// BansOfUser reads the communities that a user is banned from.
func (r ReadBatch) BansOfUser(userID string, into *[]string) {
	r.AddAt(userID, sqlCommunitiesBanned, db.Values(into), userID)
}

// UserCommunity is the membership of a user in a community.
type UserCommunity struct {
	UserID      string
	CommunityID string
}

// CommunitiesOfUsers reads up to most communities of each of some users, in no particular order.
func (r ReadBatch) CommunitiesOfUsers(userIDs []string, most int, into *[]UserCommunity) {
	*into = nil
	core.ReadEach(r.ReadBatch, userIDs, communitiesOfUsers, into, most)
}
