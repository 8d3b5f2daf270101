package comment

import (
	"context"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/flags"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// FlagComment flags a comment as the caller.
func (s *Service) FlagComment(ctx context.Context, req *plazav1.FlagCommentRequest) (*plazav1.CommentResponse, error) {
	l := s.newRequest(ctx, req.GetCommentId())
	l.CheckFound(func() bool { return l.comment.ApprovalStatus == content.Approved }) // others take no flags
	l.Check(func() error { return l.Target.RequireReact(l.Caller) })
	return s.changeFlags(ctx, l, flags.Add(l.Request, content.FlagComment, req))
}

// UnflagComment removes the caller's own flag; without one it changes nothing.
func (s *Service) UnflagComment(ctx context.Context, req *plazav1.UnflagCommentRequest) (*plazav1.CommentResponse, error) {
	l := s.newRequest(ctx, req.GetCommentId())
	return s.changeFlags(ctx, l, flags.Remove(l.Request))
}

// ClearCommentFlags removes every flag of a comment. The caller must moderate it.
func (s *Service) ClearCommentFlags(ctx context.Context, req *plazav1.ClearCommentFlagsRequest) (*plazav1.CommentResponse, error) {
	l := s.newModerated(ctx, req.GetCommentId())
	return s.changeFlags(ctx, l, flags.Clear(l.Request))
}

// changeFlags runs a request, commits a change of the comment's flags with everything that depends on them, and returns
// the comment as it is then.
func (s *Service) changeFlags(ctx context.Context, l *request, change flags.Change) (*plazav1.CommentResponse, error) {
	return s.change(ctx, l, func(tx *store.Tx) string {
		tx.GuardComment(l.comment.ID, fail.NotFound())
		change.Apply(tx, flags.OfComment(*l.comment), s.Now())
		return change.Event("comment", "flagsCleared")
	})
}

// change runs a request, commits a change of the comment with the event that change names, and returns the comment as it
// is then.
func (s *Service) change(ctx context.Context, l *request, change func(*store.Tx) (event string)) (*plazav1.CommentResponse, error) {
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	var after *content.Comment
	tx := s.Store.NewTx(l.HomeOf(l.comment.ID))
	event := change(tx)
	tx.SelectComment(l.comment.ID, &after)
	if err := s.CommitChange(ctx, tx, event, s.CommentChange(*l.comment)); err != nil {
		return nil, err
	}
	return s.respond(ctx, l.Caller.UserID, l.known(*after))
}

// IsCommentFlaggedByMe reports whether the caller flags the comment.
func (s *Service) IsCommentFlaggedByMe(
	ctx context.Context, req *plazav1.IsCommentFlaggedByMeRequest,
) (*plazav1.FlaggedByMeResponse, error) {
	return flags.Mine(ctx, s.newRequest(ctx, req.GetCommentId()).Request, req.GetCommentId())
}
