// Package message holds the messages of subchannels.
//
// A message's life: written, by those who may write in the channel; edited, by its author and moderators; deleted, by the same. A
// deleted one keeps its place in the subchannel and loses its content. Flags hide it only in channels that delete messages with so
// many of them.
package message

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements MessageService.
type Service struct{ *service.Deps }

// New makes the service.
func New(d *service.Deps) *Service { return &Service{d} }

type answer = plazav1.MessageAggregate

func (s *Service) answer(ctx context.Context, c *chat.MessageRequest, messages ...store.Message) (*answer, error) {
	a, err := s.View.Messages(ctx, s.Store, view.ChatAnswer{Feeds: []store.MessageFeed{*c.Feed}, Messages: messages, Viewer: c.User()})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// load reads a message, for those who may read it. A deleted one is there.
func (s *Service) load(ctx context.Context, id string, more func(*chat.MessageRequest)) (*chat.MessageRequest, error) {
	c := chat.NewMessageRequest(ctx, s.Deps, id)
	if more != nil {
		more(c)
	}
	return c, c.RequireRead(ctx)
}

// loadLive is load, and a deleted message is not there.
func (s *Service) loadLive(ctx context.Context, id string, more func(*chat.MessageRequest)) (*chat.MessageRequest, error) {
	c, err := s.load(ctx, id, more)
	if err == nil && c.Message.DeletedAt != nil {
		err = fail.NotFound()
	}
	return c, err
}

// GetMessage gets one message.
func (s *Service) GetMessage(ctx context.Context, req *plazav1.GetMessageRequest) (*answer, error) {
	c, err := s.load(ctx, req.GetMessageId(), nil)
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, c, *c.Message)
}

// BatchGetMessages gets several messages in the order of the request; those that the caller may not read are left out.
func (s *Service) BatchGetMessages(ctx context.Context, req *plazav1.BatchGetMessagesRequest) (*answer, error) {
	var rows []store.Message
	r := s.NewRequest(ctx)
	r.MessagesByID(req.GetMessageIds(), &rows)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	feeds, err := s.readableFeeds(ctx, r, rows)
	if err != nil {
		return nil, err
	}
	shown := view.ChatAnswer{Viewer: r.User()}
	for _, id := range req.GetMessageIds() {
		at := slices.IndexFunc(rows, func(m store.Message) bool { return m.ID == id })
		if at < 0 || feeds[rows[at].FeedID] == nil {
			continue
		}
		feed := *feeds[rows[at].FeedID]
		if !slices.ContainsFunc(shown.Feeds, func(have store.MessageFeed) bool { return have.ID == feed.ID }) {
			shown.Feeds = append(shown.Feeds, feed)
		}
		shown.Messages, rows = append(shown.Messages, rows[at]), slices.Delete(rows, at, at+1) // each once
	}
	a, err := s.View.Messages(ctx, s.Store, shown)
	if err != nil {
		return nil, err
	}
	return a, nil
}

// readableFeeds reads the subchannels of messages, and keeps those that are there and that the caller may read in, by id.
func (s *Service) readableFeeds(ctx context.Context, r *service.Request, messages []store.Message) (map[string]*store.MessageFeed, error) {
	var channels, ids []string
	for _, m := range messages {
		channels, ids = append(channels, m.ChannelID), append(ids, m.FeedID)
	}
	readable, err := chat.ReadableChannels(ctx, s.Deps, r, channels)
	if err != nil {
		return nil, err
	}
	var feeds []store.MessageFeed
	reads := s.Store.NewBestEffortBatch()
	reads.MessageFeeds(slices.Compact(slices.Sorted(slices.Values(ids))), &feeds)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	byID := map[string]*store.MessageFeed{}
	for i, feed := range feeds {
		if feed.DeletedAt == nil && readable[feed.EntityID].Channel != nil {
			byID[feed.ID] = &feeds[i]
		}
	}
	return byID, nil
}

