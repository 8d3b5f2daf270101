package app

import (
	"context"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/invitation"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// recovery is how the answer of a request that was carried out is read again. An operation without one can be executed
// again, which changes nothing.
type recovery struct {
	read     func(ctx context.Context, request proto.Message, created []string) (proto.Message, error)
	needsIDs bool // read needs the ids of what the request has created
}

// complete reports whether the answer can be read: whether the request was carried out.
func (r recovery) complete(changed bool, created []string) bool {
	return r.read != nil && changed && (len(created) > 0 || !r.needsIDs)
}

// created returns the recovery of an operation that creates an object: get reads it with the message of its id. If a
// conflict made the operation choose several ids, the last one was stored.
func created[M any, R proto.Message](get func(context.Context, M) (R, error), message func(id string) M) recovery {
	return recovery{func(ctx context.Context, _ proto.Message, ids []string) (proto.Message, error) {
		return get(ctx, message(ids[len(ids)-1]))
	}, true}
}

// named returns the recovery of an operation on an object that the request names.
func named[Q proto.Message, M any, R proto.Message](get func(context.Context, M) (R, error), message func(Q) M) recovery {
	return recovery{func(ctx context.Context, request proto.Message, _ []string) (proto.Message, error) {
		q, _ := request.(Q)
		return get(ctx, message(q))
	}, false}
}

// known returns the recovery of an operation whose answer contains nothing but the id of what it has created, or nothing.
func known(shared *service.Deps, needsID bool, answer func(id string) proto.Message) recovery {
	return recovery{func(ctx context.Context, _ proto.Message, ids []string) (proto.Message, error) {
		id := ""
		if len(ids) > 0 {
			id = ids[len(ids)-1]
		}
		return answer(id), shared.NewRequest(ctx).Run(ctx)
	}, needsID}
}

const procedurePrefix = "/plaza.v1."

// recoveries returns the recoveries of the operations, by procedure.
func recoveries(shared *service.Deps, s edge.Services) map[string]recovery {
	success := known(shared, false, func(string) proto.Message { return service.Success() })
	all := map[string]recovery{
		"InvitationService/AcceptInvitation": success, "InvitationService/RejectInvitation": success,
		"InvitationService/ResendInvitation": success, "JoinRequestService/ApproveJoin": success, "JoinRequestService/RejectJoin": success,
		"ChannelService/DeleteChannel": known(shared, false, func(string) proto.Message { return service.StatusSuccess() }),
		"ScheduledPostService/SchedulePost": known(shared, true, func(id string) proto.Message {
			return &plazav1.SchedulePostResponse{Data: &plazav1.ScheduledPostId{Id: id}}
		}),
		"ReactionService/AddReaction": known(shared, true, func(id string) proto.Message { return &plazav1.AddReactionResponse{AddedId: id} }),
	}
	invitations := invitation.New(shared)
	all["InvitationService/CreateInvitations"] = recovery{func(ctx context.Context, _ proto.Message, ids []string) (proto.Message, error) {
		return invitations.Invitations(ctx, ids)
	}, true}
	addCreated(all, s)
	addNamed(all, s)
	byProcedure := make(map[string]recovery, len(all))
	for name, r := range all {
		byProcedure[procedurePrefix+name] = r
	}
	return byProcedure
}

func addCreated(all map[string]recovery, s edge.Services) {
	all["CategoryService/CreateCategory"] = created(s.Category.GetCategory, func(id string) *plazav1.GetCategoryRequest { return &plazav1.GetCategoryRequest{CategoryId: id} })
	all["ProductService/CreateProduct"] = created(s.Product.GetProduct, func(id string) *plazav1.GetProductRequest { return &plazav1.GetProductRequest{ProductId: id} })
	channel := created(s.Channel.GetChannel, func(id string) *plazav1.GetChannelRequest { return &plazav1.GetChannelRequest{ChannelId: id} })
	all["ChannelService/CreateChannel"], all["ChannelService/CreateConversation"] = channel, channel
	all["CommentService/CreateComment"] = created(s.Comment.GetComment, func(id string) *plazav1.GetCommentRequest { return &plazav1.GetCommentRequest{CommentId: id} })
	all["CommunityService/CreateCommunity"] = created(s.Community.GetCommunity, func(id string) *plazav1.GetCommunityRequest { return &plazav1.GetCommunityRequest{CommunityId: id} })
	all["MessageService/CreateMessage"] = created(s.Message.GetMessage, func(id string) *plazav1.GetMessageRequest { return &plazav1.GetMessageRequest{MessageId: id} })
	all["MessageService/CreateChannelMessage"] = all["MessageService/CreateMessage"]
	all["MessageFeedService/CreateMessageFeed"] = created(s.MessageFeed.GetMessageFeed, func(id string) *plazav1.GetMessageFeedRequest {
		return &plazav1.GetMessageFeedRequest{MessageFeedId: id}
	})
	// Only the first answer has the secret, which can be replaced by another one.
	all["WebhookService/CreateWebhook"] = created(s.Webhook.GetWebhook, func(id string) *plazav1.GetWebhookRequest { return &plazav1.GetWebhookRequest{WebhookId: id} })
	all["PollService/CreatePoll"] = created(s.Poll.GetPoll, func(id string) *plazav1.GetPollRequest { return &plazav1.GetPollRequest{PollId: id} })
	all["PostService/CreatePost"] = created(s.Post.GetPost, func(id string) *plazav1.GetPostRequest { return &plazav1.GetPostRequest{PostId: id} })
	all["RoomService/CreateRoom"] = created(s.Room.GetRoom, func(id string) *plazav1.GetRoomRequest { return &plazav1.GetRoomRequest{RoomId: id} })
	all["EventService/CreateEvent"] = created(s.Event.GetEvent, func(id string) *plazav1.GetEventRequest { return &plazav1.GetEventRequest{EventId: id} })
	all["StoryService/CreateStory"] = created(s.Story.GetStory, func(id string) *plazav1.GetStoryRequest { return &plazav1.GetStoryRequest{StoryId: id} })
	all["VideoStreamingService/CreateVideoStreaming"] = created(s.VideoStreaming.GetVideoStreaming, func(id string) *plazav1.GetVideoStreamingRequest {
		return &plazav1.GetVideoStreamingRequest{StreamId: id}
	})
	for _, upload := range edge.UploadProcedures() {
		all[strings.TrimPrefix(upload, procedurePrefix)] = recovery{func(ctx context.Context, _ proto.Message, ids []string) (proto.Message, error) {
			return uploadedFiles(ctx, s, ids)
		}, true}
	}
}

func uploadedFiles(ctx context.Context, s edge.Services, ids []string) (*plazav1.UploadedFiles, error) {
	uploaded := &plazav1.UploadedFiles{}
	for _, id := range ids {
		f, err := s.File.GetFile(ctx, &plazav1.GetFileRequest{FileId: id})
		if err != nil {
			return nil, err
		}
		uploaded.Files = append(uploaded.Files, f)
	}
	return uploaded, nil
}

func addNamed(all map[string]recovery, s edge.Services) {
	all["PostService/ApprovePost"] = named(s.Post.GetPost, func(q *plazav1.ApprovePostRequest) *plazav1.GetPostRequest {
		return &plazav1.GetPostRequest{PostId: q.GetPostId()}
	})
	all["PostService/DeclinePost"] = named(s.Post.GetPost, func(q *plazav1.DeclinePostRequest) *plazav1.GetPostRequest {
		return &plazav1.GetPostRequest{PostId: q.GetPostId()}
	})
	all["CommentService/ApproveComment"] = named(s.Comment.GetComment, func(q *plazav1.ApproveCommentRequest) *plazav1.GetCommentRequest {
		return &plazav1.GetCommentRequest{CommentId: q.GetCommentId()}
	})
	all["CommentService/DeclineComment"] = named(s.Comment.GetComment, func(q *plazav1.DeclineCommentRequest) *plazav1.GetCommentRequest {
		return &plazav1.GetCommentRequest{CommentId: q.GetCommentId()}
	})
	all["PollService/VotePoll"] = named(s.Poll.GetPoll, func(q *plazav1.VotePollRequest) *plazav1.GetPollRequest {
		return &plazav1.GetPollRequest{PollId: q.GetPollId()}
	})
	all["EventService/CreateEventRsvp"] = named(s.Event.GetMyEventRsvp, func(q *plazav1.CreateEventRsvpRequest) *plazav1.GetMyEventRsvpRequest {
		return &plazav1.GetMyEventRsvpRequest{EventId: q.GetEventId()}
	})
	all["JoinRequestService/RequestJoin"] = named(s.JoinRequest.GetMyJoinRequest, func(q *plazav1.RequestJoinRequest) *plazav1.GetMyJoinRequestRequest {
		return &plazav1.GetMyJoinRequestRequest{CommunityId: q.GetCommunityId()}
	})
	all["RoleService/CreateRole"] = recovery{func(ctx context.Context, request proto.Message, _ []string) (proto.Message, error) {
		q, _ := request.(*plazav1.CreateRoleRequest)
		found, err := s.Role.GetRole(ctx, &plazav1.GetRoleRequest{RoleId: q.GetRoleId()})
		return &plazav1.RoleResponse{Status: "success", Data: found.GetRoles(), Roles: found.GetRoles()}, err
	}, false}
	all["ExportService/StartExport"] = named(s.Export.GetExport, func(q *plazav1.StartExportRequest) *plazav1.GetExportRequest {
		return &plazav1.GetExportRequest{UserId: q.GetUserId()}
	})
	all["MoveService/MoveUser"] = named(s.Move.GetUserMove, func(q *plazav1.MoveUserRequest) *plazav1.GetUserMoveRequest {
		return &plazav1.GetUserMoveRequest{UserId: q.GetUserId()}
	})
	all["FlagService/ClaimFlagItem"] = named(s.Flag.GetFlagItem, func(q *plazav1.ClaimFlagItemRequest) *plazav1.GetFlagItemRequest {
		return &plazav1.GetFlagItemRequest{TargetId: q.GetTargetId()}
	})
	all["FlagService/ResolveFlagItem"] = named(s.Flag.GetFlagItem, func(q *plazav1.ResolveFlagItemRequest) *plazav1.GetFlagItemRequest {
		return &plazav1.GetFlagItemRequest{TargetId: q.GetTargetId()}
	})
	all["FlagService/AddFlagNote"] = named(s.Flag.GetFlagItem, func(q *plazav1.AddFlagNoteRequest) *plazav1.GetFlagItemRequest {
		return &plazav1.GetFlagItemRequest{TargetId: q.GetTargetId()}
	})
}
