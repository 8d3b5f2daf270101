package comment

import (
	"context"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ApproveComment shows a comment to everybody that waits for a moderator.
func (s *Service) ApproveComment(ctx context.Context, req *connect.Request[plazav1.ApproveCommentRequest]) (*connect.Response[plazav1.CommentResponse], error) {
	return s.review(ctx, req.Msg.GetCommentId(), store.Approved)
}

// DeclineComment declines a comment that waits for a moderator; its author still sees it.
func (s *Service) DeclineComment(ctx context.Context, req *connect.Request[plazav1.DeclineCommentRequest]) (*connect.Response[plazav1.CommentResponse], error) {
	return s.review(ctx, req.Msg.GetCommentId(), store.Declined)
}

// review decides about a comment that waits: 400400 for one that does not.
func (s *Service) review(ctx context.Context, id, status string) (*connect.Response[plazav1.CommentResponse], error) {
	l, err := s.load(ctx, id, nil)
	if err != nil {
		return nil, err
	}
	if err := auth.Require(l.First.Caller, auth.ModeratePostAndComment, l.ref.Place.Scope("")); err != nil {
		return nil, err
	}
	if l.comment.ApprovalStatus != store.Pending {
		return nil, fail.NotFound()
	}
	now := s.Now()
	var after *store.Comment
	w := s.Store.Write(service.HomeOf(id))
	l.ref.Guard(w, now)
	w.GuardCommentStatus(*l.comment, fail.NotFound())
	w.ReviewComment(*l.comment, status, now)
	w.CommentAfter(id, &after)
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	return s.answer(ctx, l.First.Caller.UserID, l.known(*after))
}
