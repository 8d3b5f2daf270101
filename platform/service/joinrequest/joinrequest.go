package joinrequest

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements JoinRequestService.
type Service struct{ *service.Deps }

// New returns the service.
func New(d *service.Deps) *Service { return &Service{d} }

// state is what an operation on a community reads.
type state struct {
	*service.Request
	home      region.Code // of the community
	community *store.Community
	mine      *store.Member // the caller's; nil if the caller never was a member
	now       time.Time
}

// newState starts the first round trip of an operation on a community.
func (s *Service) newState(ctx context.Context, communityID string) (*state, error) {
	home, err := region.HomeOf(communityID)
	if err != nil {
		return nil, notFound(ctx, s.NewRequest(ctx))
	}
	found := &state{Request: s.NewRequest(ctx), home: home, now: s.Now()}
	found.Community(communityID, &found.community)
	if caller := found.Caller.UserID; caller != "" {
		found.Member(communityID, caller, &found.mine)
	}
	return found, nil
}

// notFound confirms the caller and returns 400400.
func notFound(ctx context.Context, r *service.Request) error {
	if err := r.Run(ctx); err != nil {
		return err
	}
	return fail.NotFound()
}

// run runs the request. A community that does not exist is 400400. Operations must also call requireDiscoverable,
// unless the caller is invited or has a request.
func (s *state) run(ctx context.Context) error {
	if err := s.Run(ctx); err != nil {
		return err
	}
	return membership.RequireExists(s.community)
}

// requireDiscoverable returns 400400 if the community is hidden from the caller.
func (s *state) requireDiscoverable() error {
	return membership.RequireDiscoverable(s.Caller, s.community, s.mine)
}

// requireModerator returns an error unless the caller may answer join requests.
func (s *state) requireModerator() error {
	if err := s.requireDiscoverable(); err != nil {
		return err
	}
	return membership.Require(s.Caller, auth.AddCommunityUser, s.community, s.mine)
}

// respond returns requests of the caller.
func (s *Service) respond(r *service.Request, requests ...store.JoinRequest) *plazav1.JoinRequestResponse {
	aggregate := &plazav1.JoinRequestResponse{Users: s.View.Users(r.UserRows()), Paging: &plazav1.Paging{}}
	for _, j := range requests {
		aggregate.JoinRequests = append(aggregate.JoinRequests, s.View.JoinRequest(j))
	}
	return aggregate
}
