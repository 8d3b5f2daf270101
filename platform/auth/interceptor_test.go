package auth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

const apiKey = "api-key-0123456789abcdef"

// gate is a server with one operation behind the interceptor.
type gate struct {
	url    string
	handle func(context.Context) error // what the operation does
	reach  int                         // how often the operation was reached
	err    error                       // the interceptor's last error
}

const (
	unaryProcedure  = "/test.v1.Gate/Unary"
	streamProcedure = "/test.v1.Gate/Stream"
)

// WrapUnary takes the place of the edge's error mapping and records the error for the test.
func (g *gate) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		var response connect.AnyResponse
		response, g.err = next(ctx, request)
		return response, g.err
	}
}

func (g *gate) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

func (g *gate) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		g.err = next(ctx, conn)
		return g.err
	}
}

func newGate(t *testing.T, interceptor connect.Interceptor) *gate {
	t.Helper()
	g := &gate{}
	option := connect.WithInterceptors(g, interceptor)
	mux := http.NewServeMux()
	mux.Handle(unaryProcedure, connect.NewUnaryHandler(unaryProcedure,
		func(ctx context.Context, _ *connect.Request[emptypb.Empty]) (*connect.Response[emptypb.Empty], error) {
			g.reach++
			return connect.NewResponse(&emptypb.Empty{}), g.handle(ctx)
		}, option))
	mux.Handle(streamProcedure, connect.NewServerStreamHandler(streamProcedure,
		func(ctx context.Context, _ *connect.Request[emptypb.Empty], _ *connect.ServerStream[emptypb.Empty]) error {
			g.reach++
			return g.handle(ctx)
		}, option))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	g.url = server.URL
	return g
}

// call makes one unary or streaming call with header and returns the interceptor's error.
func (g *gate) call(t *testing.T, stream bool, header http.Header) error {
	t.Helper()
	g.err, g.reach = errors.New("the interceptor was not reached"), 0
	request := connect.NewRequest(&emptypb.Empty{})
	for name, values := range header {
		request.Header()[http.CanonicalHeaderKey(name)] = values
	}
	if !stream {
		client := connect.NewClient[emptypb.Empty, emptypb.Empty](http.DefaultClient, g.url+unaryProcedure)
		_, err := client.CallUnary(t.Context(), request)
		require.Equal(t, g.err == nil, err == nil)
		return g.err
	}
	client := connect.NewClient[emptypb.Empty, emptypb.Empty](http.DefaultClient, g.url+streamProcedure)
	answers, err := client.CallServerStream(t.Context(), request)
	require.NoError(t, err)
	for answers.Receive() {
	}
	require.NoError(t, answers.Close())
	return g.err
}

func always(access auth.Access) func(string) (auth.Access, bool) {
	return func(string) (auth.Access, bool) { return access, true }
}

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

// confirming returns a handler that confirms its caller with roles and, if p is not empty, checks p.
func confirming(p auth.Permission, roles ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := auth.Confirm(ctx, auth.Facts{Exists: true, SessionAuthenticated: true, Roles: roles}); err != nil {
			return err
		}
		if p == "" {
			return nil
		}
		return auth.Require(auth.CallerFrom(ctx), p, auth.Scope{})
	}
}

func nothing(context.Context) error { return nil }

