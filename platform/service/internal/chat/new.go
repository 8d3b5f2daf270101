package chat

import (
	"cmp"
	"time"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// MaxOthers is the maximum number of users of a conversation besides its creator.
const MaxOthers = 10

// MaxMembers is the maximum number of members by channel type; concurrent joins may exceed it by a few. Live channels
// allow more, because they have no markers to update for each member and message.
var MaxMembers = map[string]int{
	store.ChannelCommunity: 10_000, store.ChannelBroadcast: 10_000, store.ChannelConversation: MaxOthers + 1, store.ChannelLive: 100_000,
}

// NewChannel returns the row of a channel that a request describes, without its creator.
func NewChannel(req *plazav1.CreateChannelRequest, id string, now time.Time) store.Channel {
	kind := cmp.Or(req.GetType(), store.ChannelCommunity)
	return store.Channel{
		ID: id, PublicID: id, Type: kind, DisplayName: req.GetDisplayName(), AvatarFileID: req.GetAvatarFileId(),
		IsPublic: kind == store.ChannelBroadcast || kind == store.ChannelCommunity && (req.IsPublic == nil || req.GetIsPublic()),
		Tags:     service.Distinct(req.GetTags()), Metadata: view.ObjectJSON(req.GetMetadata()),
		NotificationMode:  cmp.Or(req.GetNotificationMode(), "default"),
		AutoDeleteEnabled: req.GetMessageAutoDeleteEnabled(),
		AutoDeleteFlags:   int64(cmp.Or(req.GetAutoDeleteMessageByFlagLimit(), DefaultAutoDeleteFlags)),
		PostID:            req.GetPostId(), LastActivity: now, CreatedAt: now, UpdatedAt: now,
	}
}

// NewConversation returns the row of a conversation that a request describes.
func NewConversation(req *plazav1.CreateConversationRequest, id string, creator store.User, distinct bool, now time.Time) store.Channel {
	return store.Channel{
		ID: id, PublicID: id, Type: store.ChannelConversation, CreatorID: creator.ID, CreatorPublicID: creator.PublicID,
		DisplayName: req.GetDisplayName(), AvatarFileID: req.GetAvatarFileId(), IsDistinct: distinct, Tags: service.Distinct(req.GetTags()),
		Metadata: view.ObjectJSON(req.GetMetadata()), NotificationMode: "default", AutoDeleteFlags: DefaultAutoDeleteFlags,
		LastActivity: now, CreatedAt: now, UpdatedAt: now,
	}
}
