package content

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// FlagTarget is the kind of a flagged row.
type FlagTarget string

// The kinds of flagged rows.
const (
	FlagPost    FlagTarget = "post"
	FlagComment FlagTarget = "comment"
	FlagStory   FlagTarget = "story"
	FlagUser    FlagTarget = "user"
	FlagMessage FlagTarget = "message"
)

var (
	sqlFlagGuardLimit = db.Register("flags.guardLimit", `SELECT 1 / CASE WHEN
		(SELECT count(*) FROM flags WHERE home = $1 AND target_id = $2 AND user_id <> $3) < $4::bigint
		OR EXISTS (SELECT 1 FROM flags WHERE home = $1 AND target_id = $2 AND user_id = $3) THEN 1 ELSE 0 END`)
	sqlFlagInsert = db.Register("flags.insert", `INSERT INTO flags (home, target_id, user_id, target_type, reason, detail, created_at, id, is_queued)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, true) ON CONFLICT (home, target_id, user_id) DO NOTHING`)
	sqlFlagDelete    = db.Register("flags.delete", `DELETE FROM flags WHERE home = $1 AND target_id = $2 AND user_id = $3`)
	sqlFlagDeleteAll = db.Register("flags.clear", `DELETE FROM flags WHERE home = $1 AND target_id = $2`)
	sqlFlagsPurge    = db.Register("flags.purge", `DELETE FROM flags WHERE home = $1 AND target_id = ANY($2::text[])`)
	sqlFlagGuard     = db.Register("flags.guardThere", `SELECT 1 / count(*) FROM flags WHERE home = $1 AND target_id = $2 AND user_id = $3`)
	sqlFlaggedByUser = db.Register("flags.mine", `SELECT EXISTS (SELECT 1 FROM flags WHERE home = $1 AND target_id = $2 AND user_id = $3)`)

	sqlPostRecomputeFlags    = db.Register("flags.applyToPost", flagFieldsFromFlags("posts")).Updates(core.SharedPosts, 2)
	sqlCommentRecomputeFlags = db.Register("flags.applyToComment", flagFieldsFromFlags("comments")).Updates(core.SharedComments, 2)
	sqlStoryRecomputeFlags   = db.Register("flags.applyToStory", flagFieldsFromFlags("stories")).Updates(core.SharedStories, 2)
	sqlUserRecomputeFlags    = db.Register("flags.applyToUser", flagFieldsFromFlags("users")).Updates(core.SharedUsers, 2)
	sqlMessageRecomputeFlags = db.Register("flags.applyToMessage", flagFieldsFromFlags("messages")).Updates(core.SharedMessages, 2)

	sqlPostRecomputeFlaggedChildren = db.Register("flags.recomputePostChildren", `UPDATE posts SET has_flagged_children = f.found FROM
		(SELECT EXISTS (SELECT 1 FROM posts AS k WHERE k.home = $1 AND k.parent_id = $2 AND NOT k.is_parent AND k.flag_count > 0
			AND k.deleted_at IS NULL) AS found) AS f
		WHERE posts.home = $1 AND posts.id = $2 AND posts.has_flagged_children <> f.found`).Updates(core.SharedPosts, 2)
	sqlPostRecomputeFlaggedComment = db.Register("flags.recomputePostComments", `UPDATE posts SET has_flagged_comment = f.found FROM
		(SELECT EXISTS (SELECT 1 FROM comments WHERE home = $1 AND reference_id = $2 AND is_flagged AND deleted_at IS NULL) AS found) AS f
		WHERE posts.home = $1 AND posts.id = $2 AND posts.has_flagged_comment <> f.found`).Updates(core.SharedPosts, 2)
	sqlStoryRecomputeFlaggedComment = db.Register("flags.recomputeStoryComments", `UPDATE stories SET has_flagged_comment = f.found FROM
		(SELECT EXISTS (SELECT 1 FROM comments WHERE home = $1 AND reference_id = $2 AND is_flagged AND deleted_at IS NULL) AS found) AS f
		WHERE stories.home = $1 AND stories.id = $2 AND stories.has_flagged_comment <> f.found`).Updates(core.SharedStories, 2)
	sqlCommunityRecomputeFlagged = db.Register("flags.recomputeCommunity", `UPDATE communities SET has_flagged_post = f.post,
		has_flagged_comment = f.comment FROM
		(SELECT EXISTS (SELECT 1 FROM posts WHERE home = $1 AND target_id = $2 AND is_flagged AND flag_count > 0 AND deleted_at IS NULL) AS post,
			EXISTS (SELECT 1 FROM posts WHERE home = $1 AND target_id = $2 AND is_flagged AND has_flagged_comment AND deleted_at IS NULL)
			AS comment) AS f
		WHERE communities.home = $1 AND communities.id = $2
			AND (communities.has_flagged_post <> f.post OR communities.has_flagged_comment <> f.comment)`).Updates(core.SharedCommunities, 2)

	sqlPostMarkFlaggedChildren = db.Register("flags.markPostChildren", `UPDATE posts SET has_flagged_children = true
		WHERE home = $1 AND id = $2 AND NOT has_flagged_children`).UpdatesUnlocked(core.SharedPosts, fewFirst)
	sqlPostMarkFlaggedComment = db.Register("flags.markPostComments", `UPDATE posts SET has_flagged_comment = true
		WHERE home = $1 AND id = $2 AND NOT has_flagged_comment`).UpdatesUnlocked(core.SharedPosts, fewFirst)
	sqlStoryMarkFlaggedComment = db.Register("flags.markStoryComments", `UPDATE stories SET has_flagged_comment = true
		WHERE home = $1 AND id = $2 AND NOT has_flagged_comment`).UpdatesUnlocked(core.SharedStories, fewFirst)
	sqlCommunityMarkFlaggedPost = db.Register("flags.markCommunityPosts", `UPDATE communities SET has_flagged_post = true
		WHERE home = $1 AND id = $2 AND NOT has_flagged_post
		AND EXISTS (SELECT 1 FROM posts WHERE home = $1 AND id = $3 AND deleted_at IS NULL)`).
		UpdatesUnlocked(core.SharedCommunities, fewFirst)
	sqlCommunityMarkFlaggedComment = db.Register("flags.markCommunityComments", `UPDATE communities SET has_flagged_comment = true
		WHERE home = $1 AND id = $2 AND NOT has_flagged_comment AND EXISTS (SELECT 1 FROM posts WHERE home = $1 AND id = $3 AND deleted_at
		IS NULL)`).
		UpdatesUnlocked(core.SharedCommunities, fewFirst)
)

