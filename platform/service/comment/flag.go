package comment

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/flags"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// FlagComment flags a comment as the caller.
func (s *Service) FlagComment(ctx context.Context, req *plazav1.FlagCommentRequest) (*plazav1.CommentResponse, error) {
	var policy flags.Policy
	l, err := s.load(ctx, req.GetCommentId(), policy.Read(s.Deps))
	if err != nil {
		return nil, err
	}
	if err := visibility.RequireApproved(l.comment); err != nil {
		return nil, err
	}
	if err := l.ref.Target.RequireReact(l.Caller); err != nil {
		return nil, err
	}
	change, err := policy.Flag(l.Request, store.FlagComment, l.comment.ID, req, s.Now())
	if err != nil {
		return nil, err
	}
	return s.changeFlags(ctx, l, change)
}

// UnflagComment removes the caller's own flag; without one it changes nothing.
func (s *Service) UnflagComment(ctx context.Context, req *plazav1.UnflagCommentRequest) (*plazav1.CommentResponse, error) {
	l, err := s.load(ctx, req.GetCommentId(), nil)
	if err != nil {
		return nil, err
	}
	change, err := flags.Unflag(l.Request, l.comment.ID)
	if err != nil {
		return nil, err
	}
	return s.changeFlags(ctx, l, change)
}

// ClearCommentFlags removes every flag of a comment. The caller must moderate it.
func (s *Service) ClearCommentFlags(ctx context.Context, req *plazav1.ClearCommentFlagsRequest) (*plazav1.CommentResponse, error) {
	l, err := s.load(ctx, req.GetCommentId(), nil)
	if err != nil {
		return nil, err
	}
	if err := auth.Require(l.Caller, auth.ModeratePostAndComment, l.ref.Target.Scope("")); err != nil {
		return nil, err
	}
	return s.changeFlags(ctx, l, flags.Clear(l.comment.ID))
}

// changeFlags commits a change of the comment's flags with everything that depends on them, and returns the comment as it is then.
func (s *Service) changeFlags(ctx context.Context, l *loaded, change flags.Change) (*plazav1.CommentResponse, error) {
	var after *store.Comment
	tx := s.Store.NewTx(l.ref.Home())
	tx.GuardComment(l.comment.ID, fail.NotFound())
	change(tx)
	tx.RecomputeCommentFlags(*l.comment)
	tx.SelectComment(l.comment.ID, &after)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.respond(ctx, l.Caller.UserID, l.known(*after))
}

// IsCommentFlaggedByMe reports whether the caller flags the comment.
func (s *Service) IsCommentFlaggedByMe(ctx context.Context, req *plazav1.IsCommentFlaggedByMeRequest) (*plazav1.FlaggedByMeResponse, error) {
	var mine flags.Mine
	l, err := s.load(ctx, req.GetCommentId(), mine.Read(req.GetCommentId()))
	if err != nil {
		return nil, err
	}
	return mine.Response(l.Caller), nil
}
