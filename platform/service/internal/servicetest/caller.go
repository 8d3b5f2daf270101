// Package servicetest makes the callers that tests of pure rules need, and the database that tests of jobs need.
package servicetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
)

// User returns a confirmed user with an internal id, a public id equal to it, and network roles.
func User(t *testing.T, id string, roles ...string) *auth.Caller {
	t.Helper()
	c := &auth.Caller{Kind: auth.User, UserID: id, PublicID: id}
	require.NoError(t, auth.Confirm(auth.WithCaller(t.Context(), c), auth.Facts{Exists: true, SessionAuthenticated: true, Roles: roles}))
	return c
}

// Admin returns an administrator.
func Admin() *auth.Caller { return &auth.Caller{Kind: auth.Admin, Name: "admin"} }
