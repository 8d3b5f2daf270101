package channel

import (
	"context"
	"encoding/json"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// UpdateChannel changes a channel; absent fields stay.
func (s *Service) UpdateChannel(ctx context.Context, req *plazav1.UpdateChannelRequest) (*answer, error) {
	found := s.begin(ctx, req.GetChannelId())
	avatar := fileref.Read(found.ReadBatch, fileref.Avatar(req.AvatarFileId))
	if err := s.runLive(ctx, found); err != nil {
		return nil, err
	}
	if err := found.requireEdit(); err != nil {
		return nil, err
	}
	if err := avatar.Err(); err != nil {
		return nil, err
	}
	if err := textrules.Check(ctx, s.Deps, found.Caller, service.HomeOf(found.Access.Channel.ID), textrules.TextOfFields(req.DisplayName)); err != nil {
		return nil, err
	}
	c := *found.Access.Channel
	var after *store.Channel
	tx := s.Store.NewTx(service.HomeOf(c.ID))
	tx.UpdateChannel(c, changeOf(req), s.Now())
	tx.SelectChannel(c.ID, &after)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.respond(ctx, found, view.ChannelAnswer{Channels: []store.Channel{*after}, ChannelUsers: found.known()})
}

// requireEdit lets the creator of a conversation change it, and all of its users where the network does; and whoever has EDIT_CHANNEL.
func (s *situation) requireEdit() error {
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
		AutoDeleteEnabled: req.MessageAutoDeleteEnabled, Tags: unique(req.GetTags()),
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

// DeleteChannel deletes a channel with all that is in it. It can still be got, and says then that it is deleted.
func (s *Service) DeleteChannel(ctx context.Context, req *plazav1.DeleteChannelRequest) (*plazav1.StatusSuccessResponse, error) {
	found := s.begin(ctx, req.GetChannelId())
	if err := s.runLive(ctx, found); err != nil {
		return nil, err
	}
	if err := found.RequireModerate(found.Caller, auth.CloseChannel); err != nil {
		return nil, err
	}
	id := found.Access.Channel.ID
	tx := s.Store.NewTx(service.HomeOf(id))
	tx.DeleteChannel(id, found.Caller.PublicID, s.Now())
	told := tx.Emit(topicDeleted, deleted{ChannelID: id}, s.Now(), s.Outbox.FirstTry())
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	s.Outbox.DeliverSoon(ctx, tx.Home(), told)
	return &plazav1.StatusSuccessResponse{
		Status: "success", Data: &plazav1.SuccessResponse{Success: true}, Success: true,
	}, nil
}

// MuteChannel keeps everybody but moderators from writing, for a while or for ever.
func (s *Service) MuteChannel(ctx context.Context, req *plazav1.MuteChannelRequest) (*plazav1.SuccessResponse, error) {
	found := s.begin(ctx, req.GetChannelId())
	if err := s.runLive(ctx, found); err != nil {
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
	return &plazav1.SuccessResponse{Success: true}, nil
}

// topicDeleted is the outbox topic of channels that were deleted.
const topicDeleted = "channelDeleted"

type deleted struct {
	ChannelID string `json:"channelId"`
}

// Register makes the outbox end the subchannels of channels that are deleted. It may come twice.
func Register(d *service.Deps, markers Markers) {
	s := New(d, markers)
	d.Outbox.Handle(topicDeleted, func(ctx context.Context, row store.OutboxRow) error {
		var news deleted
		if err := json.Unmarshal(row.Payload, &news); err != nil {
			return err
		}
		return s.endFeeds(ctx, news.ChannelID)
	})
}

// feedsAtOnce is how many subchannels of a deleted channel are read at a time.
const feedsAtOnce = 100

// endFeeds deletes the subchannels of a deleted channel: nothing in them is unread any more.
func (s *Service) endFeeds(ctx context.Context, channelID string) error {
	for {
		list := store.MessageFeedList{ChannelID: channelID, Deleted: store.DeletedNone, Limit: feedsAtOnce}
		list.After, _, list.AfterID = page.Cursor{}.Start(false)
		var feeds []store.MessageFeed
		reads := s.Store.NewReadBatch()
		reads.ListMessageFeeds(list, &feeds)
		if err := reads.Run(ctx); err != nil || len(feeds) == 0 {
			return err
		}
		for _, feed := range feeds {
			if _, err := s.markers.DeleteFeed(ctx, feed.ID); err != nil && fail.From(err).Code != fail.CodeNotFound {
				return err
			}
		}
	}
}
