package comment

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/flags"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ApproveComment approves a pending comment, or makes its pending edit.
func (s *Service) ApproveComment(ctx context.Context, req *plazav1.ApproveCommentRequest) (*plazav1.CommentResponse, error) {
	return s.review(ctx, req.GetCommentId(), content.Approved)
}

// DeclineComment declines a pending comment, which its author can still see, or drops its pending edit.
func (s *Service) DeclineComment(ctx context.Context, req *plazav1.DeclineCommentRequest) (*plazav1.CommentResponse, error) {
	return s.review(ctx, req.GetCommentId(), content.Declined)
}

// review changes the state of a pending comment, or settles the pending edit of an approved one. It is 400400 for
// another comment.
func (s *Service) review(ctx context.Context, id, status string) (*plazav1.CommentResponse, error) {
	return service.RetryOnConflict(ctx, func() (*plazav1.CommentResponse, error) { return s.tryReview(ctx, id, status) })
}

// tryReview is one attempt of review. It returns service.ErrConflict if the comment was edited concurrently.
func (s *Service) tryReview(ctx context.Context, id, status string) (*plazav1.CommentResponse, error) {
	var pending *content.PendingEdit
	var item *content.FlagItem
	l := s.newModerated(ctx, id)
	l.PendingEdit(id, &pending)
	l.FlagItem(id, &item)
	l.CheckFound(func() bool {
		return l.comment.ApprovalStatus == content.Pending || l.comment.ApprovalStatus == content.Approved && pending != nil
	})
	return s.change(ctx, l, func(tx *store.Tx) string {
		now := s.Now()
		l.Guard(tx, now)
		if l.comment.ApprovalStatus == content.Approved {
			return settleEdit(tx, *l.comment, *pending, status == content.Approved, now)
		}
		tx.GuardCommentStatus(*l.comment, fail.NotFound())
		tx.ReviewComment(*l.comment, status, now)
		flags.Review(tx, l.Request, item, status == content.Approved)
		tx.RecomputeCommentFlags(*l.comment)
		return reviewEvents[status]
	})
}

// reviewEvents names the event of a review by the new state. For those who could not see the comment before, its approval
// is its creation.
var reviewEvents = map[string]string{content.Approved: "comment.created", content.Declined: "comment.updated"}

// settleEdit makes or drops the pending edit of a comment, and returns the event.
func settleEdit(tx *store.Tx, c content.Comment, pending content.PendingEdit, approved bool, now time.Time) (event string) {
	tx.GuardCommentUnchanged(c, service.ErrConflict)
	tx.GuardPendingEdit(pending, service.ErrConflict)
	if approved {
		edit := withPending(c, &pending)
		edit.DataTypes = dataTypes(edit.Data, view.Attachments(edit.Attachments))
		tx.UpdateComment(edit, now, false)
		event = "comment.updated"
	}
	tx.DeletePendingEdits(c.ID)
	return event
}
