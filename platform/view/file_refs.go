package view

import (
	"context"
	"iter"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// FillFiles fills the collection `files` of an answer, where it has one that is empty, with the files that its other
// collections refer to, each once: avatars, thumbnails, attachments, images of answers. It is one round trip to each home
// concerned, and none where nothing refers to a file; a file that is gone, or whose home does not answer, is left out.
//
// It is called for every answer before it leaves, so that no operation has to think of it.
func (b *Builder) FillFiles(ctx context.Context, st *store.Store, answer proto.Message) error {
	empty, wanted := filesWanted(answer.ProtoReflect())
	if len(empty) == 0 || len(wanted.list()) == 0 {
		return nil
	}
	files, err := b.files(ctx, st, wanted)
	if err != nil {
		return err
	}
	for _, m := range empty {
		list := m.Mutable(filesField(m)).List()
		for _, f := range files {
			list.Append(protoreflect.ValueOfMessage(f.ProtoReflect()))
		}
	}
	return nil
}

// filesWanted finds the empty collections of an answer, and of what it wraps its collections in, and what belongs in them.
func filesWanted(answer protoreflect.Message) (empty []protoreflect.Message, wanted *set) {
	wanted = newSet()
	for _, m := range []protoreflect.Message{answer, inner(answer, "data"), inner(answer, "results")} {
		field := filesField(m)
		if field == nil {
			continue
		}
		if m.Get(field).List().Len() > 0 {
			return nil, wanted
		}
		empty = append(empty, m)
		m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
			if field.IsList() && field.Message() != nil {
				for i := range value.List().Len() {
					wanted.add(fileIDsOf(value.List().Get(i).Message().Interface())...)
				}
			}
			return true
		})
	}
	return empty, wanted
}

// inner is a message in an answer; nil where the answer has none of that name.
func inner(answer protoreflect.Message, name protoreflect.Name) protoreflect.Message {
	field := answer.Descriptor().Fields().ByName(name)
	if field == nil || field.Message() == nil || field.IsList() || field.IsMap() || !answer.Has(field) {
		return nil
	}
	return answer.Get(field).Message()
}

// filesField is the collection `files` of a message; nil where it has none.
func filesField(m protoreflect.Message) protoreflect.FieldDescriptor {
	if m == nil {
		return nil
	}
	field := m.Descriptor().Fields().ByName("files")
	if field == nil || !field.IsList() || field.Message() == nil || field.Message().FullName() != (*plazav1.File)(nil).ProtoReflect().Descriptor().FullName() {
		return nil
	}
	return field
}

// filesAtHand are files that were read together with other rows, because the rows at hand before already refer to them.
type filesAtHand struct {
	asked          *set
	files, avatars []store.File
}

func noFilesAtHand() *filesAtHand { return &filesAtHand{asked: newSet()} }

// readFiles reads the files that the known rows refer to: with them at hand, most answers need no round trip for files alone.
func (g *gathering) readFiles(reads *store.ReadBatch) {
	wanted := newSet()
	for _, p := range slices.Concat(g.Posts, g.children) {
		wanted.add(fileIDsIn(object(p.Data))...)
	}
	for _, s := range g.Stories {
		wanted.add(fileIDsIn(object(s.Data))...)
	}
	for _, c := range g.Communities {
		wanted.add(c.AvatarFileID)
	}
	for _, u := range g.Users {
		wanted.add(u.AvatarFileID)
	}
	for _, c := range g.Categories {
		wanted.add(c.AvatarFileID)
	}
	g.files.asked = wanted
	reads.FilesByID(wanted.list(), &g.files.files)
}

// filesOf is FillFiles for collections that are in no message yet.
func (b *Builder) filesOf(ctx context.Context, st *store.Store, have *filesAtHand, lists ...iter.Seq[any]) ([]*plazav1.File, error) {
	wanted := newSet()
	for _, list := range lists {
		for m := range list {
			wanted.add(fileIDsOf(m)...)
		}
	}
	return b.filesBeside(ctx, st, wanted, have)
}

func each[T any](list []T) iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, m := range list {
			if !yield(m) {
				return
			}
		}
	}
}

// files reads files in the order of the set.
func (b *Builder) files(ctx context.Context, st *store.Store, wanted *set) ([]*plazav1.File, error) {
	return b.filesBeside(ctx, st, wanted, noFilesAtHand())
}

// filesBeside reads the files that are not at hand, if any, and returns all in the order of the set.
func (b *Builder) filesBeside(ctx context.Context, st *store.Store, wanted *set, have *filesAtHand) ([]*plazav1.File, error) {
	byID := make(map[string]store.File, len(wanted.list()))
	for _, f := range slices.Concat(have.files, have.avatars) {
		byID[f.ID] = f
	}
	missing := slices.DeleteFunc(slices.Clone(wanted.list()), func(id string) bool {
		_, found := byID[id]
		return found || have.asked.has[id]
	})
	if len(missing) > 0 {
		var rows []store.File
		reads := st.NewBestEffortBatch()
		reads.FilesByID(missing, &rows)
		if err := reads.Run(ctx); err != nil {
			return nil, err
		}
		for _, f := range rows {
			byID[f.ID] = f
		}
	}
	files := make([]*plazav1.File, 0, len(byID))
	for _, id := range wanted.list() {
		if f, ok := byID[id]; ok {
			files = append(files, b.File(f))
		}
	}
	return files, nil
}

// fileIDsOf are the ids of the files that a message of a collection refers to; empty ones among them are none.
func fileIDsOf(message any) []string {
	switch m := message.(type) {
	case *plazav1.Post:
		return fileIDsIn(m.GetData())
	case *plazav1.Story:
		return fileIDsIn(m.GetData())
	case *plazav1.Comment:
		return attachedTo(m)
	case *plazav1.Poll:
		return answeredBy(m)
	case *plazav1.Message:
		return append(fileIDsIn(m.GetData()), m.GetFileId())
	case interface{ GetAvatarFileId() string }: // users, communities, categories
		return []string{m.GetAvatarFileId()}
	case interface{ GetThumbnailFileId() string }: // video streams, rooms
		return []string{m.GetThumbnailFileId()}
	}
	return nil
}

func attachedTo(c *plazav1.Comment) []string {
	var ids []string
	for _, a := range c.GetAttachments() {
		ids = append(ids, a.GetFileId())
	}
	return ids
}

func answeredBy(p *plazav1.Poll) []string {
	var ids []string
	for _, a := range p.GetAnswers() {
		ids = append(ids, a.GetFileId())
	}
	return ids
}

// videoSizes are the sizes that clients ask for of a video.
var videoSizes = []string{"original", "high", "medium", "low"}

// withSizes fills the sizes of a video that nobody made with the original: whichever a client asks for, it finds one to play.
func withSizes(data *structpb.Struct) *structpb.Struct {
	video := data.GetFields()["videoFileId"].GetStructValue().GetFields()
	original := video["original"]
	if original.GetStringValue() == "" {
		return data
	}
	for _, size := range videoSizes {
		if video[size].GetStringValue() == "" {
			video[size] = original
		}
	}
	return data
}

// fileIDsIn are those in the data of a post or a story: an image or a file, a thumbnail, a video in each of its sizes.
func fileIDsIn(data *structpb.Struct) []string {
	fields := data.GetFields()
	ids := []string{fields["fileId"].GetStringValue(), fields["thumbnailFileId"].GetStringValue()}
	video := fields["videoFileId"].GetStructValue().GetFields()
	for _, size := range videoSizes {
		ids = append(ids, video[size].GetStringValue())
	}
	return ids
}
