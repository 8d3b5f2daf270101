// Package message implements MessageService: the messages of subchannels.
//
// Users who may write in a channel create messages. Their author and moderators of the channel update and delete
// them. A deleted message keeps its segment, but not its content. A channel may delete messages automatically that
// have a number of flags.
package message

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/groupcommit"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements MessageService.
type Service struct {
	*service.Deps

	queue *groupcommit.Queue[string, *insertion]
}

// New returns the service.
func New(d *service.Deps) *Service {
	s := &Service{Deps: d}
	s.queue = s.newQueue()
	return s
}

func (s *Service) respond(ctx context.Context, c *chat.MessageRequest, messages ...messaging.Message) (*plazav1.MessageResponse, error) {
	return s.View.LoadMessages(ctx, s.Store, view.MessageRows{
		Feeds: []messaging.MessageFeed{*c.Feed}, Messages: messages, Viewer: c.User(), Moderated: map[string]bool{c.Feed.EntityID: moderates(c)},
	})
}

// moderates reports whether the caller may clear the flags of the channel's messages.
func moderates(c *chat.MessageRequest) bool {
	return c.Access.CanModerate(c.Caller, auth.DeleteMessage)
}

// GetMessage gets one message.
func (s *Service) GetMessage(ctx context.Context, req *plazav1.GetMessageRequest) (*plazav1.MessageResponse, error) {
	c := chat.NewMessageRequest(ctx, s.Deps, req.GetMessageId())
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	return s.respond(ctx, c, *c.Message)
}

// BatchGetMessages gets several messages in the order of the request. Messages that the caller may not read are left
// out.
func (s *Service) BatchGetMessages(ctx context.Context, req *plazav1.BatchGetMessagesRequest) (*plazav1.MessageResponse, error) {
	var rows []messaging.Message
	r := s.NewRequest(ctx)
	r.MessageHeads(req.GetMessageIds(), &rows)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	access, err := chat.LoadAccess(ctx, s.Deps, r.Caller, service.Map(rows, func(m messaging.Message) string { return m.ChannelID }))
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(m messaging.Message) bool { return access[m.ChannelID].CanRead(r.Caller) != nil })
	feeds, rows, err := s.readFeeds(ctx, rows)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(m messaging.Message) bool { return feeds[m.FeedID] == nil })
	service.SortByID(rows, req.GetMessageIds(), func(m messaging.Message) string { return m.ID })
	shown := view.MessageRows{Messages: rows, Viewer: r.User(), Moderated: map[string]bool{}}
	for id, a := range access {
		shown.Moderated[id] = a.CanModerate(r.Caller, auth.DeleteMessage)
	}
	for _, id := range service.Distinct(service.Map(rows, func(m messaging.Message) string { return m.FeedID })) {
		shown.Feeds = append(shown.Feeds, *feeds[id])
	}
	return s.View.LoadMessages(ctx, s.Store, shown)
}

// readFeeds returns, by id, the subchannels of messages that are not deleted, and the whole messages of their heads.
func (s *Service) readFeeds(
	ctx context.Context, heads []messaging.Message,
) (map[string]*messaging.MessageFeed, []messaging.Message, error) {
	var feeds []messaging.MessageFeed
	var messages []messaging.Message
	reads := s.Store.NewBestEffortBatch()
	reads.MessageFeeds(service.SortedSet(service.Map(heads, func(m messaging.Message) string { return m.FeedID })), &feeds)
	reads.MessagesByID(service.Map(heads, func(m messaging.Message) string { return m.ID }), &messages)
	err := reads.Run(ctx)
	byID := map[string]*messaging.MessageFeed{}
	for i, feed := range feeds {
		if feed.DeletedAt == nil {
			byID[feed.ID] = &feeds[i]
		}
	}
	return byID, messages, err
}

// requireChange returns an error unless the caller is the author of the message or has the permission p in the channel.
func requireChange(c *chat.MessageRequest, p auth.Permission) error {
	if c.Message.CreatorID == c.Caller.UserID && c.Caller.UserID != "" {
		return nil
	}
	return c.Access.RequireModerate(c.Caller, p)
}

