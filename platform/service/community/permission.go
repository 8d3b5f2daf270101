package community

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/communities"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// GetMyPermissions gets what the caller may do in a community.
func (s *Service) GetMyPermissions(ctx context.Context, req *plazav1.GetMyPermissionsRequest) (*plazav1.MyPermissionsResponse, error) {
	var c *communities.Community
	var mine *communities.Member
	r := s.NewRequest(ctx)
	membership.Read(r, req.GetCommunityId(), &c, &mine)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	if c == nil || c.DeletedAt != nil || !membership.CanDiscover(r.Caller, *c, mine) {
		return nil, fail.NotFound()
	}
	response := &plazav1.MyPermissionsResponse{IsCreator: r.Caller.UserID != "" && r.Caller.UserID == c.CreatorID}
	for _, p := range auth.CommunityPermissions() {
		if auth.Permits(r.Caller, p, scopeOf(p, c, mine)) {
			response.Permissions = append(response.Permissions, string(p))
		}
	}
	return response, nil
}

// scopeOf returns what decides about a permission in a community. The creator owns the community, but not its content, and
// only the creator and network roles may delete it.
func scopeOf(p auth.Permission, c *communities.Community, mine *communities.Member) auth.Scope {
	scope := auth.Scope{Membership: visibility.MembershipOf(mine)}
	switch p {
	case auth.DeleteCommunity:
		scope.OwnerID, scope.Membership.Roles = c.CreatorID, nil
	case auth.EditCommunity:
		scope.OwnerID = c.CreatorID
	}
	return scope
}
