package service

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ErrEdited says that what an edit was made of has changed meanwhile.
var ErrEdited = errors.New("changed since it was read")

// maxEdits is how often an edit starts anew when others are faster.
const maxEdits = 20

// Edit runs an edit until it meets nobody else's: it reads, decides and writes, and returns ErrEdited where what it read has changed
// meanwhile. So of two edits at once each is stored whole, one after the other.
func Edit[T any](ctx context.Context, once func() (T, error)) (T, error) {
	for try := 0; ; try++ {
		done, err := once()
		if !errors.Is(err, ErrEdited) {
			return done, err
		}
		if try == maxEdits || ctx.Err() != nil {
			return done, fail.Conflict()
		}
	}
}

// Given is a list that a request changes: what it holds instead, or what it held where the request says nothing of it.
func Given[T any](given, held []T, cleared []string, name string) []T {
	if len(given) > 0 || slices.Contains(cleared, name) {
		return given
	}
	return held
}

// PostEdit is an edit of a post, checked against the post as it was read.
type PostEdit struct {
	*Draft
	old      *store.Post
	children []store.Post // the live ones
	// Files are the references to files that the post did not make before.
	Files []FileRef
}

var errChild = fail.New(fail.CodeBadRequest, "A child post changes with the attachments of its parent")

// NewPostEdit checks a change of a parent post with its live child posts. The error is a validation error, or 400000 for a child
// post.
func NewPostEdit(m *plazav1.UpdatePostRequest, old *store.Post, children []store.Post) (*PostEdit, error) {
	if !old.IsParent {
		return nil, errChild
	}
	slices.SortFunc(children, func(a, b store.Post) int { return slices.Index(old.Children, a.ID) - slices.Index(old.Children, b.ID) })
	e := &PostEdit{Draft: &Draft{TargetType: old.TargetType, TargetID: old.TargetID, DataType: old.DataType}, old: old, children: children}
	if err := e.takeData(m); err != nil {
		return nil, err
	}
	if err := e.takeAttachments(m); err != nil {
		return nil, err
	}
	return e, e.check()
}

// takeData reads the new body. What names the poll, stream or room that the post carries stays in it.
func (e *PostEdit) takeData(m *plazav1.UpdatePostRequest) error {
	before := &structpb.Struct{}
	if err := before.UnmarshalJSON(e.old.Data); err != nil {
		return err
	}
	e.Data = &structpb.Struct{Fields: maps.Clone(before.GetFields())}
	if m.GetData() != nil {
		e.Data.Fields = maps.Clone(m.GetData().GetFields())
	}
	if e.Data.Fields == nil {
		e.Data.Fields = map[string]*structpb.Value{}
	}
	if m.GetData() == nil && m.Text != nil {
		e.Data.Fields["text"] = structpb.NewStringValue(m.GetText())
	}
	for kind, into := range map[string]*string{"poll": &e.PollID, "liveStream": &e.StreamID, "room": &e.RoomID} {
		if !slices.ContainsFunc(e.children, func(c store.Post) bool { return c.DataType == kind }) {
			continue
		}
		field := carriedFields[kind]
		*into = before.GetFields()[field].GetStringValue()
		e.Data.Fields[field] = before.GetFields()[field]
	}
	return nil
}

func (e *PostEdit) takeAttachments(m *plazav1.UpdatePostRequest) error {
	var held []*plazav1.Attachment
	for _, c := range e.children {
		if a := attachmentOf(c); a != nil {
			held = append(held, a)
		}
	}
	e.Attachments = Given(m.GetAttachments(), held, m.GetClear(), "attachments")
	if carries := e.PollID + e.StreamID + e.RoomID; carries != "" && len(e.Attachments) > 0 {
		return fail.Validation("attachments: a post with a poll, a stream or a room has none")
	}
	refs := AttachmentRefs(e.Attachments)
	for i, a := range e.Attachments {
		if !slices.ContainsFunc(held, func(h *plazav1.Attachment) bool { return SameFile(h, a) }) {
			e.Files = append(e.Files, refs[i])
		}
	}
	return nil
}

// SameFile reports whether two attachments are of one file in one way.
func SameFile(a, b *plazav1.Attachment) bool {
	return a.GetType() == b.GetType() && a.GetFileId() == b.GetFileId()
}

// attachmentOf is what a child post was made of; nil for one that carries a poll, a stream or a room.
func attachmentOf(c store.Post) *plazav1.Attachment {
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

// Written is what the edit holds to read that the post did not before; nothing where its body stays.
func (e *PostEdit) Written(m *plazav1.UpdatePostRequest) Written {
	if m.GetData() == nil && m.Text == nil {
		return Written{}
	}
	return e.Texts()
}

// Rows makes of the edit the parent as it is to be, the child posts to add and the ids of those to delete. mentions are those of the
// request; newID is called once for each post to add.
func (e *PostEdit) Rows(m *plazav1.UpdatePostRequest, mentions []view.Mention, now time.Time, newID func() string) (parent store.Post, added []store.Post, dropped []string) {
	parent = *e.old
	parent.Data, parent.StructureType, parent.Children = view.ObjectJSON(e.Data), e.structure(), nil
	parent.Tags = Given(m.GetTags(), parent.Tags, m.GetClear(), "tags")
	parent.Hashtags = Given(m.GetHashtags(), parent.Hashtags, m.GetClear(), "hashtags")
	parent.Mentionees = EditedMentions(m.GetMentionees(), mentions, parent.Mentionees, m.GetClear())
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
func (p part) isIn(child store.Post) bool {
	held := &structpb.Struct{}
	return p.kind == child.DataType && held.UnmarshalJSON(child.Data) == nil && proto.Equal(held, p.data)
}

// EditedMentions are the mentionees of a row after a request that names some, empties them, or says nothing of them.
func EditedMentions(given []*plazav1.Mentionee, resolved []view.Mention, held []byte, cleared []string) []byte {
	if len(given) > 0 || slices.Contains(cleared, "mentionees") {
		return view.MentionsJSON(resolved)
	}
	return held
}

// Only checks other references to the files that were read.
func (c *FileCheck) Only(refs []FileRef) *FileCheck { return &FileCheck{refs: refs, rows: c.rows} }
