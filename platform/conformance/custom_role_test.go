package conformance

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const rolesPath = "/api/v3/roles"

// newRole returns the request that creates a role with an id of its own.
func newRole() object {
	return object{"roleId": apptest.UserID("curator"), "displayName": "Curator", "permissions": []string{"CREATE_COMMUNITY_CATEGORY"}}
}

// requireRole checks an answer with one role in both of its shapes.
func requireRole(t *testing.T, r *apptest.Response) object {
	t.Helper()
	r.OK(t)
	require.Equal(t, "success", r.String(t, "status"))
	require.Equal(t, r.Get(t, "data"), r.Get(t, "roles"))
	require.Len(t, r.List(t, "data"), 1)
	requireResource(t, "data", roleFields, r.List(t, "data")[0])
	return r.List(t, "data")[0].(object)
}

// eventually waits for a change that every region sees within a second.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	require.Eventually(t, is, apptest.Patience, 20*time.Millisecond, what)
}

// TestCustomRole creates a role, gives it to a user of every region, changes it and deletes it.
func TestCustomRole(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	adm := n.Admin(region.EU)
	role := requireRole(t, adm.Do(t, http.MethodPost, rolesPath, object{
		"roleId": "curator", "displayName": "Curator",
		"permissions": []string{"EDIT_COMMUNITY_CATEGORY", "CREATE_COMMUNITY_CATEGORY", "CREATE_COMMUNITY_CATEGORY"},
	}))
	require.Equal(t, "curator", role["roleId"])
	require.Equal(t, "Curator", role["displayName"])
	require.Equal(t, []any{"CREATE_COMMUNITY_CATEGORY", "EDIT_COMMUNITY_CATEGORY"}, role["permissions"])
	require.Equal(t, false, role["isDeleted"])
	requireFailure(t, exists, adm.Do(t, http.MethodPost, rolesPath, object{"roleId": "curator", "permissions": []string{"BAN_USER"}}))
	for _, code := range region.All() {
		c := n.SignIn(t, code, apptest.UserID("curator"))
		makes := func() bool {
			return c.Do(t, http.MethodPost, categoriesPath, object{"name": "by a curator"}).Status == http.StatusOK
		}
		requireFailure(t, notAllowed, c.Do(t, http.MethodPost, categoriesPath, object{"name": "too early"}))
		eventually(t, "the role is known everywhere", func() bool {
			return n.Admin(code).Do(t, http.MethodGet, rolesPath+"/curator", nil).Status == http.StatusOK
		})
		user := requireAggregate(t, adm.Do(t, http.MethodPut, "/api/v3/users",
			object{"userId": c.UserID, "roles": []string{"curator", "moderator"}}), "", userAggregate).one("users")
		require.Contains(t, user["permissions"], "CREATE_COMMUNITY_CATEGORY")
		require.Contains(t, user["permissions"], "DELETE_COMMUNITY_POST", "in addition to those of built-in roles")
		eventually(t, "the user has the right", makes)

		requireRole(t, adm.Do(t, http.MethodPut, rolesPath+"/curator", object{"roleId": "curator", "permissions": []string{"BAN_USER"}}))
		eventually(t, "the right is gone with the role's permission", func() bool { return !makes() })
		role := requireRole(t, adm.Do(t, http.MethodPut, rolesPath+"/curator",
			object{"displayName": "Keeper", "permissions": []string{"CREATE_COMMUNITY_CATEGORY"}}))
		require.Equal(t, "Keeper", role["displayName"])
		require.Greater(t, text(role, "updatedAt"), text(role, "createdAt"))
		eventually(t, "and comes back", makes)
	}
	deleted := requireRole(t, adm.Do(t, http.MethodDelete, rolesPath+"/curator", nil))
	require.Equal(t, true, deleted["isDeleted"])
	require.Equal(t, "curator", deleted["roleId"])
	requireFailure(t, notFound, adm.Do(t, http.MethodGet, rolesPath+"/curator", nil))
	requireFailure(t, notFound, adm.Do(t, http.MethodDelete, rolesPath+"/curator", nil))
	requireFailure(t, notFound, adm.Do(t, http.MethodPut, rolesPath+"/curator", object{"permissions": []string{"BAN_USER"}}))
	requireFailure(t, invalid("roles"), adm.Do(t, http.MethodPut, "/api/v3/users",
		object{"userId": n.SignIn(t, region.EU, "late").UserID, "roles": []string{"curator"}}))
	requireRole(t, adm.Do(t, http.MethodPost, rolesPath, object{"roleId": "curator", "permissions": []string{"BAN_USER"}}))
}

