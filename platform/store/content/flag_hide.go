package content

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Automatic hiding moves flagged content to the state in which it waits for review: posts to the feed type reviewing,
// comments to Pending. The resolution of the flags moves it on: dismissed and withdrawn flags make it visible again,
// other outcomes decline it. Stories and messages have no review: they are marked as hidden, and stay so if they are
// declined. Flags never hide a user: other users cannot decide that. They escalate the user's item instead, so that
// moderators see it first.

// In the statements below, i is the item that hides content and p the row of the content. While the item is not resolved, the content
// must wait for review; then it must be visible if the flags were dismissed or withdrawn, and declined otherwise. The statements
// change rows that are in the state before.

// atHideLimit is the condition that the item of $2 is not resolved, and that $3 users have flags that moderators have
// never cleared.
const atHideLimit = `home = $1 AND target_id = $2 AND state <> 'resolved' AND (SELECT count(*) FROM flags AS f
		WHERE f.home = $1 AND f.target_id = $2
		AND f.user_id NOT IN (SELECT user_id FROM cleared_flags WHERE home = $1 AND target_id = $2)) >= $3::bigint`

// The statements that mark an item as hiding its content, or not.
var (
	sqlFlagItemHidePost = db.Register("flagItems.hidePost", `UPDATE flag_items SET is_hidden = true WHERE `+atHideLimit+` AND NOT is_hidden
		AND EXISTS (SELECT 1 FROM posts AS p WHERE p.home = $1 AND p.id = $4 AND p.feed_type = 'published' AND p.deleted_at IS NULL)`)
	sqlFlagItemHideComment = db.Register("flagItems.hideComment", `UPDATE flag_items SET is_hidden = true WHERE `+atHideLimit+` AND NOT is_hidden
		AND EXISTS (SELECT 1 FROM comments AS p WHERE p.home = $1 AND p.id = $2 AND p.approval_status = 'approved' AND p.deleted_at IS NULL)`)
	sqlFlagItemHideStory = db.Register("flagItems.hideStory", `UPDATE flag_items SET is_hidden = true WHERE `+atHideLimit+` AND NOT is_hidden
		AND EXISTS (SELECT 1 FROM stories AS p WHERE p.home = $1 AND p.id = $2 AND p.deleted_at IS NULL)`)
	sqlFlagItemHideMessage = db.Register("flagItems.hideMessage", `UPDATE flag_items SET is_hidden = true WHERE `+atHideLimit+` AND NOT is_hidden
		AND EXISTS (SELECT 1 FROM messages AS p WHERE p.home = $1 AND p.id = $2 AND p.deleted_at IS NULL)`)
	sqlFlagItemEscalate = db.Register("flagItems.escalate", `UPDATE flag_items SET escalated_at = flagged_at WHERE `+atHideLimit+`
		AND escalated_at IS NULL`)
	sqlFlagItemUnhide = db.Register("flagItems.unhide", `UPDATE flag_items SET is_hidden = false
		WHERE home = $1 AND target_id = $2 AND is_hidden AND state = 'resolved'`)
)

