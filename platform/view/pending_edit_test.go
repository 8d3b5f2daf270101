package view

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// TestPendingEdit checks that an edit which waits for approval has everything that the author has sent.
func TestPendingEdit(t *testing.T) {
	t.Parallel()
	text := func(name string) *structpb.Struct { return object([]byte(`{"` + name + `":"x"}`)) }
	want := &plazav1.PendingEdit{
		ReferenceId: "r", ReferenceType: "post", Data: text("text"), Metadata: text("note"), Tags: []string{"tag"}, Hashtags: []string{"hashtag"},
		Mentionees:  []*plazav1.Mentionee{{Type: "user", UserIds: []string{"a"}, UserPublicIds: []string{"b"}, UserInternalIds: []string{"c"}}},
		Attachments: []*plazav1.Attachment{{Type: "image", FileId: "f"}}, CreatedAt: ts(deletedAt),
		Links: []*plazav1.Link{
			{Index: proto.Int32(0), Length: proto.Int32(4), Url: "u", RenderPreview: true, Domain: new("d"), Title: new("t"), ImageUrl: new("i")},
			{Url: "v"},
		},
		ProductTags:     []*plazav1.ProductTag{{ProductId: "p", Text: new("x"), Index: proto.Int32(5), Length: proto.Int32(6)}, {ProductId: "q"}},
		PinnedProductId: "q",
	}
	annotations := Annotations{Links: LinksOf(want.GetLinks()), ProductTags: ProductTagsOf(want.GetProductTags()), PinnedProductID: "q"}
	got := (&Builder{}).PendingEdit(content.PendingEdit{
		ReferenceID: "r", ReferenceType: "post", TargetID: "c", AuthorID: "author", Data: ObjectJSON(want.GetData()),
		Metadata: ObjectJSON(want.GetMetadata()),
		Mentionees: MentionsJSON([]Mention{{
			Type: "user", UserIDs: []string{"a"}, UserPublicIDs: []string{"b"},
			UserInternalIDs: []string{"c"},
		}}),
		Attachments: AttachmentsJSON(want.GetAttachments()), Tags: want.GetTags(), Hashtags: want.GetHashtags(), CreatedAt: deletedAt,
		Annotations: annotations.JSON(),
	})
	require.True(t, proto.Equal(want, got), "want %v\ngot  %v", want, got)

	post := &plazav1.Post{}
	annotate(post, content.Post{Annotations: annotations.JSON()})
	require.True(t, proto.Equal(&plazav1.Post{Links: want.GetLinks(), ProductTags: want.GetProductTags(), PinnedProductId: "q"}, post), "%v",
		post)
	annotate(post, content.Post{})
	require.True(t, proto.Equal(&plazav1.Post{}, post), "%v", post)
}