func TestInterceptor(t *testing.T) {
	t.Parallel()
	c := newClock()
	issuer := newIssuer(t, c)
	server, _ := openKeySet(t, keys([3]string{"server", keyOne, ""}, [3]string{"old", keyTwo, "2026-11-20T11:00:00Z"}), auth.WithClock(c.Now))
	api, _ := openKeySet(t, keys([3]string{"api", apiKey, ""}), auth.WithClock(c.Now))
	userToken := mint(t, issuer)
	adminToken, _, err := issuer.MintAdmin("ops", time.Hour)
	require.NoError(t, err)
	guest := alice()
	guest.Guest = auth.Visitor
	guestToken, _, _, err := issuer.MintAccess(guest)
	require.NoError(t, err)
	asGuest := header("Authorization", "Bearer "+guestToken)
	asUser, asAdmin := header("Authorization", "Bearer "+userToken), header("Authorization", "Bearer "+adminToken)

	public := auth.Access{Caller: plazav1.Access_CALLER_PUBLIC}
	serverKey := auth.Access{Caller: plazav1.Access_CALLER_SERVER_KEY}
	apiKeyed := auth.Access{Caller: plazav1.Access_CALLER_API_KEY}
	users := auth.Access{Caller: plazav1.Access_CALLER_USER}
	guests := auth.Access{Caller: plazav1.Access_CALLER_USER, Guests: true}
	banUsers := auth.Access{Caller: plazav1.Access_CALLER_USER, Permission: auth.BanUser}
	admins := auth.Access{Caller: plazav1.Access_CALLER_ADMIN}
	settings := auth.Access{Caller: plazav1.Access_CALLER_ADMIN, Permission: auth.ManageSetting}

	unauthorized, denied, broken := fail.Unauthorized(), fail.NotAllowed(), fail.Unexpected(nil)
	for name, tc := range map[string]struct {
		access auth.Access
		header http.Header
		handle func(context.Context) error
		want   error
		cause  error
		closed bool // the operation must not be reached
	}{
		"public":                  {access: public, handle: nothing},
		"public with a bad token": {access: public, header: header("Authorization", "Bearer x"), handle: nothing},
		"server key":              {access: serverKey, header: header("x-server-key", keyOne), handle: nothing},
		"server key, none":        {access: serverKey, want: unauthorized, cause: auth.ErrWrongKey, closed: true},
		"server key, empty": {
			access: serverKey, header: header("x-server-key", ""), want: unauthorized, cause: auth.ErrWrongKey,
			closed: true,
		},
		"server key, wrong": {
			access: serverKey, header: header("x-server-key", keyOne+"x"), want: unauthorized,
			cause: auth.ErrWrongKey, closed: true,
		},
		"server key, expired": {
			access: serverKey, header: header("x-server-key", keyTwo), want: unauthorized, cause: auth.ErrWrongKey,
			closed: true,
		},
		"server key, twice": {
			access: serverKey, header: header("x-server-key", keyOne, "x-server-key", keyOne), want: unauthorized,
			closed: true,
		},
		"server key is an API key":  {access: serverKey, header: header("x-server-key", apiKey), want: unauthorized, closed: true},
		"server key, admin instead": {access: serverKey, header: asAdmin, want: unauthorized, closed: true},
		"API key":                   {access: apiKeyed, header: header("X-API-Key", apiKey), handle: nothing},
		"API key, none":             {access: apiKeyed, want: unauthorized, closed: true},
		"API key is a server key":   {access: apiKeyed, header: header("X-API-Key", keyOne), want: unauthorized, closed: true},

		"user":                       {access: users, header: asUser, handle: confirming("")},
		"user, scheme in lower case": {access: users, header: header("Authorization", "bearer "+userToken), handle: confirming("")},
		"user, two spaces":           {access: users, header: header("Authorization", "Bearer  "+userToken), handle: confirming("")},
		"user, none":                 {access: users, want: unauthorized, cause: auth.ErrNoCredentials, closed: true},
		"user, no scheme": {
			access: users, header: header("Authorization", userToken), want: unauthorized,
			cause: auth.ErrNoCredentials, closed: true,
		},
		"user, another scheme": {access: users, header: header("Authorization", "Basic "+userToken), want: unauthorized, closed: true},
		"user, empty":          {access: users, header: header("Authorization", "Bearer "), want: unauthorized, closed: true},
		"user, two headers": {
			access: users, header: header("Authorization", "Bearer "+userToken, "Authorization", "Bearer "+adminToken),
			want: unauthorized, closed: true,
		},
		"user, x-admin-token": {access: users, header: header("x-admin-token", adminToken), want: unauthorized, closed: true},
		"user, forged": {
			access: users, header: header("Authorization", "Bearer "+userToken[:len(userToken)-6]+"AAAAAA"),
			want: unauthorized, cause: auth.ErrTokenUnsigned, closed: true,
		},
		"user, never confirmed": {access: users, header: asUser, handle: nothing, want: broken, cause: auth.ErrUnconfirmed},
		"user, error swallowed": {access: users, header: asUser, handle: swallowing, want: broken, cause: auth.ErrUnconfirmed},
		"user, handler's error": {
			access: users, header: asUser, handle: func(context.Context) error { return fail.NotFound() },
			want: fail.NotFound(),
		},
		"user class, admin": {access: users, header: asAdmin, handle: nothing},

		"permission, held":     {access: banUsers, header: asUser, handle: confirming(auth.BanUser, auth.RoleSuperModerator)},
		"permission, not held": {access: banUsers, header: asUser, handle: confirming(auth.BanUser), want: denied},
		"permission, not asked": {
			access: banUsers, header: asUser, handle: confirming("", auth.RoleSuperModerator), want: broken,
			cause: auth.ErrUndecided,
		},
		"permission, self": {
			access: banUsers, header: asUser,
			handle: deciding(func(c *auth.Caller) error { return auth.RequireSelf(c, aliceID) }),
		},
		"permission, member": {
			access: banUsers, header: asUser,
			handle: deciding(func(c *auth.Caller) error { return auth.RequireSee(c, auth.Scope{}, true) }),
		},
		"permission, shown": {access: banUsers, header: asUser, handle: deciding(showing), want: broken, cause: auth.ErrUndecided},
		"permission, admin": {access: banUsers, header: asAdmin, handle: nothing},

		"guests, guest":             {access: guests, header: asGuest, handle: deciding(nil)},
		"guests, user":              {access: guests, header: asUser, handle: confirming("")},
		"users, guest":              {access: users, header: asGuest, want: fail.VisitorDenied(), closed: true},
		"permission, guest":         {access: banUsers, header: asGuest, want: fail.VisitorDenied(), closed: true},
		"settings, guest":           {access: settings, header: asGuest, want: fail.VisitorDenied(), closed: true},
		"admins, admin":             {access: admins, header: asAdmin, handle: nothing},
		"admins, user":              {access: admins, header: asUser, want: denied, closed: true},
		"admins, none":              {access: admins, want: unauthorized, closed: true},
		"settings, admin":           {access: settings, header: asAdmin, handle: nothing},
		"settings, global-admin":    {access: settings, header: asUser, handle: confirming("", auth.RoleGlobalAdmin)},
		"settings, super-moderator": {access: settings, header: asUser, handle: confirming("", auth.RoleSuperModerator), want: denied},
		"settings, misplaced role":  {access: settings, header: asUser, handle: confirming("", auth.RoleCommunityModerator), want: denied},
		"settings, user":            {access: settings, header: asUser, handle: confirming(""), want: denied},
		"settings, never confirmed": {access: settings, header: asUser, handle: nothing, want: broken, cause: auth.ErrUnconfirmed},
		"class unset":               {access: auth.Access{}, header: asAdmin, want: denied, cause: auth.ErrNoAccessOption, closed: true},
		"unknown class":             {access: auth.Access{Caller: 99}, header: asAdmin, want: denied, closed: true},
	} {
		for _, stream := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", stream"}[stream], func(t *testing.T) {
				g := newGate(t, auth.NewInterceptorFor(issuer, server, api, always(tc.access)))
				g.handle = tc.handle
				err := g.call(t, stream, tc.header)
				require.Equal(t, tc.closed, g.reach == 0)
				requireIs(t, err, tc.want)
				if tc.cause != nil {
					require.ErrorIs(t, err, tc.cause)
				}
				if err != nil {
					requireNoSecrets(t, printed(t, err), userToken, adminToken)
				}
			})
		}
	}
}

