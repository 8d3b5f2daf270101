package app

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

// repeatable are the operations whose requests can be executed again: they lead to a state that they leave unchanged.
var repeatable = []string{
	"AnalyticsService/ReportActivities", "PresenceService/SendRoomHeartbeat", "AuthenticationService/CreateToken", "ChannelService/ArchiveChannel", "ChannelService/SeeChannels",
	"ChannelUserService/AddChannelUserRoles", "ChannelUserService/AddChannelUsers", "ChannelUserService/JoinChannel",
	"CommentService/FlagComment", "FollowService/AcceptFollower", "FollowService/BlockUser", "FollowService/FollowUser",
	"MarkerService/ReadingMessageFeeds", "MarkerService/StartReading", "MarkerService/StopReading", "MarkerService/SyncMarkers",
	"MemberService/AddMemberRoles", "MemberService/AddMembers", "MemberService/JoinCommunity", "MessageService/FlagMessage",
	"ModerationListService/AddAllowRules", "ModerationListService/AddBlockRules", "ModerationListService/VerifyAllowed",
	"ModerationListService/VerifyNotBlocked", "NotificationService/MarkTrayItemsSeen", "NotificationService/MarkTraySeen", "NotificationService/RegisterDevice", "NotificationService/UpdateNotificationSetting", "PinService/PinCommunityPost", "PinService/PinGlobalPost",
	"PostService/FlagPost", "RoomService/LeaveRoom", "RoomService/ReportRoom", "RoomService/StopRoom", "SessionService/CreateSession", "SessionService/CreateVisitorSession", "SessionService/CreateBotSession",
	"ReactionService/CreateLiveReactions", "PresenceService/SendHeartbeat",
	"StoryService/FlagStory", "UserService/BanUser", "UserService/FlagUser", "UserService/UnbanUser",
	"VideoStreamingService/ReportVideoStreaming", "WebhookService/ReplayWebhookDeliveries",
}

// unimplemented contains the services whose methods recoveries refers to; the test calls none of them.
var unimplemented = edge.Services{
	Product:  plazav1connect.UnimplementedProductServiceHandler{},
	Category: plazav1connect.UnimplementedCategoryServiceHandler{}, Channel: plazav1connect.UnimplementedChannelServiceHandler{},
	Comment: plazav1connect.UnimplementedCommentServiceHandler{}, Community: plazav1connect.UnimplementedCommunityServiceHandler{},
	Export: plazav1connect.UnimplementedExportServiceHandler{}, File: plazav1connect.UnimplementedFileServiceHandler{},
	Flag: plazav1connect.UnimplementedFlagServiceHandler{}, JoinRequest: plazav1connect.UnimplementedJoinRequestServiceHandler{},
	Message: plazav1connect.UnimplementedMessageServiceHandler{}, MessageFeed: plazav1connect.UnimplementedMessageFeedServiceHandler{},
	Move: plazav1connect.UnimplementedMoveServiceHandler{}, Poll: plazav1connect.UnimplementedPollServiceHandler{},
	Post: plazav1connect.UnimplementedPostServiceHandler{}, Role: plazav1connect.UnimplementedRoleServiceHandler{},
	Event: plazav1connect.UnimplementedEventServiceHandler{},
	Room:  plazav1connect.UnimplementedRoomServiceHandler{}, Story: plazav1connect.UnimplementedStoryServiceHandler{},
	VideoStreaming: plazav1connect.UnimplementedVideoStreamingServiceHandler{}, Webhook: plazav1connect.UnimplementedWebhookServiceHandler{},
}

// TestRecoveryIsComplete checks when the answer of a request that was carried out can be read.
func TestRecoveryIsComplete(t *testing.T) {
	t.Parallel()
	read := func(context.Context, proto.Message, []string) (proto.Message, error) { return nil, nil }
	ids := []string{"id"}
	require.True(t, recovery{read, true}.complete(true, ids))
	require.True(t, recovery{read, false}.complete(true, nil))
	require.False(t, recovery{read, true}.complete(true, nil), "without the id that it needs")
	require.False(t, recovery{read, true}.complete(false, ids), "nothing has changed")
	require.False(t, recovery{read, false}.complete(false, ids), "nothing has changed")
	require.False(t, recovery{}.complete(true, ids), "there is nothing to read")
}

// TestEveryOperationIsRecovered checks that each operation with an Idempotency-Key has a recovery or is listed in
// repeatable.
func TestEveryOperationIsRecovered(t *testing.T) {
	t.Parallel()
	decided := slices.Concat(repeatable, edge.UploadProcedures())
	for i := range repeatable {
		decided[i] = procedurePrefix + decided[i]
	}
	wanted := slices.Concat(slices.Collect(maps.Keys(repeatableOutputs())), edge.UploadProcedures())
	recovered := slices.DeleteFunc(slices.Collect(maps.Keys(recoveries(nil, unimplemented))), func(name string) bool { return slices.Contains(edge.UploadProcedures(), name) })
	require.ElementsMatch(t, wanted, slices.Concat(decided, recovered))
}

// TestLastIDIsRecovered checks that an answer is read with the last id that an operation has chosen: conflicts rejected the others.
func TestLastIDIsRecovered(t *testing.T) {
	t.Parallel()
	ids := []string{"rejected", "stored"}
	get := func(_ context.Context, q *plazav1.GetPollRequest) (*plazav1.AddReactionResponse, error) {
		return &plazav1.AddReactionResponse{AddedId: q.GetPollId()}, nil
	}
	read := created(get, func(id string) *plazav1.GetPollRequest { return &plazav1.GetPollRequest{PollId: id} })
	answer, err := read.read(t.Context(), nil, ids)
	require.NoError(t, err)
	require.Equal(t, "stored", answer.(*plazav1.AddReactionResponse).GetAddedId())
	require.True(t, read.complete(true, ids))
	require.False(t, read.complete(false, ids), "nothing was committed")
	require.False(t, read.complete(true, nil), "nothing was created")

	st, err := store.Open(t.Context(), db.Config{URLs: map[region.Code]string{"": dbtest.New(t)}, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	ctx := auth.WithCaller(t.Context(), &auth.Caller{Kind: auth.Admin, Home: region.EU})
	answer, err = known(&service.Deps{Store: st, Region: region.EU}, true, func(id string) proto.Message {
		return &plazav1.AddReactionResponse{AddedId: id}
	}).read(ctx, nil, ids)
	require.NoError(t, err)
	require.Equal(t, "stored", answer.(*plazav1.AddReactionResponse).GetAddedId())
}
