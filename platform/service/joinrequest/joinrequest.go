package joinrequest

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements JoinRequestService.
type Service struct{ *service.Deps }

// New makes the service.
func New(d *service.Deps) *Service { return &Service{d} }

// situation is what an operation finds in the database.
type situation struct {
	*service.Request
	home      region.Code // the community's
	community *store.Community
	mine      *store.Member // the caller's; nil for a stranger
	now       time.Time
}

// begin starts the first round trip of an operation on a community.
func (s *Service) begin(ctx context.Context, communityID string) (*situation, error) {
	home, err := region.HomeOf(communityID)
	if err != nil {
		return nil, notFound(ctx, s.NewRequest(ctx))
	}
	found := &situation{Request: s.NewRequest(ctx), home: home, now: s.Now()}
	found.Community(communityID, &found.community)
	if caller := found.Caller.UserID; caller != "" {
		found.Member(communityID, caller, &found.mine)
	}
	return found, nil
}

// notFound is 400400 for those who may call at all.
func notFound(ctx context.Context, r *service.Request) error {
	if err := r.Run(ctx); err != nil {
		return err
	}
	return fail.NotFound()
}

// run ends the first round trip. A community that is not there is 400400; whether the caller may know of one is for the operation to
// ask, as they may have a request or an invitation to it.
func (s *situation) run(ctx context.Context) error {
	if err := s.Run(ctx); err != nil {
		return err
	}
	return membership.RequireLive(s.community)
}

// requireFind is 400400 for a community that is hidden from the caller.
func (s *situation) requireFind() error { return membership.RequireFind(s.Caller, s.community, s.mine) }

// requireModerator refuses callers who may not decide who joins.
func (s *situation) requireModerator() error {
	if err := s.requireFind(); err != nil {
		return err
	}
	return auth.Require(s.Caller, auth.AddCommunityUser,
		auth.Scope{OwnerID: s.community.CreatorID, Membership: visibility.MembershipOf(s.mine)})
}

// answer makes the answer about requests of the caller.
func (s *Service) answer(r *service.Request, requests ...store.JoinRequest) *plazav1.JoinRequestAggregate {
	aggregate := &plazav1.JoinRequestAggregate{Users: s.View.Users(r.UserRows()), Paging: &plazav1.Paging{}}
	for _, j := range requests {
		aggregate.JoinRequests = append(aggregate.JoinRequests, s.View.JoinRequest(j))
	}
	return aggregate
}

func success() *plazav1.SuccessResponse {
	return &plazav1.SuccessResponse{Success: true}
}
