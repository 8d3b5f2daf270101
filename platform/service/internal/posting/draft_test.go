package posting

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/media"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

const someID = "010203040506070809101112"

func object(t *testing.T, fields map[string]any) *structpb.Struct {
	t.Helper()
	s, err := structpb.NewStruct(fields)
	require.NoError(t, err)
	return s
}

func attachments(n int, kind string) []*plazav1.Attachment {
	var list []*plazav1.Attachment
	for range n {
		list = append(list, &plazav1.Attachment{Type: kind, FileId: "f"})
	}
	return list
}

func TestNewDraft(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		request   *plazav1.CreatePostRequest
		refused   bool
		dataType  string
		structure string
		children  []string // their data types
	}{
		"text": {request: &plazav1.CreatePostRequest{Text: "hi"}, dataType: "text", structure: "text"},
		"text in data": {
			request: &plazav1.CreatePostRequest{Data: object(t, map[string]any{"text": "hi"})}, dataType: "text", structure: "text",
		},
		"nothing":           {request: &plazav1.CreatePostRequest{}, refused: true},
		"text at the limit": {request: &plazav1.CreatePostRequest{Text: strings.Repeat("é", maxText)}, dataType: "text", structure: "text"},
		"text past it":      {request: &plazav1.CreatePostRequest{Text: strings.Repeat("é", maxText+1)}, refused: true},
		"title at the limit": {request: &plazav1.CreatePostRequest{
			Text: "x",
			Data: object(t, map[string]any{"title": strings.Repeat("é", maxTitle)}),
		}, dataType: "text", structure: "text"},
		"title past it": {request: &plazav1.CreatePostRequest{
			Text: "x",
			Data: object(t, map[string]any{"title": strings.Repeat("é", maxTitle+1)}),
		}, refused: true},
		"text is a number": {request: &plazav1.CreatePostRequest{Data: object(t, map[string]any{"text": 1})}, refused: true},
		"images": {
			request: &plazav1.CreatePostRequest{Attachments: attachments(2, "image")}, dataType: "text", structure: "image",
			children: []string{"image", "image"},
		},
		"mixed": {
			request:  &plazav1.CreatePostRequest{Attachments: append(attachments(1, "image"), attachments(1, "video")...)},
			dataType: "text", structure: "mixed", children: []string{"image", "video"},
		},
		"attachments at the limit": {
			request: &plazav1.CreatePostRequest{Text: "x", Attachments: attachments(maxAttachments, "file")}, dataType: "text", structure: "file",
			children: strings.Split(strings.TrimSuffix(strings.Repeat("file,", maxAttachments), ","), ","),
		},
		"attachments past it": {
			request: &plazav1.CreatePostRequest{Text: "x", Attachments: attachments(maxAttachments+1, "file")},
			refused: true,
		},
		"images of older clients": {
			request:  &plazav1.CreatePostRequest{Data: object(t, map[string]any{"images": []any{"f1", "f2"}})},
			dataType: "text", structure: "image", children: []string{"image", "image"},
		},
		"files of older clients": {
			request:  &plazav1.CreatePostRequest{DataType: "file", Data: object(t, map[string]any{"files": []any{"f1"}})},
			dataType: "text", structure: "file", children: []string{"file"},
		},
		"the longest file id of older clients": {
			request:  &plazav1.CreatePostRequest{Data: object(t, map[string]any{"images": []any{strings.Repeat("é", maxFileID)}})},
			dataType: "text", structure: "image", children: []string{"image"},
		},
		"a longer one": {request: &plazav1.CreatePostRequest{
			Text: "x",
			Data: object(t, map[string]any{"images": []any{strings.Repeat("é", maxFileID+1)}}),
		}, refused: true},
		"title is a number": {
			request: &plazav1.CreatePostRequest{Text: "x", Data: object(t, map[string]any{"title": 1})},
			refused: true,
		},
		"an empty file id of older clients": {request: &plazav1.CreatePostRequest{
			Text: "x",
			Data: object(t, map[string]any{"images": []any{""}}),
		}, refused: true},
		"poll": {
			request:  &plazav1.CreatePostRequest{Text: "vote", DataType: "poll", Data: object(t, map[string]any{"pollId": someID})},
			dataType: "text", structure: "poll", children: []string{"poll"},
		},
		"poll without text": {
			request:  &plazav1.CreatePostRequest{DataType: "poll", Data: object(t, map[string]any{"pollId": someID})},
			dataType: "text", structure: "poll", children: []string{"poll"},
		},
		"poll without an id": {request: &plazav1.CreatePostRequest{Text: "vote", DataType: "poll"}, refused: true},
		"poll with attachments": {
			request: &plazav1.CreatePostRequest{
				DataType: "poll", Data: object(t, map[string]any{"pollId": someID}),
				Attachments: attachments(1, "image"),
			}, refused: true,
		},
		"stream": {
			request:  &plazav1.CreatePostRequest{DataType: "liveStream", Data: object(t, map[string]any{"streamId": someID})},
			dataType: "text", structure: "liveStream", children: []string{"liveStream"},
		},
		"room": {
			request:  &plazav1.CreatePostRequest{DataType: "room", Data: object(t, map[string]any{"roomId": someID})},
			dataType: "text", structure: "room", children: []string{"room"},
		},
		"custom": {
			request:  &plazav1.CreatePostRequest{DataType: "acme.card", Data: object(t, map[string]any{"a": 1})},
			dataType: "acme.card", structure: "acme.card",
		},
		"custom drops attachments": {
			request:  &plazav1.CreatePostRequest{DataType: "acme.card", Attachments: attachments(1, "image")},
			dataType: "acme.card", structure: "acme.card",
		},
		"custom past the limit": {
			request: &plazav1.CreatePostRequest{DataType: "acme.card", Data: object(t, map[string]any{"a": strings.Repeat("x", maxCustom)})},
			refused: true,
		},
		"unknown type": {request: &plazav1.CreatePostRequest{Text: "x", DataType: "hologram"}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := NewDraft(test.request)
			require.Equal(t, test.refused, err != nil, "%v", err)
			if err != nil {
				require.Equal(t, fail.CodeUnexpected, fail.From(err).Code, "a validation error")
				return
			}
			require.Equal(t, test.dataType, d.DataType)
			require.Equal(t, test.structure, d.structure())
			var children []string
			for _, p := range d.parts() {
				children = append(children, p.kind)
			}
			require.Equal(t, test.children, children)
		})
	}
}

