package page_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

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
	require.Equal(t, "first", page.Position(token))
	seal := func(token string) string {
		raw, err := base64.StdEncoding.DecodeString(token)
		require.NoError(t, err)
		var object struct{ Skip string }
		require.NoError(t, json.Unmarshal(raw, &object))
		return object.Skip
	}(token)
	made := func(text string) func(*plazav1.ListPostsRequest) {
		return func(r *plazav1.ListPostsRequest) {
			r.Options = &plazav1.PageOptions{Token: base64.StdEncoding.EncodeToString([]byte(text))}
		}
	}
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
		{name: "a first page", caller: "user a", request: request(made(`{"skip":0,"limit":10}`))},
		{name: "a first page by its size", caller: "user a", request: request(made(`{"limit":10}`))},
		{name: "parameters left out", caller: "user a", request: &plazav1.ListPostsRequest{Options: &plazav1.PageOptions{Token: token}}},
		{name: "without the object", caller: "user a", request: request(func(r *plazav1.ListPostsRequest) {
			r.Options = &plazav1.PageOptions{Token: seal}
		})},
		{name: "encoded again", caller: "user a", request: request(made(`{"limit":10,"skip":"` + seal + `"}`))},
		{name: "skip renamed to after", caller: "user a", request: request(made(`{"after":"` + seal + `","limit":10}`))},
		{name: "skip renamed to before", caller: "user a", request: request(made(`{"before":"` + seal + `"}`))},
		{name: "a number of rows", caller: "user a", request: request(made(`{"skip":10,"limit":10}`)), rejected: true},
		{name: "a truth value", caller: "user a", request: request(made(`{"skip":true}`)), rejected: true},
		{name: "a seal alone", caller: "user a", request: request(made(`{"skip":"` + seal[:page.SealLength] + `"}`)), rejected: true},
		{name: "an empty position", caller: "user a", request: request(made(`{"skip":""}`)), rejected: true},
		{name: "unusable parameters", caller: "user a", request: request(made(`{"skip":"` + seal + `","query":{"targetId":7}}`)), rejected: true},
		{name: "an array", caller: "user a", request: request(made(`["` + seal + `"]`)), rejected: true},
		{
			name: "another target", caller: "user a", request: request(withToken, func(r *plazav1.ListPostsRequest) { r.TargetId = "u" }),
			rejected: true,
		},
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

// TestPagesWithoutPaging answers a list without the message that contains its tokens.
func TestPagesWithoutPaging(t *testing.T) {
	t.Parallel()
	services := plazav1.File_plaza_v1_post_proto.Services()
	bind, err := page.Bind(func(context.Context) string { return "" }, []protoreflect.ServiceDescriptor{services.ByName("PostService")})
	require.NoError(t, err)
	response, err := bind.WrapUnary(func(context.Context, connect.AnyRequest) (connect.AnyResponse, error) {
		return connect.NewResponse(&plazav1.ListPostsResponse{}), nil
	})(t.Context(), listPostsCall{connect.NewRequest(&plazav1.ListPostsRequest{TargetId: "t"})})
	require.NoError(t, err)
	require.Nil(t, response.Any().(*plazav1.ListPostsResponse).GetPaging())
}

// TestRecursiveRequests binds an operation whose request contains messages of its own kind.
func TestRecursiveRequests(t *testing.T) {
	t.Parallel()
	node, optional, kind := ".recursive.Node", descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: new("recursive.proto"), Package: new("recursive"), Syntax: new("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{
			Name:  new("Node"),
			Field: []*descriptorpb.FieldDescriptorProto{{Name: new("next"), Number: proto.Int32(1), Label: &optional, Type: &kind, TypeName: &node}},
		}},
		Service: []*descriptorpb.ServiceDescriptorProto{{
			Name:   new("NodeService"),
			Method: []*descriptorpb.MethodDescriptorProto{{Name: new("Walk"), InputType: &node, OutputType: &node}},
		}},
	}, nil)
	require.NoError(t, err)
	_, err = page.Bind(func(context.Context) string { return "" }, []protoreflect.ServiceDescriptor{file.Services().Get(0)})
	require.NoError(t, err)
}

// received calls ListPosts through the interceptor of Bind, and returns the request that the operation receives.
func received(t *testing.T, request *plazav1.ListPostsRequest) (*plazav1.ListPostsRequest, *plazav1.Paging, error) {
	t.Helper()
	services := plazav1.File_plaza_v1_post_proto.Services()
	bind, err := page.Bind(func(context.Context) string { return "" }, []protoreflect.ServiceDescriptor{services.ByName("PostService")})
	require.NoError(t, err)
	var got *plazav1.ListPostsRequest
	response, err := bind.WrapUnary(func(_ context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		got = proto.CloneOf(request.Any().(*plazav1.ListPostsRequest))
		c := page.Cursor{Limit: 3, Time: noon, ID: someID()}
		return connect.NewResponse(&plazav1.ListPostsResponse{Paging: &plazav1.Paging{Next: c.Token()}}), nil
	})(t.Context(), listPostsCall{connect.NewRequest(proto.CloneOf(request))})
	if err != nil {
		return nil, nil, err
	}
	return got, response.Any().(*plazav1.ListPostsResponse).GetPaging(), nil
}

