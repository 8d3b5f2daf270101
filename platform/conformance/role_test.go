package conformance

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
)

// builtinRoles are the built-in roles with some of their permissions.
var builtinRoles = map[string][]string{
	"global-admin":        {"MANAGE_SETTING", "BAN_USER", "ASSIGN_USER_ROLE"},
	"super-moderator":     {"BAN_USER", "EDIT_COMMUNITY_POST"},
	"moderator":           {"DELETE_COMMUNITY_POST", "DELETE_USER_FEED_POST"},
	"community-moderator": {"ADD_COMMUNITY_USER", "DELETE_COMMUNITY_COMMENT", "BAN_COMMUNITY_USER"},
	"community-member":    {},
	"channel-moderator":   {"MUTE_CHANNEL", "ADD_CHANNEL_USER"},
	"channel-member":      {},
}

// TestListRoles finds every built-in role under both of its names.
func TestListRoles(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	r := alice.Do(t, http.MethodGet, "/api/v3/roles?keyword=&sortBy=displayName&options[limit]=100", nil).OK(t)
	require.Equal(t, "success", r.String(t, "status"))
	require.Equal(t, r.Get(t, "data"), r.Get(t, "roles"))
	require.Contains(t, r.JSON(t), "paging")
	seen := map[string]bool{}
	for _, role := range r.List(t, "roles") {
		requireResource(t, "role", roleFields, role)
		o, _ := role.(map[string]any)
		permissions, ok := builtinRoles[text(o, "roleId")]
		require.True(t, ok, "%s", text(o, "roleId"))
		for _, p := range permissions {
			require.Contains(t, o["permissions"], p)
		}
		seen[text(o, "roleId")] = true
	}
	require.Len(t, seen, len(builtinRoles))
	names := r.Strings(t, "roles", "displayName")
	require.True(t, slices.IsSorted(names), "%v", names)
	require.Equal(t, []string{"community-moderator"},
		alice.Do(t, http.MethodGet, "/api/v3/roles?keyword=COMMUNITY-MOD", nil).OK(t).Strings(t, "roles", "roleId"))
	require.Empty(t, alice.Do(t, http.MethodGet, "/api/v3/roles?keyword=king", nil).OK(t).List(t, "data"))
}

func TestGetRole(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	for id := range builtinRoles {
		list, ok := alice.Do(t, http.MethodGet, "/api/v3/roles/"+id, nil).OK(t).JSON(t).([]any)
		require.True(t, ok, "the answer is a bare array")
		require.Len(t, list, 1)
		requireResource(t, id, roleFields, list[0])
		require.Equal(t, id, list[0].(object)["roleId"])
	}
}

func TestRoleLimits(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	requireAttempts(t, []attempt{
		{"unknown", alice, http.MethodGet, "/api/v3/roles/king", nil, notFound},
		{"roleId of 100", alice, http.MethodGet, "/api/v3/roles/" + strings.Repeat("x", 100), nil, notFound},
		{"roleId of 101", alice, http.MethodGet, "/api/v3/roles/" + strings.Repeat("x", 101), nil, invalid("roleId")},
		{"keyword of 100", alice, http.MethodGet, "/api/v3/roles?keyword=" + strings.Repeat("x", 100), nil, failure{}},
		{"keyword of 101", alice, http.MethodGet, "/api/v3/roles?keyword=" + strings.Repeat("x", 101), nil, invalid("keyword")},
		{"other sort", alice, http.MethodGet, "/api/v3/roles?sortBy=might", nil, invalid("sortBy")},
		{"limit of 0", alice, http.MethodGet, "/api/v3/roles?options[limit]=0", nil, invalid("options.limit")},
		{"limit of 101", alice, http.MethodGet, "/api/v3/roles?options[limit]=101", nil, invalid("options.limit")},
		{"garbage token", alice, http.MethodGet, "/api/v3/roles?options[token]=garbage", nil, invalid("options.token")},
	})
}

// TestRolePages reads the roles two at a time.
func TestRolePages(t *testing.T) {
	t.Parallel()
	l := listing{by: newUser(t, region.EU, "alice"), path: "/api/v3/roles", list: "roles", id: "roleId"}
	for _, sortBy := range []string{"lastCreated", "firstCreated", "displayName"} {
		l := l.with("sortBy", sortBy)
		all := l.ids(t, l.page(t, map[string][]string{"options[limit]": {"100"}}))
		require.Len(t, all, len(builtinRoles))
		l.requirePages(t, 2, all)
	}
}
