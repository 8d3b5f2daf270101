package chat

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

var now = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// confirmed returns a confirmed user whose network roles grant the permissions.
func confirmed(t *testing.T, granted ...auth.Permission) *auth.Caller {
	t.Helper()
	caller := &auth.Caller{Kind: auth.User, UserID: "caller"}
	require.NoError(t, auth.Confirm(auth.WithCaller(t.Context(), caller), auth.Facts{Exists: true, Granted: granted}))
	return caller
}

func admin() *auth.Caller { return &auth.Caller{Kind: auth.Admin, Name: "root"} }

func codeOf(err error) fail.Code {
	if err == nil {
		return 0
	}
	return fail.From(err).Code
}

// access returns a resolved Access to a channel of a type.
func access(kind string, edits ...func(*Access)) Access {
	a := Access{Channel: &messaging.Channel{ID: "channel", Type: kind}, resolved: true}
	for _, edit := range edits {
		edit(&a)
	}
	return a
}

func public(a *Access)  { a.Channel.IsPublic = true }
func deleted(a *Access) { a.Channel.DeletedAt = &now }
func muted(a *Access)   { later := now.Add(time.Hour); a.Channel.MutedUntil = &later }
func sees(a *Access)    { a.seesAttached = true }
func hidden(a *Access)  { a.hiddenMember = true }

func banned(a *Access) {
	a.User = &messaging.ChannelUser{UserID: "caller", Membership: messaging.ChannelBanned}
}

func left(a *Access) {
	a.User = &messaging.ChannelUser{UserID: "caller", Membership: messaging.ChannelNone}
}

func member(a *Access) {
	a.User = &messaging.ChannelUser{UserID: "caller", Membership: messaging.ChannelMember, Roles: MemberRoles()}
}

func moderator(a *Access) {
	a.User = &messaging.ChannelUser{UserID: "caller", Membership: messaging.ChannelMember, Roles: CreatorRoles()}
}

func mutedMember(a *Access) {
	member(a)
	later := now.Add(time.Millisecond)
	a.User.MutedUntil = &later
}

func formerlyMutedMember(a *Access) {
	member(a)
	a.User.MutedUntil = &now
}

func TestAccessMatrix(t *testing.T) {
	const (
		community    = messaging.ChannelCommunity
		broadcast    = messaging.ChannelBroadcast
		conversation = messaging.ChannelConversation
		live         = messaging.ChannelLive
		ok           = fail.Code(0)
		notFound     = fail.CodeNotFound
		denied       = fail.CodePermissionDenied
		isBanned     = fail.CodeBanned
		userMuted    = fail.CodeUserMuted
		channelMuted = fail.CodeChannelMuted
	)
	viewer, manager := confirmed(t, auth.ViewChannel), confirmed(t, auth.ViewChannel, auth.ManageChannel)
	for _, c := range []struct {
		name             string
		caller           *auth.Caller // a user without network roles if nil
		access           Access
		see, read, write fail.Code
	}{
		{"member of a public channel", nil, access(community, public, member), ok, ok, ok},
		{"member of a private channel", nil, access(community, member), ok, ok, ok},
		{"member of a conversation", nil, access(conversation, member), ok, ok, ok},
		{"member of a broadcast channel", nil, access(broadcast, public, member), ok, ok, denied},
		{"member of a live channel", nil, access(live, member, sees), ok, ok, ok},
		{"member of a live channel who lost sight of the room", nil, access(live, member, hidden), notFound, notFound, notFound},
		{"moderator of a live channel who lost sight of the room", nil, access(live, moderator, hidden), notFound, notFound, notFound},
		{"moderator of a broadcast channel", nil, access(broadcast, public, moderator), ok, ok, ok},
		{"moderator of a muted channel", nil, access(community, moderator, muted), ok, ok, ok},
		{"member of a muted channel", nil, access(community, member, muted), ok, ok, channelMuted},
		{"muted member", nil, access(community, mutedMember), ok, ok, userMuted},
		{"muted member of a muted channel", nil, access(community, mutedMember, muted), ok, ok, userMuted},
		{"member whose mute has ended", nil, access(community, formerlyMutedMember), ok, ok, ok},
		{"member of a deleted channel", nil, access(community, member, deleted), ok, notFound, notFound},
		{"moderator of a deleted channel", nil, access(community, moderator, deleted), ok, notFound, notFound},

		{"stranger, public channel", nil, access(community, public), ok, denied, denied},
		{"stranger, private channel", nil, access(community), notFound, notFound, notFound},
		{"stranger, conversation", nil, access(conversation), notFound, notFound, notFound},
		{"stranger, broadcast channel", nil, access(broadcast, public), ok, denied, denied},
		{"stranger who sees the room of a live channel", nil, access(live, sees), ok, denied, denied},
		{"stranger who does not see the room of a live channel", nil, access(live), notFound, notFound, notFound},
		{"stranger, deleted public channel", nil, access(community, public, deleted), ok, notFound, notFound},
		{"stranger, no channel", nil, Access{resolved: true}, notFound, notFound, notFound},
		{"former member, public channel", nil, access(community, public, left), ok, denied, denied},
		{"former member, private channel", nil, access(community, left), notFound, notFound, notFound},

		{"banned, public channel", nil, access(community, public, banned), ok, isBanned, isBanned},
		{"banned, private channel", nil, access(community, banned), isBanned, isBanned, isBanned},
		{"banned, conversation", nil, access(conversation, banned), isBanned, isBanned, isBanned},
		{"banned, live channel", nil, access(live, banned), isBanned, isBanned, isBanned},
		{"banned, live channel whose room they see", nil, access(live, banned, sees), ok, isBanned, isBanned},
		{"banned, deleted public channel", nil, access(community, public, banned, deleted), ok, notFound, notFound},

		{"administrator, private channel", admin(), access(community), ok, ok, ok},
		{"administrator, broadcast channel", admin(), access(broadcast, public), ok, ok, ok},
		{"administrator, muted channel", admin(), access(community, muted), ok, ok, ok},
		{"administrator, deleted channel", admin(), access(community, deleted), ok, notFound, notFound},
		{"administrator, no channel", admin(), Access{resolved: true}, notFound, notFound, notFound},
		{"VIEW_CHANNEL, private channel", viewer, access(community), ok, ok, denied},
		{"VIEW_CHANNEL, conversation", viewer, access(conversation), ok, ok, denied},
		{"VIEW_CHANNEL, live channel", viewer, access(live), ok, ok, denied},
		{"VIEW_CHANNEL, member who lost sight of the room", viewer, access(live, member, hidden), ok, ok, ok},
		{"VIEW_CHANNEL, banned from a private channel", viewer, access(community, banned), ok, ok, isBanned},
		{"VIEW_CHANNEL and MANAGE_CHANNEL, private channel", manager, access(community), ok, ok, ok},
		{"VIEW_CHANNEL and MANAGE_CHANNEL, muted channel", manager, access(community, muted), ok, ok, channelMuted},
		{"not confirmed", &auth.Caller{Kind: auth.User, UserID: "caller"}, access(community), notFound, notFound, notFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			caller := c.caller
			if caller == nil {
				caller = confirmed(t)
			}
			got := []fail.Code{codeOf(c.access.CanSee(caller)), codeOf(c.access.CanRead(caller)), codeOf(c.access.CanWrite(caller, now))}
			require.Equal(t, []fail.Code{c.see, c.read, c.write}, got)
		})
	}
}