// deciding returns a handler that confirms its caller and asks the policy by decide, if that is not nil.
func deciding(decide func(*auth.Caller) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := confirming("")(ctx); err != nil || decide == nil {
			return err
		}
		return decide(auth.CallerFrom(ctx))
	}
}

// showing asks what a response shows, which is not the check of a permission.
func showing(c *auth.Caller) error {
	auth.Permits(c, auth.BanUser, auth.Scope{})
	return nil
}

// swallowing confirms a banned user and ignores the error.
func swallowing(ctx context.Context) error {
	_ = auth.Confirm(ctx, auth.Facts{Exists: true, GlobalBan: true})
	return nil
}

func TestInterceptorPutsTheCallerInTheContext(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, newClock())
	server, _ := openKeySet(t, keys([3]string{"server", keyOne, ""}))
	g := newGate(t, auth.NewInterceptorFor(issuer, server, server, always(auth.Access{Caller: plazav1.Access_CALLER_USER})))
	g.handle = func(ctx context.Context) error {
		require.Equal(t, "alice", auth.CallerFrom(ctx).PublicID)
		require.False(t, auth.Confirmed(ctx))
		return confirming("")(ctx)
	}
	require.NoError(t, g.call(t, false, header("Authorization", "Bearer "+mint(t, issuer))))

	g = newGate(t, auth.NewInterceptorFor(issuer, server, server, always(auth.Access{Caller: plazav1.Access_CALLER_SERVER_KEY})))
	g.handle = func(ctx context.Context) error {
		caller := auth.CallerFrom(ctx)
		require.Equal(t, auth.Anonymous, caller.Kind)
		require.Equal(t, "server", caller.KeyID)
		return nil
	}
	require.NoError(t, g.call(t, false, header("X-Server-Key", keyOne)))
}

