package edge_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/fail"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

func TestFailuresOnREST(t *testing.T) {
	w := start(t)
	for _, tc := range []struct {
		err     error
		status  int
		code    int
		message string
		details []string
	}{
		{fail.BadRequest(), 400, 400000, "Bad Request.", nil},
		{fail.Unauthorized(), 401, 400100, "Unauthorized", nil},
		{fail.NotAllowed(), 403, 400300, "You are not allowed to do this", nil},
		{fail.FlagLimit(), 403, 400300, "Number of flag already exceed.", nil},
		{fail.PermissionDenied(), 403, 400301, "Permission denied", nil},
		{fail.New(400302, "muted"), 403, 400302, "muted", nil},
		{fail.Banned(), 403, 400304, "User is banned from this community", nil},
		{fail.New(400308, "word"), 400, 400308, "word", nil},
		{fail.New(400309, "link"), 400, 400309, "link", nil},
		{fail.New(fail.CodeRateLimited, "slow down"), 429, 400311, "slow down", nil},
		{fail.BotDenied(), 403, 403998, "Bots are not allowed to do this", nil},
		{fail.VisitorDenied(), 403, 403999, "Visitors are not allowed to do this", nil},
		{fail.GlobalBan(), 403, 400312, "User has been banned globally", nil},
		{fail.AlreadyExists("there"), 403, 400315, "there", nil},
		{fail.NotFound(), 404, 400400, "Resource Not Found.", nil},
		{fmt.Errorf("wrapped: %w", errSecret), 404, 400400, "Resource Not Found.", nil},
		{fail.Conflict(), 409, 400900, "Conflict", nil},
		{fail.Validation("a: <b>", "c: d\ne"), 422, 500000, "Parameters validation error!", []string{"a: <b>", "c: d\ne"}},
		{fail.TooLarge(5), 413, 500000, "Payload Too Large", []string{"the body may have at most 5 bytes"}},
		{fail.Unavailable("home us is away", nil), 503, 500000, "Unexpected error", []string{"home us is away"}},
		{fail.Unexpected(io.EOF), 500, 500000, "Unexpected error", nil},
		{errors.New("secret SQL"), 500, 500000, "Unexpected error", nil},
		{connect.NewError(connect.CodeNotFound, errors.New("secret")), 500, 500000, "Unexpected error", nil},
		{context.DeadlineExceeded, 503, 500000, "Unexpected error", []string{"the operation did not finish in time"}},
	} {
		t.Run(tc.err.Error(), func(t *testing.T) {
			w.failing(tc.err)
			got := w.call(t, "POST", "/api/v3/comments/c/flag", "")
			requireError(t, got, tc.status, tc.code, tc.message, tc.details...)
			require.NotContains(t, got.body, "secret")
		})
	}
}

func TestFailuresAreLoggedOnce(t *testing.T) {
	w := start(t)
	w.failing(fail.Unexpected(errors.New("the cause")))
	got := w.call(t, "GET", "/api/v3/comments/c?token=hush", "", "Authorization", "Bearer hush", edge.HeaderRequestID, "my-id")
	requireError(t, got, 500, 500000, "Unexpected error")
	log := w.log.String()
	require.Equal(t, 1, strings.Count(log, "the cause"), log)
	require.Equal(t, 1, strings.Count(log, "\n"), log)
	require.Contains(t, log,
		`"level":"ERROR","msg":"request failed","method":"GET","procedure":"/plaza.v1.CommentService/GetComment","protocol":"rest","status":500,`)
	require.Contains(t, log, `,"code":500000,"error":"500000: Unexpected error: the cause","requestId":"my-id"`)
	require.NotContains(t, log, "hush")

	w.failing(errSecret)
	w.call(t, "GET", "/api/v3/comments/c", "")
	after := strings.TrimPrefix(w.log.String(), log)
	require.Equal(t, 1, strings.Count(after, "\n"), after)
	require.Contains(t, after, `"level":"INFO","msg":"request","method":"GET",`)
	require.Contains(t, after, `"status":404,`)
	require.Contains(t, after, `"error":`, "at level debug")
}

