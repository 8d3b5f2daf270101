package realtime

import (
	"cmp"
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/subscription"
	"github.com/plaza-social/plaza/platform/store/eventlog"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/view"
)

func (h *Hub) readMessage(ctx context.Context, home region.Code, _ eventlog.LoggedEvent, c events.Change) (proto.Message, audience, error) {
	var message *messaging.Message
	var feed *messaging.MessageFeed
	reads := h.Store.NewBestEffortBatch()
	reads.Message(c.ID, &message)
	reads.MessageFeedOf(c.ID, &feed)
	if err := h.run(ctx, reads, home); err != nil || message == nil {
		return nil, nil, cmp.Or(err, errGone)
	}
	rows := view.MessageRows{Messages: []messaging.Message{*message}}
	if feed != nil {
		rows.Feeds = []messaging.MessageFeed{*feed}
	}
	a, err := h.View.LoadMessages(ctx, h.Store, rows)
	return a, func(access *subscription.Access) bool { return access.SeesMessage(message) }, err
}

func (h *Hub) readMessageFeed(
	ctx context.Context, home region.Code, _ eventlog.LoggedEvent, c events.Change,
) (proto.Message, audience, error) {
	var feeds []messaging.MessageFeed
	reads := h.Store.NewBestEffortBatch()
	reads.MessageFeeds([]string{c.ID}, &feeds)
	if err := h.run(ctx, reads, home); err != nil || len(feeds) == 0 {
		return nil, nil, cmp.Or(err, errGone)
	}
	a, err := h.View.LoadMessageFeeds(ctx, h.Store, view.MessageRows{Feeds: feeds})
	return a, everyone, err
}

func (h *Hub) readChannel(ctx context.Context, home region.Code, _ eventlog.LoggedEvent, c events.Change) (proto.Message, audience, error) {
	rows := view.ChannelRows{OnlyUsers: true}
	reads := h.Store.NewBestEffortBatch()
	reads.Channels([]string{c.ID}, &rows.Channels)
	reads.ChannelUsers(c.ID, c.UserIDs, &rows.ChannelUsers)
	if err := h.run(ctx, reads, home); err != nil || len(rows.Channels) == 0 {
		return nil, nil, cmp.Or(err, errGone)
	}
	a, err := h.View.LoadChannels(ctx, h.Store, rows)
	return a, everyone, err
}