// TestTokenHasParameters sends tokens without the parameters of the list, which the tokens contain, and with a page size.
func TestTokenHasParameters(t *testing.T) {
	t.Parallel()
	options := func(token string, limit *int32) *plazav1.PageOptions {
		return &plazav1.PageOptions{Token: token, Limit: limit}
	}
	encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	full := &plazav1.ListPostsRequest{
		TargetId: "t", TargetType: "community", Tags: []string{"a", "b"}, HasFlag: new(false),
		Options: options("", proto.Int32(3)),
	}
	_, paging, err := received(t, full)
	require.NoError(t, err)
	raw, err := base64.StdEncoding.DecodeString(paging.GetNext())
	require.NoError(t, err)
	var object struct {
		Limit int
		Query map[string]any
	}
	require.NoError(t, json.Unmarshal(raw, &object))
	require.Equal(t, 3, object.Limit)
	require.Equal(t, map[string]any{"targetId": "t", "targetType": "community", "tags": []any{"a", "b"}, "hasFlag": false}, object.Query,
		"without the page")

	got, _, err := received(t, &plazav1.ListPostsRequest{Options: options(paging.GetNext(), proto.Int32(9))})
	require.NoError(t, err)
	require.Equal(t, []any{"t", "community", []string{"a", "b"}}, []any{got.GetTargetId(), got.GetTargetType(), got.GetTags()})
	require.NotNil(t, got.HasFlag)
	require.EqualValues(t, 9, got.GetOptions().GetLimit(), "the token of a position does not change the page size of the request")

	for text, want := range map[string]int32{`{"skip":0,"limit":7}`: 7, `{"limit":8}`: 8, `{"skip":0}`: 9} {
		got, _, err := received(t, &plazav1.ListPostsRequest{TargetId: "t", Options: options(encoded(text), proto.Int32(9))})
		require.NoError(t, err, text)
		require.Empty(t, got.GetOptions().GetToken(), text)
		require.Equal(t, want, got.GetOptions().GetLimit(), text)
	}
	got, _,
		err = received(t, &plazav1.ListPostsRequest{
		TargetId: "u",
		Options:  options(encoded(`{"query":{"targetId":"t","options":{"limit":50}}}`), nil),
	})
	require.NoError(t, err)
	require.Equal(t, "u", got.GetTargetId(), "what the request has comes first")
	require.Nil(t, got.GetOptions().Limit, "the parameters do not contain the page")
}

// TestLongestToken sends texts of the maximum length, and one past it.
func TestLongestToken(t *testing.T) {
	t.Parallel()
	for length, want := range map[int]string{
		page.MaxWrapped:     "is not a token of this list",
		page.MaxWrapped + 1: "must be at most 1000 characters",
	} {
		_, _, err := received(t, &plazav1.ListPostsRequest{TargetId: "t", Options: &plazav1.PageOptions{Token: strings.Repeat("x", length)}})
		failed, ok := errors.AsType[*fail.Error](err)
		require.True(t, ok)
		require.Equal(t, []string{"options.token: " + want}, failed.Details)
	}
}

// TestWrap wraps positions of lists with different limits.
func TestWrap(t *testing.T) {
	t.Parallel()
	query := []byte(`{"targetId":"` + strings.Repeat("x", 700) + `"}`)
	position := page.Cursor{Limit: 7, Time: noon, ID: someID()}.Token()
	sealed := "12345" + position
	for name, tc := range map[string]struct {
		limit int
		query []byte
		want  string // the object; empty for the sealed position
	}{
		"all":                     {1000, []byte(`{"a":"b"}`), `{"skip":"` + sealed + `","limit":7,"query":{"a":"b"}}`},
		"too long parameters":     {1000, query, `{"skip":"` + sealed + `","limit":7}`},
		"no space for parameters": {80, query, `{"skip":"` + sealed + `","limit":7}`},
		"no space for the limit":  {64, nil, `{"skip":"` + sealed + `"}`},
		"no space":                {63, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			token := page.Wrap(sealed, tc.query, tc.limit)
			require.LessOrEqual(t, len(token), tc.limit)
			require.Equal(t, position, page.Position(token))
			raw, err := base64.StdEncoding.DecodeString(token)
			if tc.want == "" {
				require.Equal(t, sealed, token)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, string(raw))
		})
	}
}