// TestAccessLogIsSampled checks that one of some requests has a line, and every failed one, without the errors of clients.
func TestAccessLogIsSampled(t *testing.T) {
	for _, test := range []struct {
		oneIn int64
		lines int
	}{{0, 0}, {1, 10}, {5, 2}} {
		log := &logBuffer{}
		w := start(t, func(o *edge.Options) { o.LogOneIn, o.Log = test.oneIn, slog.New(slog.NewJSONHandler(log, nil)) })
		w.failing(errSecret)
		for range 10 {
			w.call(t, "GET", "/api/v3/comments/c", "")
		}
		require.Equal(t, test.lines, strings.Count(log.String(), `"msg":"request",`), log)
		require.NotContains(t, log.String(), `"error"`)
		w.failing(fail.Unexpected(errors.New("the cause")))
		for range 3 {
			w.call(t, "GET", "/api/v3/comments/c", "")
		}
		require.Equal(t, test.lines+3, strings.Count(log.String(), "\n"), log)
		require.Equal(t, 3, strings.Count(log.String(), `"msg":"request failed",`), log)
	}
}

// TestFailuresOfRPCsAreLoggedOnce checks the line of a failed call, whose HTTP status is 200 with gRPC.
func TestFailuresOfRPCsAreLoggedOnce(t *testing.T) {
	w := start(t)
	w.failing(fail.Unexpected(errors.New("the cause")))
	for _, option := range [][]connect.ClientOption{nil, {connect.WithGRPCWeb()}, {connect.WithGRPC()}} {
		before := w.log.String()
		client := plazav1connect.NewCommentServiceClient(http2Client(t), w.url, option...)
		_, err := client.GetComment(t.Context(), &plazav1.GetCommentRequest{CommentId: "c"})
		require.Error(t, err)
		line := strings.TrimPrefix(w.log.String(), before)
		require.Equal(t, 1, strings.Count(line, "\n"), line)
		require.Contains(t, line, `"msg":"request failed"`)
		require.Contains(t, line, `"status":500`)
		require.Contains(t, line, "the cause")
	}
}

// TestPlannedRefusals checks that what the server refuses on purpose is no failure for operators.
func TestPlannedRefusals(t *testing.T) {
	w := start(t)
	refused := fail.Unavailable("the user is being moved", errors.New("the cause"))
	refused.Planned = true
	w.failing(refused)
	requireError(t, w.call(t, "GET", "/api/v3/comments/c", ""), 503, 500000, "Unexpected error", "the user is being moved")
	require.Contains(t, w.log.String(), `"level":"INFO","msg":"request refused","method":"GET",`)
	require.NotContains(t, w.log.String(), "ERROR")
}

