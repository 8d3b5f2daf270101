package edge_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/fail"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

var protocols = map[string][]connect.ClientOption{
	"connect proto":      nil,
	"connect proto gzip": {connect.WithSendGzip()},
	"connect JSON":       {connect.WithProtoJSON()},
	"connect GET":        {connect.WithHTTPGet()},
	"connect GET JSON":   {connect.WithHTTPGet(), connect.WithProtoJSON()},
	"gRPC":               {connect.WithGRPC()},
	"gRPC gzip":          {connect.WithGRPC(), connect.WithSendGzip()},
	"gRPC JSON":          {connect.WithGRPC(), connect.WithProtoJSON()},
	"gRPC-Web":           {connect.WithGRPCWeb()},
}

// http2Client speaks HTTP/2 without TLS.
func http2Client(t *testing.T) *http.Client {
	t.Helper()
	return http2ClientOf(t, nil)
}

// http2ClientOf is http2Client for connections that dial opens.
func http2ClientOf(t *testing.T, dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Client {
	t.Helper()
	transport := &http.Transport{Protocols: new(http.Protocols), DialContext: dial}
	transport.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// rpc is one operation, called over REST and with the generated clients.
type rpc struct {
	name, method, path, body string
	call                     func(ctx context.Context, w *world, client connect.HTTPClient, options ...connect.ClientOption) (proto.Message,
		error)
	into proto.Message // the type of the response
}

func message[T any](response *T, err error) (proto.Message, error) {
	if err != nil {
		return nil, err
	}
	return any(response).(proto.Message), nil
}

var rpcs = []rpc{
	{
		name: "a read", method: "GET", path: "/api/v3/comments/c", into: &plazav1.CommentResponse{},
		call: func(ctx context.Context, w *world, client connect.HTTPClient, options ...connect.ClientOption) (proto.Message, error) {
			return message(plazav1connect.NewCommentServiceClient(client, w.url, options...).GetComment(ctx,
				&plazav1.GetCommentRequest{CommentId: "c"}))
		},
	},
	{
		name: "a write", method: "POST", path: "/api/v3/comments/c/flag", body: `{"reason":"Others","detail":"é"}`,
		into: &plazav1.CommentResponse{},
		call: func(ctx context.Context, w *world, client connect.HTTPClient, options ...connect.ClientOption) (proto.Message, error) {
			return message(plazav1connect.NewCommentServiceClient(client, w.url, options...).FlagComment(ctx,
				&plazav1.FlagCommentRequest{CommentId: "c", Reason: "Others", Detail: "é"}))
		},
	},
	{
		name: "a list", method: "GET", path: "/api/v5/posts?targetId=t&targetType=community&options[limit]=3", into: &plazav1.ListPostsResponse{},
		call: func(ctx context.Context, w *world, client connect.HTTPClient, options ...connect.ClientOption) (proto.Message, error) {
			return message(plazav1connect.NewPostServiceClient(client, w.url, options...).ListPosts(ctx,
				&plazav1.ListPostsRequest{TargetId: "t", TargetType: "community", Options: &plazav1.PageOptions{Limit: proto.Int32(3)}}))
		},
	},
}

func TestProtocolsReturnEqualResponses(t *testing.T) {
	w := start(t)
	w.post = feed(20)
	client := http2Client(t)
	for _, r := range rpcs {
		got := w.call(t, r.method, r.path, r.body)
		require.Equal(t, 200, got.status, got.body)
		want := proto.Clone(r.into)
		require.NoError(t, protojson.Unmarshal([]byte(got.body), want))
		request := w.request()
		for name, options := range protocols {
			t.Run(r.name+"/"+name, func(t *testing.T) {
				got, err := r.call(t.Context(), w, client, options...)
				require.NoError(t, err)
				requireMessage(t, want, got)
				requireMessage(t, request, w.request())
			})
		}
	}
}

func TestProtocolsReturnEqualErrors(t *testing.T) {
	w := start(t)
	client := http2Client(t)
	for _, tc := range []struct {
		err  error
		code connect.Code
	}{
		{fail.BadRequest(), connect.CodeInvalidArgument},
		{fail.Unauthorized(), connect.CodeUnauthenticated},
		{fail.FlagLimit(), connect.CodePermissionDenied},
		{fail.VisitorDenied(), connect.CodePermissionDenied},
		{fail.GlobalBan(), connect.CodePermissionDenied},
		{fail.New(fail.CodeRateLimited, "slow down"), connect.CodeResourceExhausted},
		{fail.AlreadyExists("there"), connect.CodeAlreadyExists},
		{fail.NotFound(), connect.CodeNotFound},
		{fail.Conflict(), connect.CodeAborted},
		{fail.Validation("a: b", "c: d"), connect.CodeInvalidArgument},
		{fail.TooLarge(7), connect.CodeResourceExhausted},
		{fail.Unavailable("away", nil), connect.CodeUnavailable},
		{io.EOF, connect.CodeInternal},
	} {
		w.failing(tc.err)
		for _, r := range rpcs[:2] {
			requireEqualErrors(t, w, client, r, tc.code)
		}
	}
	w.do = func(context.Context) error { panic("boom") }
	requireEqualErrors(t, w, client, rpcs[0], connect.CodeInternal)
}

func requireEqualErrors(t *testing.T, w *world, client connect.HTTPClient, r rpc, code connect.Code) {
	t.Helper()
	rest := w.call(t, r.method, r.path, r.body)
	for name, options := range protocols {
		t.Run(code.String()+"/"+r.name+"/"+name, func(t *testing.T) {
			_, err := r.call(t.Context(), w, client, options...)
			requireSameError(t, rest, code, err)
		})
	}
}

// requireSameError compares the error of an RPC client with a REST response.
func requireSameError(t *testing.T, rest reply, code connect.Code, err error) {
	t.Helper()
	var got *connect.Error
	require.ErrorAs(t, err, &got)
	require.Equal(t, code, got.Code())
	require.Len(t, got.Details(), 1)
	detail, err := got.Details()[0].Value()
	require.NoError(t, err)
	info, ok := detail.(*plazav1.ErrorInfo)
	require.True(t, ok)
	var body struct {
		Code    int32
		Message string
		Data    struct{ Detail []string }
	}
	require.NoError(t, json.Unmarshal([]byte(rest.body), &body))
	requireMessage(t, &plazav1.ErrorInfo{
		Code: body.Code, Message: body.Message, Detail: body.Data.Detail, HttpStatus: int32(rest.status),
	}, info)
	require.Equal(t, body.Message, got.Message())
}

func TestProtocolsValidateEqually(t *testing.T) {
	w := start(t)
	client := http2Client(t)
	long := strings.Repeat("r", 301)
	rest := w.call(t, "POST", "/api/v3/comments/c/flag", `{"reason":"`+long+`"}`)
	nul := w.call(t, "POST", "/api/v3/comments/c/flag", `{"reason":"\u0000"}`)
	for name, options := range protocols {
		t.Run(name, func(t *testing.T) {
			comments := plazav1connect.NewCommentServiceClient(client, w.url, options...)
			_, err := comments.FlagComment(t.Context(), &plazav1.FlagCommentRequest{CommentId: "c", Reason: long})
			requireSameError(t, rest, connect.CodeInvalidArgument, err)
			_, err = comments.FlagComment(t.Context(), &plazav1.FlagCommentRequest{CommentId: "c", Reason: "\x00"})
			requireSameError(t, nul, connect.CodeInvalidArgument, err)
		})
	}
	require.Zero(t, w.count())
}

// TestBrokenRPCMessages sends malformed messages, which get the errors of the interface, not those of connect.
func TestBrokenRPCMessages(t *testing.T) {
	const path = "/plaza.v1.CommentService/FlagComment"
	w := start(t)
	for _, tc := range []struct {
		name, contentType, body string
		code                    int
	}{
		{"empty JSON", "application/json", "", 400000},
		{"broken JSON", "application/json; charset=utf-8", "{", 400000},
		{"JSON of the wrong type", "application/json", `{"commentId":1}`, 500000},
		{"broken binary", "application/proto", "\x0a\xff", 400000},
		{"binary text that is not UTF-8", "application/proto", "\x0a\x01\xff", 500000},
		{"a decode error sent by the client", "application/proto", "\x0a\x01c\xfa\xff\xff\xff\x0f\x01b", 0},
		{"a leading zero byte", "application/json", "\x00\x0a\x01c", 400000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := w.call(t, "POST", path, tc.body, "Content-Type", tc.contentType)
			if tc.code == 0 {
				require.Equal(t, 200, got.status)
				return
			}
			var body struct {
				Code    string
				Details []struct{ Debug struct{ Code int } }
			}
			require.NoError(t, json.Unmarshal([]byte(got.body), &body), got.body)
			require.Equal(t, "invalid_argument", body.Code)
			require.Len(t, body.Details, 1)
			require.Equal(t, tc.code, body.Details[0].Debug.Code)
		})
	}
	require.Equal(t, 1, w.count())
}

func TestRPCBodyLimit(t *testing.T) {
	w := start(t, func(o *edge.Options) { o.MaxBodyBytes = 1000 })
	client := http2Client(t)
	for name, options := range protocols {
		t.Run(name, func(t *testing.T) {
			posts := plazav1connect.NewPostServiceClient(client, w.url, options...)
			_, err := posts.CreatePost(t.Context(), &plazav1.CreatePostRequest{Text: strings.Repeat("x", 900)})
			require.NoError(t, err)
			_, err = posts.CreatePost(t.Context(), &plazav1.CreatePostRequest{Text: strings.Repeat("x", 40_000)})
			require.Equal(t, connect.CodeResourceExhausted, connect.CodeOf(err))
		})
	}
}

func TestConnectGet(t *testing.T) {
	w := start(t)
	const query = "?connect=v1&encoding=json&message=%7B%22commentId%22%3A%22c%22%7D"
	read := "/" + plazav1connect.CommentServiceName + "/GetComment"
	got := w.call(t, http.MethodGet, read+query, "")
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Contains(t, got.body, `"commentId":"c"`)

	for path, allowed := range map[string]string{
		read: "GET, POST",
		"/" + plazav1connect.CommentServiceName + "/FlagComment": "POST",
	} {
		got := w.call(t, http.MethodDelete, path+query, "")
		require.Equal(t, http.StatusMethodNotAllowed, got.status, path)
		require.Equal(t, allowed, got.header.Get("Allow"), path)
	}
	got = w.call(t, http.MethodGet, "/"+plazav1connect.CommentServiceName+"/FlagComment"+query, "")
	require.Equal(t, http.StatusMethodNotAllowed, got.status, "a write")
}

// services returns the names of all services of the interface.
func services(t *testing.T) []string {
	t.Helper()
	var names []string
	protoregistry.GlobalFiles.RangeFilesByPackage("plaza.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			names = append(names, string(file.Services().Get(i).FullName()))
		}
		return true
	})
	require.Contains(t, names, "plaza.v1.PostService")
	return names
}

