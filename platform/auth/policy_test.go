package auth_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
)

var (
	stranger = &auth.Membership{}
	member   = &auth.Membership{Member: true, Roles: []string{auth.RoleCommunityMember}}
	mod      = &auth.Membership{Member: true, Roles: []string{auth.RoleCommunityMember, auth.RoleCommunityModerator}}
	banned   = &auth.Membership{Banned: true}
	// A banned moderator and a former one: the roles are still in the row.
	bannedMod = &auth.Membership{Member: true, Banned: true, Roles: mod.Roles}
	formerMod = &auth.Membership{Roles: mod.Roles}
	// A network role written into a membership.
	smuggler = &auth.Membership{Member: true, Roles: []string{auth.RoleGlobalAdmin}}
)

func TestRequire(t *testing.T) {
	t.Parallel()
	anonymous := &auth.Caller{}
	unconfirmed := &auth.Caller{Kind: auth.User, UserID: aliceID}
	admin := &auth.Caller{Kind: auth.Admin, Name: "ops"}
	someone := user(t, aliceID)
	moderator := user(t, aliceID, auth.RoleModerator)
	super := user(t, aliceID, auth.RoleSuperModerator)
	global := user(t, aliceID, auth.RoleGlobalAdmin)
	misplaced := user(t, aliceID, auth.RoleCommunityModerator, auth.RoleChannelModerator)

	in := func(m *auth.Membership) auth.Scope { return auth.Scope{Membership: m} }
	own := func(m *auth.Membership) auth.Scope { return auth.Scope{OwnerID: aliceID, Membership: m} }
	others := func(m *auth.Membership) auth.Scope { return auth.Scope{OwnerID: strangerID, Membership: m} }
	denied, ban := fail.NotAllowed(), fail.Banned()

	for name, tc := range map[string]struct {
		caller *auth.Caller
		p      auth.Permission
		scope  auth.Scope
		want   error
	}{
		"nil":                           {nil, auth.EditUser, own(nil), fail.Unauthorized()},
		"anonymous":                     {anonymous, auth.EditUser, own(nil), fail.Unauthorized()},
		"anonymous, no scope":           {anonymous, auth.EditUser, auth.Scope{}, fail.Unauthorized()},
		"anonymous with moderator role": {anonymous, auth.EditCommunity, in(mod), fail.Unauthorized()},
		"unconfirmed":                   {unconfirmed, auth.EditUser, own(nil), fail.Unexpected(nil)},

		"admin":                  {admin, auth.ManageSetting, auth.Scope{}, nil},
		"admin, banned":          {admin, auth.DeleteCommunity, in(banned), nil},
		"global-admin":           {global, auth.ManageSetting, auth.Scope{}, nil},
		"global-admin, banned":   {global, auth.EditCommunityPost, others(banned), nil},
		"super-moderator":        {super, auth.DeleteCommunity, in(stranger), nil},
		"super, settings":        {super, auth.ManageSetting, auth.Scope{}, denied},
		"super, roles":           {super, auth.AssignUserRole, auth.Scope{}, denied},
		"moderator":              {moderator, auth.DeleteCommunityComment, others(stranger), nil},
		"moderator, not read":    {moderator, auth.DeleteCommunityComment, others(nil), nil},
		"moderator, banned":      {moderator, auth.DeleteCommunityComment, others(banned), nil},
		"moderator, community":   {moderator, auth.DeleteCommunity, in(member), denied},
		"misplaced role":         {misplaced, auth.DeleteCommunityPost, others(stranger), denied},
		"misplaced channel role": {misplaced, auth.CloseChannel, auth.Scope{}, denied},

		"community-moderator":           {someone, auth.DeleteCommunityPost, others(mod), nil},
		"community-moderator, join":     {someone, auth.AddCommunityUser, in(mod), nil},
		"community-moderator, walls":    {someone, auth.DeleteUserFeedPost, others(mod), denied},
		"community-moderator, settings": {someone, auth.ManageSetting, in(mod), denied},
		"community-moderator, banned":   {someone, auth.DeleteCommunityPost, others(bannedMod), ban},
		"community-moderator, left":     {someone, auth.DeleteCommunityPost, others(formerMod), denied},
		"network role in membership":    {someone, auth.DeleteCommunityPost, others(smuggler), denied},

		"member, others' post":        {someone, auth.EditCommunityPost, others(member), denied},
		"member, own post":            {someone, auth.EditCommunityPost, own(member), nil},
		"member, own comment":         {someone, auth.DeleteCommunityComment, own(member), nil},
		"creator, own community":      {someone, auth.DeleteCommunity, own(member), nil},
		"creator, members":            {someone, auth.BanCommunityUser, own(member), denied},
		"left, own post":              {someone, auth.DeleteCommunityPost, own(stranger), nil},
		"author, membership not read": {someone, auth.DeleteCommunityPost, own(nil), denied},
		"author, clear flags":         {someone, auth.ModeratePostAndComment, own(member), denied},
		"author, pin":                 {someone, auth.PinCommunityPost, own(member), denied},
		"stranger, join":              {someone, auth.AddCommunityUser, in(stranger), denied},
		"stranger, category":          {someone, auth.CreateCommunityCategory, auth.Scope{}, denied},

		"banned, own post":      {someone, auth.DeleteCommunityPost, own(banned), ban},
		"banned, own community": {someone, auth.EditCommunity, own(banned), ban},
		"banned, others' post":  {someone, auth.DeleteCommunityPost, others(banned), denied},
		"banned, join":          {someone, auth.AddCommunityUser, in(banned), denied},
		"banned, though owner":  {someone, auth.DeleteUserFeedPost, own(banned), ban},

		"self":                     {someone, auth.EditUser, own(nil), nil},
		"another user":             {someone, auth.EditUser, others(nil), denied},
		"super, another user":      {super, auth.EditUser, others(nil), nil},
		"own post on a wall":       {someone, auth.EditUserFeedPost, auth.Scope{OwnerID: aliceID, WallOwnerID: strangerID}, nil},
		"others' post on own wall": {someone, auth.DeleteUserFeedPost, auth.Scope{OwnerID: strangerID, WallOwnerID: aliceID}, nil},
		"edit others' post there":  {someone, auth.EditUserFeedPost, auth.Scope{OwnerID: strangerID, WallOwnerID: aliceID}, denied},
		"others' comment there":    {someone, auth.DeleteUserFeedComment, auth.Scope{OwnerID: strangerID, WallOwnerID: aliceID}, nil},
		"others' wall":             {someone, auth.DeleteUserFeedPost, auth.Scope{OwnerID: strangerID, WallOwnerID: strangerID}, denied},
		"wall right elsewhere":     {someone, auth.DeleteCommunityPost, auth.Scope{OwnerID: strangerID, WallOwnerID: aliceID}, denied},
		"no owner":                 {someone, auth.DeleteUserFeedPost, auth.Scope{}, denied},
		"no permission":            {someone, "", own(mod), denied},
		"unknown permission":       {global, "EDIT_EVERYTHING", own(mod), denied},
		"unknown role":             {user(t, aliceID, "unknown"), auth.BanUser, auth.Scope{}, denied},
		"network moderator, ban":   {moderator, auth.BanUser, auth.Scope{}, denied},
	} {
		t.Run(name, func(t *testing.T) {
			err := auth.Require(tc.caller, tc.p, tc.scope)
			require.Equal(t, tc.want == nil, auth.Allowed(tc.caller, tc.p, tc.scope))
			require.Equal(t, tc.want == nil, auth.Permits(tc.caller, tc.p, tc.scope))
			if tc.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, tc.want)
		})
	}
}

