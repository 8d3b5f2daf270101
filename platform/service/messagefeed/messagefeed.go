// Package messagefeed implements MessageFeedService: the subchannels of channels.
//
// A channel is created with a default subchannel, which is only deleted with the channel. Moderators create, rename
// and delete other subchannels. The messages of a deleted subchannel are 400400; a permanent deletion also removes
// them from the database.
package messagefeed

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements MessageFeedService.
type Service struct{ *service.Deps }

// New returns the service.
func New(d *service.Deps) *Service { return &Service{d} }

func (s *Service) respond(ctx context.Context, r *service.Request, feeds ...messaging.MessageFeed) (*plazav1.MessageFeedResponse, error) {
	return s.View.LoadMessageFeeds(ctx, s.Store, view.MessageRows{Feeds: feeds, Viewer: r.User()})
}

// requireChange returns an error unless the caller may create, rename and delete subchannels of a channel. In a
// conversation, which has no moderators, all users may.
func (s *Service) requireChange(access chat.Access, r *service.Request) error {
	if access.Channel != nil && access.Channel.Type == messaging.ChannelConversation && access.User.IsMember() {
		return access.CanWrite(r.Caller, s.Now())
	}
	return access.RequireModerate(r.Caller, auth.EditChannel)
}

// CreateMessageFeed creates a subchannel in a channel.
func (s *Service) CreateMessageFeed(ctx context.Context, req *plazav1.CreateMessageFeedRequest) (*plazav1.MessageFeedResponse, error) {
	var access chat.Access
	r := s.NewRequest(ctx)
	chat.ReadChannel(r, req.GetChannelId(), &access)
	r.Check(func() error { return s.requireChange(access, r) })
	textrules.Require(r, s.HomeOf(chat.ChannelID(s.Deps, req.GetChannelId())), textrules.TextOfList(req.GetName()))
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	home := s.HomeOf(access.Channel.ID)
	feed := messaging.MessageFeed{
		ID: s.NewID(home), EntityID: access.Channel.ID, Name: req.GetName(), ChannelPublicID: access.Channel.PublicID,
		ChannelType: access.Channel.Type, CreatedAt: s.Now(),
	}
	if user := r.User(); user != nil {
		feed.CreatorID, feed.CreatorPublicID = user.ID, user.PublicID
	}
	auth.Created(ctx, "messageFeed", feed.ID)
	var created *messaging.MessageFeed
	tx := s.Store.NewTx(home)
	tx.GuardChannel(access.Channel.ID, fail.NotFound())
	tx.InsertMessageFeed(feed)
	tx.SelectMessageFeed(feed.ID, &created)
	if err := s.CommitChange(ctx, tx, "message-feed.created", s.MessageFeedChange(feed)); err != nil {
		return nil, err
	}
	return s.respond(ctx, r, *created)
}

// GetMessageFeed gets one subchannel.
func (s *Service) GetMessageFeed(ctx context.Context, req *plazav1.GetMessageFeedRequest) (*plazav1.MessageFeedResponse, error) {
	c := chat.NewFeedRequest(ctx, s.Deps, req.GetMessageFeedId())
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	return s.respond(ctx, c.Request, *c.Feed)
}

// BatchGetMessageFeeds gets several subchannels in the order of the request. Those that the caller may not read are
// left out.
func (s *Service) BatchGetMessageFeeds(
	ctx context.Context, req *plazav1.BatchGetMessageFeedsRequest,
) (*plazav1.MessageFeedResponse, error) {
	var feeds []messaging.MessageFeed
	r := s.NewRequest(ctx)
	r.MessageFeeds(req.GetMessageFeedIds(), &feeds)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	channels := service.Map(feeds, func(f messaging.MessageFeed) string { return f.EntityID })
	readable, err := chat.ReadableChannels(ctx, s.Deps, r.Caller, channels)
	if err != nil {
		return nil, err
	}
	return s.respond(ctx, r, readableFeeds(req.GetMessageFeedIds(), feeds, readable)...)
}

// readableFeeds returns the subchannels with the given ids that are not deleted and whose channels are readable, in the
// order of the ids and each once.
func readableFeeds(ids []string, feeds []messaging.MessageFeed, readable map[string]bool) []messaging.MessageFeed {
	var shown []messaging.MessageFeed
	for _, id := range service.Distinct(ids) {
		f := service.Find(feeds, func(f messaging.MessageFeed) bool { return f.ID == id })
		if f != nil && f.DeletedAt == nil && readable[f.EntityID] {
			shown = append(shown, *f)
		}
	}
	return shown
}

