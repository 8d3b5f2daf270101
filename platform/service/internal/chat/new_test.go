package chat

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// TestNewChannel checks each field of a channel that a request describes, and what it has without one.
func TestNewChannel(t *testing.T) {
	t.Parallel()
	metadata, err := structpb.NewStruct(map[string]any{"a": "b"})
	require.NoError(t, err)
	flags, no := int32(7), false
	full := &plazav1.CreateChannelRequest{
		Type: "live", DisplayName: "name", AvatarFileId: "avatar", Tags: []string{"x", "y", "x"}, Metadata: metadata, NotificationMode: "silent",
		MessageAutoDeleteEnabled: true, AutoDeleteMessageByFlagLimit: &flags, PostId: "post",
	}
	require.Equal(t, messaging.Channel{
		ID: "id", PublicID: "id", Type: messaging.ChannelLive, DisplayName: "name", AvatarFileID: "avatar", Tags: []string{"x", "y"},
		Metadata:         []byte(`{"a":"b"}`),
		NotificationMode: "silent", AutoDeleteEnabled: true, AutoDeleteFlags: 7, PostID: "post", LastActivity: now, CreatedAt: now,
		UpdatedAt: now,
	}, NewChannel(full, "id", now))
	bare := NewChannel(&plazav1.CreateChannelRequest{}, "id", now)
	require.Equal(t, []any{messaging.ChannelCommunity, "default", int64(10), false},
		[]any{bare.Type, bare.NotificationMode, bare.AutoDeleteFlags, bare.AutoDeleteEnabled})
	for kind, want := range map[string]bool{
		"": true, messaging.ChannelCommunity: true, messaging.ChannelBroadcast: true,
		messaging.ChannelLive: false,
	} {
		require.Equal(t, want, NewChannel(&plazav1.CreateChannelRequest{Type: kind}, "id", now).IsPublic, kind)
	}
	require.False(t, NewChannel(&plazav1.CreateChannelRequest{IsPublic: &no}, "id", now).IsPublic)
}

func TestNewConversation(t *testing.T) {
	t.Parallel()
	metadata, err := structpb.NewStruct(map[string]any{"a": "b"})
	require.NoError(t, err)
	req := &plazav1.CreateConversationRequest{DisplayName: "name", AvatarFileId: "avatar", Tags: []string{"x", "x"}, Metadata: metadata}
	require.Equal(t, messaging.Channel{
		ID: "id", PublicID: "id", Type: messaging.ChannelConversation, CreatorID: "u", CreatorPublicID: "p", DisplayName: "name",
		AvatarFileID: "avatar",
		IsDistinct:   true, Tags: []string{"x"}, Metadata: []byte(`{"a":"b"}`), NotificationMode: "default", AutoDeleteFlags: 10,
		LastActivity: now, CreatedAt: now, UpdatedAt: now,
	}, NewConversation(req, "id", people.User{ID: "u", PublicID: "p"}, true, now))
}

// TestMaxMembers checks how many members a channel of each type may have: a conversation has its creator and ten others.
func TestMaxMembers(t *testing.T) {
	t.Parallel()
	require.Equal(t, map[string]int{"community": 10_000, "broadcast": 10_000, "conversation": 11, "live": 100_000}, MaxMembers)
	require.Equal(t, 10, MaxOthers)
}

// TestAuthorityInChannels checks that the creator of a channel, but not that of a conversation, has the authority of its owner.
func TestAuthorityInChannels(t *testing.T) {
	t.Parallel()
	of := func(a Access, userID string, u *messaging.ChannelUser) auth.Authority {
		a.Channel.CreatorID = "creator"
		return a.AuthorityOf(userID, u)
	}
	community, conversation := access(messaging.ChannelCommunity), access(messaging.ChannelConversation)
	require.Equal(t, auth.AuthorityIn(true, false), of(community, "creator", nil))
	require.Equal(t, auth.AuthorityIn(false, true), of(community, "caller", access("", moderator).User))
	require.Equal(t, auth.AuthorityNone, of(community, "caller", access("", member).User))
	require.Equal(t, auth.AuthorityNone, of(conversation, "creator", access("", member).User))
}

// TestShowsHiddenMessages checks that a message which flags hide is shown to its author and to moderators only.
func TestShowsHiddenMessages(t *testing.T) {
	t.Parallel()
	hidden, shown := messaging.Message{CreatorID: "author", HiddenAt: &now}, messaging.Message{CreatorID: "author"}
	for name, c := range map[string]struct {
		access Access
		author string
		want   bool
	}{
		"member":    {access(messaging.ChannelCommunity, member), "author", false},
		"author":    {access(messaging.ChannelCommunity, member), "caller", true},
		"moderator": {access(messaging.ChannelCommunity, moderator), "author", true},
		"stranger":  {access(messaging.ChannelCommunity, public), "author", false},
	} {
		hidden.CreatorID = c.author
		require.Equal(t, c.want, c.access.Shows(confirmed(t), hidden), name)
		require.True(t, c.access.Shows(confirmed(t), shown), name)
	}
}

// TestCanHear checks that the events about the deletion of a channel reach those who could read it.
func TestCanHear(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		access Access
		want   fail.Code
	}{
		"member":                      {access(messaging.ChannelCommunity, member), 0},
		"member of a deleted channel": {access(messaging.ChannelCommunity, member, deleted), 0},
		"stranger, public channel":    {access(messaging.ChannelCommunity, public), fail.CodePermissionDenied},
		"stranger, deleted channel":   {access(messaging.ChannelCommunity, public, deleted), fail.CodePermissionDenied},
		"no channel":                  {Access{resolved: true}, fail.CodeNotFound},
	} {
		require.Equal(t, c.want, codeOf(c.access.CanHear(confirmed(t))), name)
	}
	a := access(messaging.ChannelCommunity, member, deleted)
	require.NoError(t, a.CanHear(confirmed(t)))
	require.NotNil(t, a.Channel.DeletedAt, "the row stays as it is")
}
