package posting

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Edit is a validated edit of a post.
type Edit struct {
	*Draft
	old      *content.Post  // with the fields of the pending edit, if there is one
	children []content.Post // without deleted ones
	pending  *content.PendingEdit
	// Files are the references to files that the post did not have before.
	Files []fileref.Reference
}

var errChild = fail.New(fail.CodeBadRequest, "A child post cannot be edited; edit the attachments of its parent")

// NewEdit validates an edit of a parent post with the given child posts. Its error is a validation error, or 400000
// for a child post. If an edit is pending, it edits the post as it is after that.
func NewEdit(m *plazav1.UpdatePostRequest, old *content.Post, children []content.Post, pending *content.PendingEdit) (*Edit, error) {
	if !old.IsParent {
		return nil, errChild
	}
	slices.SortFunc(children, func(a, b content.Post) int {
		return slices.Index(old.Children, a.ID) - slices.Index(old.Children, b.ID)
	})
	e := &Edit{
		Draft: &Draft{TargetType: old.TargetType, TargetID: old.TargetID, DataType: old.DataType}, old: withPending(*old, pending),
		children: children, pending: pending,
	}
	if err := e.requireDataSize(freeform.Of(m.GetData())); err != nil {
		return nil, err
	}
	e.takeData(m)
	if err := e.takeAttachments(m); err != nil {
		return nil, err
	}
	return e, e.check()
}

// takeData reads the new body. The id of an embedded poll, stream or room stays in it.
func (e *Edit) takeData(m *plazav1.UpdatePostRequest) {
	before := freeform.Object(e.old.Data)
	switch {
	case m.GetData() != nil:
		e.Data = freeform.Of(m.GetData())
	case m.Text != nil:
		e.Data = before.With("text", freeform.Quote(m.GetText()))
	default:
		e.Data = before
	}
	for _, c := range e.children {
		if kind, ok := embedKinds[c.DataType]; ok {
			e.Embedded = Embedded{c.DataType, before.Text(kind.field)}
			e.Data = e.Data.With(kind.field, freeform.Quote(e.Embedded.ID))
		}
	}
}

func (e *Edit) takeAttachments(m *plazav1.UpdatePostRequest) error {
	var held []*plazav1.Attachment
	for _, c := range e.children {
		if a := attachmentOf(c); a != nil {
			held = append(held, a)
		}
	}
	present := held
	if e.pending != nil {
		present = view.Attachments(e.pending.Attachments)
	}
	e.Attachments = service.ReplaceList(m.GetAttachments(), present, m.GetClear(), "attachments")
	if e.Embedded.ID != "" && len(e.Attachments) > 0 {
		return fail.Validation("attachments: a post with a poll, a stream or a room must not have any")
	}
	refs := fileref.OfAttachments(e.Attachments)
	for i, a := range e.Attachments {
		if !slices.ContainsFunc(slices.Concat(held, present), func(h *plazav1.Attachment) bool { return SameFile(h, a) }) {
			e.Files = append(e.Files, refs[i])
		}
	}
	return nil
}

// withPending returns a post with the fields of a pending edit.
func withPending(p content.Post, e *content.PendingEdit) *content.Post {
	if e != nil {
		p.Data, p.Metadata, p.Mentionees, p.Tags, p.Hashtags, p.Annotations = e.Data, e.Metadata, e.Mentionees, e.Tags, e.Hashtags, e.Annotations
	}
	return &p
}

// Pending returns the edit as a row that waits for approval.
func (e *Edit) Pending(m *plazav1.UpdatePostRequest, mentions []view.Mention, now time.Time) content.PendingEdit {
	parent, _, _ := e.Rows(m, mentions, now, func() string { return "" })
	return content.PendingEdit{
		ReferenceID: parent.ID, ReferenceType: content.ReferencePost, TargetID: parent.TargetID, AuthorID: parent.AuthorID, Data: parent.Data,
		Metadata: parent.Metadata, Mentionees: parent.Mentionees, Attachments: view.AttachmentsJSON(e.Attachments), Tags: parent.Tags,
		Hashtags: parent.Hashtags, CreatedAt: now, Annotations: parent.Annotations,
	}
}

// SameFile reports whether two attachments refer to the same file with the same type.
func SameFile(a, b *plazav1.Attachment) bool {
	return a.GetType() == b.GetType() && a.GetFileId() == b.GetFileId()
}

// attachmentOf returns the attachment of which a child post was made, or nil for one with a poll, a stream or a room.
func attachmentOf(c content.Post) *plazav1.Attachment {
	var data struct {
		FileID string `json:"fileId"`
		Video  struct {
			Original string `json:"original"`
		} `json:"videoFileId"`
	}
	if json.Unmarshal(c.Data, &data) != nil || data.FileID+data.Video.Original == "" {
		return nil
	}
	return &plazav1.Attachment{Type: c.DataType, FileId: data.FileID + data.Video.Original}
}

// Text returns the user-written text that the edit changes: the body, the tags and the hashtags.
func (e *Edit) Text(m *plazav1.UpdatePostRequest) textrules.UserText {
	t := textrules.TextOfList(slices.Concat(m.GetTags(), m.GetHashtags(), annotationTexts(m.GetLinks(), m.GetProductTags()))...)
	if m.GetData() != nil || m.Text != nil {
		t.Texts = append(t.Texts, e.Draft.Text().Texts...)
	}
	return t
}

// Rows returns the parent after the edit, the child posts to insert and the ids of those to delete. mentions are
// those of the request; newID is called once for each post to insert.
func (e *Edit) Rows(m *plazav1.UpdatePostRequest, mentions []view.Mention, now time.Time, newID func() string) (parent content.Post,
	added []content.Post, dropped []string,
) {
	parent = *e.old
	parent.Data, parent.StructureType, parent.Children = e.Data.Row(), e.structure(), nil
	parent.Tags = service.ReplaceList(m.GetTags(), parent.Tags, m.GetClear(), "tags")
	parent.Hashtags = service.ReplaceList(m.GetHashtags(), parent.Hashtags, m.GetClear(), "hashtags")
	parent.Mentionees = EditedMentions(m.GetMentionees(), mentions, parent.Mentionees, m.GetClear())
	parent.Annotations = editedAnnotations(parent.Annotations, m)
	if m.GetMetadata() != nil {
		parent.Metadata = view.ObjectJSON(m.GetMetadata())
	}
	left := slices.Clone(e.children)
	for _, part := range e.parts() {
		at := slices.IndexFunc(left, part.isIn)
		if at >= 0 {
			parent.Children = append(parent.Children, left[at].ID)
			left = slices.Delete(left, at, at+1)
			continue
		}
		child := childOf(parent, part, newID())
		child.CreatedAt, child.UpdatedAt, child.EditedAt = now, now, now
		added, parent.Children = append(added, child), append(parent.Children, child.ID)
	}
	for _, c := range left {
		dropped = append(dropped, c.ID)
	}
	return parent, added, dropped
}

// isIn reports whether a child post holds the part.
func (p part) isIn(child content.Post) bool {
	if p.kind != child.DataType {
		return false
	}
	held := freeform.Object(child.Data)
	if p.id != "" {
		return held.Text(embedKinds[p.kind].field) == p.id
	}
	return slices.Equal(core.FileIDs(held), core.FileIDs(p.data))
}
