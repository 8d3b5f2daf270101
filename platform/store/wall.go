package store

import (
	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// Wall is how a user stands to the owner of a wall, as the owner's home knows it. The zero value is an open wall.
type Wall struct {
	// Blocked is true where the owner blocks the user.
	Blocked bool
	// Private is true where walls are for accepted followers; Follows, where the user is one.
	Private bool
	Follows bool
}

func scanWall(into *Wall) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		*into = Wall{}
		if !rows.Next() {
			return nil
		}
		return rows.Scan(&into.Blocked, &into.Private, &into.Follows)
	}
}

// wallOf makes a statement of how $3 stands to the owner. Everything is read at the owner's home, its copy of the setting
// too: what stands on a wall needs no other home.
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

// Wall reads how a user stands to the owner of a wall.
func (r *ReadBatch) Wall(ownerID, userID string, into *Wall) {
	if home, err := region.HomeOf(ownerID); err == nil {
		r.add(home, sqlWall, scanWall(into), ownerID, userID)
	}
}

// WallOfPost reads how a user stands to the owner of the wall that a post is on; for a post of a community it means nothing.
func (r *ReadBatch) WallOfPost(postID, userID string, into *Wall) {
	r.ofContent(postID, sqlWallOfPost, scanWall(into), userID)
}

// WallOfComment is WallOfPost for the post that a comment stands on.
func (r *ReadBatch) WallOfComment(commentID, userID string, into *Wall) {
	r.ofContent(commentID, sqlWallOfComment, scanWall(into), userID)
}
