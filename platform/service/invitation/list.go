package invitation

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// defaultLimit is the page size of these lists, where a client names none.
const defaultLimit = 20

// filter is what both requests that list invitations have.
type filter interface {
	GetType() string
	GetTargetType() string
	GetTargetId() string
	GetStatuses() []string
	GetSortBy() string
	GetSortOrder() string
	GetOptions() *plazav1.PageOptions
}

// listOf is the list of a request, and its cursor.
func listOf(m filter) (store.InvitationList, page.Cursor, error) {
	cursor, err := page.Parse(m.GetOptions(), defaultLimit)
	if err != nil {
		return store.InvitationList{}, cursor, err
	}
	oldestFirst := m.GetSortBy() == "firstCreated" || m.GetSortBy() != "lastCreated" && m.GetSortOrder() == "asc"
	list := store.InvitationList{
		TargetID: m.GetTargetId(), Statuses: slices.Compact(slices.Sorted(slices.Values(m.GetStatuses()))),
		Desc: oldestFirst == cursor.Back, Limit: cursor.Limit + 1,
	}
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	return list, cursor, fits(m.GetType(), m.GetTargetType())
}

// ListInvitations lists the invitations to one target.
func (s *Service) ListInvitations(ctx context.Context, req *plazav1.ListInvitationsRequest) (*plazav1.InvitationAggregate, error) {
	list, cursor, err := listOf(req)
	if err != nil {
		return nil, err
	}
	t := &target{kind: req.GetTargetType(), id: req.GetTargetId()}
	var rows []store.Invitation
	r := s.NewRequest(ctx)
	t.read(r)
	r.ListInvitations(list, &rows)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	if err := t.require(); err != nil {
		return nil, err
	}
	if err := t.requireRead(r.Caller); err != nil {
		return nil, err
	}
	rows, paging := service.Page(cursor, rows, false, list.Desc, place)
	return s.page(ctx, rows, paging)
}

// ListMyInvitations lists the caller's invitations. A region that is away is left out.
func (s *Service) ListMyInvitations(ctx context.Context, req *plazav1.ListMyInvitationsRequest) (*plazav1.InvitationAggregate, error) {
	list, cursor, err := listOf(req)
	if err != nil {
		return nil, err
	}
	r := s.NewRequest(ctx)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	if err := r.RequireUser(); err != nil {
		return nil, err
	}
	list.InvitedID, list.Types = r.Caller.UserID, typesOf(req)
	var rows []store.Invitation
	reads := s.Store.NewBestEffortBatch()
	reads.ListInvitations(list, &rows)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	if len(list.Types) > 0 { // a target has invitations of one type
		rows = slices.DeleteFunc(rows, func(i store.Invitation) bool { return !slices.Contains(list.Types, i.Type) })
	}
	rows, paging := service.Page(cursor, rows, false, list.Desc, place)
	return s.page(ctx, rows, paging)
}

// typesOf are the types of invitations that a request asks for; none stand for all.
func typesOf(req *plazav1.ListMyInvitationsRequest) []string {
	switch {
	case req.GetType() != "":
		return []string{req.GetType()}
	case req.GetTargetType() == store.InviteToCommunity:
		return []string{store.InviteMember}
	case req.GetTargetType() == store.InviteToRoom:
		return []string{store.InviteCoHost}
	}
	return nil
}