// fewFirst is why the marks of what contains flagged content are not locked: all flags in a community would wait for each
// other.
const fewFirst = "only the first flag changes the row"

// flagFieldsFromFlags recomputes the flag columns of a row from the flags.
func flagFieldsFromFlags(table string) string {
	return `UPDATE ` + table + ` SET flaggers = COALESCE(f.ids, '{}'), flag_count = f.n FROM
		(SELECT array_agg(user_id ORDER BY created_at, user_id) AS ids, count(*) AS n FROM flags WHERE home = $1 AND target_id = $2) AS f
		WHERE ` + table + `.home = $1 AND ` + table + `.id = $2`
}

// Flag is a row of flags: one user's flag of one target.
type Flag struct {
	ID         string
	TargetType FlagTarget
	TargetID   string
	UserID     string
	Reason     string
	Detail     string
	CreatedAt  time.Time
}

// FlaggedBy reads whether a user has flagged the target.
func (r ReadBatch) FlaggedBy(targetID, userID string, into *bool) {
	r.AddAt(targetID, sqlFlaggedByUser, db.Value(into), targetID, userID)
}

// GuardFlagLimit makes the transaction fail with refusal if other users have set limit flags on the target.
func (w Tx) GuardFlagLimit(f Flag, limit int, refusal error) {
	w.Guard(sqlFlagGuardLimit, refusal, f.TargetID, f.UserID, limit)
}

