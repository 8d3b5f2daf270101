package view

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestMessageFeed(t *testing.T) {
	t.Parallel()
	feeds := []messaging.MessageFeed{{ID: "default", EntityID: "c", LastSegment: 4}, {ID: "gone", DeletedAt: &deletedAt}, {ID: "empty"}}
	l := newMessageLoader(MessageRows{Feeds: feeds})
	require.Equal(t, []string{"default", "empty"}, l.feedIDs(), "deleted ones show no last message")
	l.last = []messaging.Message{{ID: "other", FeedID: "unrelated"}, {ID: "last", FeedID: "default"}}
	got := l.feeds(&Builder{NetworkID: "n"})
	require.Equal(t, []string{"last", "", ""}, mapList(got, (*plazav1.MessageFeed).GetMessagePreviewId))
	require.Equal(t, "last", got[0].GetLastMessageId())
	require.Equal(t, []bool{false, true, false}, mapList(got, (*plazav1.MessageFeed).GetIsDeleted))
	require.Equal(t, "n/chat/c/default", got[0].GetPath())
	require.Equal(t, int32(4), got[0].GetChildCount())
}

// TestFilesAndUsersOfMessages checks what is read for messages: nothing that a deleted one referred to, but its author.
func TestFilesAndUsersOfMessages(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), db.Config{URLs: map[region.Code]string{"": "postgresql://plaza@127.0.0.1:1/plaza"}})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	id := func() string { return region.NewID(region.EU) }
	feedCreator, author, other, mentioned, forgotten, file, lost := id(), id(), id(), id(), id(), id(), id()
	mentions := func(ids ...string) []byte {
		return MessageMentionsJSON([]MessageMention{{Type: MentionChannel}, {Type: MentionUser, UserIDs: ids}})
	}
	messages := []messaging.Message{
		{ID: id(), CreatorID: author, FileID: file, Mentions: mentions(mentioned, author)},
		{ID: id(), CreatorID: other, FileID: lost, Mentions: mentions(forgotten), DeletedAt: &deletedAt},
	}
	for name, tc := range map[string]struct {
		viewer *people.User
		users  []string
		known  []people.User
	}{
		"an administrator": {nil, []string{feedCreator, author, other, mentioned}, nil},
		"the author":       {&people.User{ID: author}, []string{feedCreator, other, mentioned}, []people.User{{ID: author}}},
		"another reader":   {&people.User{ID: forgotten}, []string{feedCreator, author, other, mentioned}, nil},
	} {
		l, batch := newMessageLoader(MessageRows{Feeds: []messaging.MessageFeed{{ID: id(), CreatorID: feedCreator}}, Viewer: tc.viewer}),
			st.NewReadBatch()
		l.read(batch, messages)
		require.Equal(t, []string{file}, l.files.requested.list(), name)
		read := map[string][]string{}
		for _, q := range batch.Queued() {
			if ids, ok := q.Args[1].([]string); ok {
				read[q.Statement.Name] = ids
			}
		}
		require.ElementsMatch(t, tc.users, read["users.byID"], name)
		require.Equal(t, tc.known, l.users, name)
		require.Equal(t, []string{file}, read["files.byID"], name)
	}
}

func TestMessagesOfViewer(t *testing.T) {
	t.Parallel()
	l := newMessageLoader(MessageRows{Moderated: map[string]bool{"moderated": true}})
	l.counts = core.Counts{"1": {core.CountReactions("like"): 2}}
	l.mine = []content.Reaction{{ReferenceID: "1", Name: "like"}}
	got := l.messages(confirmed(t, "m"), &Builder{}, []messaging.Message{
		{ID: "1", ChannelID: "moderated", Flaggers: []string{"a"}, FlagCount: 1},
		{ID: "2", ChannelID: "other", Flaggers: []string{"a"}, FlagCount: 1},
	})
	require.Equal(t, []int32{1, 0}, mapList(got, (*plazav1.Message).GetFlagCount))
	require.Equal(t, []string{"like"}, got[0].GetMyReactions())
	require.Equal(t, []int32{2, 0}, mapList(got, (*plazav1.Message).GetReactionCount))
	require.Nil(t, got[1].GetHashFlag())
}

func TestHiddenMessages(t *testing.T) {
	t.Parallel()
	hidden := time.Now()
	rows := []messaging.Message{
		{ID: "moderated", ChannelID: "moderated", HiddenAt: &hidden},
		{ID: "other", ChannelID: "other", HiddenAt: &hidden},
		{ID: "own", ChannelID: "other", CreatorID: "m", HiddenAt: &hidden},
		{ID: "visible", ChannelID: "other"},
	}
	got := viewerOf(confirmed(t, "m")).hideMessages(rows, map[string]bool{"moderated": true})
	require.Equal(t, []bool{false, true, false, false}, mapList(got, func(m messaging.Message) bool { return m.DeletedAt != nil }))
	require.Equal(t, rows, viewerOf(asAdmin(t)).hideMessages(rows, nil))
}

func TestMessageMentions(t *testing.T) {
	t.Parallel()
	mentions := []MessageMention{{Type: MentionChannel}, {Type: MentionUser, UserIDs: []string{"internal"}, UserPublicIDs: []string{"public"}}}
	raw := MessageMentionsJSON(mentions)
	require.Equal(t, mentions, MessageMentions(raw))
	require.JSONEq(t, `[{"type": "channel"}, {"type": "user", "userIds": ["internal"], "userPublicIds": ["public"]}]`, string(raw))
	require.Equal(t, []string{"public"}, messageMentions(raw)[1].GetUserPublicIds())
}

func TestWithFileIDKeepsTheData(t *testing.T) {
	t.Parallel()
	data := freeform.Object(`{"caption":"c","fileId":"claimed"}`)
	require.JSONEq(t, `{"caption":"c","fileId":"f"}`, string(WithFileID(data, "f")))
	require.Equal(t, "claimed", data.Text("fileId"), "the request is not changed")
	require.Equal(t, data, WithFileID(data, ""))
}
