package conformance

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

// protocol is one way to call an operation other than REST.
type protocol struct {
	name    string
	options []connect.ClientOption
	http1   bool // HTTP/1.1; otherwise HTTP/2 without TLS
}

var protocols = []protocol{
	{name: "Connect JSON", options: []connect.ClientOption{connect.WithProtoJSON()}},
	{name: "Connect JSON over HTTP/1.1", options: []connect.ClientOption{connect.WithProtoJSON()}, http1: true},
	{name: "Connect proto"},
	{name: "Connect proto gzip over HTTP/1.1", options: []connect.ClientOption{connect.WithSendGzip()}, http1: true},
	{name: "gRPC", options: []connect.ClientOption{connect.WithGRPC()}},
	{name: "gRPC gzip", options: []connect.ClientOption{connect.WithGRPC(), connect.WithSendGzip()}},
	{name: "gRPC-Web", options: []connect.ClientOption{connect.WithGRPCWeb()}},
	{name: "gRPC-Web over HTTP/1.1", options: []connect.ClientOption{connect.WithGRPCWeb()}, http1: true},
}

// newH2CClient returns a client that speaks HTTP/2 without TLS.
func newH2CClient(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// caller calls one operation with a generated client.
type caller struct {
	call func(ctx context.Context, client connect.HTTPClient, url string, header http.Header,
		options ...connect.ClientOption) (proto.Message, error)
	empty func() proto.Message // returns an empty answer
}

// clientCall returns a caller of one method of a generated client.
func clientCall[C, Request, Answer any](
	newClient func(connect.HTTPClient, string, ...connect.ClientOption) C,
	method func(C, context.Context, *Request) (*Answer, error),
	message *Request,
) caller {
	return caller{
		call: func(ctx context.Context, client connect.HTTPClient, url string, header http.Header,
			options ...connect.ClientOption,
		) (proto.Message, error) {
			ctx, call := connect.NewClientContext(ctx)
			maps.Copy(call.RequestHeader(), header)
			answer, err := method(newClient(client, url, options...), ctx, message)
			if err != nil {
				return nil, err
			}
			return asMessage(answer), nil
		},
		empty: func() proto.Message { return asMessage(new(Answer)) },
	}
}

func asMessage(v any) proto.Message {
	m, _ := v.(proto.Message)
	return m
}

// operation is one call over REST and over the other protocols.
type operation struct {
	name   string
	by     *apptest.Client
	key    string // header that carries a key instead of a token
	method string
	path   string
	body   any
	rpc    caller
	// bare is the field of the answer that is the whole body over REST.
	bare string
	// passing are the fields that differ from call to call; they must be present.
	passing []string
}

func (o operation) rest(t *testing.T) *apptest.Response {
	t.Helper()
	by := o.by
	if o.key != "" {
		by = by.With(o.key, o.keyOf())
	}
	return by.Do(t, o.method, o.path, o.body)
}

func (o operation) keyOf() string {
	if o.key == "X-Server-Key" {
		return o.by.Network.ServerKey
	}
	return o.by.Network.APIKey
}

func (o operation) header() http.Header {
	header := http.Header{}
	if o.by.Token != "" {
		header.Set("Authorization", "Bearer "+o.by.Token)
	}
	if o.key != "" {
		header.Set(o.key, o.keyOf())
	}
	return header
}

// overProtocols calls the operation over each protocol.
func (o operation) overProtocols(t *testing.T, check func(t *testing.T, answer proto.Message, err error)) {
	t.Helper()
	second := newH2CClient(t)
	for _, p := range protocols {
		t.Run(o.name+"/"+p.name, func(t *testing.T) {
			client := second
			if p.http1 {
				client = o.by.Network.HTTP()
			}
			answer, err := o.rpc.call(t.Context(), client, o.by.Network.BaseURL(o.by.Region), o.header(), p.options...)
			check(t, answer, err)
		})
	}
}

// normalized clears the fields that differ from call to call, and sorts the collections: homes are read
// concurrently, and the order of their answers is not specified.
func (o operation) normalized(t *testing.T, m proto.Message) proto.Message {
	t.Helper()
	for _, name := range o.passing {
		field := m.ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(name))
		require.True(t, m.ProtoReflect().Has(field), name)
		m.ProtoReflect().Clear(field)
	}
	sortCollections(m.ProtoReflect())
	return m
}

