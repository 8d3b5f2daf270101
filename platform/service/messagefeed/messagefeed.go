// Package messagefeed holds the subchannels of channels.
//
// A subchannel's life: made, the default one with its channel, others by moderators; renamed; deleted, the default one with its
// channel alone. What is in a deleted one is not there any more; a permanent deletion removes it from the database.
package messagefeed

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements MessageFeedService.
type Service struct{ *service.Deps }

// New makes the service.
func New(d *service.Deps) *Service { return &Service{d} }

type answer = plazav1.MessageFeedAggregate

func (s *Service) answer(ctx context.Context, r *service.Request, feeds ...store.MessageFeed) (*answer, error) {
	a, err := s.View.MessageFeeds(ctx, s.Store, view.ChatAnswer{Feeds: feeds, Viewer: r.User()})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// requireChange refuses those who may not make, rename or delete subchannels of a channel: all but its moderators, and all but the
// users of a conversation, which has no moderators.
func (s *Service) requireChange(access chat.Access, r *service.Request) error {
	if access.Channel != nil && access.Channel.Type == store.ChannelConversation && access.User.IsMember() {
		return access.CanWrite(r.Caller, s.Now())
	}
	return access.RequireModerate(r.Caller, auth.EditChannel)
}

// InsertMessageFeed makes a subchannel in a channel.
func (s *Service) CreateMessageFeed(ctx context.Context, req *plazav1.CreateMessageFeedRequest) (*answer, error) {
	r, access, err := s.channel(ctx, req.GetChannelId())
	if err != nil {
		return nil, err
	}
	if err := s.requireChange(access, r); err != nil {
		return nil, err
	}
	home := service.HomeOf(access.Channel.ID)
	feed := store.MessageFeed{
		ID: s.NewID(home), EntityID: access.Channel.ID, Name: req.GetName(), ChannelPublicID: access.Channel.PublicID,
		ChannelType: access.Channel.Type, CreatedAt: s.Now(),
	}
	if user := r.User(); user != nil {
		feed.CreatorID, feed.CreatorPublicID = user.ID, user.PublicID
	}
	var made *store.MessageFeed
	tx := s.Store.NewTx(home)
	tx.GuardChannel(access.Channel.ID, fail.NotFound())
	tx.InsertMessageFeed(feed)
	tx.SelectMessageFeed(feed.ID, &made)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.answer(ctx, r, *made)
}

// channel reads a channel by either of its ids, and how the caller stands to it.
func (s *Service) channel(ctx context.Context, id string) (*service.Request, chat.Access, error) {
	var access chat.Access
	r := s.NewRequest(ctx)
	chat.ReadChannel(s.Deps, r, id, &access)
	if err := r.Run(ctx); err != nil {
		return r, access, err
	}
	return r, access, chat.ResolveLiveAccess(ctx, s.Deps, r.Caller, &access)
}

// GetMessageFeed gets one subchannel.
func (s *Service) GetMessageFeed(ctx context.Context, req *plazav1.GetMessageFeedRequest) (*answer, error) {
	c := chat.NewFeedRequest(ctx, s.Deps, req.GetMessageFeedId())
	if err := c.RequireRead(ctx); err != nil {
		return nil, err
	}
	return s.answer(ctx, c.Request, *c.Feed)
}

// BatchGetMessageFeeds gets several subchannels in the order of the request; those that the caller may not read are left out.
func (s *Service) BatchGetMessageFeeds(ctx context.Context, req *plazav1.BatchGetMessageFeedsRequest) (*answer, error) {
	var feeds []store.MessageFeed
	r := s.NewRequest(ctx)
	r.MessageFeeds(req.GetMessageFeedIds(), &feeds)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	channels := make([]string, len(feeds))
	for i, feed := range feeds {
		channels[i] = feed.EntityID
	}
	readable, err := chat.ReadableChannels(ctx, s.Deps, r, channels)
	if err != nil {
		return nil, err
	}
	var shown []store.MessageFeed
	for _, id := range req.GetMessageFeedIds() {
		at := slices.IndexFunc(feeds, func(feed store.MessageFeed) bool { return feed.ID == id })
		if at < 0 || feeds[at].DeletedAt != nil || readable[feeds[at].EntityID].Channel == nil {
			continue
		}
		shown, feeds = append(shown, feeds[at]), slices.Delete(feeds, at, at+1) // each once
	}
	return s.answer(ctx, r, shown...)
}

// ListMessageFeeds lists the subchannels of a channel, by their last message.
func (s *Service) ListMessageFeeds(ctx context.Context, req *plazav1.ListMessageFeedsRequest) (*plazav1.ListMessageFeedsResponse, error) {
	cursor, err := page.Parse(pageOptions(req.GetOptions()), page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	list := store.MessageFeedList{
		ChannelID: chat.ChannelID(s.Deps, req.GetChannelId()), Deleted: service.DeletedOf(req.IsDeleted), WithoutDefault: req.GetExcludeDefaultMessageFeed(),
		Desc: (req.GetOptions().GetSortBy() != "lastMessageTimestampAsc") != cursor.Back, Limit: cursor.Limit + 1,
	}
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	var feeds []store.MessageFeed
	var access chat.Access
	r := s.NewRequest(ctx)
	chat.ReadChannel(s.Deps, r, list.ChannelID, &access)
	r.ListMessageFeeds(list, &feeds)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	if err := chat.ResolveLiveAccess(ctx, s.Deps, r.Caller, &access); err != nil {
		return nil, err
	}
	if err := access.CanRead(r.Caller); err != nil {
		return nil, err
	}
	feeds, paging := page.Window(cursor, feeds, func(feed store.MessageFeed) (time.Time, string, string) { return feed.LastMessageAt, "", feed.ID })
	a, err := s.View.MessageFeeds(ctx, s.Store, view.ChatAnswer{Feeds: feeds, Viewer: r.User()})
	if err != nil {
		return nil, err
	}
	return &plazav1.ListMessageFeedsResponse{
		MessageFeeds: a.GetMessageFeeds(), Messages: a.GetMessages(), Users: a.GetUsers(), Files: a.GetFiles(), Paging: paging,
	}, nil
}

func pageOptions(o *plazav1.MessageFeedListOptions) *plazav1.PageOptions {
	if o == nil {
		return nil
	}
	return &plazav1.PageOptions{Limit: o.Limit, Token: o.GetToken()}
}

// UpdateMessageFeed renames a subchannel.
func (s *Service) UpdateMessageFeed(ctx context.Context, req *plazav1.UpdateMessageFeedRequest) (*answer, error) {
	c := chat.NewFeedRequest(ctx, s.Deps, req.GetMessageFeedId())
	if err := s.requireChangeOf(ctx, c); err != nil {
		return nil, err
	}
	var after *store.MessageFeed
	tx := s.Store.NewTx(service.HomeOf(c.Feed.ID))
	tx.RenameMessageFeed(c.Feed.ID, req.GetName(), s.Now(), fail.NotFound())
	tx.SelectMessageFeed(c.Feed.ID, &after)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.answer(ctx, c.Request, *after)
}

// requireChangeOf sends the reads and refuses those who may not change the subchannel.
func (s *Service) requireChangeOf(ctx context.Context, c *chat.MessageRequest) error {
	if err := c.RequireRead(ctx); err != nil {
		return err
	}
	return s.requireChange(c.Access, c.Request)
}

// RemoveMessageFeed deletes a subchannel other than the default one, and tells the markers of its users.
func (s *Service) RemoveMessageFeed(ctx context.Context, req *plazav1.RemoveMessageFeedRequest) (*answer, error) {
	c := chat.NewFeedRequest(ctx, s.Deps, req.GetMessageFeedId())
	if err := s.requireChangeOf(ctx, c); err != nil {
		return nil, err
	}
	if c.Feed.IsDefault() {
		return nil, fail.Forbidden("The default subchannel goes with its channel")
	}
	now := s.Now()
	var after *store.MessageFeed
	tx := s.Store.NewTx(service.HomeOf(c.Feed.ID))
	tx.DeleteFeed(c.Feed.ID, now, fail.NotFound())
	outboxRows := events.FeedDeleted(tx, c.Feed.ID, now)
	if req.GetPermanent() {
		outboxRows = append(outboxRows, tx.Emit(topicPurge, c.Feed.ID, now, s.Outbox.FirstTry()))
	}
	tx.SelectMessageFeed(c.Feed.ID, &after)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	s.Outbox.DeliverSoon(ctx, tx.Home(), outboxRows...)
	return s.answer(ctx, c.Request, *after)
}

// topicPurge is the outbox topic of subchannels of which nothing is to stay; the payload is an id.
const topicPurge = "purgeMessageFeed"

// Register makes the outbox remove what was deleted permanently.
func Register(d *service.Deps) {
	s := New(d)
	d.Outbox.Handle(topicPurge, func(ctx context.Context, row store.OutboxRow) error {
		var id string
		if err := json.Unmarshal(row.Payload, &id); err != nil {
			return err
		}
		return s.purge(ctx, id)
	})
}

// purge removes a deleted subchannel and its messages, some hundred at a time. It may be cut short, and run again.
func (s *Service) purge(ctx context.Context, id string) error {
	for {
		var some []string
		reads := s.Store.NewReadBatch()
		reads.SomeMessages(id, &some)
		if err := reads.Run(ctx); err != nil {
			return err
		}
		tx := s.Store.NewTx(service.HomeOf(id))
		if len(some) == 0 {
			tx.PurgeMessageFeed(id)
			return tx.Commit(ctx)
		}
		tx.WipeMessages(some)
		if err := tx.Commit(ctx); err != nil {
			return err
		}
	}
}
