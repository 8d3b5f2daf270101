package content

import (
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Wall is a user's access to the wall of another user, as stored in the owner's home. The zero value is an open wall.
type Wall struct {
	// Blocked reports whether the owner blocks the user.
	Blocked bool
	// Private reports whether walls are visible to accepted followers only, Follows whether the user is one.
	Private bool
	Follows bool
}

// wallOf returns the statement for the access of user $3 to the wall of owner. It only reads rows in the owner's home,
// including the home's copy of the setting.
func wallOf(owner string) string {
	return `SELECT EXISTS (SELECT 1 FROM blocks WHERE home = $1 AND blocker_id = ` + owner + ` AND blocked_id = $3 AND status = 'blocked'),
		EXISTS (SELECT 1 FROM settings WHERE home = $1 AND name = 'userPrivacySetting' AND value = '"private"'::jsonb),
		EXISTS (SELECT 1 FROM followers WHERE home = $1 AND followee_id = ` + owner + ` AND follower_id = $3 AND status = 'accepted')`
}

var sqlWall = db.Register("walls.ofUser", wallOf(`$2`))

// Wall reads a user's access to the wall of another user.
func (r ReadBatch) Wall(ownerID, userID string, into *Wall) {
	r.AddAt(ownerID, sqlWall, db.RowOrZero(into), ownerID, userID)
}

// targetStatements read the target of an object, and what a user's access to it depends on.
type targetStatements struct{ community, member, wall *db.Statement }

var targetsOf = map[string]targetStatements{
	ReferencePost:    targetIn("Post", "posts"),
	ReferenceComment: targetIn("Comment", "comments"),
	ReferenceStory:   targetIn("Story", "stories"),
}

func targetIn(name, table string) targetStatements {
	target := func(kind string) string {
		return `(SELECT target_id FROM ` + table + ` WHERE home = $1 AND ` + table + `.id = $2 AND target_type = '` + kind + `')`
	}
	return targetStatements{
		community: db.Register("communities.of"+name, `SELECT `+communities.CommunityColumns+` FROM communities
			WHERE home = $1 AND communities.id = `+target("community")),
		member: db.Register("members.of"+name, `SELECT `+communities.MemberColumns+` FROM community_members
			WHERE home = $1 AND community_id = `+target("community")+` AND user_id = $3`),
		wall: db.Register("walls.of"+name, wallOf(target("user"))),
	}
}

// TargetOf reads the target of a post, a comment or a story, which is its kind: the community, and a user's membership in it, each nil
// if there is none, and the user's access to the wall, which is meaningless for what is in a community.
func (r ReadBatch) TargetOf(kind, id, userID string, community **communities.Community, member **communities.Member, wall *Wall) {
	st := targetsOf[kind]
	r.AddAt(id, st.community, db.Row(community), id)
	r.AddAt(id, st.member, db.Row(member), id, userID)
	r.AddAt(id, st.wall, db.RowOrZero(wall), id, userID)
}
