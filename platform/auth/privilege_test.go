package auth_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// TestPrivilege checks which decisions count as the exercise of a privilege.
func TestPrivilege(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		roles      []string
		permission auth.Permission
		scope      auth.Scope
		want       *auth.Privilege
	}{
		"another user's post by a network role": {
			[]string{auth.RoleModerator},
			auth.EditCommunityPost,
			auth.Scope{OwnerID: strangerID, Membership: member},
			&auth.Privilege{Permission: auth.EditCommunityPost, Roles: []string{auth.RoleModerator, auth.RoleCommunityMember}},
		},
		"another user's post by a membership": {
			nil, auth.EditCommunityPost,
			auth.Scope{OwnerID: strangerID, Membership: mod},
			&auth.Privilege{Permission: auth.EditCommunityPost, Roles: mod.Roles},
		},
		"the caller's own post": {
			[]string{auth.RoleModerator},
			auth.EditCommunityPost,
			auth.Scope{OwnerID: aliceID, Membership: mod},
			nil,
		},
		"a post on the caller's wall": {
			[]string{auth.RoleModerator},
			auth.DeleteUserFeedPost,
			auth.Scope{OwnerID: strangerID, WallOwnerID: aliceID},
			nil,
		},
		"editing a post on the own wall": {
			[]string{auth.RoleModerator},
			auth.EditUserFeedPost,
			auth.Scope{OwnerID: strangerID, WallOwnerID: aliceID},
			&auth.Privilege{Permission: auth.EditUserFeedPost, Roles: []string{auth.RoleModerator}},
		},
		"own post despite a ban": {
			[]string{auth.RoleModerator},
			auth.EditCommunityPost,
			auth.Scope{OwnerID: aliceID, Membership: banned},
			&auth.Privilege{Permission: auth.EditCommunityPost, Roles: []string{auth.RoleModerator}},
		},
		"reading":                      {[]string{auth.RoleModerator}, auth.ViewChannel, auth.Scope{}, nil},
		"writing where only staff may": {[]string{auth.RoleModerator}, auth.CreatePrivilegedPost, auth.Scope{}, nil},
		"creating":                     {nil, auth.ManageCommunityStory, auth.Scope{Membership: mod, Creating: true}, nil},
		"a refusal":                    {nil, auth.BanUser, auth.Scope{}, nil},
		"a permission without any owner": {
			[]string{auth.RoleSuperModerator},
			auth.BanUser,
			auth.Scope{},
			&auth.Privilege{Permission: auth.BanUser, Roles: []string{auth.RoleSuperModerator}},
		},
		"the owner of a community edits it": {nil, auth.EditCommunity, auth.Scope{OwnerID: aliceID, Membership: mod}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			caller := user(t, aliceID, c.roles...)
			auth.Permits(caller, c.permission, c.scope)
			require.Nil(t, caller.Privilege(), "what a response shows is no privilege")
			auth.Allowed(caller, c.permission, c.scope)
			require.Equal(t, c.want, caller.Privilege())
		})
	}
}

// TestPrivilegeOfTheOperation checks that a permission that the operation declares is exercised by the confirmation.
func TestPrivilegeOfTheOperation(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, newClock())
	set, _ := openKeySet(t, keys([3]string{"k1", keyOne, ""}))
	access := auth.Access{Caller: plazav1.Access_CALLER_ADMIN, Permission: auth.ManageSetting}
	g := newGate(t, auth.NewInterceptorFor(issuer, set, set, always(access)))
	var exercised *auth.Privilege
	confirm := func(facts auth.Facts) error {
		exercised = nil
		g.handle = func(ctx context.Context) error {
			defer func() { exercised = auth.CallerFrom(ctx).Privilege() }()
			return auth.Confirm(ctx, facts)
		}
		return g.call(t, false, header("Authorization", "Bearer "+mint(t, issuer)))
	}
	custom := auth.Facts{Exists: true, SessionAuthenticated: true, Roles: []string{"custom"}, Granted: []auth.Permission{auth.ManageSetting}}
	require.NoError(t, confirm(custom), "a custom role grants it")
	require.Equal(t, &auth.Privilege{Permission: auth.ManageSetting, Roles: []string{"custom"}}, exercised)
	custom.Granted = []auth.Permission{auth.ManageSecurity}
	require.ErrorIs(t, confirm(custom), fail.NotAllowed())
	require.Nil(t, exercised)
}

func TestSignInOfUsersWithRoles(t *testing.T) {
	t.Parallel()
	caller := &auth.Caller{KeyID: "k1"}
	caller.SignedIn(aliceID, "alice", nil)
	require.Nil(t, caller.SignIn(), "a user without a role has no privilege")
	caller.SignedIn(aliceID, "alice", []string{auth.RoleModerator})
	require.Equal(t, &auth.SignIn{UserID: aliceID, PublicID: "alice", Roles: []string{auth.RoleModerator}}, caller.SignIn())
}

func TestLimitOfCreatedObjects(t *testing.T) {
	t.Parallel()
	caller := &auth.Caller{}
	ctx := auth.WithCaller(t.Context(), caller)
	for i := range 101 {
		auth.Created(ctx, "post", strconv.Itoa(i))
	}
	created := caller.Created()
	require.Len(t, created, 100)
	require.Equal(t, auth.Object{Type: "post", ID: "99"}, created[99])
}