// ListMessageFeeds lists the subchannels of a channel in the order of their last messages.
func (s *Service) ListMessageFeeds(ctx context.Context, req *plazav1.ListMessageFeedsRequest) (*plazav1.ListMessageFeedsResponse, error) {
	r := s.NewRequest(ctx)
	cursor := r.Page(page.Options(req.GetOptions()))
	list := messaging.MessageFeedList{
		ChannelID: chat.ChannelID(s.Deps, req.GetChannelId()), Deleted: service.DeletedOf(req.IsDeleted),
		WithoutDefault: req.GetExcludeDefaultMessageFeed(),
		Desc:           (req.GetOptions().GetSortBy() != "lastMessageTimestampAsc") != cursor.Back, Limit: cursor.Limit + 1,
	}
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	var feeds []messaging.MessageFeed
	var access chat.Access
	chat.ReadChannel(r, list.ChannelID, &access)
	r.ListMessageFeeds(list, &feeds)
	r.Check(func() error { return access.CanRead(r.Caller) })
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	at := func(feed messaging.MessageFeed) (time.Time, string, string) { return feed.LastMessageAt, "", feed.ID }
	feeds, paging := service.Page(cursor, feeds, false, list.Desc, at, r.Stops()...)
	a, err := s.View.LoadMessageFeeds(ctx, s.Store, view.MessageRows{
		Feeds: feeds, Viewer: r.User(), Moderated: map[string]bool{list.ChannelID: access.CanModerate(r.Caller, auth.DeleteMessage)},
	})
	return view.Fill(a, &plazav1.ListMessageFeedsResponse{Paging: paging}), err
}

// UpdateMessageFeed renames a subchannel.
func (s *Service) UpdateMessageFeed(ctx context.Context, req *plazav1.UpdateMessageFeedRequest) (*plazav1.MessageFeedResponse, error) {
	c := s.newChangeRequest(ctx, req.GetMessageFeedId())
	textrules.Require(c.Request, s.HomeOf(req.GetMessageFeedId()), textrules.TextOfList(req.GetName()))
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	var updated *messaging.MessageFeed
	tx := s.Store.NewTx(s.HomeOf(c.Feed.ID))
	tx.RenameMessageFeed(c.Feed.ID, req.GetName(), s.Now(), fail.NotFound())
	tx.SelectMessageFeed(c.Feed.ID, &updated)
	if err := s.CommitChange(ctx, tx, "message-feed.updated", s.MessageFeedChange(*c.Feed)); err != nil {
		return nil, err
	}
	return s.respond(ctx, c.Request, *updated)
}

// newChangeRequest starts a request about a subchannel. Its Run fails unless the caller may change the subchannel.
func (s *Service) newChangeRequest(ctx context.Context, feedID string) *chat.MessageRequest {
	c := chat.NewFeedRequest(ctx, s.Deps, feedID)
	c.Check(func() error { return s.requireChange(c.Access, c.Request) })
	return c
}

// RemoveMessageFeed deletes a subchannel other than the default one, and updates the markers of its users.
func (s *Service) RemoveMessageFeed(ctx context.Context, req *plazav1.RemoveMessageFeedRequest) (*plazav1.MessageFeedResponse, error) {
	c := s.newChangeRequest(ctx, req.GetMessageFeedId())
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	if c.Feed.IsDefault() {
		return nil, fail.Forbidden("The default subchannel cannot be deleted without its channel")
	}
	now := s.Now()
	var updated *messaging.MessageFeed
	tx := s.Store.NewTx(s.HomeOf(c.Feed.ID))
	tx.DeleteMessageFeed(c.Feed.ID, now, fail.NotFound())
	outboxRows := events.EmitFeedDeleted(tx, c.Feed.ID, now)
	if req.GetPermanent() {
		outboxRows = append(outboxRows, tx.Emit(topicPurge, c.Feed.ID, now, s.Outbox.FirstTry()))
	}
	tx.SelectMessageFeed(c.Feed.ID, &updated)
	if err := s.CommitChange(ctx, tx, "message-feed.deleted", s.MessageFeedChange(*c.Feed), outboxRows...); err != nil {
		return nil, err
	}
	return s.respond(ctx, c.Request, *updated)
}

// topicPurge is the outbox topic of permanently deleted subchannels. Its payload is an id.
const topicPurge = "purgeMessageFeed"

// Register registers the outbox handler that purges permanently deleted subchannels.
func Register(d *service.Deps) {
	service.HandleOutbox(d, topicPurge, New(d).purge)
}

// purge removes a deleted subchannel and its messages from the database, in batches. It is idempotent.
func (s *Service) purge(ctx context.Context, id string) error {
	for {
		ids, err := service.Read(ctx, s.Deps, (*store.ReadBatch).SomeMessageIDs, id)
		if err != nil {
			return err
		}
		tx := s.Store.NewTx(s.HomeOf(id))
		if len(ids) == 0 {
			tx.PurgeMessageFeed(id)
			return tx.Commit(ctx)
		}
		tx.PurgeMessages(ids)
		if err := tx.Commit(ctx); err != nil {
			return err
		}
	}
}
