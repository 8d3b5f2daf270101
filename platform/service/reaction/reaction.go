// Package reaction implements reactions to posts, comments, stories and messages. The client chooses the names of
// reactions; a user reacts at most once by each name.
package reaction

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements ReactionService.
type Service struct {
	*service.Deps
	live liveReactions
}

// New returns the service of reactions. Live reactions are sent by LiveJob.
func New(d *service.Deps) *Service { return &Service{Deps: d} }

// errAlreadyExists reports that the caller already has a reaction of this name.
var errAlreadyExists = errors.New("the reaction already exists")

// maxNames is the number of names that the reactions to an object can have. Answers contain the count of each name.
const maxNames = 100

var errNames = fail.New(fail.CodeBadRequest, fmt.Sprintf("An object can have reactions of at most %d names", maxNames))

// loaded is what is reacted to: a message, or a post or story, or a comment on one of them.
type loaded struct {
	*service.Request
	comment *content.Comment
	ref     *visibility.Reference // nil for a message
	message *chat.MessageRequest
	mine    []content.Reaction // the caller's reactions
}

// reference identifies what the caller reacts to.
type reference struct{ id, kind string }

// newRequest starts a request about what the caller reacts to and the caller's reactions to it. Its Run fails unless
// the caller may see it.
func (s *Service) newRequest(ctx context.Context, ref reference) *loaded {
	l := s.newReferenceRequest(ctx, ref)
	if home, err := s.Store.HomeOf(ref.id); err == nil {
		l.ReactionsOf(home, []string{ref.id}, l.Caller.UserID, &l.mine)
	}
	return l
}

// newReferenceRequest refuses comments that are not approved. A post that waits for approval takes reactions of its
// author and of moderators, who see it.
func (s *Service) newReferenceRequest(ctx context.Context, ref reference) *loaded {
	switch ref.kind {
	case messaging.ReferenceMessage:
		message := chat.NewExistingMessageRequest(ctx, s.Deps, ref.id)
		return &loaded{Request: message.Request, message: message}
	case content.ReferenceComment:
		l := &loaded{Request: s.NewRequest(ctx)}
		l.Comment(ref.id, &l.comment)
		pending := visibility.ReadReferenceOfComment(l.Request, ref.id)
		l.Check(func() (err error) {
			if c := l.comment; c == nil || c.DeletedAt != nil || c.ApprovalStatus != content.Approved {
				return fail.NotFound()
			}
			l.ref, err = pending.Resolve(l.Caller, s.Now())
			return err
		})
		return l
	}
	r := visibility.NewRequestAlone(s.NewRequest(ctx), ref.kind, ref.id)
	return &loaded{Request: r.Request, ref: &r.Reference}
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

// authorID returns the internal id of the author of what is reacted to.
func (l *loaded) authorID() string {
	switch {
	case l.message != nil:
		return l.message.Message.CreatorID
	case l.comment != nil:
		return l.comment.AuthorID
	}
	return l.ref.AuthorID()
}

// by returns the caller's reaction of a name, or nil.
func (l *loaded) by(name string) *content.Reaction {
	return service.Find(l.mine, func(r content.Reaction) bool { return r.Name == name })
}

// AddReaction adds a reaction of the caller's. Adding it again changes nothing.
func (s *Service) AddReaction(ctx context.Context, m *plazav1.AddReactionRequest) (*plazav1.AddReactionResponse, error) {
	ref := reference{id: m.GetReferenceId(), kind: m.GetReferenceType()}
	l, counts := s.newRequest(ctx, ref), core.Counts{}
	l.CountsOf([]string{ref.id}, counts)
	hidden := contact.ReadHidden(l.Request)
	l.Check(l.requireReact)
	l.AfterRun(func(ctx context.Context) error { return hidden.RequireAnswer(ctx, l.authorID()) })
	textrules.Require(l.Request, s.HomeOf(ref.id), textrules.TextOfList(m.GetReactionName()))
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	if r := l.by(m.GetReactionName()); r != nil {
		return added(r.ID), nil
	}
	home := s.HomeOf(ref.id)
	r := content.Reaction{
		ReferenceType: ref.kind, ReferenceID: ref.id, UserID: l.Caller.UserID, UserPublicID: l.User().PublicID,
		Name: m.GetReactionName(), ID: s.NewID(home), CreatedAt: s.Now(),
	}
	auth.Created(ctx, "reaction", r.ID)
	tx := s.Store.NewTx(home)
	l.guard(tx, r.CreatedAt)
	if counts.Of(ref.id, core.CountReactions(r.Name)) <= 0 { // a new name: others need not conflict with concurrent ones
		tx.GuardReactionNames(ref.id, maxNames, errNames)
	}
	tx.InsertReaction(r, errAlreadyExists)
	event, change := s.changed(l, r, true)
	switch err := s.CommitChange(ctx, tx, event, change); {
	case err == nil:
		return added(r.ID), nil
	case !errors.Is(err, errAlreadyExists):
		return nil, err
	}
	return s.respondExisting(ctx, ref, m.GetReactionName())
}

// respondExisting answers when a concurrent call of the same user added the reaction first.
func (s *Service) respondExisting(ctx context.Context, ref reference, name string) (*plazav1.AddReactionResponse, error) {
	l := s.newRequest(ctx, ref)
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	if r := l.by(name); r != nil {
		return added(r.ID), nil
	}
	return nil, fail.Conflict() // removed in the meantime
}

// guard makes the transaction fail if what is reacted to no longer exists.
func (l *loaded) guard(tx *store.Tx, now time.Time) {
	switch {
	case l.message != nil:
		tx.GuardMessage(l.message.Message.ID, fail.NotFound())
	case l.comment != nil:
		tx.GuardComment(l.comment.ID, fail.NotFound())
	default:
		l.ref.Guard(tx, now)
	}
}

func added(id string) *plazav1.AddReactionResponse {
	return &plazav1.AddReactionResponse{AddedId: id}
}

// RemoveReaction removes the caller's own reaction, or is 400400 without one.
func (s *Service) RemoveReaction(ctx context.Context, m *plazav1.RemoveReactionRequest) (*plazav1.RemoveReactionResponse, error) {
	l := s.newRequest(ctx, reference{id: m.GetReferenceId(), kind: m.GetReferenceType()})
	l.Check(l.RequireUser)
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	r := l.by(m.GetReactionName())
	if r == nil {
		return nil, fail.NotFound()
	}
	tx := s.Store.NewTx(s.HomeOf(r.ReferenceID))
	tx.DeleteReaction(*r, fail.NotFound())
	event, change := s.changed(l, *r, false)
	return &plazav1.RemoveReactionResponse{RemovedId: r.ID}, s.CommitChange(ctx, tx, event, change)
}

// changed returns the event about a reaction that was added or removed. Its name depends on what the reaction is to.
func (s *Service) changed(l *loaded, r content.Reaction, isNew bool) (event string, c events.Change) {
	names := [2]string{"removeReaction", "addReaction"}
	switch {
	case l.message != nil:
		c, names = s.MessageChange(*l.message.Message), [2]string{"reactionRemoved", "reactionAdded"}
	case l.comment != nil:
		c = s.CommentChange(*l.comment)
	case l.ref.Story != nil:
		c, names = s.StoryChange(*l.ref.Story), [2]string{"reactionRemoved", "reactionAdded"}
	default:
		c = s.PostChange(*l.ref.Post)
	}
	c.Reaction = &events.ChangedReaction{ID: r.ID, Name: r.Name, UserID: r.UserID}
	if isNew {
		return string(c.Kind) + "." + names[1], c
	}
	return string(c.Kind) + "." + names[0], c
}
