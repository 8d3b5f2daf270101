package joinrequest

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/communities"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// defaultLimit is the page size of requests without a limit.
const defaultLimit = 20

// ListJoinRequests lists the requests to join a community. The caller must be allowed to answer them.
func (s *Service) ListJoinRequests(ctx context.Context, req *plazav1.ListJoinRequestsRequest) (*plazav1.JoinRequestResponse, error) {
	found := s.newState(ctx, req.GetCommunityId())
	cursor := found.PageOf(req.GetOptions(), defaultLimit)
	list := listOf(req, cursor)
	var rows []communities.JoinRequest
	found.ListJoinRequests(list, &rows)
	found.Check(found.requireModerator)
	if err := found.Run(ctx); err != nil {
		return nil, err
	}
	rows, paging := service.Page(cursor, rows, false, list.Desc,
		func(j communities.JoinRequest) (t time.Time, key, id string) { return j.CreatedAt, "", j.ID })
	var ids []string
	for _, j := range rows {
		ids = append(ids, j.RequestorID, j.ResponderID)
	}
	users, err := s.ReadUsers(ctx, service.SortedSet(ids))
	return s.respond(ctx, users, paging, rows...), err
}

// CountJoinRequests counts the pending requests to join a community. The caller must be allowed to answer them.
func (s *Service) CountJoinRequests(
	ctx context.Context, req *plazav1.CountJoinRequestsRequest,
) (*plazav1.CountJoinRequestsResponse, error) {
	var n int32
	found := s.newState(ctx, req.GetCommunityId())
	found.CountJoinRequests(req.GetCommunityId(), &n)
	found.Check(found.requireModerator)
	if err := found.Run(ctx); err != nil {
		return nil, err
	}
	return &plazav1.CountJoinRequestsResponse{Count: n}, nil
}

// listOf returns the query of a request.
func listOf(req *plazav1.ListJoinRequestsRequest, cursor page.Cursor) communities.JoinRequestList {
	statuses := slices.Clone(req.GetStatuses())
	if req.GetStatus() != "" {
		statuses = append(statuses, req.GetStatus())
	}
	oldestFirst := req.GetSortBy() == "firstCreated" || (req.GetSortBy() != "lastCreated" && req.GetSortOrder() == "asc")
	list := communities.JoinRequestList{
		CommunityID: req.GetCommunityId(),
		Statuses:    service.SortedSet(statuses),
		Desc:        oldestFirst == cursor.Back,
		Limit:       cursor.Limit + 1,
	}
	list.AfterTime, _, list.AfterID = cursor.Start(list.Desc)
	return list
}
