package post

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/flags"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// FlagPost flags a post as the caller.
func (s *Service) FlagPost(ctx context.Context, req *plazav1.FlagPostRequest) (*plazav1.PostResponse, error) {
	var policy flags.Policy
	l, err := s.load(ctx, req.GetPostId(), policy.Read(s.Deps))
	if err != nil {
		return nil, err
	}
	if err := l.ref.Target.RequireReact(l.Caller); err != nil {
		return nil, err
	}
	change, err := policy.Flag(l.Request, store.FlagPost, l.post().ID, req, s.Now())
	if err != nil {
		return nil, err
	}
	return s.changeFlags(ctx, l, change)
}

// UnflagPost removes the caller's own flag; without one it changes nothing.
func (s *Service) UnflagPost(ctx context.Context, req *plazav1.UnflagPostRequest) (*plazav1.PostResponse, error) {
	l, err := s.load(ctx, req.GetPostId(), nil)
	if err != nil {
		return nil, err
	}
	change, err := flags.Unflag(l.Request, l.post().ID)
	if err != nil {
		return nil, err
	}
	return s.changeFlags(ctx, l, change)
}

// ClearPostFlags removes every flag of a post. The caller must moderate it.
func (s *Service) ClearPostFlags(ctx context.Context, req *plazav1.ClearPostFlagsRequest) (*plazav1.PostResponse, error) {
	l, err := s.load(ctx, req.GetPostId(), nil)
	if err != nil {
		return nil, err
	}
	if err := auth.Require(l.Caller, auth.ModeratePostAndComment, l.ref.Target.Scope("")); err != nil {
		return nil, err
	}
	return s.changeFlags(ctx, l, flags.Clear(l.post().ID))
}

// changeFlags commits a change of the post's flags with everything that depends on them, and returns the post as it is then.
func (s *Service) changeFlags(ctx context.Context, l *loaded, change flags.Change) (*plazav1.PostResponse, error) {
	var after *store.Post
	tx := s.Store.NewTx(l.ref.Home())
	tx.GuardPost(*l.post(), fail.NotFound())
	change(tx)
	tx.RecomputePostFlags(*l.post())
	tx.SelectPost(l.post().ID, &after)
	tx.SelectCommunity(l.ref.Target.Community)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.respond(ctx, l.Caller.UserID, l.known(*after))
}

// IsPostFlaggedByMe reports whether the caller flags the post.
func (s *Service) IsPostFlaggedByMe(ctx context.Context, req *plazav1.IsPostFlaggedByMeRequest) (*plazav1.FlaggedByMeResponse, error) {
	var mine flags.Mine
	l, err := s.load(ctx, req.GetPostId(), mine.Read(req.GetPostId()))
	if err != nil {
		return nil, err
	}
	return mine.Response(l.Caller), nil
}
