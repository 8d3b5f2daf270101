package view

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestFile(t *testing.T) {
	t.Parallel()
	admin := asAdmin(t)
	b := &Builder{FileURL: func(f media.File, o FileObject, c *auth.Caller) string {
		return f.ID + " " + o.Kind + " " + o.ID + " " + c.Name
	}}
	for kind, video := range map[string]bool{"video": true, "clip": true, "image": false, "audio": false, "file": false} {
		m := b.File(admin, media.File{ID: "f", Type: kind}, FileObject{core.UsePost, "p"})
		require.Equal(t, "f post p admin", m.GetFileUrl())
		require.Equal(t, video, m.GetVideoUrl().GetOriginal() == m.GetFileUrl(), kind)
		require.Equal(t, kind == "image", m.GetAttributes().GetMetadata().GetIsFull(), kind)
		require.Nil(t, m.FeedType, "unset rather than empty")
	}
	require.Equal(t, "story", b.File(admin, media.File{FeedType: "story"}, FileObject{}).GetFeedType())
	require.Empty(t, (&Builder{}).File(t.Context(), media.File{ID: "f"}, FileObject{}).GetFileUrl())
}

func TestFilesOfMessages(t *testing.T) {
	t.Parallel()
	data,
		err := structpb.NewStruct(map[string]any{
		"fileId": "f", "thumbnailFileId": "t", "other": "x",
		"videoFileId": map[string]any{"original": "v", "low": "l"},
	})
	require.NoError(t, err)
	edit := &plazav1.PendingEdit{Attachments: []*plazav1.Attachment{{FileId: "edited"}}}
	for name, test := range map[string]struct {
		message any
		object  FileObject
		files   []string
	}{
		"post": {
			&plazav1.Post{PostId: "id", Data: data, PendingEdit: edit},
			FileObject{core.UsePost, "id"},
			[]string{"f", "t", "v", "l", "edited"},
		},
		"story": {&plazav1.Story{StoryId: "id", Data: data}, FileObject{core.UseStory, "id"}, []string{"f", "t", "v", "l"}},
		"comment": {
			&plazav1.Comment{CommentId: "id", Attachments: []*plazav1.Attachment{{FileId: "a"}}, PendingEdit: edit},
			FileObject{core.UseComment, "id"},
			[]string{"a", "edited"},
		},
		"poll": {
			&plazav1.Poll{PollId: "id", Answers: []*plazav1.PollAnswer{{FileId: "a"}, {}}},
			FileObject{core.UsePoll, "id"},
			[]string{"a", ""},
		},
		"message": {
			&plazav1.Message{MessageId: "id", Data: data, FileId: "own"},
			FileObject{core.UseMessage, "id"},
			[]string{"f", "t", "v", "l", "own"},
		},
		"stream":   {&plazav1.VideoStreaming{StreamId: "id", ThumbnailFileId: "t"}, FileObject{core.UseStream, "id"}, []string{"t"}},
		"room":     {&plazav1.Room{RoomId: "id", ThumbnailFileId: "t"}, FileObject{core.UseRoom, "id"}, []string{"t"}},
		"user":     {&plazav1.User{PrivateId: "id", AvatarFileId: "a"}, FileObject{Kind: FileAvatar}, []string{"a"}},
		"channel":  {&plazav1.Channel{ChannelId: "id", AvatarFileId: "a"}, FileObject{Kind: FileAvatar}, []string{"a"}},
		"category": {&plazav1.Category{CategoryId: "id", AvatarFileId: "a"}, FileObject{Kind: FileAvatar}, []string{"a"}},
		"role":     {&plazav1.Role{}, FileObject{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object, files := filesOfMessage(test.message)
			require.Equal(t, test.object, object)
			require.ElementsMatch(t, test.files, files)
		})
	}
}

func TestFileBelongsToItsFirstObject(t *testing.T) {
	t.Parallel()
	wanted := newWantedFiles()
	wanted.addOf(&plazav1.Room{RoomId: "first", ThumbnailFileId: "shared"})
	wanted.addOf(&plazav1.Room{RoomId: "second", ThumbnailFileId: "shared"})
	wanted.addOf(&plazav1.Room{RoomId: "third"})
	require.Equal(t, []string{"shared"}, wanted.list())
	require.Equal(t, FileObject{core.UseRoom, "first"}, wanted.objects["shared"])
}

func TestFilesInTheOrderOfTheResponse(t *testing.T) {
	t.Parallel()
	wanted := newWantedFiles()
	for _, id := range []string{"b", "missing", "a"} {
		wanted.addOf(&plazav1.User{AvatarFileId: id})
	}
	prefetched := &prefetchedFiles{
		requested: newIDSet("missing"), files: []media.File{{ID: "a"}, {ID: "unwanted"}},
		avatars: []media.File{{ID: "b"}},
	}
	files, err := (&Builder{}).loadFiles(t.Context(), nil, wanted, prefetched) // a nil store: nothing else is read
	require.NoError(t, err)
	require.Equal(t, []string{"b", "a"}, mapList(files, (*plazav1.File).GetFileId))
}
