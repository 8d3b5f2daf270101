package pin

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// PinCommunityPost pins a post at a placement of its community. Pinning it again changes nothing.
func (s *Service) PinCommunityPost(ctx context.Context, m *plazav1.PinCommunityPostRequest) (*plazav1.PinResponse, error) {
	r, err := s.loadToPin(ctx, m.GetCommunityId(), m.GetPostId())
	if err != nil {
		return nil, err
	}
	if err := requirePinnable(r.Post); err != nil {
		return nil, err
	}
	after, err := s.add(ctx, r, s.pin(r, m.GetCommunityId(), m.GetPlacement()), maxPins)
	if err != nil {
		return nil, err
	}
	return s.respond(ctx, r, after, of(after.Pins, r.Post.ID))
}

// UnpinCommunityPost unpins a post from a placement. It is 400400 if the post is not pinned there.
func (s *Service) UnpinCommunityPost(ctx context.Context, m *plazav1.UnpinCommunityPostRequest) (*plazav1.PinResponse, error) {
	r, err := s.loadToPin(ctx, m.GetCommunityId(), m.GetPostId())
	if err != nil {
		return nil, err
	}
	after, err := s.remove(ctx, r.Post.ID, m.GetCommunityId(), m.GetPlacement())
	if err != nil {
		return nil, err
	}
	return s.respond(ctx, r, after, nil)
}

// loadToPin reads a post of a community and checks that the caller may pin there.
func (s *Service) loadToPin(ctx context.Context, communityID, postID string) (*visibility.Request, error) {
	r := s.newRequest(ctx, postID)
	r.Check(func() error {
		if r.Target.Community == nil || r.Target.Community.ID != communityID {
			return fail.NotFound()
		}
		return auth.Require(r.Caller, auth.PinCommunityPost, r.Target.Scope(""))
	})
	return r, r.Run(ctx)
}

// UnpinAllCommunityPosts unpins every post from one placement of a community, or from all placements.
func (s *Service) UnpinAllCommunityPosts(
	ctx context.Context, req *plazav1.UnpinAllCommunityPostsRequest,
) (*plazav1.SuccessResponse, error) {
	id := req.GetCommunityId()
	r, target := s.newCommunityRequest(ctx, id)
	r.Check(func() error { return auth.Require(r.Caller, auth.PinCommunityPost, target.Scope("")) })
	return service.Success(), r.Write(ctx, id, func(tx *store.Tx) {
		tx.GuardTarget("community", id, fail.NotFound())
		tx.DeletePins(id, req.GetPlacement(), s.Now())
	})
}

// newCommunityRequest starts a request about a community. Its Run fails unless the caller may see the community.
func (s *Service) newCommunityRequest(ctx context.Context, id string) (*service.Request, *visibility.Target) {
	r, target := s.NewRequest(ctx), &visibility.Target{}
	visibility.ReadTarget(r, "community", id, target)
	r.Check(func() error { return target.RequireSee(r.Caller) })
	return r, target
}
