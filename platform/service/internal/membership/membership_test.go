package membership

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store/communities"
)

var (
	now     = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	earlier = now.Add(-time.Hour)
)

func member(state string, roles ...string) *communities.Member {
	return &communities.Member{
		CommunityID: "c", UserID: "u", UserPublicID: "p", State: state, Roles: roles, Version: 2,
		JoinedAt: earlier, CreatedAt: earlier, UpdatedAt: earlier,
	}
}

func confirmed(t *testing.T, granted ...auth.Permission) *auth.Caller {
	t.Helper()
	caller := &auth.Caller{Kind: auth.User, UserID: "u"}
	require.NoError(t, auth.Confirm(auth.WithCaller(t.Context(), caller), auth.Facts{Exists: true, Granted: granted}))
	return caller
}

func TestJoin(t *testing.T) {
	t.Run("new user", func(t *testing.T) {
		c := Join("c", "u", "p", nil, MemberRoles(), now)
		require.Nil(t, c.Old)
		require.Equal(t, communities.Member{
			CommunityID: "c", UserID: "u", UserPublicID: "p", State: communities.StateMember, Roles: MemberRoles(),
			JoinedAt: now, CreatedAt: now, UpdatedAt: now,
		}, c.New)
	})
	t.Run("member keeps roles", func(t *testing.T) {
		old := member(communities.StateMember, CreatorRoles()...)
		c := Join("c", "u", "p", old, MemberRoles(), now)
		require.Equal(t, *old, c.New)
		require.False(t, c.Needed())
	})
	for _, state := range []string{communities.StateLeft, communities.StateRemoved} {
		t.Run("after "+state, func(t *testing.T) {
			c := Join("c", "u", "p", member(state), MemberRoles(), now)
			require.True(t, c.New.IsMember())
			require.Equal(t, earlier, c.New.CreatedAt)
			require.Equal(t, now, c.New.JoinedAt)
		})
	}
}

// TestEventsOfChanges checks the event about each change of a member, of which there is none if nothing changes.
func TestEventsOfChanges(t *testing.T) {
	moderator := append(MemberRoles(), CreatorRoles()...)
	of := func(roles ...string) communities.Member { return *member(communities.StateMember, roles...) }
	for name, tc := range map[string]struct {
		change communities.MemberChange
		caller string
		want   string
	}{
		"joins":                 {Join("c", "u", "p", nil, MemberRoles(), now), "u", ""},
		"is a member already":   {Join("c", "u", "p", member(communities.StateMember, MemberRoles()...), MemberRoles(), now), "boss", ""},
		"leaves":                {Leave(of(), communities.StateLeft, now), "u", "community.left"},
		"is removed":            {Leave(of(), communities.StateRemoved, now), "boss", "community.userRemoved"},
		"is banned":             {Ban("c", "u", "p", member(communities.StateMember), now), "boss", "community.userBanned"},
		"is banned again":       {Ban("c", "u", "p", member(communities.StateBanned), now), "boss", ""},
		"is banned as stranger": {Ban("c", "u", "p", nil, now), "boss", "community.userBanned"},
		"is banned no longer":   {Leave(*member(communities.StateBanned), communities.StateRemoved, now), "boss", "community.userUnbanned"},
		"gets a role":           {SetRoles(of(MemberRoles()...), moderator, now), "boss", "community.roleAdded"},
		"has the role already":  {SetRoles(of(moderator...), moderator, now), "boss", ""},
		"loses a role":          {SetRoles(of(moderator...), MemberRoles(), now), "boss", "community.roleRemoved"},
		"gets other roles":      {SetRoles(of(MemberRoles()...), CreatorRoles(), now), "boss", "community.userChanged"},
	} {
		want := map[string][]string{}
		if tc.want != "" {
			want[tc.want] = []string{"u"}
		}
		require.Equal(t, want, (&Update{changes: []communities.MemberChange{tc.change}}).removals(tc.caller), name)
	}
}

