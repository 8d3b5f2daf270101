package view

import (
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// PendingEdit converts an edit that waits for approval.
func (b *Builder) PendingEdit(e content.PendingEdit) *plazav1.PendingEdit {
	a := AnnotationsOf(e.Annotations)
	return &plazav1.PendingEdit{
		ReferenceId: e.ReferenceID, ReferenceType: e.ReferenceType, Data: object(e.Data), Metadata: object(e.Metadata),
		Mentionees: mentionees(e.Mentionees), Attachments: Attachments(e.Attachments), Tags: e.Tags, Hashtags: e.Hashtags,
		CreatedAt: ts(e.CreatedAt),
		Links:     a.links(), ProductTags: a.productTags(), PinnedProductId: a.PinnedProductID,
	}
}

// readPendingEdits reads the wanted pending edits.
func (l *loader) readPendingEdits(batch *store.ReadBatch) {
	batch.PendingEdits(l.wantedPendingEdits().list(), &l.pendingEdits)
}

// wantedPendingEdits returns the posts and comments of the response that the viewer wrote or reviews and that can have
// a pending edit.
func (l *loader) wantedPendingEdits() *idSet {
	wanted := newIDSet()
	if l.IsNew {
		return wanted
	}
	add := func(id, authorID, targetType, targetID string, waits bool) {
		if waits && targetType == "community" && (authorID == l.viewerID || l.viewer.reviews(targetType, targetID)) {
			wanted.add(id)
		}
	}
	for _, p := range l.Posts {
		add(p.ID, p.AuthorID, p.TargetType, p.TargetID, p.IsParent && p.FeedType == published && p.DeletedAt == nil)
	}
	for _, c := range l.Comments {
		add(c.ID, c.AuthorID, c.TargetType, c.TargetID, c.ApprovalStatus == content.Approved && c.DeletedAt == nil)
	}
	return wanted
}

// pendingEdit returns the pending edit of a post or comment; nil without one.
func (l *loader) pendingEdit(id string) *plazav1.PendingEdit {
	if e := find(l.pendingEdits, func(e *content.PendingEdit) bool { return e.ReferenceID == id }); e != nil {
		return l.builder.PendingEdit(*e)
	}
	return nil
}
