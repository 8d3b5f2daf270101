// Package reaction implements reactions to posts, comments, stories and messages. The client chooses the names of
// reactions; a user reacts at most once by each name.
package reaction

import (
	"context"
	"errors"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements ReactionService.
type Service struct{ *service.Deps }

// New returns the service of reactions.
func New(d *service.Deps) *Service { return &Service{d} }

// errAlreadyExists reports that the caller already has a reaction of this name.
var errAlreadyExists = errors.New("the reaction already exists")

// loaded is what is reacted to: a message, or a post or story, or a comment on one of them.
type loaded struct {
	*service.Request
	comment *store.Comment
	pending *visibility.Pending
	ref     *visibility.Reference // nil for a message
	message *chat.MessageRequest
	mine    []store.Reaction // the caller's reactions
}

// reference identifies what the caller reacts to.
type reference struct{ id, kind string }

// load reads what the caller reacts to, if the caller may see it, the caller's reactions to it, and whatever more
// adds to the same round trip.
func (s *Service) load(ctx context.Context, ref reference, more func(*service.Request)) (*loaded, error) {
	l := s.begin(ctx, ref)
	if home, err := region.HomeOf(ref.id); err == nil && l.Caller.UserID != "" {
		l.ReactionsOf(home, []string{ref.id}, l.Caller.UserID, &l.mine)
	}
	if more != nil {
		more(l.Request)
	}
	if l.message != nil {
		return l, l.requireReadMessage(ctx)
	}
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	if ref.kind == store.ReferenceComment && (l.comment == nil || l.comment.DeletedAt != nil) {
		return nil, fail.NotFound()
	}
	return l, l.requireSee(s.Now())
}

// begin starts the first round trip of a request about a reference.
func (s *Service) begin(ctx context.Context, ref reference) *loaded {
	if ref.kind == store.ReferenceMessage {
		message := chat.NewMessageRequest(ctx, s.Deps, ref.id)
		return &loaded{Request: message.Request, message: message}
	}
	l := &loaded{Request: s.NewRequest(ctx)}
	if ref.kind == store.ReferenceComment {
		l.Comment(ref.id, &l.comment)
		l.pending = visibility.ReadReferenceOfComment(l.Request, ref.id)
	} else {
		l.pending = visibility.ReadReference(l.Request, ref.kind, ref.id)
	}
	return l
}

// requireReadMessage runs the reads and refuses messages that the caller may not read.
func (l *loaded) requireReadMessage(ctx context.Context) error {
	if err := l.message.RequireRead(ctx); err != nil {
		return err
	}
	if l.message.Message.DeletedAt != nil {
		return fail.NotFound()
	}
	return nil
}

// requireSee refuses what the caller may not see, and comments that are not approved. A post that waits for approval
// takes reactions of its author and of moderators, who see it.
func (l *loaded) requireSee(now time.Time) error {
	if l.comment != nil {
		if err := visibility.RequireApproved(l.comment); err != nil {
			return err
		}
	}
	var err error
	l.ref, err = l.pending.Resolve(l.Caller, now)
	return err
}

// requireReact returns nil if the caller may react.
func (l *loaded) requireReact() error {
	if err := l.RequireUser(); err != nil {
		return err
	}
	if l.message != nil { // every reader of a channel may react, also where only moderators may write
		return nil
	}
	return l.ref.Target.RequireReact(l.Caller)
}

// by returns the caller's reaction of a name, or nil.
func (l *loaded) by(name string) *store.Reaction {
	for i := range l.mine {
		if l.mine[i].Name == name {
			return &l.mine[i]
		}
	}
	return nil
}

// AddReaction adds a reaction of the caller's. Adding it again changes nothing.
func (s *Service) AddReaction(ctx context.Context, m *plazav1.AddReactionRequest) (*plazav1.AddReactionResponse, error) {
	ref := reference{id: m.GetReferenceId(), kind: m.GetReferenceType()}
	l, err := s.load(ctx, ref, nil)
	if err != nil {
		return nil, err
	}
	if err := l.requireReact(); err != nil {
		return nil, err
	}
	if r := l.by(m.GetReactionName()); r != nil {
		return added(r.ID), nil
	}
	home := service.HomeOf(ref.id)
	r := store.Reaction{
		ReferenceType: ref.kind, ReferenceID: ref.id, UserID: l.Caller.UserID, UserPublicID: l.User().PublicID,
		Name: m.GetReactionName(), ID: s.NewID(home), CreatedAt: s.Now(),
	}
	tx := s.Store.NewTx(home)
	l.guard(tx, r.CreatedAt)
	tx.InsertReaction(r, errAlreadyExists)
	if err := tx.Commit(ctx); err != nil && !errors.Is(err, errAlreadyExists) {
		return nil, err
	} else if err == nil {
		return added(r.ID), nil
	}
	return s.respondExisting(ctx, ref, m.GetReactionName())
}

// respondExisting answers when a concurrent call of the same user added the reaction first.
func (s *Service) respondExisting(ctx context.Context, ref reference, name string) (*plazav1.AddReactionResponse, error) {
	l, err := s.load(ctx, ref, nil)
	if err != nil {
		return nil, err
	}
	if r := l.by(name); r != nil {
		return added(r.ID), nil
	}
	return nil, fail.Conflict() // removed in the meantime
}

// guard makes the transaction fail if what is reacted to no longer exists.
func (l *loaded) guard(tx *store.Tx, now time.Time) {
	if l.message != nil {
		tx.GuardMessage(l.message.Message.ID, fail.NotFound())
		return
	}
	if l.comment != nil {
		tx.GuardComment(l.comment.ID, fail.NotFound())
		return
	}
	l.ref.Guard(tx, now)
}

func added(id string) *plazav1.AddReactionResponse {
	return &plazav1.AddReactionResponse{AddedId: id}
}

// RemoveReaction removes the caller's own reaction, or is 400400 without one.
func (s *Service) RemoveReaction(ctx context.Context, m *plazav1.RemoveReactionRequest) (*plazav1.RemoveReactionResponse, error) {
	l, err := s.load(ctx, reference{id: m.GetReferenceId(), kind: m.GetReferenceType()}, nil)
	if err != nil {
		return nil, err
	}
	if err := l.RequireUser(); err != nil {
		return nil, err
	}
	r := l.by(m.GetReactionName())
	if r == nil {
		return nil, fail.NotFound()
	}
	tx := s.Store.NewTx(service.HomeOf(r.ReferenceID))
	tx.DeleteReaction(*r, fail.NotFound())
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return &plazav1.RemoveReactionResponse{RemovedId: r.ID}, nil
}
