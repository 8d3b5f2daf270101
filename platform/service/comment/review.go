package comment

import (
	"context"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ApproveComment approves a pending comment.
func (s *Service) ApproveComment(ctx context.Context, req *plazav1.ApproveCommentRequest) (*plazav1.CommentResponse, error) {
	return s.review(ctx, req.GetCommentId(), store.Approved)
}

// DeclineComment declines a pending comment. Its author can still see it.
func (s *Service) DeclineComment(ctx context.Context, req *plazav1.DeclineCommentRequest) (*plazav1.CommentResponse, error) {
	return s.review(ctx, req.GetCommentId(), store.Declined)
}

// review changes the state of a pending comment. It is 400400 for a comment in another state.
func (s *Service) review(ctx context.Context, id, status string) (*plazav1.CommentResponse, error) {
	l := s.newModerated(ctx, id)
	l.CheckFound(func() bool { return l.comment.ApprovalStatus == store.Pending })
	return s.change(ctx, l, func(tx *store.Tx) {
		now := s.Now()
		l.Guard(tx, now)
		tx.GuardCommentStatus(*l.comment, fail.NotFound())
		tx.ReviewComment(*l.comment, status, now)
	})
}