// TestDataOfADraft covers what the body of a post becomes.
func TestDataOfADraft(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		request *plazav1.CreatePostRequest
		want    string
	}{
		"text": {&plazav1.CreatePostRequest{Text: "a"}, `{"text":"a"}`},
		"text in data takes precedence": {
			&plazav1.CreatePostRequest{Text: "a", Data: object(t, map[string]any{"text": "b"})},
			`{"text":"b"}`,
		},
		"images of older clients": {
			&plazav1.CreatePostRequest{Text: "a", Data: object(t, map[string]any{"images": []any{"f"}})},
			`{"text":"a"}`,
		},
		"images of a custom post stay in it": {&plazav1.CreatePostRequest{
			DataType: "acme.card",
			Data:     object(t, map[string]any{"images": []any{"f"}}),
		}, `{"images":["f"]}`},
	} {
		d, err := NewDraft(test.request)
		require.NoError(t, err, name)
		require.JSONEq(t, test.want, string(d.Data), name)
	}
}

// TestTextsOfADraft checks that all texts of a post are checked against the rules.
func TestTextsOfADraft(t *testing.T) {
	t.Parallel()
	request := &plazav1.CreatePostRequest{
		Data: object(t, map[string]any{"text": "a", "title": "b"}), Tags: []string{"c"}, Hashtags: []string{"d"},
		Links:       []*plazav1.Link{{Url: "e", Title: new("f"), Domain: new("g"), ImageUrl: new("h")}},
		ProductTags: []*plazav1.ProductTag{{Text: new("i")}},
	}
	d, err := NewDraft(request)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}, d.Text().Texts)
	edit := &plazav1.UpdatePostRequest{
		Text: new("a"), Tags: request.GetTags(), Hashtags: request.GetHashtags(), Links: request.GetLinks(),
		ProductTags: request.GetProductTags(),
	}
	old, children := editedPost()
	e, err := NewEdit(edit, &old, children, nil)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"a", "c", "d", "e", "f", "g", "h", "i"}, e.Text(edit).Texts)
	poll := content.Poll{Title: "a", Question: "b", Answers: []content.PollAnswer{{Data: "c"}}}
	stream, room := media.VideoStream{Title: "d", Description: "e"}, media.Room{Title: "f", Description: "g"}
	for _, test := range []struct {
		embed Embed
		want  []string
	}{{embedOfPoll(poll), []string{"a", "b", "c"}}, {embedOfStream(stream), []string{"d", "e"}}, {embedOfRoom(room), []string{"f", "g"}}} {
		require.Equal(t, test.want, test.embed.Text().Texts)
	}
}

func TestRowsOfADraft(t *testing.T) {
	t.Parallel()
	d, err := NewDraft(&plazav1.CreatePostRequest{
		Text: "hi", Attachments: attachments(2, "image"), Tags: []string{"a"}, Hashtags: []string{"b"},
		Metadata: object(t, map[string]any{"c": "d"}), Links: []*plazav1.Link{{Url: "https://example.com"}},
	})
	require.NoError(t, err)
	d.TargetID = "c"
	ids := []string{"parent", "child1", "child2"}
	p := PostContext{Caller: servicetest.User(t, "me"), AuthorID: "me", TargetPublicID: "c"}
	posts := p.Rows(d, noon, func() string {
		id := ids[0]
		ids = ids[1:]
		return id
	})
	require.Len(t, posts, 3)
	parent := posts[0]
	require.Equal(t, []string{"child1", "child2"}, parent.Children)
	require.True(t, parent.IsParent)
	require.Equal(t, []string{"a"}, parent.Tags)
	for _, child := range posts[1:] {
		require.Equal(t, "parent", child.ParentID)
		require.False(t, child.IsParent)
		require.Equal(t, [4]int{}, [4]int{len(child.Children), len(child.Tags), len(child.Hashtags), len(child.Annotations)})
		require.Equal(t, [2]string{"{}", "[]"}, [2]string{string(child.Metadata), string(child.Mentionees)})
		require.Equal(t, [2]string{"image", "image"}, [2]string{child.DataType, child.StructureType})
		require.JSONEq(t, `{"fileId":"f"}`, string(child.Data))
		require.Equal(t, noon, child.CreatedAt)
	}
}

