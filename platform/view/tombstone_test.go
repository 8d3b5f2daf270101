package view

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// shownContent is what a response shows of the content of an object.
type shownContent struct{ text, metadata, mentions, tags, files bool }

func TestTombstones(t *testing.T) {
	t.Parallel()
	text, mention := []byte(`{"text": "secret", "fileId": "f"}`), []byte(`[{"type": "user", "userIds": ["u"]}]`)
	files, tags := []byte(`[{"type": "image", "fileId": "f"}]`), []string{"t"}
	counts := core.Counts{"id": {core.CountComments: 2, core.CountReplies: 2, content.CountImpressions: 5}}
	has := func(s *structpb.Struct) bool { return len(freeform.Of(s)) > 0 }
	b := &Builder{NetworkID: "n"}
	for name, show := range map[string]func(deletedAt *time.Time) (shownContent, bool, string, int32){
		"post": func(at *time.Time) (shownContent, bool, string, int32) {
			m := b.post(content.Post{
				ID: "id", TargetType: "user", TargetID: "w", Data: text, Metadata: text, Mentionees: mention, Tags: tags,
				Hashtags: tags, DeletedAt: at,
			}, counts)
			require.Len(t, m.GetHashtags(), len(m.GetTags()))
			return shownContent{has(m.GetData()), has(m.GetMetadata()), len(m.GetMentionees()) > 0, len(m.GetTags()) > 0, has(m.GetData())},
				m.GetIsDeleted(), m.GetPath(), m.GetCommentsCount()
		},
		"comment": func(at *time.Time) (shownContent, bool, string, int32) {
			m := b.comment(content.Comment{
				ID: "id", ReferenceType: "post", ReferenceID: "p", TargetType: "user", TargetID: "w", Data: text, Metadata: text, Mentionees: mention,
				Attachments: files, DeletedAt: at,
			}, counts)
			return shownContent{has(m.GetData()), has(m.GetMetadata()), len(m.GetMentionees()) > 0, at == nil, len(m.GetAttachments()) > 0},
				m.GetIsDeleted(), m.GetPath(), m.GetChildrenNumber()
		},
		"message": func(at *time.Time) (shownContent, bool, string, int32) {
			m := b.message(messaging.Message{
				ID: "id", ChannelID: "c", FeedID: "f", Data: text, Metadata: text, Mentions: mention, Tags: tags,
				FileID: "f", DeletedAt: at,
			}, counts, nil)
			return shownContent{has(m.GetData()), has(m.GetMetadata()), len(m.GetMentionedUsers()) > 0, len(m.GetTags()) > 0, m.GetFileId() != ""},
				m.GetIsDeleted(), m.GetPath(), m.GetChildCount()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			paths := map[string]string{"post": "n/social/user/w/post/id", "comment": "n/social/user/w/post/p/comment/id", "message": "n/chat/c/f/id"}
			content, deleted, path, n := show(nil)
			require.Equal(t, shownContent{true, true, true, true, true}, content)
			require.False(t, deleted)
			require.Equal(t, paths[name], path)
			require.Equal(t, int32(2), n)
			content, deleted, path, n = show(&deletedAt)
			require.Equal(t, shownContent{}, content)
			require.True(t, deleted)
			require.Equal(t, paths[name], path, "a tombstone keeps its place")
			require.Equal(t, int32(2), n)
		})
	}
}
