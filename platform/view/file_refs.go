package view

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// FillFiles fills the empty lists of files in a response, those with the related_files option, with the files that the
// other lists of their message refer to, each once: avatars, thumbnails, attachments, images of answers. It makes one
// round trip to each home concerned, and none if there are no references. Files that do not exist or whose home does
// not answer are omitted.
//
// An interceptor calls it for every response, so that operations need not.
func (b *Builder) FillFiles(ctx context.Context, st *store.Store, response proto.Message) error {
	return b.fillFiles(ctx, st, response, noPrefetchedFiles())
}

// fillFiles is FillFiles with files that were read before.
func (b *Builder) fillFiles(ctx context.Context, st *store.Store, response proto.Message, prefetched *prefetchedFiles) error {
	empty, wanted := filesWanted(response.ProtoReflect())
	if len(empty) == 0 || len(wanted.list()) == 0 {
		return nil
	}
	files, err := b.loadFiles(ctx, st, wanted, prefetched)
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

// filesWanted returns the empty lists of files in a response and the files that belong in them. It returns no lists if
// one of them is filled already.
func filesWanted(response protoreflect.Message) (empty []protoreflect.List, wanted *wantedFiles) {
	wanted = newWantedFiles()
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
				wanted.addOf(values.Get(i).Message().Interface())
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

// prefetchedFiles are files that were read in the same round trip as the rows that a response refers to.
type prefetchedFiles struct {
	requested      *idSet // found or not
	files, avatars []media.File
}

func noPrefetchedFiles() *prefetchedFiles { return &prefetchedFiles{requested: newIDSet()} }

// readFiles reads the files that known rows refer to, so that most responses need no round trip for files alone.
func (l *loader) readFiles(batch *store.ReadBatch) {
	wanted := newIDSet()
	for _, p := range slices.Concat(l.Posts, l.children) {
		wanted.add(core.FileIDs(p.Data)...)
	}
	for _, s := range l.Stories {
		wanted.add(core.FileIDs(s.Data)...)
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

// filesOf returns the files that the objects of an aggregate refer to, each once.
func (b *Builder) filesOf(ctx context.Context, st *store.Store, a *Aggregate, prefetched *prefetchedFiles) ([]*plazav1.File, error) {
	wanted := newWantedFiles()
	for _, list := range reflect.ValueOf(a).Elem().Fields() {
		for i := range list.Len() {
			wanted.addOf(list.Index(i).Interface())
		}
	}
	return b.loadFiles(ctx, st, wanted, prefetched)
}

// loadFiles reads the wanted files that were not prefetched, and converts all in the order of wanted.
func (b *Builder) loadFiles(
	ctx context.Context, st *store.Store, wanted *wantedFiles, prefetched *prefetchedFiles,
) ([]*plazav1.File, error) {
	byID := make(map[string]media.File, len(wanted.list()))
	for _, f := range slices.Concat(prefetched.files, prefetched.avatars) {
		byID[f.ID] = f
	}
	missing := slices.DeleteFunc(slices.Clone(wanted.list()), func(id string) bool {
		_, found := byID[id]
		return found || prefetched.requested.has(id)
	})
	if len(missing) > 0 {
		var rows []media.File
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
			files = append(files, b.File(ctx, f, wanted.objects[id]))
		}
	}
	return files, nil
}

// wantedFiles are the files of a response, each with the first object that refers to it.
type wantedFiles struct {
	*idSet
	objects map[string]FileObject
}

func newWantedFiles() *wantedFiles { return &wantedFiles{newIDSet(), map[string]FileObject{}} }

// addOf adds the files that an element of a collection refers to.
func (w *wantedFiles) addOf(message any) {
	object, ids := filesOfMessage(message)
	for _, id := range ids {
		if !w.has(id) {
			w.objects[id] = object
		}
		w.add(id)
	}
}

// filesOfMessage returns an element of a collection as an object, and the ids of the files that it refers to. They can
// be empty.
func filesOfMessage(message any) (FileObject, []string) {
	switch m := message.(type) {
	case *plazav1.Post:
		return FileObject{core.UsePost, m.GetPostId()}, append(fileIDsInData(m.GetData()), fileIDsIn(m.GetPendingEdit().GetAttachments())...)
	case *plazav1.Story:
		return FileObject{core.UseStory, m.GetStoryId()}, fileIDsInData(m.GetData())
	case *plazav1.Comment:
		return FileObject{core.UseComment, m.GetCommentId()},
			append(fileIDsIn(m.GetAttachments()), fileIDsIn(m.GetPendingEdit().GetAttachments())...)
	case *plazav1.Poll:
		return FileObject{core.UsePoll, m.GetPollId()}, fileIDsIn(m.GetAnswers())
	case *plazav1.Message:
		return FileObject{core.UseMessage, m.GetMessageId()}, append(fileIDsInData(m.GetData()), m.GetFileId())
	case *plazav1.VideoStreaming:
		return FileObject{core.UseStream, m.GetStreamId()}, []string{m.GetThumbnailFileId()}
	case *plazav1.Room:
		return FileObject{core.UseRoom, m.GetRoomId()}, []string{m.GetThumbnailFileId()}
	case *plazav1.Event:
		return FileObject{core.UseEvent, m.GetEventId()}, []string{m.GetCoverImageFileId()}
	case interface{ GetAvatarFileId() string }: // users, communities, categories, channels
		return FileObject{Kind: FileAvatar}, []string{m.GetAvatarFileId()}
	}
	return FileObject{}, nil
}

func fileIDsIn[T interface{ GetFileId() string }](list []T) []string {
	return mapList(list, func(element T) string { return element.GetFileId() })
}

// withSizes sets the missing sizes of a video in the data of a post or story to the original, because clients request sizes that were
// not transcoded.
func withSizes(data []byte) []byte {
	if !bytes.Contains(data, []byte(`"videoFileId"`)) {
		return data
	}
	video := freeform.Object(freeform.Object(data).Member("videoFileId"))
	original := video.Member("original")
	if freeform.TextOf(original) == "" {
		return data
	}
	for _, size := range core.VideoSizes {
		if video.Text(size) == "" {
			video = video.With(size, original)
		}
	}
	return freeform.Object(data).With("videoFileId", json.RawMessage(video))
}

// fileIDsInData returns the ids of the files in the data of a post or a story.
func fileIDsInData(data *structpb.Struct) []string { return core.FileIDs(freeform.Of(data)) }
