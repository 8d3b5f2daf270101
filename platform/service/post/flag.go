package post

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

// FlagPost flags a post as the caller. A second time changes nothing; where as many others flag it as the network
// allows, or flagging is off, it is refused.
func (s *Service) FlagPost(ctx context.Context, req *connect.Request[plazav1.FlagPostRequest]) (*connect.Response[plazav1.PostResponse], error) {
	var settings store.Settings
	l, err := s.load(ctx, req.Msg.GetPostId(), func(f *service.First) { f.Settings(s.Region, &settings) })
	if err != nil {
		return nil, err
	}
	if err := requireFlag(l, settings); err != nil {
		return nil, err
	}
	flag := store.Flag{
		TargetType: store.FlagPost, TargetID: l.post.ID, UserID: l.First.Caller.UserID,
		Reason: cmp.Or(req.Msg.GetReason(), service.DefaultFlagReason), Detail: req.Msg.GetDetail(), CreatedAt: s.Now(),
	}
	return s.changeFlags(ctx, l, func(w *store.Write) {
		w.GuardFlagLimit(flag, settings.FlagLimit, fail.FlagLimit())
		w.AddFlag(flag)
	})
}

func requireFlag(l *loaded, settings store.Settings) error {
	if err := l.RequireUser(); err != nil {
		return err
	}
	if err := l.place.RequireReact(l.First.Caller); err != nil {
		return err
	}
	if !settings.IsReportEnabled {
		return fail.NotAllowed()
	}
	return nil
}

// UnflagPost takes the caller's own flag back; without one it changes nothing.
func (s *Service) UnflagPost(ctx context.Context, req *connect.Request[plazav1.UnflagPostRequest]) (*connect.Response[plazav1.PostResponse], error) {
	l, err := s.load(ctx, req.Msg.GetPostId(), nil)
	if err != nil {
		return nil, err
	}
	if err := l.RequireUser(); err != nil {
		return nil, err
	}
	return s.changeFlags(ctx, l, func(w *store.Write) { w.RemoveFlag(l.post.ID, l.First.Caller.UserID) })
}

// ClearPostFlags removes every flag of a post; for moderators.
func (s *Service) ClearPostFlags(ctx context.Context, req *connect.Request[plazav1.ClearPostFlagsRequest]) (*connect.Response[plazav1.PostResponse], error) {
	l, err := s.load(ctx, req.Msg.GetPostId(), nil)
	if err != nil {
		return nil, err
	}
	if err := auth.Require(l.First.Caller, auth.ModeratePostAndComment, l.place.Scope("")); err != nil {
		return nil, err
	}
	return s.changeFlags(ctx, l, func(w *store.Write) { w.ClearFlags(l.post.ID) })
}

// changeFlags runs a change of the post's flags, brings up to date what depends on them, and answers with the post.
func (s *Service) changeFlags(ctx context.Context, l *loaded, change func(*store.Write)) (*connect.Response[plazav1.PostResponse], error) {
	var after *store.Post
	w := s.Store.Write(service.HomeOf(l.post.ID))
	w.GuardPost(*l.post, fail.NotFound())
	change(w)
	w.BubblePostFlags(*l.post)
	w.PostAfter(l.post.ID, &after)
	w.CommunityAfter(l.place.Community)
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	return s.answer(ctx, l.First.Caller.UserID, l.known(*after))
}

// IsPostFlaggedByMe tells whether the caller flags the post.
func (s *Service) IsPostFlaggedByMe(ctx context.Context, req *connect.Request[plazav1.IsPostFlaggedByMeRequest]) (*connect.Response[plazav1.FlaggedByMeResponse], error) {
	mine := false
	l, err := s.load(ctx, req.Msg.GetPostId(), func(f *service.First) { f.FlaggedBy(req.Msg.GetPostId(), f.Caller.UserID, &mine) })
	if err != nil {
		return nil, err
	}
	mine = mine && l.First.Caller.Kind == auth.User
	return connect.NewResponse(&plazav1.FlaggedByMeResponse{Result: mine, IsFlagByMe: mine}), nil
}
