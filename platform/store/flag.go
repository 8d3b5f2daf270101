package store

import (
	"time"

	"github.com/jackc/pgx/v5"
)

// FlagTarget is a table whose rows can be flagged.
type FlagTarget string

// The tables.
const (
	FlagPost    FlagTarget = "post"
	FlagComment FlagTarget = "comment"
	FlagStory   FlagTarget = "story"
	FlagUser    FlagTarget = "user"
	FlagMessage FlagTarget = "message"
)

var (
	sqlFlagLimit = stmt("flags.guardLimit", `SELECT 1 / CASE WHEN
		(SELECT count(*) FROM flags WHERE home = $1 AND target_id = $2 AND user_id <> $3) < $4::bigint
		OR EXISTS (SELECT 1 FROM flags WHERE home = $1 AND target_id = $2 AND user_id = $3) THEN 1 ELSE 0 END`)
	sqlFlagInsert = stmt("flags.insert", `INSERT INTO flags (home, target_id, user_id, target_type, reason, detail, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (home, target_id, user_id) DO NOTHING`)
	sqlFlagDelete = stmt("flags.delete", `DELETE FROM flags WHERE home = $1 AND target_id = $2 AND user_id = $3`)
	sqlFlagClear  = stmt("flags.clear", `DELETE FROM flags WHERE home = $1 AND target_id = $2`)
	sqlFlagsPurge = stmt("flags.purge", `DELETE FROM flags WHERE home = $1 AND target_id = ANY($2::text[])`)
	sqlFlagThere  = stmt("flags.guardThere", `SELECT 1 / count(*) FROM flags WHERE home = $1 AND target_id = $2 AND user_id = $3`)
	sqlFlagMine   = stmt("flags.mine", `SELECT EXISTS (SELECT 1 FROM flags WHERE home = $1 AND target_id = $2 AND user_id = $3)`)

	sqlCountersPurge = stmt("counters.purge", `DELETE FROM counters WHERE home = $1 AND ref = ANY($2::text[])`)

	sqlFlagPost    = stmt("flags.applyToPost", applyFlags("posts"))
	sqlFlagComment = stmt("flags.applyToComment", applyFlags("comments"))
	sqlFlagStory   = stmt("flags.applyToStory", applyFlags("stories"))
	sqlFlagUser    = stmt("flags.applyToUser", applyFlags("users"))
	sqlFlagMessage = stmt("flags.applyToMessage", applyFlags("messages"))

	sqlBubbleChildren = stmt("flags.bubbleToParent", `UPDATE posts SET has_flagged_children = f.found FROM
		(SELECT EXISTS (SELECT 1 FROM posts AS k WHERE k.home = $1 AND k.parent_id = $2 AND NOT k.is_parent AND k.flag_count > 0
			AND k.deleted_at IS NULL) AS found) AS f
		WHERE posts.home = $1 AND posts.id = $2 AND posts.has_flagged_children <> f.found`)
	sqlBubblePost = stmt("flags.bubbleToPost", `UPDATE posts SET has_flagged_comment = f.found FROM
		(SELECT EXISTS (SELECT 1 FROM comments WHERE home = $1 AND reference_id = $2 AND flag_count > 0 AND deleted_at IS NULL) AS found) AS f
		WHERE posts.home = $1 AND posts.id = $2 AND posts.has_flagged_comment <> f.found`)
	sqlBubbleStory = stmt("flags.bubbleToStory", `UPDATE stories SET has_flagged_comment = f.found FROM
		(SELECT EXISTS (SELECT 1 FROM comments WHERE home = $1 AND reference_id = $2 AND flag_count > 0 AND deleted_at IS NULL) AS found) AS f
		WHERE stories.home = $1 AND stories.id = $2 AND stories.has_flagged_comment <> f.found`)
	sqlBubbleCommunity = stmt("flags.bubbleToCommunity", `UPDATE communities SET has_flagged_post = f.post, has_flagged_comment = f.comment FROM
		(SELECT EXISTS (SELECT 1 FROM posts WHERE home = $1 AND target_id = $2 AND is_flagged AND flag_count > 0 AND deleted_at IS NULL) AS post,
			EXISTS (SELECT 1 FROM posts WHERE home = $1 AND target_id = $2 AND is_flagged AND has_flagged_comment AND deleted_at IS NULL) AS comment) AS f
		WHERE communities.home = $1 AND communities.id = $2
			AND (communities.has_flagged_post <> f.post OR communities.has_flagged_comment <> f.comment)`)
)