// sortCollections sorts the lists of objects of an answer and of its data, but not the lists inside the objects.
func sortCollections(m protoreflect.Message) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Name() == "data" && field.Message() != nil && !field.IsList():
			sortCollections(value.Message())
		case field.IsList() && field.Message() != nil:
			list := value.List()
			items := make([]protoreflect.Value, list.Len())
			for i := range items {
				items[i] = list.Get(i)
			}
			slices.SortFunc(items, func(a, b protoreflect.Value) int {
				return strings.Compare(prototext.Format(a.Message().Interface()), prototext.Format(b.Message().Interface()))
			})
			list.Truncate(0)
			for _, item := range items {
				list.Append(item)
			}
		}
		return true
	})
}

// requireEqualAnswers calls an operation over REST, whose answer must be exactly the JSON of the message, and over
// each protocol.
func (o operation) requireEqualAnswers(t *testing.T) {
	t.Helper()
	body := o.rest(t).OK(t).Body
	if o.bare != "" {
		wrapped, err := json.Marshal(map[string]json.RawMessage{o.bare: body})
		require.NoError(t, err)
		body = wrapped
	}
	want := o.rpc.empty()
	require.NoError(t, protojson.Unmarshal(body, want), "%s: an answer with a field that the message does not have", o.name)
	want = o.normalized(t, want)
	o.overProtocols(t, func(t *testing.T, answer proto.Message, err error) {
		t.Helper()
		require.NoError(t, err)
		answer = o.normalized(t, answer)
		require.True(t, proto.Equal(want, answer), "REST says\n%s\nand this protocol\n%s", prototext.Format(want), prototext.Format(answer))
	})
}

// requireEqualErrors calls an operation that is refused over every protocol.
func (o operation) requireEqualErrors(t *testing.T, want failure, code connect.Code) {
	t.Helper()
	r := o.rest(t)
	requireFailure(t, want, r)
	detail := []string{}
	if r.Has(t, "data.detail") {
		for _, line := range r.List(t, "data.detail") {
			text, _ := line.(string)
			detail = append(detail, text)
		}
	}
	_, message := r.Error(t)
	o.overProtocols(t, func(t *testing.T, _ proto.Message, err error) {
		t.Helper()
		var failed *connect.Error
		require.ErrorAs(t, err, &failed)
		require.Equal(t, code, failed.Code())
		require.Equal(t, message, failed.Message())
		require.Len(t, failed.Details(), 1)
		value, err := failed.Details()[0].Value()
		require.NoError(t, err)
		info, ok := value.(*plazav1.ErrorInfo)
		require.True(t, ok)
		require.Equal(t, want.code, int(info.GetCode()))
		require.Equal(t, want.status, int(info.GetHttpStatus()))
		require.Equal(t, message, info.GetMessage())
		require.Equal(t, detail, append([]string{}, info.GetDetail()...))
	})
}

// TestProtocolsGiveEqualAnswers calls operations of every service.
func TestProtocolsGiveEqualAnswers(t *testing.T) {
	t.Parallel()
	for _, o := range matrix(t) {
		o.requireEqualAnswers(t)
	}
}

