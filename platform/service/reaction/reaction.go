// Package reaction holds the reactions to posts, comments, stories and messages. Names are free; a user reacts once by each name.
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

// New makes the service.
func New(d *service.Deps) *Service { return &Service{d} }

// errThere says that the caller reacts by this name already.
var errThere = errors.New("the reaction is there already")

// loaded is what is reacted to: a message, or a post or story, or a comment on one of them.
type loaded struct {
	*service.Request
	comment *store.Comment
	pending *visibility.Pending
	ref     *visibility.Reference // nil for a message
	message *chat.MessageRequest
	mine    []store.Reaction // the caller's reactions
}

// reference names what is reacted to.
type reference struct{ id, kind string }

// load reads what is reacted to, the caller's reactions to it, and how the caller stands to where it stands. What is
// deleted or not for the caller to see does not exist.
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

// requireReadMessage sends the reads and refuses messages that the caller may not read.
func (l *loaded) requireReadMessage(ctx context.Context) error {
	if err := l.message.RequireRead(ctx); err != nil {
		return err
	}
	if l.message.Message.DeletedAt != nil {
		return fail.NotFound()
	}
	return nil
}

// requireSee refuses what the caller may not see, and comments that are not for everybody: they wait for a moderator, or one declined
// them. Whoever sees a post that waits, its author and the moderators, reacts to it as they comment on it.
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

// requireReact refuses those who may not react.
func (l *loaded) requireReact() error {
	if err := l.RequireUser(); err != nil {
		return err
	}
	if l.message != nil { // who reads in a channel reacts in it, also where only moderators write
		return nil
	}
	return l.ref.Target.RequireReact(l.Caller)
}

// by is the caller's reaction by a name; nil where there is none.
func (l *loaded) by(name string) *store.Reaction {
	for i := range l.mine {
		if l.mine[i].Name == name {
			return &l.mine[i]
		}
	}
	return nil
}

// AddReaction reacts as the caller. A second time by the same name changes nothing.
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
	tx.InsertReaction(r, errThere)
	if err := tx.Commit(ctx); err != nil && !errors.Is(err, errThere) {
		return nil, err
	} else if err == nil {
		return added(r.ID), nil
	}
	return s.again(ctx, ref, m.GetReactionName())
}

// again answers a call that another one of the same user got ahead of.
func (s *Service) again(ctx context.Context, ref reference, name string) (*plazav1.AddReactionResponse, error) {
	l, err := s.load(ctx, ref, nil)
	if err != nil {
		return nil, err
	}
	if r := l.by(name); r != nil {
		return added(r.ID), nil
	}
	return nil, fail.Conflict() // taken back meanwhile
}

// guard refuses the transaction where what is reacted to is gone.
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

// RemoveReaction takes the caller's own reaction back; one that is not there is 400400.
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
