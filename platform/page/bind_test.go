package page_test

import (
	"context"
	"errors"
	"testing"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

// listPosts calls ListPosts through the interceptor of Bind. The operation returns the token that it receives, or "first".
func listPosts(t *testing.T, caller string, request *plazav1.ListPostsRequest) (string, error) {
	t.Helper()
	services := plazav1.File_plaza_v1_post_proto.Services()
	bind, err := page.Bind(func(context.Context) string { return caller }, []protoreflect.ServiceDescriptor{services.ByName("PostService")})
	require.NoError(t, err)
	next := bind.WrapUnary(func(_ context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		received, _ := request.Any().(*plazav1.ListPostsRequest)
		token := received.GetOptions().GetToken()
		if token == "" {
			token = "first"
		}
		return connect.NewResponse(&plazav1.ListPostsResponse{Paging: &plazav1.Paging{Next: token}}), nil
	})
	response, err := next(t.Context(), listPostsCall{connect.NewRequest(proto.CloneOf(request))})
	if err != nil {
		return "", err
	}
	list, _ := response.Any().(*plazav1.ListPostsResponse)
	return list.GetPaging().GetNext(), nil
}

// listPostsCall is a request as a handler receives it.
type listPostsCall struct{ connect.AnyRequest }

// Spec implements connect.AnyRequest.
func (listPostsCall) Spec() connect.Spec {
	return connect.Spec{Procedure: plazav1connect.PostServiceListPostsProcedure}
}

func TestBind(t *testing.T) {
	request := func(change ...func(*plazav1.ListPostsRequest)) *plazav1.ListPostsRequest {
		r := &plazav1.ListPostsRequest{TargetId: "t", TargetType: "community"}
		for _, c := range change {
			c(r)
		}
		return r
	}
	token, err := listPosts(t, "user a", request())
	require.NoError(t, err)
	require.Len(t, token, page.SealLength+len("first"))
	withToken := func(r *plazav1.ListPostsRequest) { r.Options = &plazav1.PageOptions{Token: token} }
	for _, tc := range []struct {
		name, caller string
		request      *plazav1.ListPostsRequest
		rejected     bool
	}{
		{name: "the same list", caller: "user a", request: request(withToken)},
		{name: "another page size", caller: "user a", request: request(withToken, func(r *plazav1.ListPostsRequest) {
			r.Options.Limit, r.Options.Type = proto.Int32(5), "pagination"
		})},
		{name: "a token made by the client", caller: "user a", request: request(func(r *plazav1.ListPostsRequest) {
			r.Options = &plazav1.PageOptions{Token: "eyJza2lwIjoxMH0="}
		})},
		{name: "another target", caller: "user a", request: request(withToken, func(r *plazav1.ListPostsRequest) { r.TargetId = "u" }), rejected: true},
		{name: "another caller", caller: "user b", request: request(withToken), rejected: true},
		{name: "a position without a seal", caller: "user a", request: request(func(r *plazav1.ListPostsRequest) {
			r.Options = &plazav1.PageOptions{Token: "first"}
		}), rejected: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := listPosts(t, tc.caller, tc.request)
			if !tc.rejected {
				require.NoError(t, err)
				return
			}
			failed, ok := errors.AsType[*fail.Error](err)
			require.True(t, ok)
			require.Equal(t, []string{"options.token: is not a token of this list"}, failed.Details)
		})
	}
}
