package auth_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
)

// TestAuthority has each actor act on each target. A row names the actor, the string has a + for every target, in the
// order of the rows, on whom the actor may act, and an = if only on what they wrote.
func TestAuthority(t *testing.T) {
	catalog := &auth.Catalog{}
	catalog.Set([]auth.Role{
		{ID: "bouncer", Scope: auth.NetworkRole, Permissions: []auth.Permission{auth.BanUser}},
		{ID: "editor", Scope: auth.NetworkRole, Permissions: []auth.Permission{auth.EditUser}},
		{ID: "curator", Scope: auth.NetworkRole, Permissions: []auth.Permission{auth.CreateCommunityCategory}},
	})
	type user struct {
		roles              []string
		creator, moderator bool
		may                string
	}
	users := []user{
		{nil, false, false, "===---------"},
		{[]string{"curator"}, false, false, "===---------"},
		{[]string{auth.RoleCommunityModerator}, false, false, "===---------"}, // not a network role
		{nil, false, true, "+++=--------"},
		{nil, true, false, "++++==------"},
		{nil, true, true, "++++==------"},
		{[]string{auth.RoleModerator}, false, false, "++++++===---"},
		{[]string{auth.RoleModerator}, true, true, "++++++===---"},
		{[]string{"editor"}, false, false, "++++++===---"},
		{[]string{"bouncer"}, false, false, "+++++++++==-"},
		{[]string{auth.RoleSuperModerator}, false, true, "+++++++++==-"},
		{[]string{auth.RoleGlobalAdmin}, false, false, "+++++++++++="},
	}
	authority := func(u user) auth.Authority {
		return catalog.AuthorityOf(u.roles, auth.AuthorityIn(u.creator, u.moderator))
	}
	for i, actor := range users {
		got := ""
		for _, target := range users {
			switch a, b := authority(actor), authority(target); {
			case a.RequireOver(b) == nil:
				got += "+"
			case a.RequireOverContentOf(b) == nil:
				got += "="
			default:
				got += "-"
			}
		}
		require.Equal(t, actor.may, got, i)
		administrator := &auth.Caller{Kind: auth.Admin}
		require.NoError(t, administrator.Authority(auth.AuthorityNone).RequireOver(authority(actor)), i)
	}
}
