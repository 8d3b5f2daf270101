package message

import (
	"context"
	"errors"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/flags"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/messaging"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// FlagMessage flags a message as the caller.
func (s *Service) FlagMessage(ctx context.Context, req *plazav1.FlagMessageRequest) (*plazav1.MessageResponse, error) {
	c := chat.NewExistingMessageRequest(ctx, s.Deps, req.GetMessageId())
	return s.changeFlags(ctx, c, flags.Add(c.Request, content.FlagMessage, req))
}

// UnflagMessage removes the caller's flag, if there is one.
func (s *Service) UnflagMessage(ctx context.Context, req *plazav1.UnflagMessageRequest) (*plazav1.MessageResponse, error) {
	c := chat.NewExistingMessageRequest(ctx, s.Deps, req.GetMessageId())
	return s.changeFlags(ctx, c, flags.Remove(c.Request))
}

// ClearMessageFlags removes all flags of a message. It requires DELETE_MESSAGE.
func (s *Service) ClearMessageFlags(ctx context.Context, req *plazav1.ClearMessageFlagsRequest) (*plazav1.MessageResponse, error) {
	c := chat.NewExistingMessageRequest(ctx, s.Deps, req.GetMessageId())
	c.Check(func() error { return c.Access.RequireModerate(c.Caller, auth.DeleteMessage) })
	return s.changeFlags(ctx, c, flags.Clear(c.Request))
}

// changeFlags runs a request, writes a change of the flags of a message, deletes the message if it has too many, and
// returns it.
func (s *Service) changeFlags(ctx context.Context, c *chat.MessageRequest, change flags.Change) (*plazav1.MessageResponse, error) {
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	updated, err := s.change(ctx, *c.Message, change.Event("message", "flagCleared"), func(tx *store.Tx) {
		change.Apply(tx, flags.OfMessage(*c.Message), s.Now())
	})
	if err != nil {
		return nil, err
	}
	if err := s.deleteFlagged(ctx, c, updated); err != nil {
		return nil, err
	}
	return s.respond(ctx, c, *updated)
}

var errDeleted = errors.New("the message is already deleted")

// deleteFlagged deletes a message that has as many flags as its channel sets for automatic deletion.
func (s *Service) deleteFlagged(ctx context.Context, c *chat.MessageRequest, m *messaging.Message) error {
	channel := c.Access.Channel
	if !channel.AutoDeleteEnabled || channel.AutoDeleteFlags < 1 || m.FlagCount < channel.AutoDeleteFlags {
		return nil
	}
	now := s.Now()
	tx := s.Store.NewTx(s.HomeOf(m.ID))
	tx.GuardMessage(m.ID, errDeleted)
	tx.DeleteMessage(*m, now)
	if err := s.CommitChange(ctx, tx, "message.deleted", s.MessageChange(*m)); err != nil && !errors.Is(err, errDeleted) {
		return err
	}
	m.DeletedAt, m.UpdatedAt = &now, now
	return nil
}

// IsMessageFlaggedByMe reports whether the caller flags the message.
func (s *Service) IsMessageFlaggedByMe(
	ctx context.Context, req *plazav1.IsMessageFlaggedByMeRequest,
) (*plazav1.FlaggedByMeResponse, error) {
	return flags.Mine(ctx, chat.NewExistingMessageRequest(ctx, s.Deps, req.GetMessageId()).Request, req.GetMessageId())
}
