package channel

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// UpdateChannel changes the fields of a channel that the request sets.
func (s *Service) UpdateChannel(ctx context.Context, req *plazav1.UpdateChannelRequest) (*plazav1.ChannelResponse, error) {
	found := s.newState(ctx, req.GetChannelId())
	avatar := fileref.Read(found.ReadBatch, fileref.Avatar(req.AvatarFileId))
	if err := found.requireExisting(ctx); err != nil {
		return nil, err
	}
	if err := found.requireUpdate(); err != nil {
		return nil, err
	}
	if err := avatar.Err(); err != nil {
		return nil, err
	}
	home := service.HomeOf(found.Access.Channel.ID)
	if err := textrules.Check(ctx, s.Deps, found.Caller, home, textrules.TextOfFields(req.DisplayName)); err != nil {
		return nil, err
	}
	var updated *store.Channel
	tx := s.Store.NewTx(home)
	tx.UpdateChannel(*found.Access.Channel, changeOf(req), s.Now())
	tx.SelectChannel(found.Access.Channel.ID, &updated)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.respondOne(ctx, found, *updated)
}

// requireUpdate returns an error unless the caller may update the channel. A conversation can be updated by its
// creator and, if the network settings allow it, by all of its users. Otherwise EDIT_CHANNEL is required.
func (s *state) requireUpdate() error {
	c, user := s.Access.Channel, s.Access.User
	if c.Type == store.ChannelConversation && user.IsMember() &&
		(c.CreatorID == user.UserID || s.settings.AllowMemberToUpdateConversationChannel) {
		return nil
	}
	return s.RequireModerate(s.Caller, auth.EditChannel)
}

func changeOf(req *plazav1.UpdateChannelRequest) store.ChannelChange {
	c := store.ChannelChange{
		DisplayName: req.DisplayName, AvatarFileID: req.AvatarFileId, NotificationMode: req.NotificationMode,
		AutoDeleteEnabled: req.MessageAutoDeleteEnabled, Tags: service.Distinct(req.GetTags()),
	}
	if req.AutoDeleteMessageByFlagLimit != nil {
		flags := int64(req.GetAutoDeleteMessageByFlagLimit())
		c.AutoDeleteFlags = &flags
	}
	if req.GetMetadata() != nil {
		c.Metadata = view.ObjectJSON(req.GetMetadata())
	}
	return c
}

// MuteChannel keeps all users but moderators from writing, for a period or permanently.
func (s *Service) MuteChannel(ctx context.Context, req *plazav1.MuteChannelRequest) (*plazav1.SuccessResponse, error) {
	found := s.newState(ctx, req.GetChannelId())
	if err := found.requireExisting(ctx); err != nil {
		return nil, err
	}
	if err := found.RequireModerate(found.Caller, auth.MuteChannel); err != nil {
		return nil, err
	}
	now := s.Now()
	id := found.Access.Channel.ID
	tx := s.Store.NewTx(service.HomeOf(id))
	tx.MuteChannel(id, mutedUntil(req.GetMutePeriod(), now), now)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return service.Success(), nil
}