// applyFlags makes the flag fields of a row anew from the facts.
func applyFlags(table string) string {
	return `UPDATE ` + table + ` SET flaggers = COALESCE(f.ids, '{}'), flag_count = f.n FROM
		(SELECT array_agg(user_id ORDER BY created_at, user_id) AS ids, count(*) AS n FROM flags WHERE home = $1 AND target_id = $2) AS f
		WHERE ` + table + `.home = $1 AND ` + table + `.id = $2`
}

// Flag is a row of flags: one user flags one target.
type Flag struct {
	TargetType FlagTarget
	TargetID   string
	UserID     string
	Reason     string
	Detail     string
	CreatedAt  time.Time
}

// GuardFlagLimit refuses the transaction where the target has limit flags already, none of them the user's own.
func (w *Tx) GuardFlagLimit(f Flag, limit int, refusal error) {
	w.guard(sqlFlagLimit, refusal, f.TargetID, f.UserID, limit)
}

// InsertFlag adds a flag; the user's second one changes nothing. BubbleFlags goes after it.
func (w *Tx) InsertFlag(f Flag) {
	w.exec(sqlFlagInsert, f.TargetID, f.UserID, string(f.TargetType), f.Reason, f.Detail, f.CreatedAt)
}

// DeleteFlag removes the user's own flag, if any. BubbleFlags goes after it.
func (w *Tx) DeleteFlag(targetID, userID string) { w.exec(sqlFlagDelete, targetID, userID) }

// GuardFlag refuses the transaction where the user does not flag the target.
func (w *Tx) GuardFlag(targetID, userID string, refusal error) {
	w.guard(sqlFlagThere, refusal, targetID, userID)
}

// DeleteFlags removes every flag of a target. BubbleFlags goes after it.
func (w *Tx) DeleteFlags(targetID string) { w.exec(sqlFlagClear, targetID) }

// RecomputePostFlags brings the flag fields of a post and of what it stands in up to date with the facts.
func (w *Tx) RecomputePostFlags(p Post) {
	w.exec(sqlFlagPost, p.ID)
	if !p.IsParent {
		w.exec(sqlBubbleChildren, p.ParentID)
	}
	w.recomputeCommunityFlags(p.TargetType, p.TargetID)
}

// RecomputeStoryFlags brings the flag fields of a story up to date with the facts. They do not reach its community: a story
// ends by the clock, and nothing would take the mark away then.
func (w *Tx) RecomputeStoryFlags(id string) { w.exec(sqlFlagStory, id) }

// RecomputeCommentFlags brings the flag fields of a comment and of what it stands on up to date with the facts.
func (w *Tx) RecomputeCommentFlags(c Comment) {
	w.exec(sqlFlagComment, c.ID)
	if c.ReferenceType == ReferenceStory {
		w.exec(sqlBubbleStory, c.ReferenceID)
		return
	}
	w.exec(sqlBubblePost, c.ReferenceID)
	w.recomputeCommunityFlags(c.TargetType, c.TargetID)
}

// RecomputeUserFlags brings the flag fields of a user up to date with the facts.
func (w *Tx) RecomputeUserFlags(userID string) { w.exec(sqlFlagUser, userID) }

// RecomputeMessageFlags brings the flag fields of a message up to date with the facts.
func (w *Tx) RecomputeMessageFlags(id string) { w.exec(sqlFlagMessage, id) }

func (w *Tx) recomputeCommunityFlags(targetType, targetID string) {
	if targetType == "community" {
		w.exec(sqlBubbleCommunity, targetID)
	}
}

// SelectCommunity reads a community that was read before again, as it stands once the statements before it have run; nil
// stands for a wall.
func (w *Tx) SelectCommunity(c *Community) {
	if c == nil {
		return
	}
	w.query(sqlCommunitiesByID, func(rows pgx.Rows) error {
		var again *Community
		err := scanOne(&again, scanCommunity)(rows)
		if again != nil {
			*c = *again
		}
		return err
	}, []string{c.ID})
}
