package pin

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// PinCommunityPost pins a post at a placement of its community. Pinning it again changes nothing.
func (s *Service) PinCommunityPost(ctx context.Context, m *plazav1.PinCommunityPostRequest) (*plazav1.PinResponse, error) {
	l, err := s.loadToPin(ctx, m.GetCommunityId(), m.GetPostId())
	if err != nil {
		return nil, err
	}
	if err := l.requirePinnable(); err != nil {
		return nil, err
	}
	after, err := s.add(ctx, l, s.pin(l, m.GetCommunityId(), m.GetPlacement()), maxPins)
	if err != nil {
		return nil, err
	}
	return s.respond(ctx, l, after, of(after.Pins, l.post().ID))
}

// UnpinCommunityPost unpins a post from a placement. It is 400400 if the post is not pinned there.
func (s *Service) UnpinCommunityPost(ctx context.Context, m *plazav1.UnpinCommunityPostRequest) (*plazav1.PinResponse, error) {
	l, err := s.loadToPin(ctx, m.GetCommunityId(), m.GetPostId())
	if err != nil {
		return nil, err
	}
	after, err := s.remove(ctx, l.post().ID, m.GetCommunityId(), m.GetPlacement())
	if err != nil {
		return nil, err
	}
	return s.respond(ctx, l, after, nil)
}

// loadToPin reads a post of a community and checks that the caller may pin there.
func (s *Service) loadToPin(ctx context.Context, communityID, postID string) (*loaded, error) {
	l, err := s.load(ctx, postID, nil)
	if err != nil {
		return nil, err
	}
	if l.ref.Target.Community == nil || l.ref.Target.Community.ID != communityID {
		return nil, fail.NotFound()
	}
	return l, auth.Require(l.Caller, auth.PinCommunityPost, l.ref.Target.Scope(""))
}

// UnpinAllCommunityPosts unpins every post from one placement of a community, or from all placements.
func (s *Service) UnpinAllCommunityPosts(ctx context.Context, req *plazav1.UnpinAllCommunityPostsRequest) (*plazav1.SuccessResponse, error) {
	id := req.GetCommunityId()
	f, target, err := s.loadCommunity(ctx, id, nil)
	if err != nil {
		return nil, err
	}
	if err := auth.Require(f.Caller, auth.PinCommunityPost, target.Scope("")); err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(service.HomeOf(id))
	tx.GuardTarget("community", id, fail.NotFound())
	tx.DeletePins(id, req.GetPlacement(), s.Now())
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return service.Success(), nil
}

// loadCommunity reads a community that the caller may see, and whatever more adds to the same round trip.
func (s *Service) loadCommunity(ctx context.Context, id string, more func(*service.Request)) (*service.Request, visibility.Target, error) {
	var target visibility.Target
	f := s.NewRequest(ctx)
	f.Community(id, &target.Community)
	if f.Caller.UserID != "" {
		f.Member(id, f.Caller.UserID, &target.Member)
	}
	if more != nil && region.ValidID(id) {
		more(f)
	}
	if err := f.Run(ctx); err != nil {
		return nil, target, err
	}
	return f, target, target.RequireSee(f.Caller)
}
