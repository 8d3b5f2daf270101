package delivery

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

// prehookEvent is a kind of operations before which the pre-hook is asked.
type prehookEvent struct {
	name string
	// changes are the fields of the request that the pre-hook can change, in JSON names.
	changes []string
	// secret are the fields that the pre-hook does not get.
	secret []protoreflect.Name
	// signIn is set for operations of users who are not signed in yet.
	signIn bool
}

// content are the fields of content that a pre-hook can change.
var content = []string{"data", "metadata", "tags", "mentionees", "links"}

// prehookEvents are the operations before which the pre-hook is asked, by procedure.
var prehookEvents = map[string]prehookEvent{
	plazav1connect.PostServiceCreatePostProcedure: {
		name:    "post.shouldCreate",
		changes: append(slices.Clone(content), "text", "hashtags"),
	},
	plazav1connect.PostServiceUpdatePostProcedure: {
		name:    "post.shouldUpdate",
		changes: append(slices.Clone(content), "text", "hashtags"),
	},
	plazav1connect.PostServiceDeletePostProcedure: {name: "post.shouldDelete"},
	plazav1connect.PostServiceFlagPostProcedure:   {name: "post.shouldFlag"},
	plazav1connect.PostServiceUnflagPostProcedure: {name: "post.shouldUnflag"},
	plazav1connect.CommentServiceCreateCommentProcedure: {
		name:    "comment.shouldCreate",
		changes: []string{"data", "metadata", "mentionees", "links"},
	},
	plazav1connect.CommentServiceUpdateCommentProcedure: {
		name:    "comment.shouldUpdate",
		changes: []string{"data", "metadata", "mentionees", "links"},
	},
	plazav1connect.CommentServiceDeleteCommentProcedure: {name: "comment.shouldDelete"},
	plazav1connect.CommentServiceFlagCommentProcedure:   {name: "comment.shouldFlag"},
	plazav1connect.MessageServiceCreateMessageProcedure: {
		name:    "message.shouldCreate",
		changes: []string{"data", "metadata", "tags", "mentionedUsers"},
	},
	plazav1connect.MessageServiceUpdateMessageProcedure: {
		name:    "message.shouldUpdate",
		changes: []string{"data", "metadata", "tags", "mentionedUsers"},
	},
	plazav1connect.MessageServiceDeleteMessageProcedure: {name: "message.shouldDelete"},
	plazav1connect.MessageServiceFlagMessageProcedure:   {name: "message.shouldFlag"},
	plazav1connect.MessageServiceUnflagMessageProcedure: {name: "message.shouldUnflag"},
	plazav1connect.StoryServiceCreateStoryProcedure:     {name: "story.shouldCreate", changes: []string{"data", "metadata", "mentionees"}},
	plazav1connect.StoryServiceDeleteStoryProcedure:     {name: "story.shouldDelete"},
	plazav1connect.ChannelServiceCreateChannelProcedure: {
		name:    "channel.shouldCreate",
		changes: []string{"displayName", "metadata", "tags"},
	},
	plazav1connect.ChannelServiceUpdateChannelProcedure: {
		name:    "channel.shouldUpdate",
		changes: []string{"displayName", "metadata", "tags"},
	},
	plazav1connect.ChannelServiceDeleteChannelProcedure:    {name: "channel.shouldDelete"},
	plazav1connect.ChannelUserServiceJoinChannelProcedure:  {name: "channel.shouldJoin"},
	plazav1connect.ChannelUserServiceLeaveChannelProcedure: {name: "channel.shouldLeave"},
	plazav1connect.CommunityServiceCreateCommunityProcedure: {
		name:    "community.shouldCreate",
		changes: []string{"displayName", "description", "metadata", "tags"},
	},
	plazav1connect.CommunityServiceUpdateCommunityProcedure: {
		name:    "community.shouldUpdate",
		changes: []string{"displayName", "description", "metadata", "tags"},
	},
	plazav1connect.CommunityServiceDeleteCommunityProcedure: {name: "community.shouldDelete"},
	plazav1connect.MemberServiceJoinCommunityProcedure:      {name: "community.shouldJoin"},
	plazav1connect.JoinRequestServiceRequestJoinProcedure:   {name: "community.shouldJoin"},
	plazav1connect.UserServiceUpdateUserProcedure: {
		name:    "user.shouldUpdate",
		changes: []string{"displayName", "description", "metadata"},
	},
	plazav1connect.SessionServiceCreateSessionProcedure: {
		name: "user.shouldSignIn", changes: []string{"displayName"}, secret: []protoreflect.Name{"auth_token"}, signIn: true,
	},
}

// UnknownPrehookEvent returns the first name that no pre-hook is asked about, or an empty text.
func UnknownPrehookEvent(names []string) string {
	for _, name := range names {
		if !slices.ContainsFunc(slices.Collect(maps.Values(prehookEvents)), func(e prehookEvent) bool { return e.name == name }) {
			return name
		}
	}
	return ""
}
