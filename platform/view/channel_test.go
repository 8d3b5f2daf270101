package view_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/view"
)

func TestChannel(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	b := &view.Builder{NetworkID: "n", Now: func() time.Time { return now }}
	past, future := now.Add(-time.Second), now.Add(time.Second)
	c := messaging.Channel{ID: "internal", PublicID: "public", Type: "live", MutedUntil: &past}
	m := b.Channel(c, core.Counts{}, nil, nil)
	require.Equal(t, "public", m.GetChannelId())
	require.Equal(t, "internal", m.GetPrivateId())
	require.Equal(t, "n/chat/internal", m.GetPath())
	require.False(t, m.GetIsMuted(), "the mute has ended")
	require.Nil(t, m.GetMuteTimeout())
	require.Nil(t, m.GetAttachedTo())
	c.MutedUntil, c.RoomID = &future, "room"
	m = b.Channel(c, core.Counts{"internal": {core.CountMembers: 3, core.CountModerators: 1}}, &messaging.MessageFeed{LastSegment: 7},
		&messaging.Message{ID: "last"})
	require.True(t, m.GetIsMuted())
	require.Equal(t, future, m.GetMuteTimeout().AsTime())
	require.Equal(t, "room", m.GetAttachedTo().GetRoomId())
	require.Equal(t, []int32{3, 1, 7}, []int32{m.GetMemberCount(), m.GetModeratorMemberCount(), m.GetMessageCount()})
	require.Equal(t, "last", m.GetMessagePreviewId())
}

func TestChannelUser(t *testing.T) {
	b := &view.Builder{}
	c := messaging.Channel{ID: "internal", PublicID: "public"}
	stranger := b.ChannelUser(c, messaging.ChannelUser{UserID: "u", UserPublicID: "anna"}, nil, 0)
	require.Equal(t, "none", stranger.GetMembership())
	require.Nil(t, stranger.GetCreatedAt(), "users who never joined have no times")
	member := messaging.ChannelUser{UserID: "u", UserPublicID: "anna", Membership: "member", Roles: []string{"channel-moderator"}}
	require.Equal(t, int32(5), b.ChannelUser(c, member, nil, 5).GetReadToSegment(), "earlier messages count as read")
	marked := b.ChannelUser(c, member, &messaging.FeedMarker{ReadTo: 2, LastMention: 4}, 5)
	require.Equal(t, []int32{2, 4}, []int32{marked.GetReadToSegment(), marked.GetLastMentionedSegment()})
	require.Contains(t, marked.GetPermissions(), "MUTE_CHANNEL")
}

func TestPreviewOfDeletedMessage(t *testing.T) {
	b := &view.Builder{}
	at := time.Now()
	p := b.MessagePreview(messaging.Channel{}, messaging.Message{Data: []byte(`{"text": "secret"}`), DeletedAt: &at})
	require.True(t, p.GetIsDeleted())
	require.Empty(t, freeform.Of(p.GetData()))
}
