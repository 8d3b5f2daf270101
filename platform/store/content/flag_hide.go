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

// hiddenAs returns the SQL expression for the state that the content of the hidden item i must have, and the one that it
// has before.
func hiddenAs(waiting, visible, declined string) (state, before string) {
	return `CASE WHEN i.state <> 'resolved' THEN '` + waiting + `' WHEN i.outcome IN ('dismissed', 'withdrawn') THEN '` + visible +
			`' ELSE '` + declined + `' END`,
		`CASE WHEN i.state <> 'resolved' THEN '` + visible + `' ELSE '` + waiting + `' END`
}

var (
	postState, postStateBefore       = hiddenAs("reviewing", "published", "declined")
	commentState, commentStateBefore = hiddenAs(Pending, Approved, Declined)
)

// atHideLimit is the condition that the item of $2 is not resolved, and that $3 users have flags that moderators have
// never cleared.
const atHideLimit = `home = $1 AND target_id = $2 AND state <> 'resolved' AND (SELECT count(*) FROM flags AS f WHERE f.home = $1
	AND f.target_id = $2
	AND f.user_id NOT IN (SELECT user_id FROM cleared_flags WHERE home = $1 AND target_id = $2)) >= $3::bigint`

// hideFlagged marks the item of $2 as hiding its content if the content is visible and has enough flags.
func hideFlagged(visible string) string {
	return `UPDATE flag_items SET is_hidden = true WHERE ` + atHideLimit + ` AND NOT is_hidden AND EXISTS (` + visible + `)`
}

// ofHiddenItem is the condition that the item of $3 hides the row p of $2, which must change from the state before.
func ofHiddenItem(column, before string) string {
	return `i.home = $1 AND i.target_id = $3 AND i.is_hidden AND p.home = $1 AND p.id = $2 AND p.deleted_at IS NULL AND p.` +
		column + ` = ` + before
}

// mustHide is the condition that the story or message of the hidden item i must be hidden; toHideOrShow that the item of $2
// must hide or show its story or message p.
const (
	mustHide     = `(i.state <> 'resolved' OR i.outcome NOT IN ('dismissed', 'withdrawn'))`
	toHideOrShow = `i.home = $1 AND i.target_id = $2 AND i.is_hidden AND p.home = $1 AND p.id = $2 AND p.deleted_at IS NULL
		AND (p.hidden_at IS NULL) = ` + mustHide
)

// moveHidden hides or shows a row of a table with the column hidden_at.
func moveHidden(table string) string {
	return `UPDATE ` + table + ` AS p SET hidden_at = CASE WHEN ` + mustHide + ` THEN $3::timestamptz END,
		updated_at = ` + changedAtOf("p", "$3") + ` FROM flag_items AS i WHERE ` + toHideOrShow
}

var (
	sqlFlagItemHidePost = db.Register("flagItems.hidePost", hideFlagged(`SELECT 1 FROM posts AS p
		WHERE p.home = $1 AND p.id = $4 AND p.feed_type = 'published' AND p.deleted_at IS NULL`))
	sqlFlagItemHideComment = db.Register("flagItems.hideComment", hideFlagged(`SELECT 1 FROM comments AS p
		WHERE p.home = $1 AND p.id = $2 AND p.approval_status = 'approved' AND p.deleted_at IS NULL`))
	sqlFlagItemUnhide = db.Register("flagItems.unhide", `UPDATE flag_items SET is_hidden = false WHERE home = $1 AND target_id = $2 AND is_hidden
		AND state = 'resolved'`)

	sqlHiddenPostCount = db.Register("flagItems.countPost", `UPDATE counters SET n = counters.n + s.n FROM (
			SELECT p.target_id AS ref, CASE WHEN v.n < 0 THEN p.feed_type ELSE `+postState+` END AS kind, v.n
			FROM posts AS p CROSS JOIN flag_items AS i CROSS JOIN (VALUES (-1), (1)) AS v (n)
			WHERE `+ofHiddenItem("feed_type", postStateBefore)+`) AS s
		WHERE counters.home = $1 AND counters.ref = s.ref AND counters.kind = s.kind AND counters.shard = 0`).UpdatesUnlocked(core.SharedCounters,
		core.CountsOfItems)
	sqlHiddenPostMoveChildren = db.Register("flagItems.moveChildren",
		`UPDATE posts AS k SET feed_type = `+postState+`, updated_at = `+changedAtOf("k", "$4")+`
		FROM posts AS p, flag_items AS i WHERE k.home = $1 AND k.parent_id = $2 AND NOT k.is_parent AND `+
			ofHiddenItem("feed_type", postStateBefore)).Updates(core.SharedPosts, 2)
	sqlHiddenPostMove = db.Register("flagItems.movePost", `UPDATE posts AS p SET feed_type = `+postState+`, updated_at = `+changedAtOf("p", "$4")+`
		FROM flag_items AS i WHERE `+ofHiddenItem("feed_type", postStateBefore)).Updates(core.SharedPosts, 2)

	sqlFlagItemHideStory = db.Register("flagItems.hideStory", hideFlagged(`SELECT 1 FROM stories AS p
		WHERE p.home = $1 AND p.id = $2 AND p.deleted_at IS NULL`))
	sqlHiddenStoryCount = db.Register("flagItems.countStory", `UPDATE counters SET n = counters.n + s.n FROM (
			SELECT p.target_id AS ref, CASE WHEN `+mustHide+` THEN -1 ELSE 1 END AS n FROM stories AS p CROSS JOIN flag_items AS i
			WHERE `+toHideOrShow+`) AS s
		WHERE counters.home = $1 AND counters.ref = s.ref AND counters.kind = 'stories' AND counters.shard = 0`).UpdatesUnlocked(core.SharedCounters,
		core.CountsOfItems)
	sqlHiddenStoryMove = db.Register("flagItems.moveStory", moveHidden("stories")).Updates(core.SharedStories, 2)

	sqlFlagItemHideMessage = db.Register("flagItems.hideMessage", hideFlagged(`SELECT 1 FROM messages AS p
		WHERE p.home = $1 AND p.id = $2 AND p.deleted_at IS NULL`))
	sqlHiddenMessageMove = db.Register("flagItems.moveMessage", moveHidden("messages")).Updates(core.SharedMessages, 2)

	sqlFlagItemEscalate = db.Register("flagItems.escalate", `UPDATE flag_items SET escalated_at = flagged_at WHERE `+atHideLimit+` AND escalated_at
		IS NULL`)

	sqlHiddenCommentCount = db.Register("flagItems.countComment", `UPDATE counters SET n = counters.n + s.n FROM (
			SELECT CASE WHEN v.kind = 'comments' THEN p.reference_id ELSE p.parent_id END AS ref, v.kind, CASE WHEN i.state = 'resolved' THEN 1
			ELSE -1 END AS n
			FROM comments AS p CROSS JOIN flag_items AS i CROSS JOIN (VALUES ('comments'), ('replies')) AS v (kind)
			WHERE `+ofHiddenItem("approval_status", commentStateBefore)+` AND `+commentState+` <> '`+Declined+`') AS s
		WHERE counters.home = $1 AND counters.ref = s.ref AND counters.kind = s.kind AND counters.shard = 0`).UpdatesUnlocked(core.SharedCounters,
		core.CountsOfItems)
	sqlHiddenCommentMove = db.Register("flagItems.moveComment",
		`UPDATE comments AS p SET approval_status = `+commentState+`, updated_at = `+changedAtOf("p", "$4")+`
		FROM flag_items AS i WHERE `+ofHiddenItem("approval_status", commentStateBefore)).Updates(core.SharedComments, 2)
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
