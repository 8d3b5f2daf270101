package auth_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
)

func TestConfirm(t *testing.T) {
	t.Parallel()
	unauthorized := fail.Unauthorized()
	for name, tc := range map[string]struct {
		kind  auth.Kind
		facts auth.Facts
		want  error
		cause error
	}{
		"active user":                  {kind: auth.User, facts: auth.Facts{Exists: true}},
		"tokens valid from earlier":    {kind: auth.User, facts: auth.Facts{Exists: true, TokensValidFrom: start.Add(-time.Hour)}},
		"tokens valid from issue time": {kind: auth.User, facts: auth.Facts{Exists: true, TokensValidFrom: start}},
		"tokens valid from 1 ms later": {
			kind: auth.User, facts: auth.Facts{Exists: true, TokensValidFrom: start.Add(time.Millisecond)},
			want: unauthorized, cause: auth.ErrSessionRevoked,
		},
		"no facts": {kind: auth.User, want: unauthorized, cause: auth.ErrUnknownUser},
		"deleted":  {kind: auth.User, facts: auth.Facts{Exists: true, Deleted: true}, want: unauthorized, cause: auth.ErrDeletedUser},
		"deleted and banned": {
			kind: auth.User, facts: auth.Facts{Exists: true, Deleted: true, GlobalBan: true}, want: unauthorized,
			cause: auth.ErrDeletedUser,
		},
		"banned":             {kind: auth.User, facts: auth.Facts{Exists: true, GlobalBan: true}, want: fail.GlobalBan()},
		"banned and revoked": {kind: auth.User, facts: auth.Facts{Exists: true, GlobalBan: true, SessionRevoked: true}, want: fail.GlobalBan()},
		"revoked": {
			kind: auth.User, facts: auth.Facts{Exists: true, SessionRevoked: true}, want: unauthorized,
			cause: auth.ErrSessionRevoked,
		},
		"role, no authToken": {
			kind: auth.User, facts: auth.Facts{Exists: true, Roles: []string{"any"}}, want: unauthorized,
			cause: auth.ErrUnauthenticatedSession,
		},
		"role, authToken": {kind: auth.User, facts: auth.Facts{Exists: true, Roles: []string{"any"}, SessionAuthenticated: true}},
		"administrator":   {kind: auth.Admin},
		"anonymous":       {kind: auth.Anonymous, facts: auth.Facts{Exists: true}, want: unauthorized, cause: auth.ErrNoCredentials},
		"unknown kind":    {kind: auth.Kind(7), facts: auth.Facts{Exists: true}, want: unauthorized, cause: auth.ErrNoCredentials},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := auth.WithCaller(t.Context(), &auth.Caller{Kind: tc.kind, UserID: aliceID, IssuedAt: start})
			require.Equal(t, tc.kind == auth.Admin, auth.Confirmed(ctx), "before")
			err := auth.Confirm(ctx, tc.facts)
			if tc.want == nil {
				require.NoError(t, err)
				require.True(t, auth.Confirmed(ctx))
				return
			}
			require.ErrorIs(t, err, tc.want)
			if tc.cause != nil {
				require.ErrorIs(t, err, tc.cause)
			}
			require.False(t, auth.Confirmed(ctx))
		})
	}
}

func TestConfirmSetsRolesAndName(t *testing.T) {
	t.Parallel()
	c := &auth.Caller{Kind: auth.User, UserID: aliceID}
	ctx := auth.WithCaller(t.Context(), c)
	require.Empty(t, c.Roles())
	require.Empty(t, c.DisplayName())

	roles := []string{auth.RoleModerator}
	require.NoError(t, auth.Confirm(ctx, auth.Facts{Exists: true, SessionAuthenticated: true, Roles: roles, DisplayName: "Alice"}))
	roles[0] = auth.RoleGlobalAdmin
	c.Roles()[0] = auth.RoleGlobalAdmin
	require.Equal(t, []string{auth.RoleModerator}, c.Roles(), "slices are copied")
	require.Equal(t, "Alice", c.DisplayName())

	require.Error(t, auth.Confirm(ctx, auth.Facts{Exists: true, GlobalBan: true}))
	require.False(t, c.Confirmed(), "a later failed confirmation revokes it")
	require.Empty(t, c.Roles())
	require.Equal(t, "ops", (&auth.Caller{Kind: auth.Admin, Name: "ops"}).DisplayName())
}

func TestCallerFromIsNeverNil(t *testing.T) {
	t.Parallel()
	for name, ctx := range map[string]context.Context{
		"no caller":  t.Context(),
		"nil caller": auth.WithCaller(t.Context(), nil),
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, auth.Anonymous, auth.CallerFrom(ctx).Kind)
			require.False(t, auth.Confirmed(ctx))
			require.ErrorIs(t, auth.Confirm(ctx, auth.Facts{Exists: true}), fail.Unauthorized())
		})
	}
}

func TestCallerOf(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, newClock())
	claims, err := issuer.Verify(mint(t, issuer))
	require.NoError(t, err)
	c := auth.CallerOf(claims)
	require.Equal(t, auth.User, c.Kind)
	require.Equal(t, region.EU, c.Home)
	require.Equal(t, []string{aliceID, "alice", alice().SessionID}, []string{c.UserID, c.PublicID, c.SessionID})
	require.Equal(t, start, c.IssuedAt)

	admin := auth.CallerOf(auth.Claims{Admin: true, Name: "ops", IssuedAt: start})
	require.Equal(t, auth.Admin, admin.Kind)
	require.Equal(t, "ops", admin.Name)
	require.Empty(t, admin.UserID)
}

func TestCallerConcurrentUse(t *testing.T) {
	t.Parallel()
	c := &auth.Caller{Kind: auth.User, UserID: aliceID, IssuedAt: start}
	ctx := auth.WithCaller(t.Context(), c)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 100 {
				_ = auth.Confirm(ctx, auth.Facts{Exists: true, SessionAuthenticated: true, Roles: []string{auth.RoleModerator}, DisplayName: "Alice"})
				_ = auth.Require(auth.CallerFrom(ctx), auth.DeleteCommunityPost, auth.Scope{})
				_, _ = c.Roles(), c.DisplayName()
			}
		})
	}
	wait.Wait()
	require.True(t, auth.Allowed(c, auth.DeleteCommunityPost, auth.Scope{}))
}

func TestCallerInLogs(t *testing.T) {
	t.Parallel()
	c := &auth.Caller{Kind: auth.User, UserID: aliceID, PublicID: "alice@example.com", SessionID: "s", KeyID: "k1"}
	log := &logBuffer{}
	log.Logger().Info("call", "caller", c)
	require.Contains(t, log.String(), `"caller":{"kind":"user","userId":"`+aliceID+`","sessionId":"s","keyId":"k1"}`)
	require.NotContains(t, log.String(), "example.com", "public ids may be e-mail addresses")
}

func TestKindString(t *testing.T) {
	t.Parallel()
	for kind, want := range map[auth.Kind]string{
		auth.Anonymous: "anonymous", auth.User: "user", auth.Admin: "admin", auth.Kind(9): "kind 9",
	} {
		require.Equal(t, want, fmt.Sprint(kind))
	}
}
