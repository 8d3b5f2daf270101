package comment

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func textData(t *testing.T, text string) *structpb.Struct {
	t.Helper()
	s, err := structpb.NewStruct(map[string]any{"text": text})
	require.NoError(t, err)
	return s
}

func TestEdited(t *testing.T) {
	t.Parallel()
	image, video := &plazav1.Attachment{Type: "image", FileId: "i"}, &plazav1.Attachment{Type: "video", FileId: "v"}
	old := content.Comment{
		Data: []byte(`{"text":"old"}`), Metadata: []byte(`{"a":1}`), Mentionees: []byte(`[]`), DataTypes: []string{"text", "image"},
		Attachments: view.AttachmentsJSON([]*plazav1.Attachment{image}),
	}
	for name, test := range map[string]struct {
		req                   *plazav1.UpdateCommentRequest
		data, metadata        string
		attachments, newFiles []string
		types                 []string
	}{
		"nothing": {&plazav1.UpdateCommentRequest{}, `{"text":"old"}`, `{"a":1}`, []string{"i"}, nil, []string{"text", "image"}},
		"the text": {
			&plazav1.UpdateCommentRequest{Data: textData(t, "new")}, `{"text":"new"}`, `{"a":1}`,
			[]string{"i"},
			nil,
			[]string{"text", "image"},
		},
		"no text": {&plazav1.UpdateCommentRequest{Data: &structpb.Struct{}}, `{}`, `{"a":1}`, []string{"i"}, nil, []string{"image"}},
		"the metadata": {
			&plazav1.UpdateCommentRequest{Metadata: textData(t, "m")}, `{"text":"old"}`, `{"text":"m"}`,
			[]string{"i"},
			nil,
			[]string{"text", "image"},
		},
		"another file": {
			&plazav1.UpdateCommentRequest{Attachments: []*plazav1.Attachment{video}}, `{"text":"old"}`, `{"a":1}`,
			[]string{"v"},
			[]string{"v"},
			[]string{"text", "video"},
		},
		"an additional file": {
			&plazav1.UpdateCommentRequest{Attachments: []*plazav1.Attachment{video, image}}, `{"text":"old"}`, `{"a":1}`,
			[]string{"v", "i"},
			[]string{"v"},
			[]string{"text", "video", "image"},
		},
		"without attachments": {
			&plazav1.UpdateCommentRequest{Clear: []string{"attachments"}}, `{"text":"old"}`, `{"a":1}`, nil, nil,
			[]string{"text"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, added, err := edited(old, test.req, nil)
			require.NoError(t, err)
			require.Equal(t, [2]string{test.data, test.metadata}, [2]string{string(got.Data), string(got.Metadata)})
			require.Equal(t, test.types, got.DataTypes)
			var attachments, newFiles []string
			for _, a := range view.Attachments(got.Attachments) {
				attachments = append(attachments, a.GetFileId())
			}
			for _, ref := range added {
				newFiles = append(newFiles, ref.ID)
			}
			require.Equal(t, test.attachments, attachments)
			require.Equal(t, test.newFiles, newFiles, "files that the comment had are not checked again")
		})
	}
	_, _, err := edited(old, &plazav1.UpdateCommentRequest{Data: &structpb.Struct{}, Clear: []string{"attachments"}}, nil)
	require.Equal(t, fail.KindValidation, fail.From(err).Kind, "nothing would be left")
}

func TestPendingEditReplacesTheContent(t *testing.T) {
	t.Parallel()
	c := content.Comment{ID: "c", TargetID: "t", AuthorID: "u", Data: []byte(`{"text":"new"}`), Attachments: []byte(`[]`), Segment: 3}
	e := pendingOf(c, servicetest.Noon)
	require.Equal(t, [3]string{"c", "t", "u"}, [3]string{e.ReferenceID, e.TargetID, e.AuthorID})
	require.Equal(t, content.ReferenceComment, e.ReferenceType)
	old := c
	old.Data = []byte(`{"text":"old"}`)
	require.Equal(t, c, withPending(old, &e))
	require.Equal(t, old, withPending(old, nil))
}