// TestLinesHaveTheTrace checks that a line has the id of the trace that the client has begun.
func TestLinesHaveTheTrace(t *testing.T) {
	w := start(t)
	w.call(t, "GET", "/api/v3/comments/c", "", "Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	require.Contains(t, w.log.String(), `"traceId":"0af7651916cd43dd8448eb211c80319c"`)
	w.call(t, "GET", "/api/v3/comments/d", "")
	require.Equal(t, 1, strings.Count(w.log.String(), "traceId"))
}

func TestUnimplementedIsNotFound(t *testing.T) {
	requireError(t, start(t).call(t, "GET", "/api/v3/posts/p", ""), 404, 400400, "Resource Not Found.")
}

func TestPanics(t *testing.T) {
	w := start(t)
	w.do = func(context.Context) error { panic("boom") }
	requireError(t, w.call(t, "GET", "/api/v3/comments/c", ""), 500, 500000, "Unexpected error")
	require.Contains(t, w.log.String(), "panic: boom")
	require.Contains(t, w.log.String(), "errors_test.go")

	w.do = func(context.Context) error { panic(http.ErrAbortHandler) }
	request, err := http.NewRequestWithContext(t.Context(), "GET", w.url+"/api/v3/comments/c", nil)
	require.NoError(t, err)
	response, err := w.client.Do(request)
	if err == nil {
		_ = response.Body.Close()
	}
	require.Error(t, err, "net/http closes the connection")
}

func TestUnknownRoutes(t *testing.T) {
	w := start(t)
	for _, path := range []string{
		"/", "/nothing", "/api/v3/nothing", "/api/v3/comments/c/flag/more", "/api//v3/comments", "/plaza.v1.PostService",
		"/plaza.v1.NoService/Nothing", "/plaza.v1.PostService/Nothing", "/a.b/c", "/api/v3/posts/p?connect=v1&x=/y.z/",
	} {
		t.Run(path, func(t *testing.T) {
			requireError(t, w.call(t, "GET", path, ""), 404, 400400, "Resource Not Found.")
		})
	}
}

func TestWrongMethod(t *testing.T) {
	w := start(t)
	got := w.call(t, "PUT", "/api/v3/comments/c/flag", "{}")
	requireError(t, got, 405, 400000, "Bad Request.")
	require.Equal(t, "POST", got.header.Get("Allow"))
	got = w.call(t, "PATCH", "/api/v3/communities/c/users", "")
	requireError(t, got, 405, 400000, "Bad Request.")
	require.Equal(t, "DELETE, GET, HEAD, POST", got.header.Get("Allow"))
	got = w.call(t, "GET", "/plaza.v1.CommentService/FlagComment", "")
	requireError(t, got, 405, 400000, "Bad Request.")
	require.Equal(t, "POST", got.header.Get("Allow"))
	require.Zero(t, w.count())
}

func TestBadBodies(t *testing.T) {
	const session = "/api/v5/sessions"
	const flag = "/api/v3/comments/c/flag" // sets a field from the path
	w := start(t)
	for _, tc := range []struct {
		name, path, body string
		details          []string // nil: a bad request
	}{
		{"broken", session, `{"userId":`, nil},
		{"broken, with a variable", flag, `{"reason":`, nil},
		{"broken after the good part", flag, `{"reason":"x"} x`, nil},
		{"not JSON", session, `userId=u`, nil},
		{"binary", session, "\x00\x0a\x01u", nil},
		{"binary, with a variable", flag, "\x00\x12\x01u", nil},
		{"a number for a string", session, `{"userId":5,"deviceId":"d"}`, []string{"userId: must be a string"}},
		{"a number for a string, with a variable", flag, `{"reason":5}`, []string{"reason: must be a string"}},
		{"nested", session, `{"deviceInfo":{"kind":true}}`, []string{"deviceInfo.kind: must be a string"}},
		{"a string for an object", session, `{"deviceInfo":"x"}`, []string{"deviceInfo: must be an object"}},
		{"a list", session, `[]`, []string{"body: must be an object"}},
		{"null", flag, `null`, []string{"body: must be an object"}},
		{"a list for a struct", "/api/v4/posts", `{"data":[]}`, []string{"data: must be an object"}},
		{"a string for a list", "/api/v4/posts", `{"tags":"x"}`, []string{"tags: must be a list"}},
		{"a number in a list", "/api/v4/posts", `{"tags":["x",1]}`, []string{"tags[1]: must be a string"}},
		{"duplicate name", session, `{"userId":"a","userId":"b"}`, []string{"body: does not fit the operation"}},
		{"unpaired surrogate", session, `{"userId":"\ud800"}`, []string{"body: does not fit the operation"}},
		{"not UTF-8", session, "{\"userId\":\"\xff\"}", []string{"body: must be valid UTF-8 throughout"}},
		{"NUL", session, `{"userId":"a\u0000b","deviceId":"d"}`, []string{"userId: must be valid UTF-8 without NUL characters"}},
		{
			"NUL in a struct", "/api/v4/posts", `{"data":{"a":[{"b":"\u0000"}]}}`,
			[]string{"data.a[0].b: must be valid UTF-8 without NUL characters"},
		},
		{
			"NUL in the key of a struct", "/api/v4/posts", `{"data":{"a\u0000":1}}`,
			[]string{"data.(a name): must be valid UTF-8 without NUL characters"},
		},
		{
			"nested too deeply", "/api/v4/posts", `{"data":` + strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 201),
			[]string{"body: must not be nested more than 100 levels deep"},
		},
		{"out of bounds", session, `{"userId":"` + strings.Repeat("u", 51) + `","deviceInfo":{"kind":"toaster"}}`, []string{
			"userId: must be at most 50 characters", "deviceId: must be at least 1 characters",
			`deviceInfo.kind: must be in list [ios, android, web, node]`,
		}},
		{"reserved prefix", session, `{"userId":"ADMIN_x","deviceId":"d"}`, []string{"userId: must not start with ADMIN_ or DELETED_"}},
		{
			"in a list", "/api/v4/posts", `{"attachments":[{"type":"image","fileId":"f"},{"type":"image"}]}`,
			[]string{"attachments[1].fileId: must be at least 1 characters"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := w.call(t, "POST", tc.path, tc.body)
			if tc.details == nil {
				requireError(t, got, 400, 400000, "Bad Request.")
			} else {
				requireError(t, got, 422, 500000, "Parameters validation error!", tc.details...)
			}
		})
	}
	require.Zero(t, w.count(), "no handler ran")
}

