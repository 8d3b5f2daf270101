package comment

import (
	"cmp"
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// FlagComment flags a comment as the caller. A second time changes nothing; where as many others flag it as the network
// allows, or flagging is off, it is refused.
func (s *Service) FlagComment(ctx context.Context, req *plazav1.FlagCommentRequest) (*plazav1.CommentAggregate, error) {
	var settings store.Settings
	l, err := s.load(ctx, req.GetCommentId(), func(f *service.Request) { f.Settings(s.Region, &settings) })
	if err != nil {
		return nil, err
	}
	if err := l.RequireUser(); err != nil {
		return nil, err
	}
	if err := visibility.RequireApproved(l.comment); err != nil {
		return nil, err
	}
	if err := l.ref.Target.RequireReact(l.Request.Caller); err != nil {
		return nil, err
	}
	if !settings.IsReportEnabled {
		return nil, fail.NotAllowed()
	}
	flag := store.Flag{
		TargetType: store.FlagComment, TargetID: l.comment.ID, UserID: l.Request.Caller.UserID,
		Reason: cmp.Or(req.GetReason(), service.DefaultFlagReason), Detail: req.GetDetail(), CreatedAt: s.Now(),
	}
	return s.changeFlags(ctx, l, func(w *store.Tx) {
		w.GuardFlagLimit(flag, settings.FlagLimit, fail.FlagLimit())
		w.InsertFlag(flag)
	})
}

// UnflagComment takes the caller's own flag back; without one it changes nothing.
func (s *Service) UnflagComment(ctx context.Context, req *plazav1.UnflagCommentRequest) (*plazav1.CommentAggregate, error) {
	l, err := s.load(ctx, req.GetCommentId(), nil)
	if err != nil {
		return nil, err
	}
	if err := l.RequireUser(); err != nil {
		return nil, err
	}
	return s.changeFlags(ctx, l, func(w *store.Tx) { w.DeleteFlag(l.comment.ID, l.Request.Caller.UserID) })
}

// ClearCommentFlags removes every flag of a comment; for moderators.
func (s *Service) ClearCommentFlags(ctx context.Context, req *plazav1.ClearCommentFlagsRequest) (*plazav1.CommentAggregate, error) {
	l, err := s.load(ctx, req.GetCommentId(), nil)
	if err != nil {
		return nil, err
	}
	if err := auth.Require(l.Request.Caller, auth.ModeratePostAndComment, l.ref.Target.Scope("")); err != nil {
		return nil, err
	}
	return s.changeFlags(ctx, l, func(w *store.Tx) { w.DeleteFlags(l.comment.ID) })
}

// changeFlags runs a change of the comment's flags, brings up to date what depends on them, and answers with the comment.
func (s *Service) changeFlags(ctx context.Context, l *loaded, change func(*store.Tx)) (*plazav1.CommentAggregate, error) {
	var after *store.Comment
	w := s.Store.NewTx(service.HomeOf(l.comment.ID))
	w.GuardComment(l.comment.ID, fail.NotFound())
	change(w)
	w.RecomputeCommentFlags(*l.comment)
	w.SelectComment(l.comment.ID, &after)
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	return s.answer(ctx, l.Request.Caller.UserID, l.known(*after))
}

// IsCommentFlaggedByMe tells whether the caller flags the comment.
func (s *Service) IsCommentFlaggedByMe(ctx context.Context, req *plazav1.IsCommentFlaggedByMeRequest) (*plazav1.FlaggedByMeResponse, error) {
	mine := false
	l, err := s.load(ctx, req.GetCommentId(), func(f *service.Request) { f.FlaggedBy(req.GetCommentId(), f.Caller.UserID, &mine) })
	if err != nil {
		return nil, err
	}
	mine = mine && l.Request.Caller.Kind == auth.User
	return &plazav1.FlaggedByMeResponse{Result: mine, IsFlagByMe: mine}, nil
}
