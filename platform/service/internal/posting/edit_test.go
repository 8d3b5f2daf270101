package posting

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// editedPost is a post with an image and a file.
func editedPost() (content.Post, []content.Post) {
	parent := content.Post{
		ID: "parent", IsParent: true, DataType: "text", Data: []byte(`{"text":"old"}`), Children: []string{"image", "file"}, Tags: []string{"a"},
		Metadata: []byte(`{}`), Mentionees: []byte(`[]`),
	}
	return parent, []content.Post{
		{ID: "file", ParentID: "parent", DataType: "file", Data: []byte(`{"fileId":"f2"}`)},
		{ID: "image", ParentID: "parent", DataType: "image", Data: []byte(`{"fileId":"f1"}`)},
	}
}

func TestEdit(t *testing.T) {
	t.Parallel()
	image := &plazav1.Attachment{Type: "image", FileId: "f1"}
	added := &plazav1.Attachment{Type: "video", FileId: "f3"}
	for name, test := range map[string]struct {
		request         *plazav1.UpdatePostRequest
		data            string
		tags            []string
		children        []string
		added, dropped  []string // data types of new children, ids of dropped ones
		files           []string // ids of the files that are new
		containsNewText bool
	}{
		"nothing": {
			request: &plazav1.UpdatePostRequest{}, data: `{"text":"old"}`, tags: []string{"a"}, children: []string{"image", "file"},
		},
		"text": {
			request: &plazav1.UpdatePostRequest{Text: new("new")}, data: `{"text":"new"}`, tags: []string{"a"},
			children: []string{"image", "file"}, containsNewText: true,
		},
		"data replaces the body": {
			request: &plazav1.UpdatePostRequest{Data: object(t, map[string]any{"title": "t", "text": "new"})}, data: `{"title":"t","text":"new"}`,
			tags: []string{"a"}, children: []string{"image", "file"}, containsNewText: true,
		},
		"tags": {
			request: &plazav1.UpdatePostRequest{Tags: []string{"b"}}, data: `{"text":"old"}`, tags: []string{"b"},
			children: []string{"image", "file"}, containsNewText: true,
		},
		"clear tags": {
			request: &plazav1.UpdatePostRequest{Clear: []string{"tags"}}, data: `{"text":"old"}`, children: []string{"image", "file"},
		},
		"drop an attachment": {
			request: &plazav1.UpdatePostRequest{Attachments: []*plazav1.Attachment{image}}, data: `{"text":"old"}`, tags: []string{"a"},
			children: []string{"image"}, dropped: []string{"file"},
		},
		"add an attachment": {
			request: &plazav1.UpdatePostRequest{Attachments: []*plazav1.Attachment{added, image}}, data: `{"text":"old"}`, tags: []string{"a"},
			children: []string{"new", "image"}, added: []string{"video"}, dropped: []string{"file"}, files: []string{"f3"},
		},
		"clear attachments": {
			request: &plazav1.UpdatePostRequest{Clear: []string{"attachments"}}, data: `{"text":"old"}`, tags: []string{"a"},
			dropped: []string{"image", "file"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, children := editedPost()
			e, err := NewEdit(test.request, &old, children, nil)
			require.NoError(t, err)
			parent, added, dropped := e.Rows(test.request, nil, noon, func() string { return "new" })
			require.JSONEq(t, test.data, string(parent.Data))
			require.Equal(t, test.tags, parent.Tags)
			require.Equal(t, test.children, parent.Children)
			require.Equal(t, test.dropped, dropped)
			var kinds, files []string
			for _, p := range added {
				require.Equal(t, "parent", p.ParentID)
				require.Equal(t, noon, p.CreatedAt)
				kinds = append(kinds, p.DataType)
			}
			for _, f := range e.Files {
				files = append(files, f.ID)
			}
			require.Equal(t, test.added, kinds)
			require.Equal(t, test.files, files)
			require.Equal(t, test.containsNewText, len(e.Text(test.request).Texts) > 0)
		})
	}
}

// TestNewChildOfAnOldPost adds an attachment to a post with flags and comments, of which the new child has none.
func TestNewChildOfAnOldPost(t *testing.T) {
	t.Parallel()
	old, children := editedPost()
	old.Flaggers, old.FlagCount, old.HasFlaggedChildren, old.HasFlaggedComment = []string{"u"}, 1, true, true
	old.LatestComments = content.LatestComments{{ID: "c"}}
	m := &plazav1.UpdatePostRequest{Attachments: []*plazav1.Attachment{{Type: "video", FileId: "f3"}}}
	e, err := NewEdit(m, &old, children, nil)
	require.NoError(t, err)
	_, added, _ := e.Rows(m, nil, noon, func() string { return "new" })
	require.Equal(t, []content.Post{{
		ID: "new", ParentID: "parent", DataType: "video", StructureType: "video", Data: added[0].Data, Metadata: []byte("{}"),
		Mentionees: []byte("[]"), CreatedAt: noon, UpdatedAt: noon, EditedAt: noon,
	}}, added)
	require.JSONEq(t, `{"videoFileId":{"original":"f3"},"thumbnailFileId":""}`, string(added[0].Data))
}

func TestEditKeepsThePoll(t *testing.T) {
	t.Parallel()
	old := content.Post{
		ID: "parent", IsParent: true, DataType: "text", Data: []byte(`{"text":"vote","pollId":"` + someID + `"}`),
		Children: []string{"poll"},
	}
	children := []content.Post{{ID: "poll", ParentID: "parent", DataType: "poll", Data: []byte(`{"pollId":"` + someID + `"}`)}}
	m := &plazav1.UpdatePostRequest{Data: object(t, map[string]any{"text": "please vote"})}
	e, err := NewEdit(m, &old, children, nil)
	require.NoError(t, err)
	parent, added, dropped := e.Rows(m, nil, noon, func() string { panic("there is nothing to insert") })
	require.JSONEq(t, `{"text":"please vote","pollId":"`+someID+`"}`, string(parent.Data))
	require.Equal(t, []string{"poll"}, parent.Children)
	require.Empty(t, added)
	require.Empty(t, dropped)

	_, err = NewEdit(&plazav1.UpdatePostRequest{Attachments: attachments(1, "image")}, &old, children, nil)
	require.Error(t, err, "a post with a poll takes no attachments")
}

func TestEditRefusesChildren(t *testing.T) {
	t.Parallel()
	_, err := NewEdit(&plazav1.UpdatePostRequest{}, &content.Post{ParentID: "parent"}, nil, nil)
	require.Equal(t, errChild, err)
}

func TestEditedMentions(t *testing.T) {
	t.Parallel()
	held := []byte(`[{"type":"user","userIds":["a"]}]`)
	require.Equal(t, held, EditedMentions(nil, nil, held, nil), "absent")
	require.JSONEq(t, `[]`, string(EditedMentions(nil, nil, held, []string{"mentionees"})), "cleared")
	require.JSONEq(t, `[]`, string(EditedMentions([]*plazav1.Mentionee{{}}, nil, held, nil)), "none could be resolved")
}
