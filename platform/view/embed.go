package view

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plaza-social/plaza/platform/store/content"
)

// embed describes a row that a post can embed: a poll, a stream or a room.
type embed struct {
	id      string
	postID  string // of the post that embeds a child
	deleted bool
}

// embeddedID returns the id of the row that a post of the given structure type embeds, which is in a field of its data.
// It returns "" for other and for deleted posts.
func embeddedID(p content.Post, structureType, field string) string {
	if p.StructureType != structureType || p.DeletedAt != nil {
		return ""
	}
	if id := gjson.GetBytes(p.Data, field); id.Type == gjson.String {
		return id.Str
	}
	return ""
}

// embeddedIDs returns the ids of the rows that the posts embed, each once, in the order of the posts.
func (l *loader) embeddedIDs(structureType, field string) []string {
	ids := newIDSet()
	for _, p := range l.Posts {
		ids.add(embeddedID(p, structureType, field))
	}
	return ids.list()
}

// shownEmbeds sorts the embedded rows by ids and their children by id, and leaves out deleted rows. It also leaves out
// children that are embedded in a post of their own, because that post can have a different audience.
func shownEmbeds[R any](ids []string, rows, children []R, of func(R) embed) (shown, shownChildren []R) {
	for _, id := range ids {
		if row := find(rows, func(r *R) bool { return of(*r).id == id }); row != nil && !of(*row).deleted {
			shown = append(shown, *row)
		}
	}
	shownChildren = slices.DeleteFunc(slices.Clone(children), func(r R) bool {
		e := of(r)
		return e.deleted || e.postID != "" || slices.Contains(ids, e.id)
	})
	slices.SortFunc(shownChildren, func(x, y R) int { return strings.Compare(of(x).id, of(y).id) })
	return shown, shownChildren
}