func TestBadParameters(t *testing.T) {
	w := start(t)
	for _, tc := range []struct {
		path    string
		details []string // nil: a bad request
	}{
		{"/api/v3/user-feeds/u?hasFlag=banana", []string{"hasFlag: must be true or false"}},
		{"/api/v3/user-feeds/u?limit=abc", []string{"limit: must be a whole number within its bounds"}},
		{"/api/v3/user-feeds/u?options[limit]=1.5", []string{"options.limit: must be a whole number within its bounds"}},
		{"/api/v3/user-feeds/u?options[limit]=99999999999", []string{"options.limit: must be a whole number within its bounds"}},
		{"/api/v3/user-feeds/u?options=1", []string{"options: must be an object"}},
		{"/api/v3/user-feeds/u?limit[x]=1", []string{"limit.x: is not a parameter"}},
		{"/api/v3/user-feeds/u?options[limit]=0", []string{"options.limit: must be greater than or equal to 1 and less than or equal to 100"}},
		{"/api/v3/user-feeds/u?dataTypes[]=text", []string{"dataTypes[0]: must be in list [video, image, file, liveStream]"}},
		{"/api/v3/users/list", []string{"userIds: must contain at least 1 item(s)"}},
		{"/api/v3/users/a%00b", []string{"userId: must be valid UTF-8 without NUL characters"}},
		{"/api/v3/users/a%ffb", []string{"body: must be valid UTF-8 throughout"}},
		{"/api/v3/users/list?userIds=%ff", []string{"body: must be valid UTF-8 throughout"}},
		{"/api/v3/users/" + strings.Repeat("u", 901), []string{"userId: must be at most 900 characters"}},
		{"/api/v3/user-feeds/u?a=%zz", nil},
		{"/api/v3/user-feeds/u?%zz=a", nil},
	} {
		t.Run(tc.path, func(t *testing.T) {
			got := w.call(t, "GET", tc.path, "")
			if tc.details == nil {
				requireError(t, got, 400, 400000, "Bad Request.")
			} else {
				requireError(t, got, 422, 500000, "Parameters validation error!", tc.details...)
			}
		})
	}
	require.Zero(t, w.count(), "no handler ran")
}

func TestBadDeleteBodies(t *testing.T) {
	w := start(t)
	requireError(t, w.call(t, "DELETE", "/api/v4/posts/p", `{"permanent":`), 400, 400000, "Bad Request.")
	requireError(t, w.call(t, "DELETE", "/api/v4/posts/p", `[]`), 422, 500000, "Parameters validation error!", "body: must be an object")
	requireError(t, w.call(t, "DELETE", "/api/v4/posts/p", `{"permanent":"x"}`), 422, 500000, "Parameters validation error!",
		"permanent: must be true or false")
	require.Zero(t, w.count(), "no handler ran")
}

func TestModerationAnswersBadRequestForValidationErrors(t *testing.T) {
	w := start(t)
	for _, body := range []string{`{`, `{"isReportEnabled":"yes"}`, `{"isReportEnabled":1}`, `[]`, "\xff"} {
		got := w.call(t, "PUT", "/api/v3/network-settings/moderation", body)
		requireError(t, got, 400, 400000, "Bad Request.")
	}
	require.Zero(t, w.count())
	got := w.call(t, "PUT", "/api/v3/network-settings/moderation", `{"isReportEnabled":true}`)
	require.Equal(t, `{"isWhitelistEnabled":false,"isReportEnabled":true}`, got.body)
}

