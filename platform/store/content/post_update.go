package content

import (
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/textsearch"
)

// changedAt returns the new updated_at of a row: the parameter, but always later than before, so that every version of
// a row has a different updated_at.
func changedAt(param string) string { return changedAtOf("", param) }

// changedAtOf is changedAt for a statement with several tables.
func changedAtOf(table, param string) string {
	if table != "" {
		table += "."
	}
	return `GREATEST(` + param + `::timestamptz, ` + table + `updated_at + INTERVAL '1 millisecond')`
}

var (
	sqlPostGuardUnchanged = db.Register("posts.guardUnchanged", `SELECT 1 / count(*) FROM posts WHERE home = $1 AND id = $2
		AND updated_at = $3::timestamptz
		AND children = $4::text[] AND feed_type = $5 AND deleted_at IS NULL`)
	sqlPostUpdate = db.Register("posts.edit", `UPDATE posts SET children = $3::text[], structure_type = $4, data = $5::jsonb, metadata = $6::jsonb,
		tags = $7::text[],
		hashtags = $8::text[], mentionees = $9::jsonb, annotations = $12::jsonb,
		edited_at = CASE WHEN $11::boolean OR (data = $5::jsonb AND children = $3::text[]) THEN edited_at ELSE $10::timestamptz END,
		updated_at = `+changedAt("$10")+` WHERE home = $1 AND id = $2`).Updates(core.SharedPosts, 2)
	sqlPostDropChildren = db.Register("posts.dropChildren", `UPDATE posts SET deleted_at = $3, updated_at = $3 WHERE home = $1
		AND id = ANY($2::text[]) AND deleted_at IS NULL`).Updates(core.SharedPosts, 2)
)

// GuardPostUnchanged makes the transaction fail with refusal if the post was deleted, edited or reviewed since it was
// read.
func (w Tx) GuardPostUnchanged(p Post, refusal error) {
	w.Guard(sqlPostGuardUnchanged, refusal, p.ID, p.UpdatedAt, core.EmptyIfNil(p.Children), p.FeedType)
}

// UpdatePost stores the data, children, metadata, tags, hashtags, mentionees and annotations of a parent post, inserts the added
// children and deletes the dropped ones. The post counts as edited if its data or children differ, unless keepEdited is
// set. GuardPostUnchanged must precede it.
func (w Tx) UpdatePost(p Post, added []Post, dropped []string, now time.Time, keepEdited bool) {
	w.Exec(sqlPostUpdate, p.ID, core.EmptyIfNil(p.Children), p.StructureType, p.Data, p.Metadata, core.EmptyIfNil(p.Tags),
		core.EmptyIfNil(p.Hashtags),
		p.Mentionees,
		now, keepEdited, core.ObjectIfNil(p.Annotations))
	w.ReplaceFileUses(p.fileUse(), core.FileIDs(p.Data))
	if p.IsParent {
		textsearch.Tx{Tx: w.Tx}.ReplaceSearchWords(p.searchDocument())
	}
	for _, child := range added {
		w.InsertPost(child)
	}
	if len(dropped) > 0 {
		w.Exec(sqlPostDropChildren, dropped, now)
		for _, child := range slices.Sorted(slices.Values(dropped)) {
			w.CloseFlagItems(child, now)
		}
		w.Exec(sqlPostRecomputeFlaggedChildren, p.ID)
		w.recomputeCommunityFlags(p.TargetType, p.TargetID)
	}
}
