package idempotency

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

// reader implements the reads of recoveries. It records the requests.
type reader struct {
	plazav1connect.UnimplementedCategoryServiceHandler
	plazav1connect.UnimplementedProductServiceHandler
	plazav1connect.UnimplementedChannelServiceHandler
	plazav1connect.UnimplementedCommentServiceHandler
	plazav1connect.UnimplementedCommunityServiceHandler
	plazav1connect.UnimplementedMessageServiceHandler
	plazav1connect.UnimplementedMessageFeedServiceHandler
	plazav1connect.UnimplementedWebhookServiceHandler
	plazav1connect.UnimplementedPollServiceHandler
	plazav1connect.UnimplementedPostServiceHandler
	plazav1connect.UnimplementedRoomServiceHandler
	plazav1connect.UnimplementedEventServiceHandler
	plazav1connect.UnimplementedStoryServiceHandler
	plazav1connect.UnimplementedVideoStreamingServiceHandler
	plazav1connect.UnimplementedJoinRequestServiceHandler
	plazav1connect.UnimplementedExportServiceHandler
	plazav1connect.UnimplementedMoveServiceHandler
	plazav1connect.UnimplementedFlagServiceHandler

	read []proto.Message
}

func readBy[R any](r *reader, request proto.Message) (*R, error) {
	r.read = append(r.read, request)
	return new(R), nil
}

func (r *reader) GetCategory(_ context.Context, q *plazav1.GetCategoryRequest) (*plazav1.CategoryResponse, error) {
	return readBy[plazav1.CategoryResponse](r, q)
}

func (r *reader) GetProduct(_ context.Context, q *plazav1.GetProductRequest) (*plazav1.ProductResponse, error) {
	return readBy[plazav1.ProductResponse](r, q)
}

func (r *reader) GetChannel(_ context.Context, q *plazav1.GetChannelRequest) (*plazav1.ChannelResponse, error) {
	return readBy[plazav1.ChannelResponse](r, q)
}

func (r *reader) GetComment(_ context.Context, q *plazav1.GetCommentRequest) (*plazav1.CommentResponse, error) {
	return readBy[plazav1.CommentResponse](r, q)
}

func (r *reader) GetCommunity(_ context.Context, q *plazav1.GetCommunityRequest) (*plazav1.CommunityResponse, error) {
	return readBy[plazav1.CommunityResponse](r, q)
}

func (r *reader) GetMessage(_ context.Context, q *plazav1.GetMessageRequest) (*plazav1.MessageResponse, error) {
	return readBy[plazav1.MessageResponse](r, q)
}

func (r *reader) GetMessageFeed(_ context.Context, q *plazav1.GetMessageFeedRequest) (*plazav1.MessageFeedResponse, error) {
	return readBy[plazav1.MessageFeedResponse](r, q)
}

func (r *reader) GetWebhook(_ context.Context, q *plazav1.GetWebhookRequest) (*plazav1.WebhookResponse, error) {
	return readBy[plazav1.WebhookResponse](r, q)
}

func (r *reader) GetPoll(_ context.Context, q *plazav1.GetPollRequest) (*plazav1.PollResponse, error) {
	return readBy[plazav1.PollResponse](r, q)
}

func (r *reader) GetPost(_ context.Context, q *plazav1.GetPostRequest) (*plazav1.PostResponse, error) {
	return readBy[plazav1.PostResponse](r, q)
}

func (r *reader) GetRoom(_ context.Context, q *plazav1.GetRoomRequest) (*plazav1.RoomResponse, error) {
	return readBy[plazav1.RoomResponse](r, q)
}

func (r *reader) GetEvent(_ context.Context, q *plazav1.GetEventRequest) (*plazav1.EventResponse, error) {
	return readBy[plazav1.EventResponse](r, q)
}

func (r *reader) GetStory(_ context.Context, q *plazav1.GetStoryRequest) (*plazav1.StoryResponse, error) {
	return readBy[plazav1.StoryResponse](r, q)
}

func (r *reader) GetVideoStreaming(_ context.Context, q *plazav1.GetVideoStreamingRequest) (*plazav1.VideoStreamingResponse, error) {
	return readBy[plazav1.VideoStreamingResponse](r, q)
}

func (r *reader) GetMyEventRsvp(_ context.Context, q *plazav1.GetMyEventRsvpRequest) (*plazav1.EventRsvpResponse, error) {
	return readBy[plazav1.EventRsvpResponse](r, q)
}

func (r *reader) GetMyJoinRequest(_ context.Context, q *plazav1.GetMyJoinRequestRequest) (*plazav1.JoinRequestResponse, error) {
	return readBy[plazav1.JoinRequestResponse](r, q)
}

func (r *reader) GetExport(_ context.Context, q *plazav1.GetExportRequest) (*plazav1.ExportResponse, error) {
	return readBy[plazav1.ExportResponse](r, q)
}

func (r *reader) GetUserMove(_ context.Context, q *plazav1.GetUserMoveRequest) (*plazav1.UserMoveResponse, error) {
	return readBy[plazav1.UserMoveResponse](r, q)
}

func (r *reader) GetFlagItem(_ context.Context, q *plazav1.GetFlagItemRequest) (*plazav1.FlagItemResponse, error) {
	return readBy[plazav1.FlagItemResponse](r, q)
}

// services returns the services of which r implements the reads.
func (r *reader) services() map[string]any {
	services := map[string]any{}
	for _, name := range []string{
		"Category", "Product", "Channel", "Comment", "Community", "Message", "MessageFeed", "Webhook", "Poll", "Post",
		"Room", "Event", "Story", "VideoStreaming", "JoinRequest", "Export", "Move", "Flag",
	} {
		services["plaza.v1."+name+"Service"] = r
	}
	return services
}