// TestUnresolvedAccess tests that a handler that does not run the request of an access is denied everything.
func TestUnresolvedAccess(t *testing.T) {
	all := []auth.Permission{auth.ViewChannel, auth.ManageChannel, auth.MuteChannel, auth.EditChannel}
	for name, a := range map[string]Access{
		"zero":                       {},
		"public":                     {Channel: &messaging.Channel{Type: messaging.ChannelCommunity, IsPublic: true}},
		"member":                     {Channel: &messaging.Channel{Type: messaging.ChannelCommunity}, User: access("", member).User},
		"moderator":                  {Channel: &messaging.Channel{Type: messaging.ChannelCommunity}, User: access("", moderator).User},
		"member of a live channel":   {Channel: &messaging.Channel{Type: messaging.ChannelLive}, User: access("", member).User},
		"sees the room":              {Channel: &messaging.Channel{Type: messaging.ChannelLive}, seesAttached: true},
		"member of a public channel": {Channel: &messaging.Channel{IsPublic: true}, User: access("", member).User},
	} {
		for kind, caller := range map[string]*auth.Caller{
			"user": confirmed(t), "holder of all permissions": confirmed(t, all...),
			"administrator": admin(),
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				require.Equal(t, fail.CodeNotFound, codeOf(a.CanSee(caller)))
				require.Equal(t, fail.CodeNotFound, codeOf(a.CanRead(caller)))
				require.Equal(t, fail.CodeNotFound, codeOf(a.CanWrite(caller, now)))
				require.False(t, a.CanJoin())
				for _, p := range all {
					require.False(t, a.CanModerate(caller, p))
					require.Equal(t, fail.CodeNotFound, codeOf(a.RequireModerate(caller, p)))
				}
			})
		}
	}
}

func TestRequireModerate(t *testing.T) {
	for _, c := range []struct {
		name   string
		caller *auth.Caller
		access Access
		want   fail.Code
	}{
		{"moderator", confirmed(t), access(messaging.ChannelCommunity, moderator), 0},
		{"member", confirmed(t), access(messaging.ChannelCommunity, member), fail.CodeForbidden},
		{"stranger, public channel", confirmed(t), access(messaging.ChannelCommunity, public), fail.CodeForbidden},
		{"stranger, private channel", confirmed(t), access(messaging.ChannelCommunity), fail.CodeNotFound},
		{"banned, private channel", confirmed(t), access(messaging.ChannelCommunity, banned), fail.CodeBanned},
		{"administrator", admin(), access(messaging.ChannelCommunity), 0},
		{"administrator, deleted channel", admin(), access(messaging.ChannelCommunity, deleted), fail.CodeNotFound},
		{"network role", confirmed(t, auth.EditChannel), access(messaging.ChannelCommunity, public), 0},
		{"network role does not see the channel", confirmed(t, auth.EditChannel), access(messaging.ChannelCommunity), fail.CodeNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, codeOf(c.access.RequireModerate(c.caller, auth.EditChannel)))
		})
	}
}

// TestBannedModerator tests that a ban, and not the lack of the role, is named as the reason.
func TestBannedModerator(t *testing.T) {
	a := access(messaging.ChannelCommunity, public, banned)
	a.User.Roles = CreatorRoles()
	require.ErrorIs(t, a.RequireModerate(confirmed(t), auth.EditChannel), fail.ChannelBanned())
}

func TestCanJoin(t *testing.T) {
	for name, c := range map[string]struct {
		access Access
		want   bool
	}{
		"public":               {access(messaging.ChannelCommunity, public), true},
		"broadcast":            {access(messaging.ChannelBroadcast, public), true},
		"private":              {access(messaging.ChannelCommunity), false},
		"conversation":         {access(messaging.ChannelConversation), false},
		"live, room visible":   {access(messaging.ChannelLive, sees), true},
		"live, room invisible": {access(messaging.ChannelLive), false},
	} {
		require.Equal(t, c.want, c.access.CanJoin(), name)
	}
}