// TestOnlyNetworkRolesCrossTheBan checks every permission and role: a banned user keeps exactly the permissions that
// their network roles grant.
func TestOnlyNetworkRolesCrossTheBan(t *testing.T) {
	t.Parallel()
	for _, role := range auth.Builtin() {
		caller := user(t, aliceID, role.ID)
		scope := auth.Scope{OwnerID: aliceID, WallOwnerID: aliceID, Membership: bannedMod}
		for _, p := range auth.AllPermissions() {
			grants := role.Scope == auth.NetworkRole && contains(role.Permissions, p)
			require.Equal(t, grants, auth.Allowed(caller, p, scope), "%s as %s", p, role.ID)
		}
	}
}

func TestRequireSelf(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		caller *auth.Caller
		userID string
		want   error
	}{
		"self":         {user(t, aliceID), aliceID, nil},
		"another user": {user(t, aliceID), strangerID, fail.NotAllowed()},
		"no user id":   {user(t, aliceID), "", fail.NotAllowed()},
		"admin":        {&auth.Caller{Kind: auth.Admin}, strangerID, nil},
		"global-admin": {user(t, aliceID, auth.RoleGlobalAdmin), strangerID, fail.NotAllowed()},
		"anonymous":    {&auth.Caller{}, "", fail.Unauthorized()},
		"unconfirmed":  {&auth.Caller{Kind: auth.User, UserID: aliceID}, aliceID, fail.Unexpected(nil)},
		"nil":          {nil, aliceID, fail.Unauthorized()},
	} {
		t.Run(name, func(t *testing.T) { requireIs(t, auth.RequireSelf(tc.caller, tc.userID), tc.want) })
	}
}

func TestRequireMemberAndSee(t *testing.T) {
	t.Parallel()
	someone, moderator := user(t, aliceID), user(t, aliceID, auth.RoleModerator)
	notMember, ban := fail.PermissionDenied(), fail.Banned()
	for name, tc := range map[string]struct {
		caller                       *auth.Caller
		membership                   *auth.Membership
		member, seePrivate, seePublc error
	}{
		"member":              {someone, member, nil, nil, nil},
		"stranger":            {someone, stranger, notMember, notMember, nil},
		"membership not read": {someone, nil, notMember, notMember, nil},
		"banned":              {someone, banned, ban, ban, nil},
		"banned moderator":    {someone, bannedMod, ban, ban, nil},
		"former moderator":    {someone, formerMod, notMember, notMember, nil},
		"network moderator":   {moderator, banned, nil, nil, nil},
		"admin":               {&auth.Caller{Kind: auth.Admin}, nil, nil, nil, nil},
		"anonymous":           {&auth.Caller{}, member, fail.Unauthorized(), fail.Unauthorized(), fail.Unauthorized()},
		"unconfirmed":         {&auth.Caller{Kind: auth.User}, member, fail.Unexpected(nil), fail.Unexpected(nil), fail.Unexpected(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			scope := auth.Scope{Membership: tc.membership}
			requireIs(t, auth.RequireMember(tc.caller, scope), tc.member)
			requireIs(t, auth.RequireSee(tc.caller, scope, false), tc.seePrivate)
			requireIs(t, auth.RequireSee(tc.caller, scope, true), tc.seePublc)
		})
	}
}

func requireIs(t *testing.T, err, want error) {
	t.Helper()
	if want == nil {
		require.NoError(t, err)
		return
	}
	require.ErrorIs(t, err, want)
}

func contains(permissions []auth.Permission, p auth.Permission) bool {
	return slices.Contains(permissions, p)
}
