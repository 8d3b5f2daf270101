package post

import (
	"context"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/flags"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// FlagPost flags a post as the caller.
func (s *Service) FlagPost(ctx context.Context, req *plazav1.FlagPostRequest) (*plazav1.PostResponse, error) {
	r := s.newRequest(ctx, req.GetPostId())
	r.Check(r.RequireReact)
	return s.changeFlags(ctx, r, flags.Add(r.Request, content.FlagPost, req))
}

// UnflagPost removes the caller's own flag; without one it changes nothing.
func (s *Service) UnflagPost(ctx context.Context, req *plazav1.UnflagPostRequest) (*plazav1.PostResponse, error) {
	r := s.newRequest(ctx, req.GetPostId())
	return s.changeFlags(ctx, r, flags.Remove(r.Request))
}

// ClearPostFlags removes every flag of a post. The caller must moderate it.
func (s *Service) ClearPostFlags(ctx context.Context, req *plazav1.ClearPostFlagsRequest) (*plazav1.PostResponse, error) {
	r := s.newRequest(ctx, req.GetPostId())
	r.Check(r.RequireModerator)
	return s.changeFlags(ctx, r, flags.Clear(r.Request))
}

// changeFlags runs a request, commits a change of the post's flags with everything that depends on them, and returns
// the post as it is then.
func (s *Service) changeFlags(ctx context.Context, r *visibility.Request, change flags.Change) (*plazav1.PostResponse, error) {
	return s.change(ctx, r, func(tx *store.Tx) string {
		tx.GuardPost(*r.Post, fail.NotFound())
		change.Apply(tx, flags.OfPost(*r.Post), s.Now())
		tx.SelectCommunity(r.Target.Community)
		return change.Event("post", "flagsCleared")
	})
}

// IsPostFlaggedByMe reports whether the caller flags the post.
func (s *Service) IsPostFlaggedByMe(ctx context.Context, req *plazav1.IsPostFlaggedByMeRequest) (*plazav1.FlaggedByMeResponse, error) {
	return flags.Mine(ctx, s.newRequest(ctx, req.GetPostId()).Request, req.GetPostId())
}
