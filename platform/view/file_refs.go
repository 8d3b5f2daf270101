package view

import (
	"bytes"
	"context"
	"iter"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// FillFiles fills the empty lists of files in a response, those with the related_files option, with the files that
// the other lists of their message refer to, each once: avatars, thumbnails, attachments, images of answers. It makes
// one round trip to each home concerned, and none if there are no references. Files that do not exist or whose home
// does not answer are omitted.
//
// An interceptor calls it for every response, so that operations need not.
func (b *Builder) FillFiles(ctx context.Context, st *store.Store, response proto.Message) error {
	empty, wanted := filesWanted(response.ProtoReflect())
	if len(empty) == 0 || len(wanted.list()) == 0 {
		return nil
	}
	files, err := b.files(ctx, st, wanted)
	if err != nil {
		return err
	}
	for _, list := range empty {
		for _, f := range files {
			list.Append(protoreflect.ValueOfMessage(f.ProtoReflect()))
		}
	}
	return nil
}

// fileList is a field with the related_files option.
type fileList struct {
	path  []protoreflect.FieldDescriptor // from the response to the message with the field
	field protoreflect.FieldDescriptor
	lists []protoreflect.FieldDescriptor // the other lists of messages in that message
}

// fileLists are the fileLists of all messages of the API.
var fileLists = func() map[protoreflect.FullName][]fileList {
	all := map[protoreflect.FullName][]fileList{}
	protoregistry.GlobalFiles.RangeFilesByPackage(plazav1.File_plaza_v1_file_proto.Package(), func(file protoreflect.FileDescriptor) bool {
		for i := range file.Messages().Len() {
			message := file.Messages().Get(i)
			if found := fileListsOf(message, nil); len(found) > 0 {
				all[message.FullName()] = found
			}
		}
		return true
	})
	return all
}()

// fileListsOf returns the fileLists of a message and of the messages in its fields, apart from lists and maps.
func fileListsOf(message protoreflect.MessageDescriptor, path []protoreflect.FieldDescriptor) []fileList {
	var found []fileList
	own := fileList{path: path}
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		related, _ := proto.GetExtension(field.Options(), plazav1.E_RelatedFiles).(bool)
		recursive := slices.ContainsFunc(path, func(f protoreflect.FieldDescriptor) bool { return f.Message() == field.Message() })
		switch {
		case field.Message() == nil, field.IsMap(), recursive:
		case related:
			own.field = field
		case field.IsList():
			own.lists = append(own.lists, field)
		default:
			found = append(found, fileListsOf(field.Message(), slices.Concat(path, []protoreflect.FieldDescriptor{field}))...)
		}
	}
	if own.field != nil {
		found = append(found, own)
	}
	return found
}

// filesWanted returns the empty lists of files in a response and the files that belong in them. It returns no lists
// if one of them is filled already.
func filesWanted(response protoreflect.Message) (empty []protoreflect.List, wanted *set) {
	wanted = newSet()
	for _, list := range fileLists[response.Descriptor().FullName()] {
		m, ok := messageAt(response, list.path)
		if !ok {
			continue
		}
		if m.Has(list.field) {
			return nil, wanted
		}
		empty = append(empty, m.Mutable(list.field).List())
		for _, field := range list.lists {
			values := m.Get(field).List()
			for i := range values.Len() {
				wanted.add(fileIDsOf(values.Get(i).Message().Interface())...)
			}
		}
	}
	return empty, wanted
}

// messageAt returns the message at path, false if it is not set.
func messageAt(m protoreflect.Message, path []protoreflect.FieldDescriptor) (protoreflect.Message, bool) {
	for _, field := range path {
		if !m.Has(field) {
			return nil, false
		}
		m = m.Mutable(field).Message()
	}
	return m, true
}

// filesAtHand are files that were read together with other rows, because the rows at hand before already refer to them.
type filesAtHand struct {
	asked          *set
	files, avatars []store.File
}

func noFilesAtHand() *filesAtHand { return &filesAtHand{asked: newSet()} }

// readFiles reads the files that the known rows refer to: with them at hand, most answers need no round trip for
// files alone.
func (g *gathering) readFiles(reads *store.Reads) {
	wanted := newSet()
	for _, p := range slices.Concat(g.Posts, g.children) {
		wanted.add(fileIDsInJSON(p.Data)...)
	}
	for _, s := range g.Stories {
		wanted.add(fileIDsInJSON(s.Data)...)
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
		reads := st.Related()
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

// withSizes fills the sizes of a video that nobody made with the original: whichever a client asks for, it finds one
// to play.
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

// fileIDsInJSON is fileIDsIn for the data of a row. Most data contains no files and is not decoded.
func fileIDsInJSON(data []byte) []string {
	if !bytes.Contains(data, []byte("ileId")) { // fileId, thumbnailFileId, videoFileId
		return nil
	}
	return fileIDsIn(object(data))
}
