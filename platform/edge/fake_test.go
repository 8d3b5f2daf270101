package edge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/fail"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

// fake implements some operations. It records the last request and calls do.
type fake struct {
	plazav1connect.UnimplementedAuthenticationServiceHandler
	plazav1connect.UnimplementedSessionServiceHandler
	plazav1connect.UnimplementedUserServiceHandler
	plazav1connect.UnimplementedRoleServiceHandler
	plazav1connect.UnimplementedCategoryServiceHandler
	plazav1connect.UnimplementedProductServiceHandler
	plazav1connect.UnimplementedNetworkSettingServiceHandler
	plazav1connect.UnimplementedCommunityServiceHandler
	plazav1connect.UnimplementedMemberServiceHandler
	plazav1connect.UnimplementedJoinRequestServiceHandler
	plazav1connect.UnimplementedInvitationServiceHandler
	plazav1connect.UnimplementedPostServiceHandler
	plazav1connect.UnimplementedCommentServiceHandler
	plazav1connect.UnimplementedFeedServiceHandler
	plazav1connect.UnimplementedReactionServiceHandler
	plazav1connect.UnimplementedFollowServiceHandler
	plazav1connect.UnimplementedPinServiceHandler
	plazav1connect.UnimplementedScheduledPostServiceHandler
	plazav1connect.UnimplementedPollServiceHandler
	plazav1connect.UnimplementedVideoStreamingServiceHandler
	plazav1connect.UnimplementedRoomServiceHandler
	plazav1connect.UnimplementedEventServiceHandler
	plazav1connect.UnimplementedFileServiceHandler
	plazav1connect.UnimplementedMarkerServiceHandler
	plazav1connect.UnimplementedMessageFeedServiceHandler
	plazav1connect.UnimplementedMessageServiceHandler
	plazav1connect.UnimplementedStoryServiceHandler
	plazav1connect.UnimplementedAnalyticsServiceHandler
	plazav1connect.UnimplementedChannelServiceHandler
	plazav1connect.UnimplementedChannelUserServiceHandler
	plazav1connect.UnimplementedModerationListServiceHandler
	plazav1connect.UnimplementedErasureServiceHandler
	plazav1connect.UnimplementedMoveServiceHandler
	plazav1connect.UnimplementedExportServiceHandler
	plazav1connect.UnimplementedFlagServiceHandler
	plazav1connect.UnimplementedAuditServiceHandler
	plazav1connect.UnimplementedPresenceServiceHandler
	plazav1connect.UnimplementedSearchServiceHandler
	plazav1connect.UnimplementedNotificationServiceHandler
	plazav1connect.UnimplementedLinkPreviewServiceHandler
	plazav1connect.UnimplementedWebhookServiceHandler
	plazav1connect.UnimplementedPrehookServiceHandler

	mu    sync.Mutex
	last  proto.Message
	calls int
	do    func(ctx context.Context) error
	post  *plazav1.ListPostsResponse
}

func (f *fake) saw(ctx context.Context, request proto.Message) error {
	f.mu.Lock()
	f.last = request
	f.calls++
	do := f.do
	f.mu.Unlock()
	if do != nil {
		return do(ctx)
	}
	return nil
}

func answer[T any](message *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return message, nil
}

func (f *fake) CreateToken(ctx context.Context, r *plazav1.CreateTokenRequest) (*plazav1.CreateTokenResponse, error) {
	return answer(&plazav1.CreateTokenResponse{Token: `pz1."quoted"`}, f.saw(ctx, r))
}

func (f *fake) CreateSession(ctx context.Context, r *plazav1.CreateSessionRequest) (*plazav1.CreateSessionResponse, error) {
	return answer(&plazav1.CreateSessionResponse{AccessToken: "t"}, f.saw(ctx, r))
}

func (f *fake) BatchGetUsers(ctx context.Context, r *plazav1.BatchGetUsersRequest) (*plazav1.UserResponse, error) {
	return answer(&plazav1.UserResponse{}, f.saw(ctx, r))
}

func (f *fake) GetUser(ctx context.Context, r *plazav1.GetUserRequest) (*plazav1.UserResponse, error) {
	return answer(&plazav1.UserResponse{}, f.saw(ctx, r))
}

func (f *fake) UpdateUser(ctx context.Context, r *plazav1.UpdateUserRequest) (*plazav1.UserResponse, error) {
	return answer(&plazav1.UserResponse{}, f.saw(ctx, r))
}

func (f *fake) GetRole(ctx context.Context, r *plazav1.GetRoleRequest) (*plazav1.GetRoleResponse, error) {
	return answer(&plazav1.GetRoleResponse{Roles: []*plazav1.Role{{RoleId: r.GetRoleId()}}}, f.saw(ctx, r))
}