func TestHealth(t *testing.T) {
	var notReady error
	w := start(t, func(o *edge.Options) { o.Ready = func(context.Context) error { return notReady } })
	check := func(body string) reply {
		return w.call(t, "POST", "/"+grpchealth.HealthV1ServiceName+"/Check", body, "Content-Type", "application/json")
	}
	require.JSONEq(t, `{"status":"SERVING_STATUS_SERVING"}`, check(`{}`).body)
	require.JSONEq(t, `{"status":"SERVING_STATUS_SERVING"}`, check(`{"service":"plaza.v1.PostService"}`).body)
	for _, service := range services(t) {
		require.Equal(t, 200, check(`{"service":"`+service+`"}`).status, service)
	}
	require.Equal(t, 404, check(`{"service":"nothing"}`).status)
	notReady = io.EOF
	require.JSONEq(t, `{"status":"SERVING_STATUS_NOT_SERVING"}`, check(`{}`).body)
}

func TestReflection(t *testing.T) {
	w := start(t)
	client := http2Client(t)
	for _, version := range []string{"v1", "v1alpha"} {
		t.Run(version, func(t *testing.T) {
			// One message {"listServices":""}, in the envelope of a Connect stream.
			body := "\x00\x00\x00\x00\x13" + `{"listServices":""}`
			request, err := http.NewRequestWithContext(t.Context(), "POST",
				w.url+"/grpc.reflection."+version+".ServerReflection/ServerReflectionInfo", strings.NewReader(body))
			require.NoError(t, err)
			request.Header.Set("Content-Type", "application/connect+json")
			response, err := client.Do(request)
			require.NoError(t, err)
			defer func() { _ = response.Body.Close() }()
			data, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.Contains(t, string(data), "plaza.v1.PostService")
			require.Contains(t, string(data), "grpc.health.v1.Health")
		})
	}
}

