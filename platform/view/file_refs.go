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

// FillFiles fills an empty collection `files` of a response with the files that its other collections refer to, each
// once: avatars, thumbnails, attachments, images of poll answers. It takes one round trip to each home concerned, and
// none if there are no references. Files that do not exist, or whose home is unavailable, are left out.
//
// An interceptor calls it for every response, so that operations do not have to.
func (b *Builder) FillFiles(ctx context.Context, st *store.Store, response proto.Message) error {
	empty, wanted := filesWanted(response.ProtoReflect())
	if len(empty) == 0 || len(wanted.list()) == 0 {
		return nil
	}
	files, err := b.loadFiles(ctx, st, wanted, noPrefetchedFiles())
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

// filesWanted returns the messages of a response whose collection `files` is empty, and the ids of the files to put
// there. These are the response itself and the messages `data` and `results` that some responses wrap their collections
// in.
func filesWanted(response protoreflect.Message) (empty []protoreflect.Message, wanted *idSet) {
	wanted = newIDSet()
	for _, m := range []protoreflect.Message{response, inner(response, "data"), inner(response, "results")} {
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

// inner returns the message in a field of a response; nil without one.
func inner(response protoreflect.Message, name protoreflect.Name) protoreflect.Message {
	field := response.Descriptor().Fields().ByName(name)
	if field == nil || field.Message() == nil || field.IsList() || field.IsMap() || !response.Has(field) {
		return nil
	}
	return response.Get(field).Message()
}

// filesField returns the descriptor of the collection `files` of a message; nil without one.
func filesField(m protoreflect.Message) protoreflect.FieldDescriptor {
	if m == nil {
		return nil
	}
	field := m.Descriptor().Fields().ByName("files")
	file := (*plazav1.File)(nil).ProtoReflect().Descriptor().FullName()
	if field == nil || !field.IsList() || field.Message() == nil || field.Message().FullName() != file {
		return nil
	}
	return field
}

// prefetchedFiles are files that were read in the same round trip as the rows that a response refers to.
type prefetchedFiles struct {
	requested      *idSet // found or not
	files, avatars []store.File
}

func noPrefetchedFiles() *prefetchedFiles { return &prefetchedFiles{requested: newIDSet()} }

// readFiles reads the files that known rows refer to, so that most responses need no round trip for files alone.
func (l *loader) readFiles(batch *store.ReadBatch) {
	wanted := newIDSet()
	for _, p := range slices.Concat(l.Posts, l.children) {
		wanted.add(fileIDsInData(object(p.Data))...)
	}
	for _, s := range l.Stories {
		wanted.add(fileIDsInData(object(s.Data))...)
	}
	for _, c := range l.Communities {
		wanted.add(c.AvatarFileID)
	}
	for _, u := range l.Users {
		wanted.add(u.AvatarFileID)
	}
	for _, c := range l.Categories {
		wanted.add(c.AvatarFileID)
	}
	l.files.requested = wanted
	batch.FilesByID(wanted.list(), &l.files.files)
}

// filesOf returns the files that the messages in lists refer to, each once.
func (b *Builder) filesOf(ctx context.Context, st *store.Store, prefetched *prefetchedFiles, lists ...iter.Seq[any]) ([]*plazav1.File, error) {
	wanted := newIDSet()
	for _, list := range lists {
		for m := range list {
			wanted.add(fileIDsOf(m)...)
		}
	}
	return b.loadFiles(ctx, st, wanted, prefetched)
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

// loadFiles reads the wanted files that were not prefetched, and converts all in the order of wanted.
func (b *Builder) loadFiles(ctx context.Context, st *store.Store, wanted *idSet, prefetched *prefetchedFiles) ([]*plazav1.File, error) {
	byID := make(map[string]store.File, len(wanted.list()))
	for _, f := range slices.Concat(prefetched.files, prefetched.avatars) {
		byID[f.ID] = f
	}
	missing := slices.DeleteFunc(slices.Clone(wanted.list()), func(id string) bool {
		_, found := byID[id]
		return found || prefetched.requested.seen[id]
	})
	if len(missing) > 0 {
		var rows []store.File
		batch := st.NewBestEffortBatch()
		batch.FilesByID(missing, &rows)
		if err := batch.Run(ctx); err != nil {
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

// fileIDsOf returns the ids of the files that an element of a collection refers to. They can be empty.
func fileIDsOf(message any) []string {
	switch m := message.(type) {
	case *plazav1.Post:
		return fileIDsInData(m.GetData())
	case *plazav1.Story:
		return fileIDsInData(m.GetData())
	case *plazav1.Comment:
		return fileIDsIn(m.GetAttachments())
	case *plazav1.Poll:
		return fileIDsIn(m.GetAnswers())
	case *plazav1.Message:
		return append(fileIDsInData(m.GetData()), m.GetFileId())
	case interface{ GetAvatarFileId() string }: // users, communities, categories
		return []string{m.GetAvatarFileId()}
	case interface{ GetThumbnailFileId() string }: // video streams, rooms
		return []string{m.GetThumbnailFileId()}
	}
	return nil
}

func fileIDsIn[T interface{ GetFileId() string }](list []T) []string {
	return mapList(list, func(element T) string { return element.GetFileId() })
}

// videoSizes are the fields of videoFileId that clients read.
var videoSizes = []string{"original", "high", "medium", "low"}

// withSizes sets the missing sizes of a video to the original, because clients request sizes that were not transcoded.
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

// fileIDsInData returns the ids of the files in the data of a post or a story: a file, a thumbnail, and a video in each
// size.
func fileIDsInData(data *structpb.Struct) []string {
	fields := data.GetFields()
	ids := []string{fields["fileId"].GetStringValue(), fields["thumbnailFileId"].GetStringValue()}
	video := fields["videoFileId"].GetStructValue().GetFields()
	for _, size := range videoSizes {
		ids = append(ids, video[size].GetStringValue())
	}
	return ids
}
