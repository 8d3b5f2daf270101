package invitation

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// defaultLimit is the page size of requests without a limit.
const defaultLimit = 20

// listRequest is ListInvitationsRequest or ListMyInvitationsRequest.
type listRequest interface {
	GetType() string
	GetTargetType() string
	GetTargetId() string
	GetStatuses() []string
	GetSortBy() string
	GetSortOrder() string
	GetOptions() *plazav1.PageOptions
}

// listOf returns the query and the cursor of a request. Run of r fails if it is not valid.
func listOf(r *service.Request, req listRequest) (communities.InvitationList, page.Cursor) {
	cursor := r.PageOf(req.GetOptions(), defaultLimit)
	r.Fail(checkType(req.GetType(), req.GetTargetType()))
	oldestFirst := req.GetSortBy() == "firstCreated" || req.GetSortBy() != "lastCreated" && req.GetSortOrder() == "asc"
	list := communities.InvitationList{
		TargetID: req.GetTargetId(), Statuses: service.SortedSet(req.GetStatuses()),
		Desc: oldestFirst == cursor.Back, Limit: cursor.Limit + 1,
	}
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	return list, cursor
}

// newListRequest starts the first round trip of a request about the invitations to one target, which the caller must be
// allowed to list.
func (s *Service) newListRequest(ctx context.Context, t *target) *service.Request {
	r := s.NewRequest(ctx)
	t.read(r)
	r.Check(func() error { return t.requireRead(r.Caller) })
	return r
}

// CountInvitations counts the invitations to one target.
func (s *Service) CountInvitations(ctx context.Context, req *plazav1.CountInvitationsRequest) (*plazav1.CountInvitationsResponse, error) {
	if err := checkType(req.GetType(), req.GetTargetType()); err != nil {
		return nil, err
	}
	var n int32
	r := s.newListRequest(ctx, &target{kind: req.GetTargetType(), id: req.GetTargetId()})
	r.CountInvitations(req.GetTargetId(), service.SortedSet(req.GetStatuses()), &n)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	return &plazav1.CountInvitationsResponse{Count: n}, nil
}

// ListInvitations lists the invitations to one target.
func (s *Service) ListInvitations(ctx context.Context, req *plazav1.ListInvitationsRequest) (*plazav1.InvitationResponse, error) {
	var rows []communities.Invitation
	r := s.newListRequest(ctx, &target{kind: req.GetTargetType(), id: req.GetTargetId()})
	list, cursor := listOf(r, req)
	r.ListInvitations(list, &rows)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	rows, paging := service.Page(cursor, rows, false, list.Desc, position)
	return s.page(ctx, rows, paging)
}

// ListMyInvitations lists the caller's invitations. Homes that do not answer are left out.
func (s *Service) ListMyInvitations(ctx context.Context, req *plazav1.ListMyInvitationsRequest) (*plazav1.InvitationResponse, error) {
	r := s.NewUserRequest(ctx)
	list, cursor := listOf(r, req)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	list.InvitedID, list.Types = r.Caller.UserID, typesOf(req)
	rows, paging, err := service.Merged[communities.Invitation]{
		Cursor: cursor, Desc: list.Desc, At: position,
		Read: func(reads *store.ReadBatch, from page.Cursor, into *[]communities.Invitation) {
			list.After, _, list.AfterID = from.Start(list.Desc)
			reads.ListInvitations(list, into)
		},
	}.Page(ctx, s.Deps)
	if err != nil {
		return nil, err
	}
	if len(list.Types) > 0 { // each type of target has one type of invitation
		rows = slices.DeleteFunc(rows, func(i communities.Invitation) bool { return !slices.Contains(list.Types, i.Type) })
	}
	return s.page(ctx, rows, paging)
}

// typesOf returns the types of invitations that a request selects; nil selects all.
func typesOf(req *plazav1.ListMyInvitationsRequest) []string {
	switch {
	case req.GetType() != "":
		return []string{req.GetType()}
	case req.GetTargetType() == communities.InviteToCommunity:
		return []string{communities.InviteMember}
	case req.GetTargetType() == communities.InviteToRoom:
		return []string{communities.InviteCoHost}
	}
	return nil
}
