package edge

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

// Services are the implementations of the API. All fields are required.
type Services struct {
	Authentication plazav1connect.AuthenticationServiceHandler
	Session        plazav1connect.SessionServiceHandler
	User           plazav1connect.UserServiceHandler
	Role           plazav1connect.RoleServiceHandler
	Category       plazav1connect.CategoryServiceHandler
	Product        plazav1connect.ProductServiceHandler
	NetworkSetting plazav1connect.NetworkSettingServiceHandler
	Community      plazav1connect.CommunityServiceHandler
	Member         plazav1connect.MemberServiceHandler
	JoinRequest    plazav1connect.JoinRequestServiceHandler
	Invitation     plazav1connect.InvitationServiceHandler
	Post           plazav1connect.PostServiceHandler
	Comment        plazav1connect.CommentServiceHandler
	Feed           plazav1connect.FeedServiceHandler
	Reaction       plazav1connect.ReactionServiceHandler
	Follow         plazav1connect.FollowServiceHandler
	Pin            plazav1connect.PinServiceHandler
	ScheduledPost  plazav1connect.ScheduledPostServiceHandler
	Poll           plazav1connect.PollServiceHandler
	VideoStreaming plazav1connect.VideoStreamingServiceHandler
	Room           plazav1connect.RoomServiceHandler
	Event          plazav1connect.EventServiceHandler
	File           plazav1connect.FileServiceHandler
	Marker         plazav1connect.MarkerServiceHandler
	MessageFeed    plazav1connect.MessageFeedServiceHandler
	Message        plazav1connect.MessageServiceHandler
	Story          plazav1connect.StoryServiceHandler
	Analytics      plazav1connect.AnalyticsServiceHandler
	Channel        plazav1connect.ChannelServiceHandler
	ChannelUser    plazav1connect.ChannelUserServiceHandler
	ModerationList plazav1connect.ModerationListServiceHandler
	Erasure        plazav1connect.ErasureServiceHandler
	Export         plazav1connect.ExportServiceHandler
	Move           plazav1connect.MoveServiceHandler
	Flag           plazav1connect.FlagServiceHandler
	Audit          plazav1connect.AuditServiceHandler
	Presence       plazav1connect.PresenceServiceHandler
	Search         plazav1connect.SearchServiceHandler
	Notification   plazav1connect.NotificationServiceHandler
	LinkPreview    plazav1connect.LinkPreviewServiceHandler
	Webhook        plazav1connect.WebhookServiceHandler
	Prehook        plazav1connect.PrehookServiceHandler
}

// ErrServiceMissing is returned by New if a field of Services is nil.
var ErrServiceMissing = errors.New("a service is missing")

func (s Services) check() error {
	fields := reflect.ValueOf(s)
	for i := range fields.NumField() {
		if fields.Field(i).IsNil() {
			return fmt.Errorf("%w: %s", ErrServiceMissing, fields.Type().Field(i).Name)
		}
	}
	return nil
}

// handlers returns new connect handlers of all services, by service name.
func (s Services) handlers(options ...connect.HandlerOption) map[string]http.Handler {
	handlers := map[string]http.Handler{}
	add := func(path string, handler http.Handler) { handlers[strings.Trim(path, "/")] = handler }
	add(plazav1connect.NewAuthenticationServiceHandler(s.Authentication, options...))
	add(plazav1connect.NewSessionServiceHandler(s.Session, options...))
	add(plazav1connect.NewUserServiceHandler(s.User, options...))
	add(plazav1connect.NewCategoryServiceHandler(s.Category, options...))
	add(plazav1connect.NewProductServiceHandler(s.Product, options...))
	add(plazav1connect.NewCommunityServiceHandler(s.Community, options...))
	add(plazav1connect.NewMemberServiceHandler(s.Member, options...))
	add(plazav1connect.NewJoinRequestServiceHandler(s.JoinRequest, options...))
	add(plazav1connect.NewInvitationServiceHandler(s.Invitation, options...))
	add(plazav1connect.NewPostServiceHandler(s.Post, options...))
	add(plazav1connect.NewCommentServiceHandler(s.Comment, options...))
	add(plazav1connect.NewFeedServiceHandler(s.Feed, options...))
	add(plazav1connect.NewReactionServiceHandler(s.Reaction, options...))
	add(plazav1connect.NewFollowServiceHandler(s.Follow, options...))
	add(plazav1connect.NewPinServiceHandler(s.Pin, options...))
	add(plazav1connect.NewScheduledPostServiceHandler(s.ScheduledPost, options...))
	add(plazav1connect.NewPollServiceHandler(s.Poll, options...))
	add(plazav1connect.NewVideoStreamingServiceHandler(s.VideoStreaming, options...))
	add(plazav1connect.NewRoomServiceHandler(s.Room, options...))
	add(plazav1connect.NewEventServiceHandler(s.Event, options...))
	add(plazav1connect.NewFileServiceHandler(s.File, options...))
	add(plazav1connect.NewMarkerServiceHandler(s.Marker, options...))
	add(plazav1connect.NewMessageFeedServiceHandler(s.MessageFeed, options...))
	add(plazav1connect.NewMessageServiceHandler(s.Message, options...))
	add(plazav1connect.NewStoryServiceHandler(s.Story, options...))
	add(plazav1connect.NewChannelServiceHandler(s.Channel, options...))
	add(plazav1connect.NewChannelUserServiceHandler(s.ChannelUser, options...))
	add(plazav1connect.NewPresenceServiceHandler(s.Presence, options...))
	add(plazav1connect.NewSearchServiceHandler(s.Search, options...))
	add(plazav1connect.NewNotificationServiceHandler(s.Notification, options...))
	add(plazav1connect.NewLinkPreviewServiceHandler(s.LinkPreview, options...))
	s.addAdministration(add, options)
	return handlers
}

// addAdministration adds the handlers of the services with which administrators and moderators run a network.
func (s Services) addAdministration(add func(path string, handler http.Handler), options []connect.HandlerOption) {
	add(plazav1connect.NewRoleServiceHandler(s.Role, options...))
	add(plazav1connect.NewNetworkSettingServiceHandler(s.NetworkSetting, options...))
	add(plazav1connect.NewAnalyticsServiceHandler(s.Analytics, options...))
	add(plazav1connect.NewModerationListServiceHandler(s.ModerationList, options...))
	add(plazav1connect.NewErasureServiceHandler(s.Erasure, options...))
	add(plazav1connect.NewMoveServiceHandler(s.Move, options...))
	add(plazav1connect.NewExportServiceHandler(s.Export, options...))
	add(plazav1connect.NewFlagServiceHandler(s.Flag, options...))
	add(plazav1connect.NewAuditServiceHandler(s.Audit, options...))
	add(plazav1connect.NewWebhookServiceHandler(s.Webhook, options...))
	add(plazav1connect.NewPrehookServiceHandler(s.Prehook, options...))
}