// TestKeepsEditedAt checks who may leave the editedAt of content unchanged, and by which value of the header.
func TestKeepsEditedAt(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, newClock())
	set, _ := openKeySet(t, keys([3]string{"k1", keyOne, ""}))
	token, _, err := issuer.MintAdmin("ops", time.Hour)
	require.NoError(t, err)
	g := newGate(t, auth.NewInterceptorFor(issuer, set, set, always(auth.Access{Caller: plazav1.Access_CALLER_USER})))
	for _, tc := range []struct {
		token, value string
		want         bool
	}{{token, "true", true}, {token, "false", false}, {token, "", false}, {mint(t, issuer), "true", false}} {
		g.handle = func(ctx context.Context) error {
			require.Equal(t, tc.want, auth.CallerFrom(ctx).KeepsEditedAt, tc.value)
			return confirming("")(ctx)
		}
		require.NoError(t, g.call(t, false, header("Authorization", "Bearer "+tc.token, "Preserve-Edited-At", tc.value)))
	}
}

// TestServerKeysOfEvacuatedRegions checks that operations for servers admit the keys of evacuated regions, and others do not.
func TestServerKeysOfEvacuatedRegions(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "evacuation.json")
	writeFile(t, path, evacuating(time.Time{}))
	evacuation, err := auth.OpenEvacuation(path, quietly)
	require.NoError(t, err)
	set, _ := openKeySet(t, keys([3]string{"k2", keyTwo, ""}))
	admit := func(class plazav1.Access_Caller, options ...auth.InterceptorOption) error {
		g := newGate(t, auth.NewInterceptorFor(newIssuer(t, newClock()), set, set, always(auth.Access{Caller: class}), options...))
		g.handle = func(ctx context.Context) error {
			require.Equal(t, "k1", auth.CallerFrom(ctx).KeyID)
			return nil
		}
		return g.call(t, false, header("X-Server-Key", keyOne, "X-Api-Key", keyOne))
	}
	require.NoError(t, admit(plazav1.Access_CALLER_SERVER_KEY, auth.WithEvacuation(evacuation)))
	require.ErrorIs(t, admit(plazav1.Access_CALLER_SERVER_KEY), fail.Unauthorized())
	require.ErrorIs(t, admit(plazav1.Access_CALLER_API_KEY, auth.WithEvacuation(evacuation)), fail.Unauthorized())
}

func TestInterceptorRejectsUnknownProcedures(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, newClock())
	set, _ := openKeySet(t, keys([3]string{"k1", keyOne, ""}))
	token, _, err := issuer.MintAdmin("ops", time.Hour)
	require.NoError(t, err)
	g := newGate(t, auth.NewInterceptor(issuer, set, set))
	g.handle = nothing
	for _, stream := range []bool{false, true} {
		err = g.call(t, stream, header("Authorization", "Bearer "+token))
		requireCause(t, err, fail.NotAllowed(), auth.ErrNoAccessOption)
		require.Zero(t, g.reach)
	}
}

// TestNoOperationIsOpen calls every method of a generated service without credentials.
func TestNoOperationIsOpen(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, newClock())
	set, _ := openKeySet(t, keys([3]string{"k1", keyOne, ""}))
	g := &gate{}
	path, handler := plazav1connect.NewSessionServiceHandler(plazav1connect.UnimplementedSessionServiceHandler{},
		connect.WithInterceptors(g, auth.NewInterceptor(issuer, set, set)))
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	for _, method := range []string{"CreateSession", "VerifySession", "DeleteSession", "RevokeUserSessions"} {
		response, err := http.Post(server.URL+path+method, "application/json", strings.NewReader("{}"))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.ErrorIs(t, g.err, fail.Unauthorized(), method)
	}
}

func TestInterceptorLeavesClientsAlone(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, newClock())
	set, _ := openKeySet(t, keys([3]string{"k1", keyOne, ""}))
	interceptor := auth.NewInterceptor(issuer, set, set)
	g := newGate(t, auth.NewInterceptorFor(issuer, set, set, always(auth.Access{Caller: plazav1.Access_CALLER_PUBLIC})))
	g.handle = nothing
	for _, procedure := range []string{unaryProcedure, streamProcedure} {
		client := connect.NewClient[emptypb.Empty, emptypb.Empty](http.DefaultClient, g.url+procedure, connect.WithInterceptors(interceptor))
		if procedure == unaryProcedure {
			_, err := client.CallUnary(t.Context(), connect.NewRequest(&emptypb.Empty{}))
			require.NoError(t, err)
			continue
		}
		answers, err := client.CallServerStream(t.Context(), connect.NewRequest(&emptypb.Empty{}))
		require.NoError(t, err)
		require.False(t, answers.Receive())
		require.NoError(t, answers.Err())
		require.NoError(t, answers.Close())
	}
}

func requireNoSecrets(t *testing.T, text string, tokens ...string) {
	t.Helper()
	for _, secret := range []string{keyOne, keyTwo, apiKey} {
		require.NotContains(t, text, secret)
	}
	for _, token := range tokens {
		for part := range strings.SplitSeq(token, ".") {
			require.NotContains(t, text, part)
		}
	}
}