// InsertFlag inserts a flag of a target in a community, in a channel or in no place, unless the user has flagged the
// target already. It opens the item of the target. A Recompute method must follow it.
func (w Tx) InsertFlag(f Flag, placeID string) {
	w.recountFlagItem(f.TargetID, func() {
		w.Exec(sqlFlagInsert, f.TargetID, f.UserID, string(f.TargetType), f.Reason, f.Detail, f.CreatedAt, f.ID)
		w.openFlagItem(f.TargetID, f.TargetType, placeID, f.CreatedAt)
	})
}

// DeleteFlag deletes the user's flag, if any, and resolves the item of the target if it was the last one. A Recompute
// method must follow it.
func (w Tx) DeleteFlag(targetID, userID string, now time.Time) {
	w.recountFlagItem(targetID, func() {
		w.Exec(sqlFlagDelete, targetID, userID)
		w.Exec(sqlFlagItemRecompute, targetID, now)
	})
}

// GuardFlag makes the transaction fail with refusal if the user has not flagged the target.
func (w Tx) GuardFlag(targetID, userID string, refusal error) {
	w.Guard(sqlFlagGuard, refusal, targetID, userID)
}

// RecomputePostFlags recomputes the flag columns of a post, its parent and its community.
func (w Tx) RecomputePostFlags(p Post) {
	w.Exec(sqlPostRecomputeFlags, p.ID)
	if !p.IsParent {
		w.Exec(sqlPostRecomputeFlaggedChildren, p.ParentID)
	}
	w.recomputeCommunityFlags(p.TargetType, p.TargetID)
}

// RaisePostFlags is RecomputePostFlags after InsertFlag. It marks the parent and the community rather than looking for
// other flagged content.
func (w Tx) RaisePostFlags(p Post) {
	w.Exec(sqlPostRecomputeFlags, p.ID)
	if !p.IsParent {
		w.Exec(sqlPostMarkFlaggedChildren, p.ParentID)
	}
	if p.TargetType == "community" {
		w.Exec(sqlCommunityMarkFlaggedPost, p.TargetID, p.ID)
	}
}

// RaiseCommentFlags is RecomputeCommentFlags after InsertFlag.
func (w Tx) RaiseCommentFlags(c Comment) {
	w.Exec(sqlCommentRecomputeFlags, c.ID)
	if c.ReferenceType == ReferenceStory {
		w.Exec(sqlStoryMarkFlaggedComment, c.ReferenceID)
		return
	}
	w.Exec(sqlPostMarkFlaggedComment, c.ReferenceID)
	if c.TargetType == "community" {
		w.Exec(sqlCommunityMarkFlaggedComment, c.TargetID, c.ReferenceID)
	}
}

// RecomputeStoryFlags recomputes the flag columns of a story. They are not propagated to the community, because nothing
// would reset them when the story expires.
func (w Tx) RecomputeStoryFlags(id string) { w.Exec(sqlStoryRecomputeFlags, id) }

// RecomputeCommentFlags recomputes the flag columns of a comment, of its post or story, and of its community.
func (w Tx) RecomputeCommentFlags(c Comment) {
	w.Exec(sqlCommentRecomputeFlags, c.ID)
	if c.ReferenceType == ReferenceStory {
		w.Exec(sqlStoryRecomputeFlaggedComment, c.ReferenceID)
		return
	}
	w.Exec(sqlPostRecomputeFlaggedComment, c.ReferenceID)
	w.recomputeCommunityFlags(c.TargetType, c.TargetID)
}

// RecomputeUserFlags recomputes the flag columns of a user.
func (w Tx) RecomputeUserFlags(userID string) { w.Exec(sqlUserRecomputeFlags, userID) }

// RecomputeMessageFlags recomputes the flag columns of a message.
func (w Tx) RecomputeMessageFlags(id string) { w.Exec(sqlMessageRecomputeFlags, id) }

func (w Tx) recomputeCommunityFlags(targetType, targetID string) {
	if targetType == "community" {
		w.Exec(sqlCommunityRecomputeFlagged, targetID)
	}
}
