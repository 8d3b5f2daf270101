package chat

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

var earlier = now.Add(-time.Hour)

func entry(membership string, roles ...string) messaging.ChannelUser {
	return messaging.ChannelUser{
		ChannelID: "c", UserID: "u", UserPublicID: "p", Membership: membership, Roles: roles, Version: 3,
		JoinedAt: earlier, CreatedAt: earlier, UpdatedAt: earlier,
	}
}

func TestJoin(t *testing.T) {
	t.Run("new user", func(t *testing.T) {
		c := Join("c", "u", "p", nil, MemberRoles(), now)
		require.Nil(t, c.Old)
		require.Equal(t, messaging.ChannelUser{
			ChannelID: "c", UserID: "u", UserPublicID: "p", Membership: messaging.ChannelMember, Roles: MemberRoles(),
			JoinedAt: now, CreatedAt: now, UpdatedAt: now,
		}, c.New)
		require.True(t, c.Needed())
	})
	t.Run("member keeps roles", func(t *testing.T) {
		old := entry(messaging.ChannelMember, CreatorRoles()...)
		c := Join("c", "u", "p", &old, MemberRoles(), now)
		require.Equal(t, old, c.New)
		require.False(t, c.Needed())
	})
	t.Run("former member stays muted", func(t *testing.T) {
		old := entry(messaging.ChannelNone)
		until := now.Add(time.Hour)
		old.MutedUntil = &until
		c := Join("c", "u", "p", &old, MemberRoles(), now)
		require.Same(t, &old, c.Old)
		require.Equal(t, &until, c.New.MutedUntil)
		require.Equal(t, earlier, c.New.CreatedAt)
		require.Equal(t, now, c.New.JoinedAt)
	})
}

func TestUserChanges(t *testing.T) {
	member, none, isBanned := entry(messaging.ChannelMember, MemberRoles()...), entry(messaging.ChannelNone), entry(messaging.ChannelBanned)
	until := now.Add(time.Hour)
	for _, c := range []struct {
		name       string
		change     messaging.ChannelUserChange
		membership string
		roles      []string
		muted      *time.Time
		changed    bool
	}{
		{"member leaves", Leave(member, now), messaging.ChannelNone, nil, nil, true},
		{"former member leaves", Leave(none, now), messaging.ChannelNone, nil, nil, false},
		{"unban", Leave(isBanned, now), messaging.ChannelNone, nil, nil, true},
		{"ban a member", Ban("c", "u", "p", &member, now), messaging.ChannelBanned, nil, nil, true},
		{"ban a former member", Ban("c", "u", "p", &none, now), messaging.ChannelBanned, nil, nil, true},
		{"ban a banned user", Ban("c", "u", "p", &isBanned, now), messaging.ChannelBanned, nil, nil, false},
		{"ban a stranger", Ban("c", "u", "p", nil, now), messaging.ChannelBanned, nil, nil, true},
		{"set roles", SetRoles(member, CreatorRoles(), now), messaging.ChannelMember, CreatorRoles(), nil, true},
		{"set the same roles", SetRoles(member, MemberRoles(), now), messaging.ChannelMember, MemberRoles(), nil, false},
		{"mute", Mute(member, &until, now), messaging.ChannelMember, MemberRoles(), &until, true},
		{"unmute a user who is not muted", Mute(member, nil, now), messaging.ChannelMember, MemberRoles(), nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.changed, c.change.Needed())
			require.Equal(t, c.membership, c.change.New.Membership)
			require.Equal(t, c.roles, c.change.New.Roles)
			require.Equal(t, c.muted, c.change.New.MutedUntil)
			want := earlier
			if c.changed {
				want = now
			}
			require.Equal(t, want, c.change.New.UpdatedAt)
		})
	}
	require.Equal(t, MemberRoles(), member.Roles, "the row that was read does not change")
}

func TestLiveChannel(t *testing.T) {
	c, users := LiveChannel("room", strings.Repeat("ä", 120), "u", "p", now)
	require.Equal(t, "room", c.ID)
	require.Equal(t, "room", c.PublicID)
	require.Equal(t, messaging.ChannelLive, c.Type)
	require.Equal(t, strings.Repeat("ä", 100), c.DisplayName, "the name is cut at 100 characters")
	require.False(t, c.IsPublic)
	require.EqualValues(t, DefaultAutoDeleteFlags, c.AutoDeleteFlags)
	require.Len(t, users, 1)
	require.Equal(t, CreatorRoles(), users[0].New.Roles)
	c, _ = LiveChannel("room", "short", "u", "p", now)
	require.Equal(t, "short", c.DisplayName)
}

func TestAllowsPublicID(t *testing.T) {
	require.False(t, AllowsPublicID(region.NewID(region.EU)))
	require.True(t, AllowsPublicID("general"))
	require.Equal(t, region.FixedID(region.EU), ChannelID(nil, region.FixedID(region.EU)), "an internal id needs no directory")
}