func (f *fake) UpdateModeration(ctx context.Context, r *plazav1.UpdateModerationRequest) (*plazav1.ModerationConfiguration, error) {
	return answer(&plazav1.ModerationConfiguration{IsReportEnabled: r.GetIsReportEnabled()}, f.saw(ctx, r))
}

func (f *fake) RemoveMembers(ctx context.Context, r *plazav1.RemoveMembersRequest) (*plazav1.CommunityResponse, error) {
	return answer(&plazav1.CommunityResponse{}, f.saw(ctx, r))
}

func (f *fake) JoinCommunity(ctx context.Context, r *plazav1.JoinCommunityRequest) (*plazav1.CommunityResponse, error) {
	return answer(&plazav1.CommunityResponse{}, f.saw(ctx, r))
}

func (f *fake) CreatePost(ctx context.Context, r *plazav1.CreatePostRequest) (*plazav1.PostResponse, error) {
	return answer(&plazav1.PostResponse{}, f.saw(ctx, r))
}

func (f *fake) ListPosts(ctx context.Context, r *plazav1.ListPostsRequest) (*plazav1.ListPostsResponse, error) {
	return answer(proto.CloneOf(f.post), f.saw(ctx, r)) // a new one each time, as services make them: its tokens get their seals
}

func (f *fake) DeletePost(ctx context.Context, r *plazav1.DeletePostRequest) (*plazav1.StatusSuccessResponse, error) {
	return answer(&plazav1.StatusSuccessResponse{Success: true}, f.saw(ctx, r))
}

func (f *fake) ListComments(ctx context.Context, r *plazav1.ListCommentsRequest) (*plazav1.ListCommentsResponse, error) {
	return answer(&plazav1.ListCommentsResponse{}, f.saw(ctx, r))
}

func (f *fake) GetComment(ctx context.Context, r *plazav1.GetCommentRequest) (*plazav1.CommentResponse, error) {
	return answer(commentAnswer(r.GetCommentId()), f.saw(ctx, r))
}

func (f *fake) FlagComment(ctx context.Context, r *plazav1.FlagCommentRequest) (*plazav1.CommentResponse, error) {
	return answer(commentAnswer(r.GetCommentId()), f.saw(ctx, r))
}

func (f *fake) ListUserFeed(ctx context.Context, r *plazav1.ListUserFeedRequest) (*plazav1.ListUserFeedResponse, error) {
	return answer(&plazav1.ListUserFeedResponse{}, f.saw(ctx, r))
}

func commentAnswer(id string) *plazav1.CommentResponse {
	data, _ := structpb.NewStruct(map[string]any{"text": "a <b> & \"c\"", "n": 1.5, "deep": map[string]any{"list": []any{true, nil}}})
	return &plazav1.CommentResponse{Comments: []*plazav1.Comment{{
		CommentId: id, PrivateId: id, Data: data, Reactions: map[string]int32{"love": 2, "like": 1},
		CreatedAt: timestamppb.New(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)),
	}}}
}