// requireChange refuses those who may not do p to the message: all but its author, and moderators of the channel.
func requireChange(c *chat.MessageRequest, p auth.Permission) error {
	if c.Message.CreatorID == c.Caller.UserID && c.Caller.UserID != "" {
		return nil
	}
	return c.Access.RequireModerate(c.Caller, p)
}

// UpdateMessage changes what a message says; for its author as long as they may write, and for moderators.
func (s *Service) UpdateMessage(ctx context.Context, req *plazav1.UpdateMessageRequest) (*answer, error) {
	var settings store.Settings
	var rules *textrules.Rules
	c, err := s.loadLive(ctx, req.GetMessageId(), func(c *chat.MessageRequest) {
		rules = textrules.Read(s.Deps, c.ReadBatch, service.HomeOf(req.GetMessageId()))
		readSettings(s.Deps, c.Request, req.GetMentionedUsers(), &settings)
	})
	if err != nil {
		return nil, err
	}
	if err := requireChange(c, auth.EditMessage); err != nil {
		return nil, err
	}
	if err := c.Access.CanWrite(c.Caller, s.Now()); err != nil {
		return nil, err
	}
	changed, err := s.changed(ctx, c, req, settings)
	if err != nil {
		return nil, err
	}
	if err := rules.Require(ctx, c.Caller, textrules.TextOf(req.GetData())); err != nil {
		return nil, err
	}
	return s.change(ctx, c, func(tx *store.Tx) { tx.UpdateMessage(changed, s.Now()) })
}

// changed is the message as the request wants it.
func (s *Service) changed(ctx context.Context, c *chat.MessageRequest, req *plazav1.UpdateMessageRequest, settings store.Settings) (store.Message, error) {
	changed := *c.Message
	if req.GetData() != nil {
		if err := checkContent(changed.DataType, req.GetData()); err != nil {
			return changed, err
		}
		changed.Data = view.ObjectJSON(view.WithFile(req.GetData(), changed.FileID))
	}
	if req.GetMetadata() != nil {
		if err := checkMetadata(req.GetMetadata()); err != nil {
			return changed, err
		}
		changed.Metadata = view.ObjectJSON(req.GetMetadata())
	}
	if len(req.GetTags()) > 0 {
		changed.Tags = req.GetTags()
	}
	if req.GetData() == nil && len(req.GetMentionedUsers()) == 0 {
		return changed, nil
	}
	mentions, err := s.mentions(ctx, req.GetMentionedUsers(), settings)
	changed.Mentions = view.MessageMentionsJSON(mentions)
	return changed, err
}

// change runs a change of a live message and answers with the message.
func (s *Service) change(ctx context.Context, c *chat.MessageRequest, change func(*store.Tx)) (*answer, error) {
	var after *store.Message
	tx := s.Store.NewTx(service.HomeOf(c.Message.ID))
	tx.GuardMessage(c.Message.ID, fail.NotFound())
	change(tx)
	tx.SelectMessage(c.Message.ID, &after)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.answer(ctx, c, *after)
}

// DeleteMessage deletes a message; for its author and for moderators. Again, it answers the same.
func (s *Service) DeleteMessage(ctx context.Context, req *plazav1.DeleteMessageRequest) (*answer, error) {
	c, err := s.load(ctx, req.GetMessageId(), nil)
	if err != nil {
		return nil, err
	}
	if err := requireChange(c, auth.DeleteMessage); err != nil {
		return nil, err
	}
	now := s.Now()
	tx := s.Store.NewTx(service.HomeOf(c.Message.ID))
	if c.Message.DeletedAt == nil {
		tx.GuardMessage(c.Message.ID, fail.Conflict())
		tx.DeleteMessage(*c.Message, now)
		c.Message.DeletedAt, c.Message.UpdatedAt = &now, now
	} else if !req.GetPermanent() {
		return s.answer(ctx, c, *c.Message)
	}
	if req.GetPermanent() {
		tx.WipeMessages([]string{c.Message.ID})
	}
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.answer(ctx, c, *c.Message)
}
