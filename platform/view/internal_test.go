package view

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var deletedAt = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestIDSet(t *testing.T) {
	s := newIDSet("b", "", "a", "b")
	require.Equal(t, []string{"b", "a"}, s.list(), "in insertion order, without duplicates and the empty id")
	s.exclude("b")
	s.exclude("c")
	s.add("b", "c", "d")
	require.Equal(t, []string{"a", "d"}, s.list(), "excluded ids cannot be added again")
}

func TestUnique(t *testing.T) {
	rows := []people.User{{ID: "a", DisplayName: "first"}, {ID: "b"}, {ID: "a", DisplayName: "second"}}
	require.Equal(t, rows[:2], unique(rows, func(u people.User) string { return u.ID }))
	require.Empty(t, unique[people.User](nil, nil))
}

func TestRowJSON(t *testing.T) {
	for name, test := range map[string]struct {
		raw  string
		want []Mention
	}{
		"null":      {``, nil},
		"empty":     {`[]`, nil},
		"malformed": {`[{"type"`, nil},
		"other":     {`{"type": "user"}`, nil},
		"one":       {`[{"type":"user","userIds":["anna"]}]`, []Mention{{Type: "user", UserIDs: []string{"anna"}}}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, Mentions([]byte(test.raw))) })
	}
	require.JSONEq(t, `[]`, string(MentionsJSON(nil)))
	require.JSONEq(t, `[]`, string(ObjectsJSON(nil)))
	require.JSONEq(t, `{}`, string(ObjectJSON(nil)))
	require.Equal(t, "hello", freeform.Of(objects(ObjectsJSON([]freeform.Object{nil, freeform.Object(`{"text":"hello"}`)}))[1]).Text("text"))
	list := []*plazav1.Attachment{{Type: "image", FileId: "f"}}
	require.Equal(t, "f", Attachments(AttachmentsJSON(list))[0].GetFileId())
}

func TestObject(t *testing.T) {
	for name, test := range map[string]struct {
		raw  string
		want string
	}{
		"nothing":       {``, `{}`},
		"empty":         {`{}`, `{}`},
		"malformed":     {`{"a"`, `{}`},
		"not an object": {`["a"]`, `{}`},
		"an object":     {`{"a": 9007199254740993}`, `{"a": 9007199254740993}`},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, string(freeform.Of(object([]byte(test.raw))).Row())) })
	}
}

func TestEmbeddedID(t *testing.T) {
	for name, test := range map[string]struct {
		post content.Post
		want string
	}{
		"room":               {content.Post{StructureType: "room", Data: []byte(`{"roomId": "r"}`)}, "r"},
		"other type":         {content.Post{StructureType: "text", Data: []byte(`{"roomId": "r"}`)}, ""},
		"deleted":            {content.Post{StructureType: "room", Data: []byte(`{"roomId": "r"}`), DeletedAt: &deletedAt}, ""},
		"no id":              {content.Post{StructureType: "room", Data: []byte(`{}`)}, ""},
		"id is not a string": {content.Post{StructureType: "room", Data: []byte(`{"roomId": 1}`)}, ""},
		"no data":            {content.Post{StructureType: "room"}, ""},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, embeddedID(test.post, "room", "roomId")) })
	}
}

func TestShownEmbeds(t *testing.T) {
	rows := []embed{{id: "a"}, {id: "gone", deleted: true}, {id: "b"}}
	children := []embed{{id: "z"}, {id: "y"}, {id: "x", deleted: true}, {id: "posted", postID: "p"}, {id: "b"}}
	shown, shownChildren := shownEmbeds([]string{"b", "missing", "gone", "a"}, rows, children, func(e embed) embed { return e })
	require.Equal(t, []embed{{id: "b"}, {id: "a"}}, shown, "in the order of the ids, without deleted ones")
	require.Equal(t, []embed{{id: "y"}, {id: "z"}}, shownChildren, "by id, without deleted, posted and embedded ones")
}

func TestRedactDeleted(t *testing.T) {
	post := content.Post{
		ID: "p", Data: []byte(`{"text": "secret"}`), LatestComments: content.LatestComments{{ID: "c"}}, Children: []string{"q"},
		Tags: []string{"t"},
	}
	comment := content.Comment{
		ID: "c", Data: []byte(`{"text": "secret"}`), LatestReplies: content.LatestComments{{ID: "r"}},
		Attachments: []byte(`[{}]`),
	}
	story := content.Story{ID: "s", Data: []byte(`{"fileId": "secret"}`), LatestComments: content.LatestComments{{ID: "c"}}, Items: []byte(`[{}]`)}
	kept := Rows{Posts: []content.Post{post}, Comments: []content.Comment{comment}, Stories: []content.Story{story}}
	kept.redactDeleted()
	require.Equal(t, Rows{Posts: []content.Post{post}, Comments: []content.Comment{comment}, Stories: []content.Story{story}}, kept)

	post.DeletedAt, comment.DeletedAt, story.DeletedAt = &deletedAt, &deletedAt, &deletedAt
	callers := []content.Post{post}
	rows := Rows{Posts: callers, Comments: []content.Comment{comment}, Stories: []content.Story{story}}
	rows.redactDeleted()
	require.Equal(t, []content.Post{{ID: "p", DeletedAt: &deletedAt}}, rows.Posts)
	require.Equal(t, []content.Comment{{ID: "c", DeletedAt: &deletedAt}}, rows.Comments)
	require.Equal(t, []content.Story{{ID: "s", DeletedAt: &deletedAt}}, rows.Stories)
	require.Equal(t, post, callers[0], "the caller's rows are not changed")
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]int32{-1: 0, 0: 0, 7: 7, 1 << 40: 1<<31 - 1} {
		require.Equal(t, want, count(n))
	}
}

