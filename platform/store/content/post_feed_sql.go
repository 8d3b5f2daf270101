package content

import (
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// The first arguments of the statements that find posts of feeds: $2 and $3 the position, $4 the limit, $5 hidden authors,
// $6 structure types.
const (
	feedColumns = `id, target_type, target_id, author_id, created_at`
	feedFilter  = ` AND author_id <> ALL($5::text[]) AND (cardinality($6::text[]) = 0 OR structure_type = ANY($6::text[]))`
	feedArgs    = 5
	feedLimit   = ` LIMIT $4::bigint`
)

func feedAfter(o db.Order) string {
	return ` AND ` + o.After("created_at", "id", "$2::timestamptz", "$3")
}

func feedOrder(o db.Order) string { return ` ORDER BY ` + o.By("created_at", "id") }

// feedSizes are the numbers of branches of the statements that read targets one by one. The largest one takes about a
// millisecond; larger ones take longer for each branch.
var feedSizes = []int{4, 16, 64}

// feedBranches find the page of some targets.
var feedBranches = map[bool]core.Each{true: branchesInOrder(core.CreatedOrders[0]), false: branchesInOrder(core.CreatedOrders[1])}

func branchesInOrder(o db.Order) core.Each {
	page := feedOrder(o) + feedLimit
	return core.ForEachIn(feedSizes, "feeds.branches"+o.Name, feedArgs, "", `SELECT `+feedColumns+` FROM posts WHERE home = $1
		AND target_id = {value}
		AND is_parent AND feed_type = 'published' AND deleted_at IS NULL`+feedAfter(o)+feedFilter+page, page)
}

// The statements that find the page among the next posts of the home: $7 is their number, $8 the reader, $9 whether to
// include followed walls, $10 whether to include the own wall, $11 communities.
var (
	// feedListed makes a list of the targets first.
	feedListed = core.InBoth(core.CreatedOrders, func(o db.Order) *db.Statement {
		return windowStatement("feeds.listed", o, `(target_id IN (SELECT followee_id FROM followers WHERE home = $1 AND follower_id = $8
			AND status = 'accepted' AND $9::boolean
			UNION ALL SELECT $8::text WHERE $10::boolean
			UNION ALL SELECT id FROM communities WHERE home = $1 AND id = ANY($11::text[]) AND deleted_at IS NULL)) IS TRUE`)
	})
	// feedProbed looks up the target of each post.
	feedProbed = core.InBoth(core.CreatedOrders, func(o db.Order) *db.Statement {
		return windowStatement("feeds.probed", o, `(`+feedFollowed+`
			OR (cardinality($11::text[]) > 0 AND COALESCE((SELECT deleted_at IS NULL AND id = ANY($11::text[])
				FROM communities WHERE home = $1 AND id = recent.target_id), false)))`)
	})
	// With $12, posts on all walls are included.
	feedEveryone = core.InBoth(core.CreatedOrders,
		func(o db.Order) *db.Statement { return db.Register("feeds.everyone"+o.Name, everyoneIn(o)) })
	// feedEveryoneLast returns the last post of the window in addition, without a type of target, if the home may have posts after it.
	feedEveryoneLast = core.InBoth(core.CreatedOrders, func(o db.Order) *db.Statement {
		return db.Register("feeds.everyone.last"+o.Name, `(`+everyoneIn(o)+`) UNION ALL (SELECT id, '', target_id, author_id, created_at FROM posts
			WHERE home = $1 AND is_listed`+feedAfter(o)+feedOrder(o)+` OFFSET $7::bigint - 1 LIMIT 1)`)
	})
)

func everyoneIn(o db.Order) string {
	return `SELECT ` + feedColumns + ` FROM ` + feedRecent(o, feedColumns+", structure_type") + `target_id <> ALL($5::text[])
		AND ((target_type = 'user' AND $12::boolean) OR ` + feedFollowed + `
		OR COALESCE((SELECT deleted_at IS NULL AND (is_public OR id = ANY($11::text[])) FROM communities WHERE home = $1
		AND id = recent.target_id), false))` +
		feedOrder(o) + feedLimit
}

func windowStatement(name string, o db.Order, targets string) *db.Statement {
	return db.Register(name+o.Name, `SELECT id, CASE WHEN target_id = ANY($11::text[]) THEN 'community' ELSE 'user' END AS target_type, target_id,
		author_id, created_at
		FROM `+feedRecent(o, "id, target_id, author_id, structure_type, created_at")+targets+feedOrder(o)+feedLimit)
}

// feedFollowed is the condition that a recent post is on the reader's wall or on a followed one.
const feedFollowed = `(target_id = $8::text AND $10::boolean)
	OR ($9::boolean AND COALESCE((SELECT status = 'accepted' FROM followers WHERE home = $1 AND followee_id = recent.target_id AND follower_id
	= $8), false))`

// feedRecent selects from the next posts of the home in the order of the feed, by the index posts_by_recency.
func feedRecent(o db.Order, columns string) string {
	return `(SELECT ` + columns + ` FROM posts WHERE home = $1 AND is_listed` + feedAfter(o) + feedOrder(o) + ` LIMIT $7::bigint) AS recent
		WHERE true` + feedFilter + ` AND `
}

var (
	sqlFollowersOf = db.Register("followers.ofFollower", `SELECT followee_id FROM followers WHERE home = $1 AND follower_id = $2
		AND status = 'accepted'`)
	// A member of a deleted community remains a member.
	sqlCommunitiesDeleted = db.Register("communities.deleted", `SELECT id FROM communities WHERE home = $1 AND id = ANY($2::text[]) AND deleted_at
		IS NOT NULL`)
)
