package store

import "github.com/plaza-social/plaza/platform/store/db"

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

var (
	sqlWall          = stmt("walls.ofUser", wallOf(`$2`))
	sqlWallOfPost    = stmt("walls.ofPost", wallOf(`(SELECT target_id FROM posts WHERE home = $1 AND posts.id = $2 AND target_type = 'user')`))
	sqlWallOfComment = stmt("walls.ofComment", wallOf(`(SELECT target_id FROM comments WHERE home = $1 AND comments.id = $2 AND target_type = 'user')`))
)

// Wall reads a user's access to the wall of another user.
func (r *ReadBatch) Wall(ownerID, userID string, into *Wall) {
	r.addAt(ownerID, sqlWall, db.RowOrZero(into), ownerID, userID)
}

// WallOfPost reads a user's access to the wall that a post is on. The result is meaningless for a post in a community.
func (r *ReadBatch) WallOfPost(postID, userID string, into *Wall) {
	r.addAt(postID, sqlWallOfPost, db.RowOrZero(into), postID, userID)
}

// WallOfComment is like WallOfPost for the post of a comment.
func (r *ReadBatch) WallOfComment(commentID, userID string, into *Wall) {
	r.addAt(commentID, sqlWallOfComment, db.RowOrZero(into), commentID, userID)
}
