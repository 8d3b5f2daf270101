package auth_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/auth"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

func TestEveryOperationHasAnAccessOption(t *testing.T) {
	t.Parallel()
	operations := 0
	auth.RangeMethods(func(procedure string, _ protoreflect.MethodDescriptor) {
		operations++
		access, ok := auth.AccessOf(procedure)
		require.True(t, ok, "%s has no access option or an invalid one", procedure)
		require.False(t, access.Guests && access.Permission != "", "%s admits guests, who have no permission", procedure)
	})
	require.Greater(t, operations, 30)
}

func TestAccessOf(t *testing.T) {
	t.Parallel()
	for procedure, want := range map[string]auth.Access{
		plazav1connect.AuthenticationServiceCreateTokenProcedure: {Caller: plazav1.Access_CALLER_SERVER_KEY, Audited: true},
		plazav1connect.SessionServiceCreateSessionProcedure:      {Caller: plazav1.Access_CALLER_API_KEY},
		plazav1connect.SessionServiceVerifySessionProcedure:      {Caller: plazav1.Access_CALLER_USER, Guests: true},
		plazav1connect.SessionServiceDeleteSessionProcedure:      {Caller: plazav1.Access_CALLER_USER, Guests: true},
		plazav1connect.PostServiceCreatePostProcedure:            {Caller: plazav1.Access_CALLER_USER},
		plazav1connect.AuditServiceListAuditEventsProcedure: {
			Caller: plazav1.Access_CALLER_ADMIN, Permission: auth.ManageSecurity,
			Audited: true,
		},
	} {
		got, ok := auth.AccessOf(procedure)
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	for _, procedure := range []string{"", "/", "/plaza.v1.PostService/Nothing", "plaza.v1.SessionService/VerifySession"} {
		_, ok := auth.AccessOf(procedure)
		require.False(t, ok, procedure)
	}
}

func TestPermissionsOfTheProto(t *testing.T) {
	t.Parallel()
	require.Empty(t, auth.PermissionOf(plazav1.Permission_PERMISSION_UNSPECIFIED))
	require.False(t, auth.PermissionOf(9999).Known())
	var named []auth.Permission
	for number := range plazav1.Permission_name {
		if number != 0 {
			named = append(named, auth.PermissionOf(plazav1.Permission(number)))
		}
	}
	require.ElementsMatch(t, auth.AllPermissions(), named)
}

func TestAccessValid(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		access auth.Access
		want   bool
	}{
		"unset":                  {auth.Access{}, false},
		"unknown class":          {auth.Access{Caller: 99}, false},
		"public":                 {auth.Access{Caller: plazav1.Access_CALLER_PUBLIC}, true},
		"public with permission": {auth.Access{Caller: plazav1.Access_CALLER_PUBLIC, Permission: auth.EditUser}, false},
		"key with permission":    {auth.Access{Caller: plazav1.Access_CALLER_API_KEY, Permission: auth.EditUser}, false},
		"user":                   {auth.Access{Caller: plazav1.Access_CALLER_USER}, true},
		"user with permission":   {auth.Access{Caller: plazav1.Access_CALLER_USER, Permission: auth.EditUser}, true},
		"misspelt permission":    {auth.Access{Caller: plazav1.Access_CALLER_ADMIN, Permission: "EDIT_USERS"}, false},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, tc.want, auth.ValidAccess(tc.access)) })
	}
}
