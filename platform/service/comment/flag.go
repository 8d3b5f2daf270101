package comment

import (
	"cmp"
	"context"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// FlagComment flags a comment as the caller. A second time changes nothing; where as many others flag it as the network
// allows, or flagging is off, it is refused.
func (s *Service) FlagComment(ctx context.Context, req *connect.Request[plazav1.FlagCommentRequest]) (*connect.Response[plazav1.CommentResponse], error) {
	var settings store.Settings
	l, err := s.load(ctx, req.Msg.GetCommentId(), func(f *service.First) { f.Settings(s.Region, &settings) })
	if err != nil {
		return nil, err
	}
	if err := l.RequireUser(); err != nil {
		return nil, err
	}
	if err := service.RequireApproved(l.comment); err != nil {
		return nil, err
	}
	if err := l.ref.Place.RequireReact(l.First.Caller); err != nil {
		return nil, err
	}
	if !settings.IsReportEnabled {
		return nil, fail.NotAllowed()
	}
	flag := store.Flag{
		TargetType: store.FlagComment, TargetID: l.comment.ID, UserID: l.First.Caller.UserID,
		Reason: cmp.Or(req.Msg.GetReason(), service.DefaultFlagReason), Detail: req.Msg.GetDetail(), CreatedAt: s.Now(),
	}
	return s.changeFlags(ctx, l, func(w *store.Write) {
		w.GuardFlagLimit(flag, settings.FlagLimit, fail.FlagLimit())
		w.AddFlag(flag)
	})
}

// UnflagComment takes the caller's own flag back; without one it changes nothing.
func (s *Service) UnflagComment(ctx context.Context, req *connect.Request[plazav1.UnflagCommentRequest]) (*connect.Response[plazav1.CommentResponse], error) {
	l, err := s.load(ctx, req.Msg.GetCommentId(), nil)
	if err != nil {
		return nil, err
	}
	if err := l.RequireUser(); err != nil {
		return nil, err
	}
	return s.changeFlags(ctx, l, func(w *store.Write) { w.RemoveFlag(l.comment.ID, l.First.Caller.UserID) })
}

// ClearCommentFlags removes every flag of a comment; for moderators.
func (s *Service) ClearCommentFlags(ctx context.Context, req *connect.Request[plazav1.ClearCommentFlagsRequest]) (*connect.Response[plazav1.CommentResponse], error) {
	l, err := s.load(ctx, req.Msg.GetCommentId(), nil)
	if err != nil {
		return nil, err
	}
	if err := auth.Require(l.First.Caller, auth.ModeratePostAndComment, l.ref.Place.Scope("")); err != nil {
		return nil, err
	}
	return s.changeFlags(ctx, l, func(w *store.Write) { w.ClearFlags(l.comment.ID) })
}

// changeFlags runs a change of the comment's flags, brings up to date what depends on them, and answers with the comment.
func (s *Service) changeFlags(ctx context.Context, l *loaded, change func(*store.Write)) (*connect.Response[plazav1.CommentResponse], error) {
	var after *store.Comment
	w := s.Store.Write(service.HomeOf(l.comment.ID))
	w.GuardComment(l.comment.ID, fail.NotFound())
	change(w)
	w.BubbleCommentFlags(*l.comment)
	w.CommentAfter(l.comment.ID, &after)
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	return s.answer(ctx, l.First.Caller.UserID, l.known(*after))
}

// IsCommentFlaggedByMe tells whether the caller flags the comment.
func (s *Service) IsCommentFlaggedByMe(ctx context.Context, req *connect.Request[plazav1.IsCommentFlaggedByMeRequest]) (*connect.Response[plazav1.FlaggedByMeResponse], error) {
	mine := false
	l, err := s.load(ctx, req.Msg.GetCommentId(), func(f *service.First) { f.FlaggedBy(req.Msg.GetCommentId(), f.Caller.UserID, &mine) })
	if err != nil {
		return nil, err
	}
	mine = mine && l.First.Caller.Kind == auth.User
	return connect.NewResponse(&plazav1.FlaggedByMeResponse{Result: mine, IsFlagByMe: mine}), nil
}
