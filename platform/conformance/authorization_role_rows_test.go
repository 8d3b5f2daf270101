package conformance

import (
	"net/http"
	"testing"
)

func roleRows() []row {
	fresh := func(t *testing.T, _ *fixture) object { t.Helper(); return newRole() }
	made := func(t *testing.T, g *fixture) object {
		t.Helper()
		role := newRole()
		g.principals[adminToken].Do(t, http.MethodPost, rolesPath, role).OK(t)
		return role
	}
	named := func(t *testing.T, g *fixture) object { t.Helper(); return object{"roleId": made(t, g)["roleId"]} }
	several := func(t *testing.T, g *fixture) object {
		t.Helper()
		role := made(t, g)
		return object{"publicIds": []any{role["roleId"]}, "permissions": role["permissions"]}
	}
	builtIn := func(*testing.T, *fixture) object { return object{"roleId": "moderator"} }
	return []row{
		{procedure: "RoleService/ListRoles", request: noFields, want: everyone},
		{procedure: "RoleService/GetRole", request: builtIn, want: everyone},
		{procedure: "RoleService/CreateRole", request: fresh, want: adminsOnly},
		{procedure: "RoleService/UpdateRole", request: made, want: adminsOnly},
		{procedure: "RoleService/ListAllRoles", request: noFields, want: everyone},
		{procedure: "RoleService/UpdateRoles", request: several, want: adminsOnly},
		{procedure: "RoleService/DeleteRole", request: named, want: adminsOnly},
	}
}
