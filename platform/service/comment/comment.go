// Package comment holds the comments on posts.
//
// A comment's life: created, at once or waiting (approvalStatus pending) where its community asks for approval; deleted
// by its author or a moderator. Flags never hide it.
package comment

import (
	"context"
	"slices"

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

// loaded is one comment as a request finds it, with the post it stands on.
type loaded struct {
	*service.First
	comment *store.Comment
	post    *store.Post
	place   service.Place
}

// load reads a comment, what it stands on and how the caller stands to that, beside what more adds. A comment that is
// deleted or that the caller may not see does not exist.
func (s *Service) load(ctx context.Context, id string, more func(*service.First)) (*loaded, error) {
	l := &loaded{First: s.Begin(ctx)}
	l.Comment(id, &l.comment)
	l.PostOfComment(id, &l.post)
	l.CommunityOfComment(id, &l.place.Community)
	if l.First.Caller.UserID != "" {
		l.MemberOfComment(id, l.First.Caller.UserID, &l.place.Member)
		l.WallOfComment(id, l.First.Caller.UserID, &l.place.Wall)
	}
	if more != nil {
		more(l.First)
	}
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	if l.comment == nil || l.comment.DeletedAt != nil {
		return nil, fail.NotFound()
	}
	return l, l.requireSee()
}

// requireSee refuses what stands on a post that is gone, that the caller may not see, or that waits for a moderator.
func (l *loaded) requireSee() error {
	if l.post == nil || l.post.DeletedAt != nil {
		return fail.NotFound()
	}
	if l.post.TargetType == "user" {
		l.place.WallOwnerID = l.post.TargetID
	}
	if err := l.place.RequireSee(l.First.Caller); err != nil {
		return err
	}
	mine := l.post.AuthorID == l.First.Caller.UserID
	if l.post.FeedType != "published" && !mine && !l.place.Moderates(l.First.Caller) {
		return fail.NotFound()
	}
	return nil
}

func (l *loaded) known(comments ...store.Comment) view.Known {
	k := view.Known{Comments: comments, Users: l.UserRows()}
	if l.place.Member != nil {
		k.Members = []store.Member{*l.place.Member}
	}
	return k
}

func (s *Service) answer(ctx context.Context, callerID string, k view.Known) (*connect.Response[plazav1.CommentAggregate], error) {
	a, err := s.View.Gather(ctx, s.Store, callerID, k)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(a.CommentAggregate()), nil
}

// GetComment gets one comment.
func (s *Service) GetComment(ctx context.Context, req *connect.Request[plazav1.GetCommentRequest]) (*connect.Response[plazav1.CommentAggregate], error) {
	l, err := s.load(ctx, req.Msg.GetCommentId(), nil)
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, l.First.Caller.UserID, l.known(*l.comment))
}

// BatchGetComments gets up to ten comments in the order of the request; those that the caller may not see are left out.
func (s *Service) BatchGetComments(ctx context.Context, req *connect.Request[plazav1.BatchGetCommentsRequest]) (*connect.Response[plazav1.CommentAggregate], error) {
	ids := req.Msg.GetCommentIds()
	found := make([]*loaded, len(ids))
	f := s.Begin(ctx)
	for i, id := range ids {
		l := &loaded{First: f}
		found[i] = l
		f.Comment(id, &l.comment)
		f.PostOfComment(id, &l.post)
		f.CommunityOfComment(id, &l.place.Community)
		if f.Caller.UserID != "" {
			f.MemberOfComment(id, f.Caller.UserID, &l.place.Member)
			f.WallOfComment(id, f.Caller.UserID, &l.place.Wall)
		}
	}
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	k := view.Known{Users: f.UserRows()}
	for _, l := range found {
		if l.comment == nil || l.comment.DeletedAt != nil || l.requireSee() != nil {
			continue
		}
		if !slices.ContainsFunc(k.Comments, func(c store.Comment) bool { return c.ID == l.comment.ID }) {
			k.Comments = append(k.Comments, *l.comment)
		}
		if l.place.Member != nil {
			k.Members = append(k.Members, *l.place.Member)
		}
	}
	return s.answer(ctx, f.Caller.UserID, k)
}

// DeleteComment deletes a comment; for its author, a moderator and the owner of the wall. Its replies stay. A permanent
// deletion leaves nothing of it.
func (s *Service) DeleteComment(ctx context.Context, req *connect.Request[plazav1.DeleteCommentRequest]) (*connect.Response[plazav1.StatusSuccessResponse], error) {
	l, err := s.load(ctx, req.Msg.GetCommentId(), nil)
	if err != nil {
		return nil, err
	}
	if err := auth.Require(l.First.Caller, deleteRight(l.comment), l.place.Scope(l.comment.AuthorID)); err != nil {
		return nil, err
	}
	w := s.Store.Write(service.HomeOf(l.comment.ID))
	w.GuardComment(l.comment.ID, fail.NotFound())
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
	if c.TargetType == "user" {
		return auth.DeleteUserFeedComment
	}
	return auth.DeleteCommunityComment
}
