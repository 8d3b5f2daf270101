package channel

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// DeleteChannel deletes a channel and its content. Its moderators cannot, unless they created it. GetChannel still
// returns the channel, as deleted.
func (s *Service) DeleteChannel(ctx context.Context, req *plazav1.DeleteChannelRequest) (*plazav1.StatusSuccessResponse, error) {
	found := s.newModerated(ctx, req.GetChannelId(), auth.CloseChannel)
	found.Check(found.requireDelete)
	if err := found.Run(ctx); err != nil {
		return nil, err
	}
	id := found.Access.Channel.ID
	tx := s.Store.NewTx(s.HomeOf(id))
	tx.DeleteChannel(id, found.Caller.PublicID, s.Now())
	row := tx.Emit(topicDeleted, deletedChannel{ChannelID: id}, s.Now(), s.Outbox.FirstTry())
	files := tx.EmitReleasePlace(id, s.Now(), s.Outbox.FirstTry())
	return service.StatusSuccess(), s.CommitChange(ctx, tx, "channel.deleted", s.ChannelChange(id), row, files)
}

// requireDelete returns an error unless the caller created the channel or may close all channels.
func (s *state) requireDelete() error {
	if c := s.Access.Channel; c.CreatorID != "" && c.CreatorID == s.Caller.UserID {
		return nil
	}
	return auth.Require(s.Caller, auth.CloseChannel, auth.Scope{})
}

// topicDeleted is the outbox topic of deleted channels.
const topicDeleted = "channelDeleted"

type deletedChannel struct {
	ChannelID string `json:"channelId"`
}

// Register registers the outbox handler that deletes the subchannels of deleted channels. The handler is idempotent.
func Register(d *service.Deps, markers Markers) {
	s := New(d, markers)
	service.HandleOutbox(d, topicDeleted, func(ctx context.Context, deleted deletedChannel) error {
		return s.deleteFeeds(ctx, deleted.ChannelID)
	})
}

// feedsPerBatch is how many subchannels of a deleted channel are read at a time.
const feedsPerBatch = 100

// deleteFeeds deletes the subchannels of a deleted channel, so that no user has unread messages in them.
func (s *Service) deleteFeeds(ctx context.Context, channelID string) error {
	list := messaging.MessageFeedList{ChannelID: channelID, Deleted: core.DeletedNone, Limit: feedsPerBatch}
	list.After, _, list.AfterID = page.Cursor{}.Start(false)
	for more := true; more; {
		var feeds []messaging.MessageFeed
		reads := s.Store.NewReadBatch()
		reads.ListMessageFeeds(list, &feeds)
		if err := reads.Run(ctx); err != nil {
			return err
		}
		list, more = list.Next(feeds, reads.Stops())
		for _, feed := range feeds {
			if _, err := s.markers.DeleteFeed(ctx, feed.ID); err != nil && fail.From(err).Code != fail.CodeNotFound {
				return err
			}
		}
	}
	return nil
}