// TestAnswersAreReadAgain checks what is read for the answer of a request that was carried out: the object with the last id that the
// request has created, or the one that it names.
func TestAnswersAreReadAgain(t *testing.T) {
	t.Parallel()
	r := &reader{}
	all := newExecutor(t, r).operations
	for procedure, want := range map[string]proto.Message{
		"CategoryService/CreateCategory":             &plazav1.GetCategoryRequest{CategoryId: "new"},
		"ProductService/CreateProduct":               &plazav1.GetProductRequest{ProductId: "new"},
		"ChannelService/CreateChannel":               &plazav1.GetChannelRequest{ChannelId: "new"},
		"ChannelService/CreateConversation":          &plazav1.GetChannelRequest{ChannelId: "new"},
		"CommentService/CreateComment":               &plazav1.GetCommentRequest{CommentId: "new"},
		"CommunityService/CreateCommunity":           &plazav1.GetCommunityRequest{CommunityId: "new"},
		"MessageService/CreateMessage":               &plazav1.GetMessageRequest{MessageId: "new"},
		"MessageService/CreateChannelMessage":        &plazav1.GetMessageRequest{MessageId: "new"},
		"MessageFeedService/CreateMessageFeed":       &plazav1.GetMessageFeedRequest{MessageFeedId: "new"},
		"WebhookService/CreateWebhook":               &plazav1.GetWebhookRequest{WebhookId: "new"},
		"PollService/CreatePoll":                     &plazav1.GetPollRequest{PollId: "new"},
		"PostService/CreatePost":                     &plazav1.GetPostRequest{PostId: "new"},
		"RoomService/CreateRoom":                     &plazav1.GetRoomRequest{RoomId: "new"},
		"EventService/CreateEvent":                   &plazav1.GetEventRequest{EventId: "new"},
		"StoryService/CreateStory":                   &plazav1.GetStoryRequest{StoryId: "new"},
		"VideoStreamingService/CreateVideoStreaming": &plazav1.GetVideoStreamingRequest{StreamId: "new"},
	} {
		requireRead(t, r, all["/plaza.v1."+procedure].recovery, true, nil, want)
	}
	for procedure, tc := range map[string]struct{ request, want proto.Message }{
		"PostService/ApprovePost":        {&plazav1.ApprovePostRequest{PostId: "x"}, &plazav1.GetPostRequest{PostId: "x"}},
		"PostService/DeclinePost":        {&plazav1.DeclinePostRequest{PostId: "x"}, &plazav1.GetPostRequest{PostId: "x"}},
		"CommentService/ApproveComment":  {&plazav1.ApproveCommentRequest{CommentId: "x"}, &plazav1.GetCommentRequest{CommentId: "x"}},
		"CommentService/DeclineComment":  {&plazav1.DeclineCommentRequest{CommentId: "x"}, &plazav1.GetCommentRequest{CommentId: "x"}},
		"PollService/VotePoll":           {&plazav1.VotePollRequest{PollId: "x"}, &plazav1.GetPollRequest{PollId: "x"}},
		"EventService/CreateEventRsvp":   {&plazav1.CreateEventRsvpRequest{EventId: "x"}, &plazav1.GetMyEventRsvpRequest{EventId: "x"}},
		"JoinRequestService/RequestJoin": {&plazav1.RequestJoinRequest{CommunityId: "x"}, &plazav1.GetMyJoinRequestRequest{CommunityId: "x"}},
		"ExportService/StartExport":      {&plazav1.StartExportRequest{UserId: "x"}, &plazav1.GetExportRequest{UserId: "x"}},
		"MoveService/MoveUser":           {&plazav1.MoveUserRequest{UserId: "x"}, &plazav1.GetUserMoveRequest{UserId: "x"}},
		"FlagService/ClaimFlagItem":      {&plazav1.ClaimFlagItemRequest{TargetId: "x"}, &plazav1.GetFlagItemRequest{TargetId: "x"}},
		"FlagService/ResolveFlagItem":    {&plazav1.ResolveFlagItemRequest{TargetId: "x"}, &plazav1.GetFlagItemRequest{TargetId: "x"}},
		"FlagService/AddFlagNote":        {&plazav1.AddFlagNoteRequest{TargetId: "x"}, &plazav1.GetFlagItemRequest{TargetId: "x"}},
	} {
		requireRead(t, r, all["/plaza.v1."+procedure].recovery, false, tc.request, tc.want)
	}
}

// requireRead checks what a recovery reads.
func requireRead(t *testing.T, r *reader, recovered Recovery, needsIDs bool, request proto.Message, want ...proto.Message) {
	t.Helper()
	r.read = nil
	require.Equal(t, needsIDs, recovered.NeedsIDs)
	_, err := recovered.Read(t.Context(), request, []string{"old", "new"})
	require.NoError(t, err)
	require.Len(t, r.read, len(want))
	for i := range want {
		require.True(t, proto.Equal(want[i], r.read[i]), "want %v\ngot  %v", want[i], r.read[i])
	}
}

// TestCompleteRecoveries checks when the answer of a request can be read again.
func TestCompleteRecoveries(t *testing.T) {
	t.Parallel()
	read := func(context.Context, proto.Message, []string) (proto.Message, error) { return nil, nil }
	some := []string{"id"}
	require.False(t, Recovery{}.complete(true, some), "it is executed again")
	require.True(t, Recovery{Read: read}.complete(true, nil))
	require.False(t, Recovery{Read: read}.complete(false, nil), "nothing was changed")
	require.True(t, Recovery{Read: read, NeedsIDs: true}.complete(true, some))
	require.False(t, Recovery{Read: read, NeedsIDs: true}.complete(true, nil))
}
