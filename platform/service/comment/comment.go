// Package comment holds the comments on posts and stories.
//
// A comment's life, by approvalStatus:
//
//	(new) -> approved    at once; by a moderator everywhere, by others where the community does not ask for approval
//	(new) -> pending     where it does
//	pending -> approved  a moderator approves it
//	pending -> declined  a moderator declines it
//
// There is no way back from approved and declined. What is not approved is there for its author and for moderators alone: it is no
// part of what it stands on, counts nowhere, and nobody answers, flags or reacts to it. The setting of the community counts when
// a comment is made; what waits when it changes goes on waiting. An edit leaves the state as it is. In every state its author or
// a moderator edits and deletes it. Flags never hide it. It can be read as long as what it stands on can be: a story takes its
// comments with it when it ends.
package comment

import (
	"context"
	"slices"
	"time"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements CommentService.
type Service struct{ *service.Deps }

// New makes the service.
func New(d *service.Deps) *Service { return &Service{d} }

// loaded is one comment as a request finds it, with the post or story it stands on.
type loaded struct {
	*service.First
	comment *store.Comment
	ref     service.Reference
}

// load reads a comment, what it stands on and how the caller stands to that, beside what more adds. A comment that is
// deleted or that the caller may not see does not exist.
func (s *Service) load(ctx context.Context, id string, more func(*service.First)) (*loaded, error) {
	l := &loaded{First: s.Begin(ctx)}
	l.Comment(id, &l.comment)
	l.ReferOf(id, &l.ref)
	if more != nil {
		more(l.First)
	}
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	if l.comment == nil || l.comment.DeletedAt != nil {
		return nil, fail.NotFound()
	}
	return l, l.requireSee(s.Now())
}

// requireSee refuses comments that the caller may not see.
func (l *loaded) requireSee(now time.Time) error {
	if err := l.ref.RequireSee(l.First.Caller, now); err != nil {
		return err
	}
	return l.ref.Place.RequireSeeComment(l.First.Caller, l.comment)
}

func (l *loaded) known(comments ...store.Comment) view.Known {
	k := view.Known{Comments: comments, Users: l.UserRows()}
	if l.ref.Place.Member != nil {
		k.Members = []store.Member{*l.ref.Place.Member}
	}
	return k
}

func (s *Service) answer(ctx context.Context, callerID string, k view.Known) (*connect.Response[plazav1.CommentResponse], error) {
	a, err := s.View.Gather(ctx, s.Store, callerID, k)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(a.CommentAggregate()), nil
}

// GetComment gets one comment.
func (s *Service) GetComment(ctx context.Context, req *connect.Request[plazav1.GetCommentRequest]) (*connect.Response[plazav1.CommentResponse], error) {
	l, err := s.load(ctx, req.Msg.GetCommentId(), nil)
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, l.First.Caller.UserID, l.known(*l.comment))
}

// BatchGetComments gets up to ten comments in the order of the request; those that the caller may not see are left out.
func (s *Service) BatchGetComments(ctx context.Context, req *connect.Request[plazav1.BatchGetCommentsRequest]) (*connect.Response[plazav1.CommentResponse], error) {
	ids := req.Msg.GetCommentIds()
	found := make([]*loaded, len(ids))
	f := s.Begin(ctx)
	for i, id := range ids {
		l := &loaded{First: f}
		found[i] = l
		f.Comment(id, &l.comment)
		f.ReferOf(id, &l.ref)
	}
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	k := view.Known{Users: f.UserRows()}
	for _, l := range found {
		if l.comment == nil || l.comment.DeletedAt != nil || l.requireSee(s.Now()) != nil {
			continue
		}
		if !slices.ContainsFunc(k.Comments, func(c store.Comment) bool { return c.ID == l.comment.ID }) {
			k.Comments = append(k.Comments, *l.comment)
		}
		if l.ref.Place.Member != nil {
			k.Members = append(k.Members, *l.ref.Place.Member)
		}
	}
	return s.answer(ctx, f.Caller.UserID, k)
}

// DeleteComment deletes a comment; for its author, a moderator and the owner of the wall. Its replies stay. A permanent
// deletion leaves nothing of it.
func (s *Service) DeleteComment(ctx context.Context, req *connect.Request[plazav1.DeleteCommentRequest]) (*connect.Response[plazav1.StatusSuccessResponse], error) {
	return service.Edit(ctx, func() (*connect.Response[plazav1.StatusSuccessResponse], error) { return s.delete(ctx, req) })
}

// delete is DeleteComment unless somebody reviews or deletes the comment between: then it is service.ErrEdited.
func (s *Service) delete(ctx context.Context, req *connect.Request[plazav1.DeleteCommentRequest]) (*connect.Response[plazav1.StatusSuccessResponse], error) {
	l, err := s.load(ctx, req.Msg.GetCommentId(), nil)
	if err != nil {
		return nil, err
	}
	if err := auth.Require(l.First.Caller, deleteRight(l.comment), l.ref.Place.Scope(l.comment.AuthorID)); err != nil {
		return nil, err
	}
	w := s.Store.Write(service.HomeOf(l.comment.ID))
	w.GuardCommentStatus(*l.comment, service.ErrEdited)
	w.DeleteComment(*l.comment, s.Now())
	if req.Msg.GetPermanent() {
		w.PurgeComments([]string{l.comment.ID})
	}
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	return connect.NewResponse(&plazav1.StatusSuccessResponse{
		Status: "success", Data: &plazav1.SuccessResponse{Success: true}, Success: true,
	}), nil
}

func deleteRight(c *store.Comment) auth.Permission {
	if c.TargetType != "community" {
		return auth.DeleteUserFeedComment
	}
	return auth.DeleteCommunityComment
}