func TestRequirePostAndFeedType(t *testing.T) {
	t.Parallel()
	member := &communities.Member{State: communities.StateMember, Roles: []string{auth.RoleCommunityMember}}
	moderator := &communities.Member{State: communities.StateMember, Roles: []string{auth.RoleCommunityModerator}}
	open := communities.Community{IsPublic: true, IsDiscoverable: true}
	reviewed, restricted := open, open
	reviewed.PostApproval = true
	restricted.OnlyAdminCanPost = true
	for name, test := range map[string]struct {
		community communities.Community
		member    *communities.Member
		want      fail.Code
		feed      string
	}{
		"member":                            {open, member, 0, "published"},
		"stranger":                          {open, nil, fail.CodePermissionDenied, "published"},
		"reviewed community, member":        {reviewed, member, 0, "reviewing"},
		"reviewed community, moderator":     {reviewed, moderator, 0, "published"},
		"only moderators post, member":      {restricted, member, fail.CodeForbidden, "published"},
		"only moderators post, a moderator": {restricted, moderator, 0, "published"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := PostContext{Caller: servicetest.User(t, "me"), Target: visibility.Target{Community: &test.community, Member: test.member}}
			var got fail.Code
			if err := p.RequirePost(); err != nil {
				got = fail.From(err).Code
			}
			require.Equal(t, test.want, got)
			require.Equal(t, test.feed, p.FeedType())
		})
	}
}

func TestRequireEmbed(t *testing.T) {
	t.Parallel()
	p := PostContext{AuthorID: "me"}
	for name, test := range map[string]struct {
		draft Draft
		embed Embed
		want  error
	}{
		"none":                 {},
		"own poll":             {Draft{Embedded: Embedded{"poll", "p"}}, embedOfPoll(content.Poll{CreatorID: "me"}), nil},
		"unknown poll":         {Draft{Embedded: Embedded{"poll", "p"}}, Embed{}, errPoll},
		"poll of another user": {Draft{Embedded: Embedded{"poll", "p"}}, embedOfPoll(content.Poll{CreatorID: "other"}), errPoll},
		"deleted poll": {
			Draft{Embedded: Embedded{"poll", "p"}},
			embedOfPoll(content.Poll{CreatorID: "me", DeletedAt: &noon}),
			errPoll,
		},
		"poll of another post": {Draft{Embedded: Embedded{"poll", "p"}}, embedOfPoll(content.Poll{CreatorID: "me", PostID: "x"}), errPoll},
		"poll of this very post": {
			Draft{Embedded: Embedded{"poll", "p"}, PostID: "x"},
			embedOfPoll(content.Poll{CreatorID: "me", PostID: "x"}), nil,
		},
		"deleted stream": {
			Draft{Embedded: Embedded{"liveStream", "s"}},
			embedOfStream(media.VideoStream{CreatorID: "me", DeletedAt: &noon}), errStream,
		},
		"deleted room": {
			Draft{Embedded: Embedded{"room", "r"}},
			embedOfRoom(media.Room{CreatorID: "me", DeletedAt: &noon}),
			errRoom,
		},
		"own stream": {Draft{Embedded: Embedded{"liveStream", "s"}}, embedOfStream(media.VideoStream{CreatorID: "me"}), nil},
		"stream of another user": {
			Draft{Embedded: Embedded{"liveStream", "s"}},
			embedOfStream(media.VideoStream{CreatorID: "other"}),
			errStream,
		},
		"stream of another post": {
			Draft{Embedded: Embedded{"liveStream", "s"}},
			embedOfStream(media.VideoStream{CreatorID: "me", PostID: "x"}), errStream,
		},
		"own room":                     {Draft{Embedded: Embedded{"room", "r"}}, embedOfRoom(media.Room{CreatorID: "me"}), nil},
		"room of another user":         {Draft{Embedded: Embedded{"room", "r"}}, embedOfRoom(media.Room{CreatorID: "other"}), errRoom},
		"a room that does not exist":   {Draft{Embedded: Embedded{"room", "r"}}, Embed{}, errRoom},
		"a room that is in a post now": {Draft{Embedded: Embedded{"room", "r"}}, embedOfRoom(media.Room{CreatorID: "me", PostID: "x"}), errRoom},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, p.RequireEmbed(&test.draft, test.embed))
		})
	}
}