// TestListCustomRoles pages through built-in and custom roles together.
func TestListCustomRoles(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	l := listing{by: n.SignIn(t, region.EU, "alice"), path: rolesPath, list: "roles", id: "roleId"}
	builtin := l.ids(t, l.page(t, nil))
	var made []string
	for _, name := range []string{
		"Zebra", "apprentice", "Moderator of music", "a name that is longer than what lists are ordered by, one",
		"a name that is longer than what lists are ordered by, two",
	} {
		nextMillisecond()
		role := with(newRole(), object{"displayName": name})
		requireRole(t, n.Admin(region.EU).Do(t, http.MethodPost, rolesPath, role))
		made = append(made, text(role, "roleId"))
	}
	newest := append(reversed(made), builtin...)
	l.requireOrder(t, newest)
	l.with("sortBy", "lastCreated").requirePages(t, 2, newest)
	l.with("sortBy", "firstCreated").requirePages(t, 5, reversed(newest))
	l = l.with("sortBy", "displayName")
	all := l.ids(t, l.page(t, map[string][]string{"options[limit]": {"100"}}))
	require.ElementsMatch(t, newest, all)
	require.Less(t, slices.Index(all, made[1]), slices.Index(all, made[0]))
	l.requirePages(t, 1, all)
	l.with("keyword", "ZEB").requireOrder(t, made[:1])
	for _, code := range region.All() {
		at := l
		at.by = l.by.At(code)
		eventually(t, "the roles are everywhere", func() bool {
			return len(at.ids(t, at.page(t, map[string][]string{"options[limit]": {"100"}}))) == len(all)
		})
	}
}

// TestUpdateRoles gives several roles the same permissions, in the form of older clients, and lists all roles in it.
func TestUpdateRoles(t *testing.T) {
	t.Parallel()
	const path = "/api/v2/roles"
	n := apptest.Start(t)
	adm, c := n.Admin(region.EU), n.NewUser(t, region.EU, "alice")
	var ids []string
	for range 2 {
		ids = append(ids, text(requireRole(t, adm.Do(t, http.MethodPost, rolesPath, newRole())), "roleId"))
	}
	all := func() map[string]object {
		r := c.Do(t, http.MethodGet, path, nil).OK(t)
		require.Equal(t, "success", r.String(t, "status"))
		roles := map[string]object{}
		for _, role := range r.List(t, "data.roles") {
			requireResource(t, "data.roles", roleFields, role)
			roles[text(role.(object), "roleId")] = role.(object)
		}
		return roles
	}
	require.Contains(t, all(), "community-moderator")
	nextMillisecond()
	r := adm.Do(t, http.MethodPut, path, object{
		"publicIds":   append(ids, ids[0]),
		"permissions": []string{"EDIT_CHANNEL", "MUTE_CHANNEL"},
	}).OK(t)
	require.ElementsMatch(t, ids, r.Strings(t, "data", "roleId"))
	for _, id := range ids {
		require.Equal(t, []any{"EDIT_CHANNEL", "MUTE_CHANNEL"}, all()[id]["permissions"])
		require.Equal(t, "Curator", all()[id]["displayName"])
		require.Greater(t, text(all()[id], "updatedAt"), text(all()[id], "createdAt"))
	}
	change := func(more string) object {
		return object{"publicIds": []string{ids[0], more}, "permissions": []string{"BAN_USER"}}
	}
	requireAttempts(t, []attempt{
		{"unknown role", adm, http.MethodPut, path, change("unknown"), notFound},
		{"built-in role", adm, http.MethodPut, path, change("community-moderator"), forbidden},
		{"not an administrator", c, http.MethodPut, path, change(ids[1]), notAllowed},
		{"no roles", adm, http.MethodPut, path, object{"permissions": []string{"BAN_USER"}}, invalid("publicIds")},
		{
			"101 roles", adm, http.MethodPut, path,
			object{"publicIds": slices.Repeat(ids[:1], 101), "permissions": []string{"BAN_USER"}},
			invalid("publicIds"),
		},
		{"no permissions", adm, http.MethodPut, path, object{"publicIds": ids}, invalid("permissions")},
		{"unknown permission", adm, http.MethodPut, path, object{"publicIds": ids, "permissions": []string{"FLY"}}, invalid("permissions")},
	})
	require.Equal(t, []any{"EDIT_CHANNEL", "MUTE_CHANNEL"}, all()[ids[0]]["permissions"], "none is changed")
	adm.Do(t, http.MethodDelete, rolesPath+"/"+ids[1], nil).OK(t)
	require.NotContains(t, all(), ids[1])
}