// The statements of posts. $2 is the post, $3 the target of the item, which can be a child post.
var (
	sqlHiddenPostCount = db.Register("flagItems.countPost", `UPDATE counters SET n = counters.n + s.n FROM (
			SELECT p.target_id AS ref, v.n, CASE WHEN v.n < 0 THEN p.feed_type WHEN i.state <> 'resolved' THEN 'reviewing'
				WHEN i.outcome IN ('dismissed', 'withdrawn') THEN 'published' ELSE 'declined' END AS kind
			FROM posts AS p CROSS JOIN flag_items AS i CROSS JOIN (VALUES (-1), (1)) AS v (n)
			WHERE i.home = $1 AND i.target_id = $3 AND i.is_hidden AND p.home = $1 AND p.id = $2 AND p.deleted_at IS NULL
			AND p.feed_type = CASE WHEN i.state <> 'resolved' THEN 'published' ELSE 'reviewing' END) AS s
		WHERE counters.home = $1 AND counters.ref = s.ref AND counters.kind = s.kind AND counters.shard = 0`).
		UpdatesUnlocked(core.SharedCounters, core.CountsOfItems)
	sqlHiddenPostMoveChildren = db.Register("flagItems.moveChildren", `UPDATE posts AS k SET feed_type = CASE WHEN i.state <> 'resolved'
			THEN 'reviewing' WHEN i.outcome IN ('dismissed', 'withdrawn') THEN 'published' ELSE 'declined' END,
			updated_at = `+changedAtOf("k", "$4")+`
		FROM posts AS p, flag_items AS i WHERE k.home = $1 AND k.parent_id = $2 AND NOT k.is_parent
		AND i.home = $1 AND i.target_id = $3 AND i.is_hidden AND p.home = $1 AND p.id = $2 AND p.deleted_at IS NULL
		AND p.feed_type = CASE WHEN i.state <> 'resolved' THEN 'published' ELSE 'reviewing' END`).Updates(core.SharedPosts, 2)
	sqlHiddenPostMove = db.Register("flagItems.movePost", `UPDATE posts AS p SET feed_type = CASE WHEN i.state <> 'resolved'
			THEN 'reviewing' WHEN i.outcome IN ('dismissed', 'withdrawn') THEN 'published' ELSE 'declined' END,
			updated_at = `+changedAtOf("p", "$4")+`
		FROM flag_items AS i
		WHERE i.home = $1 AND i.target_id = $3 AND i.is_hidden AND p.home = $1 AND p.id = $2 AND p.deleted_at IS NULL
		AND p.feed_type = CASE WHEN i.state <> 'resolved' THEN 'published' ELSE 'reviewing' END`).Updates(core.SharedPosts, 2)
)

// The statements of comments. Declined comments have not been counted since they were hidden.
var (
	sqlHiddenCommentCount = db.Register("flagItems.countComment", `UPDATE counters SET n = counters.n + s.n FROM (
			SELECT CASE WHEN v.kind = 'comments' THEN p.reference_id ELSE p.parent_id END AS ref, v.kind,
				CASE WHEN i.state = 'resolved' THEN 1 ELSE -1 END AS n
			FROM comments AS p CROSS JOIN flag_items AS i CROSS JOIN (VALUES ('comments'), ('replies')) AS v (kind)
			WHERE i.home = $1 AND i.target_id = $3 AND i.is_hidden AND p.home = $1 AND p.id = $2 AND p.deleted_at IS NULL
			AND p.approval_status = CASE WHEN i.state <> 'resolved' THEN 'approved' ELSE 'pending' END
			AND (i.state <> 'resolved' OR i.outcome IN ('dismissed', 'withdrawn'))) AS s
		WHERE counters.home = $1 AND counters.ref = s.ref AND counters.kind = s.kind AND counters.shard = 0`).
		UpdatesUnlocked(core.SharedCounters, core.CountsOfItems)
	sqlHiddenCommentMove = db.Register("flagItems.moveComment", `UPDATE comments AS p SET approval_status = CASE WHEN i.state <> 'resolved'
			THEN 'pending' WHEN i.outcome IN ('dismissed', 'withdrawn') THEN 'approved' ELSE 'declined' END,
			updated_at = `+changedAtOf("p", "$4")+`
		FROM flag_items AS i
		WHERE i.home = $1 AND i.target_id = $3 AND i.is_hidden AND p.home = $1 AND p.id = $2 AND p.deleted_at IS NULL
		AND p.approval_status = CASE WHEN i.state <> 'resolved' THEN 'approved' ELSE 'pending' END`).Updates(core.SharedComments, 2)
)

