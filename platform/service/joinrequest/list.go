package joinrequest

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// defaultLimit is the page size of this list, where a client names none.
const defaultLimit = 20

// ListJoinRequests lists the requests to a community, for those who decide on them.
func (s *Service) ListJoinRequests(ctx context.Context, req *plazav1.ListJoinRequestsRequest) (*plazav1.JoinRequestAggregate, error) {
	cursor, err := page.Parse(req.GetOptions(), defaultLimit)
	if err != nil {
		return nil, err
	}
	list := listOf(req, cursor)
	found, err := s.begin(ctx, list.CommunityID)
	if err != nil {
		return nil, err
	}
	var rows []store.JoinRequest
	found.ListJoinRequests(list, &rows)
	if err := found.run(ctx); err != nil {
		return nil, err
	}
	if err := found.requireModerator(); err != nil {
		return nil, err
	}
	rows, paging := service.Page(cursor, rows, false, list.Desc, place)
	return s.page(ctx, rows, paging)
}

func listOf(req *plazav1.ListJoinRequestsRequest, cursor page.Cursor) store.JoinRequestList {
	statuses := slices.Clone(req.GetStatuses())
	if req.GetStatus() != "" {
		statuses = append(statuses, req.GetStatus())
	}
	slices.Sort(statuses)
	oldestFirst := req.GetSortBy() == "firstCreated" || (req.GetSortBy() != "lastCreated" && req.GetSortOrder() == "asc")
	list := store.JoinRequestList{
		CommunityID: req.GetCommunityId(),
		Statuses:    slices.Compact(statuses),
		Desc:        oldestFirst == cursor.Back,
		Limit:       cursor.Limit + 1,
	}
	list.AfterTime, _, list.AfterID = cursor.Start(list.Desc)
	return list
}

func place(j store.JoinRequest) (t time.Time, key, id string) { return j.CreatedAt, "", j.ID }

// page answers with requests, and with the users who asked and answered.
func (s *Service) page(ctx context.Context, rows []store.JoinRequest, paging *plazav1.Paging) (*plazav1.JoinRequestAggregate, error) {
	answer := &plazav1.JoinRequestAggregate{Paging: paging}
	var ids []string
	for _, j := range rows {
		answer.JoinRequests = append(answer.JoinRequests, s.View.JoinRequest(j))
		ids = append(ids, j.RequestorID, j.ResponderID)
	}
	slices.Sort(ids)
	var users []store.User
	reads := s.Store.NewBestEffortBatch()
	reads.Users(slices.Compact(ids), &users)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	answer.Users = s.View.Users(users)
	return answer, nil
}
