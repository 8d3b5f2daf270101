package role

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var now = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

func TestNewRole(t *testing.T) {
	rows := []network.Role{{ID: "helper"}, {ID: "gone", DeletedAt: &now}}
	full := make([]network.Role, network.MaxRoles)
	for _, c := range []struct {
		name string
		rows []network.Role
		id   string
		want error
	}{
		{"new", rows, "editor", nil},
		{"exists", rows, "helper", errExists},
		{"id of a deleted role", rows, "gone", nil},
		{"built-in", rows, auth.RoleModerator, errExists},
		{"too many", full, "editor", errTooMany},
	} {
		t.Run(c.name, func(t *testing.T) {
			role, err := newRole(c.rows, &plazav1.CreateRoleRequest{RoleId: c.id, Permissions: []string{"B", "A", "B"}}, now)
			if c.want != nil {
				require.Equal(t, c.want, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, network.Role{ID: c.id, DisplayName: c.id, Permissions: []string{"A", "B"}, CreatedAt: now, UpdatedAt: now}, role)
		})
	}
}

func TestCustom(t *testing.T) {
	rows := []network.Role{{ID: "helper"}, {ID: "gone", DeletedAt: &now}}
	for id, want := range map[string]error{
		"helper": nil, "gone": fail.NotFound(), "unknown": fail.NotFound(),
		auth.RoleModerator: errBuiltin,
	} {
		_, err := custom(rows, id)
		require.ErrorIs(t, err, want, id)
	}
}

func TestRequireGrant(t *testing.T) {
	caller := &auth.Caller{Kind: auth.User, UserID: "u"}
	require.NoError(t, auth.Confirm(auth.WithCaller(t.Context(), caller),
		auth.Facts{Exists: true, Granted: []auth.Permission{auth.EditChannel}}))
	for _, c := range []struct {
		caller      *auth.Caller
		permissions []string
		want        fail.Code
	}{
		{caller, nil, 0},
		{caller, []string{string(auth.EditChannel)}, 0},
		{caller, []string{string(auth.EditChannel), string(auth.ManageAdmin)}, fail.CodeForbidden},
		{caller, []string{"FLY"}, fail.CodeUnexpected},
		{&auth.Caller{Kind: auth.Admin}, []string{string(auth.ManageAdmin)}, 0},
		{&auth.Caller{Kind: auth.Admin}, []string{"FLY"}, fail.CodeUnexpected},
	} {
		err := requireGrant(c.caller, c.permissions)
		if c.want == 0 {
			require.NoError(t, err)
			continue
		}
		require.Equal(t, c.want, fail.From(err).Code)
	}
}

func TestOrderOf(t *testing.T) {
	first, second := listed{at: now, key: "00", id: "x"}, listed{at: now, key: "01", id: "y"}
	later := listed{at: now.Add(time.Second), key: "", id: "z"}
	for sortBy, want := range map[string][]listed{
		"lastCreated": {later, first, second}, "firstCreated": {second, first, later}, byName: {later, first, second}, "": {later, first, second},
	} {
		got := []listed{second, later, first}
		slices.SortFunc(got, orderOf(sortBy))
		require.Equal(t, want, got, sortBy)
	}
	require.Len(t, tokenID("helper"), 24)
	require.NotEqual(t, tokenID("helper"), tokenID("editor"))
}