func TestTokenEndpoint(t *testing.T) {
	const path = "/api/v4/authentication/token"
	w := start(t)
	w.failing(fail.Unauthorized())
	got := w.call(t, "POST", path, `{"userId":"u"}`)
	require.Equal(t, 401, got.status)
	require.Equal(t, `"Unauthorized"`, got.body)
	require.Equal(t, "application/json", got.header.Get("Content-Type"))

	w.failing(io.EOF)
	got = w.call(t, "POST", path, `{"userId":"u"}`)
	require.Equal(t, 500, got.status)
	require.JSONEq(t, `{"status":"error","code":500000,"message":"Unexpected error","data":{}}`, got.body)
	got = w.call(t, "POST", path, `{"userId":`)
	require.Equal(t, 400, got.status)
	require.JSONEq(t, `{"status":"error","code":400000,"message":"Bad Request.","data":{}}`, got.body)
	got = w.call(t, "POST", path, `{}`)
	require.Equal(t, 422, got.status)
	require.JSONEq(t,
		`{"status":"error","code":500000,"message":"Parameters validation error!","data":{"detail":["userId: must be at least 1 characters","userId: does not match regex pattern `+"`[^\\\\s\\\\p{Z}]`"+`"]}}`, got.body)
}

func TestAuthenticationComesBeforeValidation(t *testing.T) {
	reject := connect.UnaryInterceptorFunc(func(connect.UnaryFunc) connect.UnaryFunc {
		return func(context.Context, connect.AnyRequest) (connect.AnyResponse, error) {
			return nil, fail.Unauthorized()
		}
	})
	w := start(t, func(o *edge.Options) { o.Interceptors = []connect.Interceptor{reject} })
	requireError(t, w.call(t, "POST", "/api/v5/sessions", `{"userId":`), 401, 400100, "Unauthorized")
	requireError(t, w.call(t, "GET", "/api/v3/users/list", ""), 401, 400100, "Unauthorized")
}

func TestBodyLimit(t *testing.T) {
	w := start(t, func(o *edge.Options) { o.MaxBodyBytes = 100 })
	body := func(length int) string { return `{"reason":"` + strings.Repeat("x", length-13) + `"}` }
	tooLarge := func(t *testing.T, got reply) {
		t.Helper()
		requireError(t, got, 413, 500000, "Payload Too Large", "the body may have at most 100 bytes")
	}
	t.Run("at the limit", func(t *testing.T) {
		require.Equal(t, 200, w.call(t, "POST", "/api/v3/comments/c/flag", body(100)).status)
	})
	t.Run("by content length", func(t *testing.T) {
		tooLarge(t, w.call(t, "POST", "/api/v3/comments/c/flag", body(101)))
	})
	t.Run("in chunks", func(t *testing.T) {
		tooLarge(t, w.stream(t, strings.NewReader(body(101)), ""))
	})
	t.Run("compressed", func(t *testing.T) {
		require.Equal(t, 200, w.stream(t, gzipped(t, body(100)), "gzip").status)
	})
	t.Run("a bomb", func(t *testing.T) {
		tooLarge(t, w.stream(t, gzipped(t, body(101)), "gzip"))
	})
	t.Run("not gzip", func(t *testing.T) {
		requireError(t, w.stream(t, strings.NewReader("{}"), "gzip"), 400, 400000, "Bad Request.")
	})
	t.Run("cut off", func(t *testing.T) {
		requireError(t, w.stream(t, io.LimitReader(gzipped(t, body(50)), 20), "gzip"), 400, 400000, "Bad Request.")
	})
	t.Run("another compression", func(t *testing.T) {
		requireError(t, w.stream(t, strings.NewReader("{}"), "br"), 415, 400000, "Bad Request.")
	})
	require.Equal(t, 2, w.count())
}

// stream sends a POST request with a body of unknown length.
func (w *world) stream(t *testing.T, body io.Reader, encoding string) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "POST", w.url+"/api/v3/comments/c/flag", struct{ io.Reader }{body})
	require.NoError(t, err)
	if encoding != "" {
		request.Header.Set("Content-Encoding", encoding)
	}
	response, err := w.client.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return reply{status: response.StatusCode, header: response.Header, body: string(data)}
}

func gzipped(t *testing.T, text string) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	writer := gzip.NewWriter(&b)
	_, err := writer.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	return &b
}

