package joinrequest

import (
	"context"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/communities"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// BatchGetMyJoinRequests gets the caller's latest request to each of some communities, in the order of the communities.
// Callers see their own requests even if the community is hidden from them now.
func (s *Service) BatchGetMyJoinRequests(
	ctx context.Context, req *plazav1.BatchGetMyJoinRequestsRequest,
) (*plazav1.JoinRequestResponse, error) {
	r := s.NewUserRequest(ctx)
	ids := service.Distinct(req.GetCommunityIds())
	var rows []communities.JoinRequest
	r.LatestJoinRequests(ids, r.Caller.UserID, &rows)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	service.SortByID(rows, ids, func(j communities.JoinRequest) string { return j.CommunityID })
	return s.respondOwn(ctx, r, rows...), nil
}