// checkChange adds the checks of requireChange, and that the caller's authority is not below that of the author.
func checkChange(c *chat.MessageRequest, p auth.Permission) {
	c.Check(func() error { return requireChange(c, p) })
	c.AfterRun(func(ctx context.Context) error {
		return c.Access.RequireOverAuthor(ctx, c.Deps, c.Caller, c.Message.CreatorID)
	})
}

// UpdateMessage changes the content of a message. The caller must be its author and still be allowed to write, or a
// moderator.
func (s *Service) UpdateMessage(ctx context.Context, req *plazav1.UpdateMessageRequest) (*plazav1.MessageResponse, error) {
	var settings network.Settings
	var updated messaging.Message
	req.MentionedUsers = slices.Concat(req.GetMentionedUsers(), req.GetMentionees())
	c := chat.NewExistingMessageRequest(ctx, s.Deps, req.GetMessageId())
	readSettings(c.Request, req.GetMentionedUsers(), &settings)
	checkChange(c, auth.EditMessage)
	c.Check(func() error { return c.Access.CanWrite(c.Caller, s.Now()) })
	c.AfterRun(func(ctx context.Context) (err error) {
		updated, err = s.updated(ctx, c, req, settings)
		return err
	})
	fileref.RequireIn(c.Request, func() bool { return true }, fileref.Mentioned(view.ObjectJSON(req.GetData()))...)
	textrules.Require(c.Request, s.HomeOf(req.GetMessageId()), textrules.TextOf(freeform.Of(req.GetData())),
		textrules.TextOfList(req.GetTags()...))
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	after, err := s.change(ctx, updated, "message.updated", func(tx *store.Tx) { tx.UpdateMessage(updated, s.Now()) })
	if err != nil {
		return nil, err
	}
	return s.respond(ctx, c, *after)
}

// updated returns the message with the changes of the request.
func (s *Service) updated(ctx context.Context, c *chat.MessageRequest, req *plazav1.UpdateMessageRequest,
	settings network.Settings,
) (messaging.Message, error) {
	updated := *c.Message
	if req.GetData() != nil {
		if err := chat.CheckContent(updated.DataType, freeform.Of(req.GetData())); err != nil {
			return updated, err
		}
		updated.Data = view.WithFileID(freeform.Of(req.GetData()), updated.FileID).Row()
	}
	if req.GetMetadata() != nil {
		updated.Metadata = view.ObjectJSON(req.GetMetadata())
	}
	if len(req.GetTags()) > 0 {
		updated.Tags = req.GetTags()
	}
	if req.GetData() == nil && len(req.GetMentionedUsers()) == 0 {
		return updated, nil
	}
	mentions, err := s.mentions(ctx, req.GetMentionedUsers(), settings)
	updated.Mentions = view.MessageMentionsJSON(mentions)
	return updated, err
}

// change writes a change of an existing message with its event and returns the message.
func (s *Service) change(ctx context.Context, m messaging.Message, event string, change func(*store.Tx)) (*messaging.Message, error) {
	var after *messaging.Message
	tx := s.Store.NewTx(s.HomeOf(m.ID))
	tx.GuardMessage(m.ID, fail.NotFound())
	change(tx)
	tx.SelectMessage(m.ID, &after)
	err := s.CommitChange(ctx, tx, event, s.MessageChange(m))
	return after, err
}

// DeleteMessage deletes a message. The caller must be its author or a moderator. Deleting a deleted message succeeds.
func (s *Service) DeleteMessage(ctx context.Context, req *plazav1.DeleteMessageRequest) (*plazav1.MessageResponse, error) {
	c := chat.NewMessageRequest(ctx, s.Deps, req.GetMessageId())
	checkChange(c, auth.DeleteMessage)
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	now := s.Now()
	tx := s.Store.NewTx(s.HomeOf(c.Message.ID))
	if c.Message.DeletedAt == nil {
		tx.GuardMessage(c.Message.ID, fail.Conflict())
		tx.DeleteMessage(*c.Message, now)
		c.Message.DeletedAt, c.Message.UpdatedAt = &now, now
	} else if !req.GetPermanent() {
		return s.respond(ctx, c, *c.Message)
	}
	if req.GetPermanent() {
		tx.PurgeMessages([]string{c.Message.ID})
	}
	if err := s.CommitChange(ctx, tx, "message.deleted", s.MessageChange(*c.Message)); err != nil {
		return nil, err
	}
	return s.respond(ctx, c, *c.Message)
}