func TestFilesWanted(t *testing.T) {
	post := func(data map[string]any) *plazav1.Post {
		s, err := structpb.NewStruct(data)
		require.NoError(t, err)
		return &plazav1.Post{Data: s}
	}
	aggregate := &plazav1.PostResponse{
		Posts: []*plazav1.Post{
			post(map[string]any{"fileId": "image"}),
			post(map[string]any{"videoFileId": map[string]any{"original": "video"}}),
		},
		Users:    []*plazav1.User{{AvatarFileId: "avatar"}, {}},
		Comments: []*plazav1.Comment{{Attachments: []*plazav1.Attachment{{FileId: "attached"}, {FileId: "image"}}}},
		Polls:    []*plazav1.Poll{{Answers: []*plazav1.PollAnswer{{FileId: "answer"}}}},
		Rooms:    []*plazav1.Room{{ThumbnailFileId: "thumbnail"}},
	}
	edit := func(id string) *plazav1.PendingEdit {
		return &plazav1.PendingEdit{Attachments: []*plazav1.Attachment{{FileId: id}}}
	}
	aggregate.Posts[0].PendingEdit, aggregate.Comments[0].PendingEdit = edit("of a post"), edit("of a comment")
	empty, wanted := filesWanted(aggregate.ProtoReflect())
	require.Len(t, empty, 1)
	require.ElementsMatch(t, []string{
		"image", "video", "avatar", "attached", "answer", "thumbnail", "of a post", "of a comment",
	}, wanted.list())

	aggregate.Files = []*plazav1.File{{}}
	empty, _ = filesWanted(aggregate.ProtoReflect())
	require.Empty(t, empty, "a collection that the operation filled is left alone")

	wrapped := &plazav1.ListGlobalFeedResponse{Data: &plazav1.GlobalFeedData{Users: []*plazav1.User{{AvatarFileId: "avatar"}}}}
	empty, wanted = filesWanted(wrapped.ProtoReflect())
	require.Len(t, empty, 2, "the response and its data")
	require.Equal(t, []string{"avatar"}, wanted.list())

	empty, _ = filesWanted((&plazav1.FollowCount{}).ProtoReflect())
	require.Empty(t, empty, "a response without the collection")
}

func TestWithSizes(t *testing.T) {
	video := withSizes([]byte(`{"text": "a", "videoFileId": {"original": "a", "low": "b", "high": ""}}`))
	require.JSONEq(t, `{"text":"a","videoFileId":{"original":"a","high":"a","medium":"a","low":"b"}}`, string(video))
	for _, other := range []string{``, `{}`, `{"videoFileId":{}}`, `{"videoFileId":{"original":1}}`, `{"videoFileId":"x"}`} {
		require.Equal(t, other, string(withSizes([]byte(other))))
	}
}

func TestChildrenInOrder(t *testing.T) {
	l := &loader{Rows: Rows{Posts: []content.Post{{ID: "p", Children: []string{"b", "a"}}, {ID: "q", Children: []string{"c"}}}}}
	l.children = []content.Post{{ID: "other"}, {ID: "c"}, {ID: "a"}, {ID: "b"}}
	var ids []string
	for _, p := range l.childrenInOrder() {
		ids = append(ids, p.ID)
	}
	require.Equal(t, []string{"b", "a", "c", "other"}, ids)
}

func TestBuildComments(t *testing.T) {
	reply, comment := content.Comment{ID: "r", ParentID: "c"}, content.Comment{ID: "c"}
	ids := func(list []*plazav1.Comment) []string {
		return mapList(list, func(c *plazav1.Comment) string { return c.GetCommentId() })
	}
	l := &loader{builder: &Builder{}, Rows: Rows{Comments: []content.Comment{comment}}, replies: []content.Comment{reply, reply, comment}}
	var a Aggregate
	l.buildComments(&a)
	require.Equal(t, []string{"c"}, ids(a.Comments))
	require.Equal(t, []string{"r"}, ids(a.CommentChildren))

	l = &loader{builder: &Builder{}, replies: []content.Comment{comment, reply, comment}}
	a = Aggregate{}
	l.buildComments(&a)
	require.Equal(t, []string{"c", "r"}, ids(a.Comments), "embedded comments of posts are primary")
	require.Empty(t, a.CommentChildren)
}