// TestTooLargeIsNotRead announces a body of one gigabyte and expects the response before sending any of it.
func TestTooLargeIsNotRead(t *testing.T) {
	w := start(t)
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, "POST /api/v3/comments/c/flag HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n")
	require.NoError(t, err)
	answer, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Contains(t, string(answer), "413 Request Entity Too Large")
	require.Contains(t, string(answer), "Connection: close")
	require.Contains(t, string(answer), "Payload Too Large")
}

func TestRequestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startPiped(t)
		w.do = func(ctx context.Context) error {
			<-ctx.Done()
			return fmt.Errorf("query: %w", ctx.Err())
		}
		got := w.call(t, "GET", "/api/v3/comments/c", "", "X-Server-Timeout", "1000", "Connect-Timeout-Ms", "100000")
		requireError(t, got, 503, 500000, "Unexpected error", "the operation did not finish in time")
		for range 10 { // the read deadline of the body must be cleared, or the request would be canceled as if the client had disconnected
			got = w.call(t, "POST", "/api/v3/comments/c/flag", "{}")
			requireError(t, got, 503, 500000, "Unexpected error", "the operation did not finish in time")
			got = w.call(t, "POST", "/plaza.v1.CommentService/FlagComment", `{"commentId":"c"}`, "Content-Type", "application/json")
			require.Contains(t, got.body, `"code":"unavailable"`)
		}
	})
}

// TestBodyTimeout sends headers without the bodies that they announce.
func TestBodyTimeout(t *testing.T) {
	stream := edge.Stream{Procedure: "/plaza.v1.FileService/Stream", Method: http.MethodPost, Path: "/stream", Serve: edge.ReadStream}
	for path, want := range map[string][]string{
		"/api/v3/comments/c/flag":              {"408 Request Timeout", `{"status":"error","code":400000,"message":"Bad Request."}`},
		"/stream":                              {"408 Request Timeout", `{"status":"error","code":400000,"message":"Bad Request."}`},
		"/plaza.v1.CommentService/FlagComment": {"Content-Type: application/json", `"code":`},
	} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := startPiped(t, func(o *edge.Options) { o.Streams = []edge.Stream{stream} })
				conn, err := w.dial(t.Context(), "tcp", "")
				require.NoError(t, err)
				defer func() { _ = conn.Close() }()
				_, err = io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{")
				require.NoError(t, err)
				answer, err := io.ReadAll(conn)
				require.NoError(t, err)
				for _, part := range want {
					require.Contains(t, string(answer), part)
				}
				require.Zero(t, w.count())
			})
		})
	}
}

// TestClientGone cancels a request while its handler runs. It is logged with status 499 and not as an error.
func TestClientGone(t *testing.T) {
	w := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan struct{})
	w.do = func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		defer close(left)
		return fmt.Errorf("query: %w", ctx.Err())
	}
	request, err := http.NewRequestWithContext(ctx, "GET", w.url+"/api/v3/comments/c", nil)
	require.NoError(t, err)
	response, err := w.client.Do(request)
	if err == nil {
		_ = response.Body.Close()
	}
	require.ErrorIs(t, err, context.Canceled)
	<-left
	require.Eventually(t, func() bool { return strings.Contains(w.log.String(), `"status":499`) }, patience, time.Millisecond)
	require.NotContains(t, w.log.String(), "ERROR")
}

// TestResetBeforeTheRequest checks that nothing is done for a stream that its client has reset.
func TestResetBeforeTheRequest(t *testing.T) {
	t.Parallel()
	f := &fake{post: &plazav1.ListPostsResponse{}}
	handler, err := edge.New(edge.Options{Services: f.services()})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/v3/comments/c", nil)
	request.ProtoMajor, request.ProtoMinor = 2, 0
	handler.ServeHTTP(httptest.NewRecorder(), request)
	require.Equal(t, 1, f.count())
	cancel()
	handler.ServeHTTP(httptest.NewRecorder(), request)
	require.Equal(t, 1, f.count())
}

// TestLastRecover panics outside the interceptors.
func TestLastRecover(t *testing.T) {
	w := start(t, func(o *edge.Options) { o.Ready = func(context.Context) error { panic("not ready at all") } })
	got := w.call(t, "POST", "/grpc.health.v1.Health/Check", "{}", "Content-Type", "application/json")
	requireError(t, got, 500, 500000, "Unexpected error")
	require.Contains(t, w.log.String(), "not ready at all")
	require.Contains(t, w.log.String(), `"status":500`)
}