func (f *fake) request() proto.Message {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

func (f *fake) services() edge.Services {
	return edge.Services{
		edge.Implement(plazav1connect.NewAuthenticationServiceHandler)(f),
		edge.Implement(plazav1connect.NewSessionServiceHandler)(f),
		edge.Implement(plazav1connect.NewUserServiceHandler)(f),
		edge.Implement(plazav1connect.NewRoleServiceHandler)(f),
		edge.Implement(plazav1connect.NewCategoryServiceHandler)(f),
		edge.Implement(plazav1connect.NewProductServiceHandler)(f),
		edge.Implement(plazav1connect.NewNetworkSettingServiceHandler)(f),
		edge.Implement(plazav1connect.NewCommunityServiceHandler)(f),
		edge.Implement(plazav1connect.NewMemberServiceHandler)(f),
		edge.Implement(plazav1connect.NewJoinRequestServiceHandler)(f),
		edge.Implement(plazav1connect.NewInvitationServiceHandler)(f),
		edge.Implement(plazav1connect.NewPostServiceHandler)(f),
		edge.Implement(plazav1connect.NewCommentServiceHandler)(f),
		edge.Implement(plazav1connect.NewFeedServiceHandler)(f),
		edge.Implement(plazav1connect.NewReactionServiceHandler)(f),
		edge.Implement(plazav1connect.NewFollowServiceHandler)(f),
		edge.Implement(plazav1connect.NewPinServiceHandler)(f),
		edge.Implement(plazav1connect.NewScheduledPostServiceHandler)(f),
		edge.Implement(plazav1connect.NewPollServiceHandler)(f),
		edge.Implement(plazav1connect.NewVideoStreamingServiceHandler)(f),
		edge.Implement(plazav1connect.NewRoomServiceHandler)(f),
		edge.Implement(plazav1connect.NewEventServiceHandler)(f),
		edge.Implement(plazav1connect.NewFileServiceHandler)(f),
		edge.Implement(plazav1connect.NewMarkerServiceHandler)(f),
		edge.Implement(plazav1connect.NewMessageFeedServiceHandler)(f),
		edge.Implement(plazav1connect.NewMessageServiceHandler)(f),
		edge.Implement(plazav1connect.NewStoryServiceHandler)(f),
		edge.Implement(plazav1connect.NewAnalyticsServiceHandler)(f),
		edge.Implement(plazav1connect.NewChannelServiceHandler)(f),
		edge.Implement(plazav1connect.NewChannelUserServiceHandler)(f),
		edge.Implement(plazav1connect.NewModerationListServiceHandler)(f),
		edge.Implement(plazav1connect.NewErasureServiceHandler)(f),
		edge.Implement(plazav1connect.NewExportServiceHandler)(f),
		edge.Implement(plazav1connect.NewMoveServiceHandler)(f),
		edge.Implement(plazav1connect.NewFlagServiceHandler)(f),
		edge.Implement(plazav1connect.NewAuditServiceHandler)(f),
		edge.Implement(plazav1connect.NewPresenceServiceHandler)(f),
		edge.Implement(plazav1connect.NewSearchServiceHandler)(f),
		edge.Implement(plazav1connect.NewNotificationServiceHandler)(f),
		edge.Implement(plazav1connect.NewLinkPreviewServiceHandler)(f),
		edge.Implement(plazav1connect.NewWebhookServiceHandler)(f),
		edge.Implement(plazav1connect.NewPrehookServiceHandler)(f),
	}
}

// world is a server with fake services.
type world struct {
	*fake
	url      string
	client   *http.Client
	dial     func(ctx context.Context, network, address string) (net.Conn, error) // connects to the server
	log      *logBuffer
	registry *prometheus.Registry
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start starts a server, after change has changed its options.
func start(t *testing.T, change ...func(*edge.Options)) *world {
	t.Helper()
	w, handler := newWorld(t, change...)
	server := httptest.NewUnstartedServer(nil)
	server.Config = edge.NewServer(handler, time.Minute)
	server.Start()
	t.Cleanup(server.Close)
	w.url, w.client = server.URL, server.Client()
	w.dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
	return w
}

// newWorld returns a world without a server, and the handler of its server.
func newWorld(t *testing.T, change ...func(*edge.Options)) (*world, http.Handler) {
	t.Helper()
	w := &world{fake: &fake{post: &plazav1.ListPostsResponse{}}, log: &logBuffer{}, registry: prometheus.NewRegistry()}
	options := edge.Options{
		Services:   w.services(),
		Log:        slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		LogOneIn:   1,
		Registerer: w.registry,
	}
	for _, c := range change {
		c(&options)
	}
	handler, err := edge.New(options)
	require.NoError(t, err)
	return w, handler
}

// reply is a response with its whole body.
type reply struct {
	status int
	header http.Header
	body   string
}

// call sends a request; headers are pairs of name and value.
func (w *world) call(t *testing.T, method, path, body string, headers ...string) reply {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, w.url+path, reader)
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := w.client.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return reply{status: response.StatusCode, header: response.Header, body: string(data)}
}

// requireError compares a response with an error body.
func requireError(t *testing.T, got reply, status, code int, message string, details ...string) {
	t.Helper()
	want := map[string]any{"status": "error", "code": float64(code), "message": message}
	if len(details) > 0 {
		list := make([]any, 0, len(details))
		for _, detail := range details {
			list = append(list, detail)
		}
		want["data"] = map[string]any{"detail": list}
	}
	var body any
	require.NoError(t, json.Unmarshal([]byte(got.body), &body), "body: %s", got.body)
	require.Equal(t, want, body)
	require.Equal(t, status, got.status)
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	require.NotEmpty(t, got.header.Get(edge.HeaderRequestID))
}

func requireMessage(t *testing.T, want, got proto.Message) {
	t.Helper()
	require.True(t, proto.Equal(want, got), "want %v\ngot  %v", want, got)
}

// failing makes every operation return err.
func (f *fake) failing(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.do = func(context.Context) error { return err }
}

var errSecret = fail.NotFound().Because(io.ErrUnexpectedEOF)
