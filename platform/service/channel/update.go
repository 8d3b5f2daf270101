package channel

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// UpdateChannel changes the fields of a channel that the request sets.
func (s *Service) UpdateChannel(ctx context.Context, req *plazav1.UpdateChannelRequest) (*plazav1.ChannelResponse, error) {
	found := s.newExisting(ctx, req.GetChannelId())
	home := s.HomeOf(chat.ChannelID(s.Deps, req.GetChannelId()))
	found.Check(found.requireUpdate)
	fileref.Require(found.Request, fileref.Avatar(req.AvatarFileId))
	textrules.Require(found.Request, home, textrules.TextOfFields(req.DisplayName), textrules.TextOfList(req.GetTags()...))
	if err := found.Run(ctx); err != nil {
		return nil, err
	}
	var updated *messaging.Channel
	tx := s.Store.NewTx(home)
	tx.UpdateChannel(*found.Access.Channel, changeOf(req, found.Caller.UserID), s.Now())
	tx.SelectChannel(found.Access.Channel.ID, &updated)
	if err := s.CommitChange(ctx, tx, "channel.updated", s.ChannelChange(found.Access.Channel.ID)); err != nil {
		return nil, err
	}
	return s.respondOne(ctx, found, *updated)
}

// requireUpdate returns an error unless the caller may update the channel. A conversation can be updated by its
// creator and, if the network settings allow it, by all of its users. Otherwise EDIT_CHANNEL is required.
func (s *state) requireUpdate() error {
	c, user := s.Access.Channel, s.Access.User
	if c.Type == messaging.ChannelConversation && user.IsMember() &&
		(c.CreatorID == user.UserID || s.settings.AllowMemberToUpdateConversationChannel) {
		return nil
	}
	return s.RequireModerate(s.Caller, auth.EditChannel)
}

func changeOf(req *plazav1.UpdateChannelRequest, editorID string) messaging.ChannelChange {
	c := messaging.ChannelChange{
		EditorID: editorID, DisplayName: req.DisplayName, AvatarFileID: req.AvatarFileId, NotificationMode: req.NotificationMode,
		AutoDeleteEnabled: req.MessageAutoDeleteEnabled, Tags: service.Distinct(req.GetTags()),
		Metadata: view.ChangedJSON(req.GetMetadata()),
	}
	if req.AutoDeleteMessageByFlagLimit != nil {
		flags := int64(req.GetAutoDeleteMessageByFlagLimit())
		c.AutoDeleteFlags = &flags
	}
	return c
}

// MuteChannel keeps all users but moderators from writing, for a period or permanently.
func (s *Service) MuteChannel(ctx context.Context, req *plazav1.MuteChannelRequest) (*plazav1.SuccessResponse, error) {
	found := s.newModerated(ctx, req.GetChannelId(), auth.MuteChannel)
	if err := found.Run(ctx); err != nil {
		return nil, err
	}
	now := s.Now()
	id := found.Access.Channel.ID
	tx := s.Store.NewTx(s.HomeOf(id))
	tx.MuteChannel(id, mutedUntil(req.GetMutePeriod(), now), now)
	return service.Success(), s.CommitChange(ctx, tx, "channel.setMuted", s.ChannelChange(id))
}