// TestProtocolsGiveEqualErrors calls operations that are refused, one for each kind of error.
func TestProtocolsGiveEqualErrors(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	club := newClub(t, object{"requiresJoinApproval": true})
	post := newPost(t, club.member, club.id)
	out := newUser(t, region.EU, "exile")
	admin(t).Do(t, http.MethodPost, "/api/v2/users/ban", object{"userId": out.UserID}).OK(t)
	get := clientCall(plazav1connect.NewUserServiceClient, plazav1connect.UserServiceClient.GetUser,
		&plazav1.GetUserRequest{UserId: "unknown-user"})
	flagged := clientCall(plazav1connect.NewPostServiceClient, plazav1connect.PostServiceClient.FlagPost,
		&plazav1.FlagPostRequest{PostId: post})
	reject := clientCall(plazav1connect.NewJoinRequestServiceClient, plazav1connect.JoinRequestServiceClient.RejectJoin,
		&plazav1.RejectJoinRequest{CommunityId: club.id, UserId: club.stranger.InternalID})
	request := clientCall(plazav1connect.NewJoinRequestServiceClient, plazav1connect.JoinRequestServiceClient.RequestJoin,
		&plazav1.RequestJoinRequest{CommunityId: club.id})
	moderation := clientCall(plazav1connect.NewNetworkSettingServiceClient, plazav1connect.NetworkSettingServiceClient.UpdateModeration,
		&plazav1.UpdateModerationRequest{})
	limits := clientCall(plazav1connect.NewUserServiceClient, plazav1connect.UserServiceClient.ListUsers,
		&plazav1.ListUsersRequest{SortBy: "age", Options: &plazav1.PageOptions{Limit: proto.Int32(101)}})
	create := clientCall(plazav1connect.NewPostServiceClient, plazav1connect.PostServiceClient.CreatePost,
		&plazav1.CreatePostRequest{TargetType: "community", TargetId: club.id, Text: "x"})
	ask(t, club.stranger, club.id)
	body := object{"targetType": "community", "targetId": club.id, "text": "x"}
	users := "/api/v3/users/unknown-user"
	for _, c := range []struct {
		operation
		want failure
		code connect.Code
	}{
		{
			operation{name: "400000", by: admin(t), method: http.MethodPut, path: moderationPath, body: `{}`, rpc: moderation},
			badRequest,
			connect.CodeInvalidArgument,
		},
		{
			operation{name: "400100", by: n.Anonymous(region.SG), method: http.MethodGet, path: users, rpc: get},
			unauthorized,
			connect.CodeUnauthenticated,
		},
		{operation{
			name: "400300", by: newUser(t, region.US, "x"), method: http.MethodPost, path: joinPath(club.id) + "/reject",
			body: object{"userId": club.stranger.InternalID}, rpc: reject,
		}, notAllowed, connect.CodePermissionDenied},
		{
			operation{name: "400301", by: club.stranger, method: http.MethodPost, path: postsPath, body: body, rpc: create},
			notMember,
			connect.CodePermissionDenied,
		},
		{
			operation{name: "400304", by: club.banned, method: http.MethodPost, path: "/api/v3/posts/" + post + "/flag", rpc: flagged},
			banned,
			connect.CodePermissionDenied,
		},
		{operation{name: "400312", by: out, method: http.MethodGet, path: users, rpc: get}, globalBan, connect.CodePermissionDenied},
		{
			operation{name: "400315", by: club.stranger, method: http.MethodPost, path: joinPath(club.id), rpc: request},
			exists,
			connect.CodeAlreadyExists,
		},
		{operation{name: "400400", by: club.boss, method: http.MethodGet, path: users, rpc: get}, notFound, connect.CodeNotFound},
		{
			operation{name: "500000", by: club.boss, method: http.MethodGet, path: "/api/v3/users?sortBy=age&options[limit]=101", rpc: limits},
			invalid("sortBy"), connect.CodeInvalidArgument,
		},
	} {
		c.requireEqualErrors(t, c.want, c.code)
	}
}

// TestHealth reads the health of the server and of each service, as gRPC load balancers do.
func TestHealth(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	for _, code := range region.All() {
		for _, service := range []string{"", "plaza.v1.UserService", "plaza.v1.PostService"} {
			r := n.Anonymous(code).Do(t, http.MethodPost, "/grpc.health.v1.Health/Check", object{"service": service}).OK(t)
			require.Contains(t, []any{"SERVING", "SERVING_STATUS_SERVING"}, r.Get(t, "status"))
		}
	}
}

// TestReflection lists the services, as gRPC tools do.
func TestReflection(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	client := grpcreflect.NewClient(newH2CClient(t), n.BaseURL(region.US), connect.WithGRPC())
	stream := client.NewStream(t.Context())
	names, err := stream.ListServices()
	require.NoError(t, err)
	require.Contains(t, names, protoreflect.FullName("plaza.v1.UserService"))
	require.Contains(t, names, protoreflect.FullName("plaza.v1.PostService"))
	_, err = stream.Close()
	require.NoError(t, err)
}