func TestCustomRoleLimits(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	adm, alice := n.Admin(region.US), n.SignIn(t, region.US, "alice")
	one := []string{"BAN_USER"}
	long := func(length int) string { return strings.Repeat("x", length) }
	requireAttempts(t, []attempt{
		{"roleId of 100", adm, http.MethodPost, rolesPath, object{"roleId": long(100), "permissions": one}, failure{}},
		{"roleId of 101", adm, http.MethodPost, rolesPath, object{"roleId": long(101), "permissions": one}, invalid("roleId")},
		{"no roleId", adm, http.MethodPost, rolesPath, object{"permissions": one}, invalid("roleId")},
		{"name of 100", adm, http.MethodPost, rolesPath, object{"roleId": "a", "displayName": long(100), "permissions": one}, failure{}},
		{
			"name of 101", adm, http.MethodPost, rolesPath,
			object{"roleId": "b", "displayName": long(101), "permissions": one},
			invalid("displayName"),
		},
		{"no permissions", adm, http.MethodPost, rolesPath, object{"roleId": "b"}, invalid("permissions")},
		{"unknown permission", adm, http.MethodPost, rolesPath, object{"roleId": "b", "permissions": []string{"FLY"}}, invalid("permissions")},
		{"built-in id", adm, http.MethodPost, rolesPath, object{"roleId": "moderator", "permissions": one}, exists},
		{"change a built-in role", adm, http.MethodPut, rolesPath + "/moderator", object{"permissions": one}, forbidden},
		{"delete a built-in role", adm, http.MethodDelete, rolesPath + "/moderator", nil, forbidden},
		{"change an unknown role", adm, http.MethodPut, rolesPath + "/king", object{"permissions": one}, notFound},
		{"delete an unknown role", adm, http.MethodDelete, rolesPath + "/king", nil, notFound},
		{"create as a user", alice, http.MethodPost, rolesPath, object{"roleId": "c", "permissions": one}, notAllowed},
		{"change as a user", alice, http.MethodPut, rolesPath + "/a", object{"permissions": one}, notAllowed},
		{"delete as a user", alice, http.MethodDelete, rolesPath + "/a", nil, notAllowed},
	})
}

// TestRolesCannotEscalate checks that a role that may change roles cannot be used to become an administrator.
func TestRolesCannotEscalate(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	adm, c := n.Admin(region.EU), n.SignIn(t, region.EU, "keeper")
	may := []string{"CREATE_ROLE", "EDIT_ROLE", "ASSIGN_USER_ROLE", "EDIT_USER"}
	requireRole(t, adm.Do(t, http.MethodPost, rolesPath, object{"roleId": "keeper", "permissions": may}))
	adm.Do(t, http.MethodPut, "/api/v3/users", object{"userId": c.UserID, "roles": []string{"keeper"}}).OK(t)
	own := func(role string) object { return object{"userId": c.UserID, "roles": []string{role}} }
	requireAttempts(t, []attempt{
		{"a role of what they hold", c, http.MethodPost, rolesPath, object{"roleId": "half", "permissions": may[:2]}, failure{}},
		{
			"assign it", c, http.MethodPut, "/api/v3/users",
			object{"userId": n.SignIn(t, region.US, "other").UserID, "roles": []string{"half"}},
			failure{},
		},
		{"a role of more", c, http.MethodPost, rolesPath, object{"roleId": "more", "permissions": append(may, "MANAGE_ADMIN")}, notAllowed},
		{"more for their own role", c, http.MethodPut, rolesPath + "/keeper", object{"permissions": append(may, "BAN_USER")}, notAllowed},
		{"a mightier role", c, http.MethodPut, "/api/v3/users", own("global-admin"), notAllowed},
		{"delete", c, http.MethodDelete, rolesPath + "/half", nil, notAllowed},
	})
}
