package joinrequest

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/people"
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
	community *communities.Community
	mine      *communities.Member // the caller's; nil if the caller never was a member
	now       time.Time
}

// newState starts the first round trip of an operation on a community. A community that does not exist is 400400.
// Operations must also check requireDiscoverable or requireModerator, unless the caller is invited or has a request.
func (s *Service) newState(ctx context.Context, communityID string) *state {
	found := &state{Request: s.NewRequest(ctx), home: s.HomeOf(communityID), now: s.Now()}
	membership.Read(found.Request, communityID, &found.community, &found.mine)
	found.Check(func() error { return membership.RequireExists(found.community) })
	return found
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

// respond returns requests and users.
func (s *Service) respond(ctx context.Context, users []people.User, paging *plazav1.Paging,
	requests ...communities.JoinRequest,
) *plazav1.JoinRequestResponse {
	return &plazav1.JoinRequestResponse{
		JoinRequests: service.Map(requests, s.View.JoinRequest), Users: s.View.Users(ctx, users), Paging: paging,
	}
}

// respondOwn returns requests of the caller.
func (s *Service) respondOwn(ctx context.Context, r *service.Request, requests ...communities.JoinRequest) *plazav1.JoinRequestResponse {
	return s.respond(ctx, r.UserRows(), &plazav1.Paging{}, requests...)
}
