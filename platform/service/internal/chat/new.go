package chat

import (
	"cmp"
	"time"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// MaxOthers is the maximum number of users of a conversation besides its creator.
const MaxOthers = 10

// MaxMembers is the maximum number of members by channel type; concurrent joins may exceed it by a few. Live channels
// allow more, because they have no markers to update for each member and message.
var MaxMembers = map[string]int{
	messaging.ChannelCommunity: 10_000, messaging.ChannelBroadcast: 10_000, messaging.ChannelConversation: MaxOthers + 1,
	messaging.ChannelLive: 100_000,
}

// NewChannel returns the row of a channel that a request describes, without its creator.
func NewChannel(req *plazav1.CreateChannelRequest, id string, now time.Time) messaging.Channel {
	kind := cmp.Or(req.GetType(), messaging.ChannelCommunity)
	return messaging.Channel{
		ID: id, PublicID: id, Type: kind, DisplayName: req.GetDisplayName(), AvatarFileID: req.GetAvatarFileId(),
		IsPublic: kind == messaging.ChannelBroadcast || kind == messaging.ChannelCommunity && (req.IsPublic == nil || req.GetIsPublic()),
		Tags:     service.Distinct(req.GetTags()), Metadata: view.ObjectJSON(req.GetMetadata()),
		NotificationMode:  cmp.Or(req.GetNotificationMode(), "default"),
		AutoDeleteEnabled: req.GetMessageAutoDeleteEnabled(),
		AutoDeleteFlags:   int64(cmp.Or(req.GetAutoDeleteMessageByFlagLimit(), DefaultAutoDeleteFlags)),
		PostID:            req.GetPostId(), LastActivity: now, CreatedAt: now, UpdatedAt: now,
	}
}

// NewConversation returns the row of a conversation that a request describes.
func NewConversation(
	req *plazav1.CreateConversationRequest, id string, creator people.User, distinct bool, now time.Time,
) messaging.Channel {
	return messaging.Channel{
		ID: id, PublicID: id, Type: messaging.ChannelConversation, CreatorID: creator.ID, CreatorPublicID: creator.PublicID,
		DisplayName: req.GetDisplayName(), AvatarFileID: req.GetAvatarFileId(), IsDistinct: distinct, Tags: service.Distinct(req.GetTags()),
		Metadata: view.ObjectJSON(req.GetMetadata()), NotificationMode: "default", AutoDeleteFlags: DefaultAutoDeleteFlags,
		LastActivity: now, CreatedAt: now, UpdatedAt: now,
	}
}