func TestChanges(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  communities.MemberChange
		state   string
		roles   []string
		changed bool
	}{
		{"leave", Leave(*member(communities.StateMember, MemberRoles()...), communities.StateLeft, now), communities.StateLeft, nil, true},
		{"leave again", Leave(*member(communities.StateLeft), communities.StateLeft, now), communities.StateLeft, nil, false},
		{"remove", Leave(*member(communities.StateMember, MemberRoles()...), communities.StateRemoved, now), communities.StateRemoved, nil, true},
		{"unban", Leave(*member(communities.StateBanned), communities.StateRemoved, now), communities.StateRemoved, nil, true},
		{"ban a member", Ban("c", "u", "p", member(communities.StateMember, MemberRoles()...), now), communities.StateBanned, nil, true},
		{"ban a former member", Ban("c", "u", "p", member(communities.StateLeft), now), communities.StateBanned, nil, true},
		{"ban again", Ban("c", "u", "p", member(communities.StateBanned), now), communities.StateBanned, nil, false},
		{"ban a stranger", Ban("c", "u", "p", nil, now), communities.StateBanned, nil, true},
		{
			"set roles", SetRoles(*member(communities.StateMember, MemberRoles()...), CreatorRoles(), now), communities.StateMember, CreatorRoles(),
			true,
		},
		{
			"set the same roles", SetRoles(*member(communities.StateMember, MemberRoles()...), MemberRoles(),
				now), communities.StateMember, MemberRoles(),
			false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.changed, c.change.Needed())
			require.Equal(t, c.state, c.change.New.State)
			require.Equal(t, c.roles, c.change.New.Roles)
			want := earlier
			if c.changed {
				want = now
			}
			require.Equal(t, want, c.change.New.UpdatedAt)
		})
	}
}

func TestCanDiscover(t *testing.T) {
	public, discoverable, hidden := &communities.Community{IsPublic: true}, &communities.Community{IsDiscoverable: true},
		&communities.Community{}
	deleted := &communities.Community{IsPublic: true, DeletedAt: &now}
	stranger, viewer := confirmed(t), confirmed(t, auth.ViewCommunity)
	for _, c := range []struct {
		name      string
		caller    *auth.Caller
		community *communities.Community
		mine      *communities.Member
		want      error
	}{
		{"public", stranger, public, nil, nil},
		{"discoverable", stranger, discoverable, nil, nil},
		{"hidden", stranger, hidden, nil, fail.NotFound()},
		{"hidden, member", stranger, hidden, member(communities.StateMember), nil},
		{"hidden, former member", stranger, hidden, member(communities.StateLeft), fail.NotFound()},
		{"hidden, banned", stranger, hidden, member(communities.StateBanned), fail.NotFound()},
		{"hidden, VIEW_COMMUNITY", viewer, hidden, nil, nil},
		{"hidden, administrator", &auth.Caller{Kind: auth.Admin}, hidden, nil, nil},
		{"deleted", stranger, deleted, nil, fail.NotFound()},
		{"deleted, member", stranger, deleted, member(communities.StateMember), fail.NotFound()},
		{"deleted, administrator", &auth.Caller{Kind: auth.Admin}, deleted, nil, fail.NotFound()},
		{"does not exist", viewer, nil, nil, fail.NotFound()},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := RequireDiscoverable(c.caller, c.community, c.mine)
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, c.want)
		})
	}
}

func TestRequire(t *testing.T) {
	c := &communities.Community{IsPublic: true, CreatorID: "creator"}
	for name, tc := range map[string]struct {
		caller *auth.Caller
		mine   *communities.Member
		want   fail.Code
	}{
		"stranger":         {confirmed(t), nil, fail.CodeForbidden},
		"member":           {confirmed(t), member(communities.StateMember, MemberRoles()...), fail.CodeForbidden},
		"moderator":        {confirmed(t), member(communities.StateMember, CreatorRoles()...), 0},
		"former moderator": {confirmed(t), member(communities.StateLeft, CreatorRoles()...), fail.CodeForbidden},
		"banned moderator": {confirmed(t), member(communities.StateBanned, CreatorRoles()...), fail.CodeBanned},
		"network role":     {confirmed(t, auth.AddCommunityUser), nil, 0},
		"administrator":    {&auth.Caller{Kind: auth.Admin}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			err := Require(tc.caller, auth.AddCommunityUser, c, tc.mine)
			if tc.want == 0 {
				require.NoError(t, err)
				return
			}
			require.Equal(t, tc.want, fail.From(err).Code)
		})
	}
}