// TestConnectGET calls a read by GET, as browsers and caches do.
func TestConnectGET(t *testing.T) {
	w := start(t)
	for name, options := range map[string][]connect.ClientOption{
		"proto": {connect.WithHTTPGet()},
		"JSON":  {connect.WithHTTPGet(), connect.WithProtoJSON()},
	} {
		t.Run(name, func(t *testing.T) {
			client := plazav1connect.NewCommentServiceClient(w.client, w.url, options...)
			got, err := message(client.GetComment(t.Context(), &plazav1.GetCommentRequest{CommentId: "c"}))
			require.NoError(t, err)
			requireMessage(t, commentAnswer("c"), got)
			requireMessage(t, &plazav1.GetCommentRequest{CommentId: "c"}, w.request())
			require.Contains(t, w.log.String(), `"method":"GET","procedure":"/plaza.v1.CommentService/GetComment","protocol":"connect","status":200`)
			_, err = client.GetComment(t.Context(), &plazav1.GetCommentRequest{})
			require.Equal(t, connect.CodeInvalidArgument, connect.CodeOf(err))
		})
	}
	path := "/plaza.v1.CommentService/GetComment?connect=v1&encoding=json&message=" + url.QueryEscape(`{"commentId":"c"}`)
	require.Equal(t, 200, w.call(t, "GET", path, "").status)
	require.Equal(t, 405, w.call(t, "GET", "/plaza.v1.CommentService/FlagComment", "").status)
}