// The statements of stories and messages, which are hidden while hidden_at is set: also when they are declined.
var (
	sqlHiddenStoryCount = db.Register("flagItems.countStory", `UPDATE counters SET n = counters.n + s.n FROM (
			SELECT p.target_id AS ref, CASE WHEN p.hidden_at IS NULL THEN -1 ELSE 1 END AS n FROM stories AS p CROSS JOIN flag_items AS i
			WHERE i.home = $1 AND i.target_id = $2 AND i.is_hidden AND p.home = $1 AND p.id = $2 AND p.deleted_at IS NULL
			AND (p.hidden_at IS NULL) = (i.state <> 'resolved' OR i.outcome NOT IN ('dismissed', 'withdrawn'))) AS s
		WHERE counters.home = $1 AND counters.ref = s.ref AND counters.kind = 'stories' AND counters.shard = 0`).
		UpdatesUnlocked(core.SharedCounters, core.CountsOfItems)
	sqlHiddenStoryMove = db.Register("flagItems.moveStory", `UPDATE stories AS p
		SET hidden_at = CASE WHEN p.hidden_at IS NULL THEN $3::timestamptz END, updated_at = `+changedAtOf("p", "$3")+`
		FROM flag_items AS i
		WHERE i.home = $1 AND i.target_id = $2 AND i.is_hidden AND p.home = $1 AND p.id = $2 AND p.deleted_at IS NULL
		AND (p.hidden_at IS NULL) = (i.state <> 'resolved' OR i.outcome NOT IN ('dismissed', 'withdrawn'))`).Updates(core.SharedStories, 2)
	sqlHiddenMessageMove = db.Register("flagItems.moveMessage", `UPDATE messages AS p
		SET hidden_at = CASE WHEN p.hidden_at IS NULL THEN $3::timestamptz END, updated_at = `+changedAtOf("p", "$3")+`
		FROM flag_items AS i
		WHERE i.home = $1 AND i.target_id = $2 AND i.is_hidden AND p.home = $1 AND p.id = $2 AND p.deleted_at IS NULL
		AND (p.hidden_at IS NULL) = (i.state <> 'resolved' OR i.outcome NOT IN ('dismissed', 'withdrawn'))`).Updates(core.SharedMessages, 2)
)

// ApplyFlagsToPost hides, shows or declines a post as its item says. A limit above 0 hides it once as many users have
// flagged it. The flags of a child post apply to its parent. A Recompute method must precede it.
func (w Tx) ApplyFlagsToPost(p Post, limit int, now time.Time) {
	root := core.Pick(p.IsParent, p.ID, p.ParentID)
	if limit > 0 {
		for _, kind := range []core.CounterKind{core.CountPublished, core.CountReviewing, core.CountDeclined} {
			w.LockCounter(p.TargetID, kind, 0)
		}
		w.Exec(sqlFlagItemHidePost, p.ID, limit, root)
	}
	w.Exec(sqlHiddenPostCount, root, p.ID)
	w.Exec(sqlHiddenPostMoveChildren, root, p.ID, now)
	w.Exec(sqlHiddenPostMove, root, p.ID, now)
	w.Exec(sqlFlagItemUnhide, p.ID)
}

// ApplyFlagsToComment is ApplyFlagsToPost for a comment.
func (w Tx) ApplyFlagsToComment(c Comment, limit int, now time.Time) {
	if limit > 0 {
		w.LockCounter(c.ReferenceID, core.CountComments, 0)
		w.LockCounter(c.ParentID, core.CountReplies, 0)
		w.Exec(sqlFlagItemHideComment, c.ID, limit)
	}
	w.Exec(sqlHiddenCommentCount, c.ID, c.ID)
	w.Exec(sqlHiddenCommentMove, c.ID, c.ID, now)
	w.refreshLatest(c)
	w.Exec(sqlFlagItemUnhide, c.ID)
}

// ApplyFlagsToStory is ApplyFlagsToPost for a story.
func (w Tx) ApplyFlagsToStory(s Story, limit int, now time.Time) {
	w.LockCounter(s.TargetID, CountStories, 0)
	if limit > 0 {
		w.Exec(sqlFlagItemHideStory, s.ID, limit)
	}
	w.Exec(sqlHiddenStoryCount, s.ID)
	w.Exec(sqlHiddenStoryMove, s.ID, now)
	w.Exec(sqlFlagItemUnhide, s.ID)
	w.recomputeStoryTarget(s, now)
}

// ApplyFlagsToMessage is ApplyFlagsToPost for a message.
func (w Tx) ApplyFlagsToMessage(id string, limit int, now time.Time) {
	if limit > 0 {
		w.Exec(sqlFlagItemHideMessage, id, limit)
	}
	w.Exec(sqlHiddenMessageMove, id, now)
	w.Exec(sqlFlagItemUnhide, id)
}

// EscalateUser escalates the item of a user whom limit users have flagged; a limit of 0 escalates nothing. InsertFlag must
// precede it.
func (w Tx) EscalateUser(userID string, limit int) {
	if limit > 0 {
		w.Exec(sqlFlagItemEscalate, userID, limit)
	}
}

// ShowFlagItem marks a resolved item as not hiding its content.
func (w Tx) ShowFlagItem(targetID string) { w.Exec(sqlFlagItemUnhide, targetID) }
