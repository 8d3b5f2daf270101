package page_test

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// callerHeader identifies the caller of a test's request.
const callerHeader = "X-Test-Caller"

type callerKey struct{}

// roleLister is a server of the operation ListRoles behind Bind.
type roleLister struct {
	url      string
	position string // the token that the operation received
	err      error  // the error of Bind
}

func newRoleLister(t *testing.T) *roleLister {
	t.Helper()
	l := &roleLister{}
	bind := page.Bind(func(ctx context.Context) string { name, _ := ctx.Value(callerKey{}).(string); return name })
	record := connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
			response, err := next(context.WithValue(ctx, callerKey{}, request.Header().Get(callerHeader)), request)
			l.err = err
			return response, err
		}
	})
	method := plazav1.File_plaza_v1_role_proto.Services().ByName("RoleService").Methods()
	mux := http.NewServeMux()
	for _, name := range []protoreflect.Name{"ListRoles", "OtherRoles"} {
		procedure := "/plaza.v1.RoleService/" + string(name)
		mux.Handle(procedure, connect.NewUnaryHandler(procedure, l.list,
			connect.WithInterceptors(record, bind), connect.WithSchema(method.ByName("ListRoles"))))
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	l.url = server.URL
	return l
}

func (l *roleLister) list(_ context.Context, r *connect.Request[plazav1.ListRolesRequest]) (*connect.Response[plazav1.ListRolesResponse], error) {
	l.position = r.Msg.GetOptions().GetToken()
	return connect.NewResponse(&plazav1.ListRolesResponse{Paging: &plazav1.Paging{Next: "position"}}), nil
}

// call calls a procedure and returns the token of the next page.
func (l *roleLister) call(t *testing.T, procedure, caller string, request *plazav1.ListRolesRequest) (next string, err error) {
	t.Helper()
	client := connect.NewClient[plazav1.ListRolesRequest, plazav1.ListRolesResponse](http.DefaultClient, l.url+"/plaza.v1.RoleService/"+procedure)
	r := connect.NewRequest(request)
	r.Header().Set(callerHeader, caller)
	response, err := client.CallUnary(t.Context(), r)
	if err != nil {
		require.Error(t, l.err)
		return "", l.err
	}
	return response.Msg.GetPaging().GetNext(), nil
}

func page2(token string, change ...func(*plazav1.ListRolesRequest)) *plazav1.ListRolesRequest {
	request := &plazav1.ListRolesRequest{Keyword: "mod", Options: &plazav1.PageOptions{Token: token}}
	for _, c := range change {
		c(request)
	}
	return request
}

// TestBind checks for which requests a token is valid.
func TestBind(t *testing.T) {
	t.Parallel()
	l := newRoleLister(t)
	token, err := l.call(t, "ListRoles", "alice", &plazav1.ListRolesRequest{Keyword: "mod"})
	require.NoError(t, err)
	require.Len(t, token, page.SealLength+len("position"))
	require.True(t, strings.HasSuffix(token, "position"))

	limit := int32(5)
	madeByClient := base64.StdEncoding.EncodeToString([]byte(`{"limit":5}`))
	for name, tc := range map[string]struct {
		procedure, caller string
		request           *plazav1.ListRolesRequest
		want              string // the position that the operation receives; empty for a validation error
	}{
		"same list":         {"ListRoles", "alice", page2(token), "position"},
		"another limit":     {"ListRoles", "alice", page2(token, func(r *plazav1.ListRolesRequest) { r.Options.Limit = &limit }), "position"},
		"another filter":    {"ListRoles", "alice", page2(token, func(r *plazav1.ListRolesRequest) { r.Keyword = "admin" }), ""},
		"another order":     {"ListRoles", "alice", page2(token, func(r *plazav1.ListRolesRequest) { r.SortBy = "displayName" }), ""},
		"another caller":    {"ListRoles", "bob", page2(token), ""},
		"another operation": {"OtherRoles", "alice", page2(token), ""},
		"no seal":           {"ListRoles", "alice", page2("position"), ""},
		"no position":       {"ListRoles", "alice", page2(token[:page.SealLength]), ""},
		"made by a client":  {"ListRoles", "alice", page2(madeByClient), madeByClient},
	} {
		t.Run(name, func(t *testing.T) {
			l.position = ""
			next, err := l.call(t, tc.procedure, tc.caller, tc.request)
			if tc.want == "" {
				var failure *fail.Error
				require.True(t, errors.As(err, &failure), err)
				require.Equal(t, fail.KindValidation, failure.Kind)
				require.Equal(t, []string{"options.token: is not a token of this list"}, failure.Details)
				require.Empty(t, l.position, "the operation is not called")
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, l.position)
			require.NotEmpty(t, next)
		})
	}
}
