package store

import "time"

// changedAt is the updated_at of a row that changes at the time of a parameter: later than it was, so that it tells one state of
// the row from every other.
func changedAt(param string) string {
	return `GREATEST(` + param + `::timestamptz, updated_at + INTERVAL '1 millisecond')`
}

var (
	sqlPostSame = stmt("posts.guardUnchanged", `SELECT 1 / count(*) FROM posts WHERE home = $1 AND id = $2 AND updated_at = $3::timestamptz
		AND children = $4::text[] AND feed_type = $5 AND deleted_at IS NULL`)
	sqlPostEdit = stmt("posts.edit", `UPDATE posts SET children = $3::text[], structure_type = $4, data = $5::jsonb, metadata = $6::jsonb, tags = $7::text[],
		hashtags = $8::text[], mentionees = $9::jsonb,
		edited_at = CASE WHEN $11::boolean OR (data = $5::jsonb AND children = $3::text[]) THEN edited_at ELSE $10::timestamptz END,
		updated_at = `+changedAt("$10")+` WHERE home = $1 AND id = $2`)
	sqlPostDrop = stmt("posts.dropChildren", `UPDATE posts SET deleted_at = $3, updated_at = $3 WHERE home = $1 AND id = ANY($2::text[]) AND deleted_at IS NULL`)
)

// GuardPostUnchanged refuses the transaction where anybody deleted, edited or reviewed the post since it was read.
func (w *Tx) GuardPostUnchanged(p Post, refusal error) {
	w.guard(sqlPostSame, refusal, p.ID, p.UpdatedAt, emptyIfNil(p.Children), p.FeedType)
}

// EditPost stores what a parent post holds: data, children, metadata, tags, hashtags and mentionees. Children that are new to it are
// added, and those that it lists no more deleted. It counts as edited where data or children differ from what was stored, unless
// keepEdited. GuardPostUnchanged goes before it.
func (w *Tx) EditPost(p Post, added []Post, dropped []string, now time.Time, keepEdited bool) {
	w.exec(sqlPostEdit, p.ID, emptyIfNil(p.Children), p.StructureType, p.Data, p.Metadata, emptyIfNil(p.Tags), emptyIfNil(p.Hashtags), p.Mentionees,
		now, keepEdited)
	for _, child := range added {
		w.InsertPost(child)
	}
	if len(dropped) > 0 {
		w.exec(sqlPostDrop, dropped, now)
		w.exec(sqlBubbleChildren, p.ID)
		w.recomputeCommunityFlags(p.TargetType, p.TargetID)
	}
}
