package pin

import (
	"context"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// PinCommunityPost pins a post at a placement of its community. A second time changes nothing.
func (s *Service) PinCommunityPost(ctx context.Context, req *connect.Request[plazav1.PinCommunityPostRequest]) (*connect.Response[plazav1.PinResponse], error) {
	m := req.Msg
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
	return s.answer(ctx, l, after, of(after.Pins, l.post.ID))
}

// UnpinCommunityPost takes a post out of a placement; one that is not there is 400400.
func (s *Service) UnpinCommunityPost(ctx context.Context, req *connect.Request[plazav1.UnpinCommunityPostRequest]) (*connect.Response[plazav1.PinResponse], error) {
	m := req.Msg
	l, err := s.loadToPin(ctx, m.GetCommunityId(), m.GetPostId())
	if err != nil {
		return nil, err
	}
	after, err := s.remove(ctx, l.post.ID, m.GetCommunityId(), m.GetPlacement())
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, l, after, nil)
}

// loadToPin loads a post of a community for a caller who may pin there.
func (s *Service) loadToPin(ctx context.Context, communityID, postID string) (*loaded, error) {
	l, err := s.load(ctx, postID, nil)
	if err != nil {
		return nil, err
	}
	if l.place.Community == nil || l.place.Community.ID != communityID {
		return nil, fail.NotFound()
	}
	return l, auth.Require(l.Caller, auth.PinCommunityPost, l.place.Scope(""))
}

// UnpinAllCommunityPosts takes every post out of one placement of a community, or of all.
func (s *Service) UnpinAllCommunityPosts(ctx context.Context, req *connect.Request[plazav1.UnpinAllCommunityPostsRequest]) (*connect.Response[plazav1.SuccessResponse], error) {
	id := req.Msg.GetCommunityId()
	f, place, err := s.loadPlace(ctx, id, nil)
	if err != nil {
		return nil, err
	}
	if err := auth.Require(f.Caller, auth.PinCommunityPost, place.Scope("")); err != nil {
		return nil, err
	}
	w := s.Store.Write(service.HomeOf(id))
	w.GuardTarget("community", id, fail.NotFound())
	w.RemovePins(id, req.Msg.GetPlacement(), s.Now())
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	return connect.NewResponse(&plazav1.SuccessResponse{Success: true}), nil
}

// loadPlace reads a community that the caller may look into, beside what more adds.
func (s *Service) loadPlace(ctx context.Context, id string, more func(*service.First)) (*service.First, service.Place, error) {
	var place service.Place
	f := s.Begin(ctx)
	f.Community(id, &place.Community)
	if f.Caller.UserID != "" {
		f.Member(id, f.Caller.UserID, &place.Member)
	}
	if more != nil && region.ValidID(id) {
		more(f)
	}
	if err := f.Run(ctx); err != nil {
		return nil, place, err
	}
	return f, place, place.RequireSee(f.Caller)
}
