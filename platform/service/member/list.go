package member

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListMembers lists the members of a community, the banned users, or both; those of a private community for those who may
// see what is in it. communityUsers holds the page and nothing else.
func (s *Service) ListMembers(ctx context.Context, req *plazav1.ListMembersRequest) (*plazav1.ListCommunitiesResponse, error) {
	cursor, err := page.Parse(req.GetOptions(), page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	list := listOf(req, cursor)
	states := statesOf(req)
	pages := make([][]store.MemberRow, len(states))
	found, err := s.lookAt(ctx, list, states, pages)
	if err != nil {
		return nil, err
	}
	var rows []store.MemberRow
	for _, p := range pages {
		rows = append(rows, p...)
	}
	rows, paging := service.Page(cursor, rows, list.ByName, list.Desc, place)
	answer := view.CommunityAnswer{Communities: []store.Community{found.community}, Viewer: found.User(), OnlyMembers: true}
	for _, row := range rows {
		answer.Members = append(answer.Members, row.Member)
	}
	aggregate, err := s.View.Communities(ctx, s.Store, answer)
	if err != nil {
		return nil, err
	}
	return view.CommunityPage(aggregate, paging), nil
}

// lookAt reads the community and, beside it, the page of each state; nothing leaves before the caller may see it.
func (s *Service) lookAt(ctx context.Context, list store.MemberList, states []string, pages [][]store.MemberRow) (*situation, error) {
	found := &situation{Request: s.NewRequest(ctx)}
	var community *store.Community
	found.Community(list.CommunityID, &community)
	if caller := found.Caller.UserID; caller != "" {
		found.Member(list.CommunityID, caller, &found.mine)
	}
	for i, state := range states {
		list.State = state
		found.ListMembers(list, &pages[i])
	}
	if err := found.Run(ctx); err != nil {
		return nil, err
	}
	if err := membership.RequireFind(found.Caller, community, found.mine); err != nil {
		return nil, err
	}
	found.community = *community
	return found, auth.RequireSee(found.Caller, found.scope(), community.IsPublic)
}

// statesOf are the states that the request asks for, each once.
func statesOf(req *plazav1.ListMembersRequest) []string {
	states := slices.Clone(req.GetMemberships())
	if len(states) == 0 {
		return []string{store.StateMember}
	}
	slices.Sort(states)
	return slices.Compact(states)
}

// listOf makes the list of the request. A search goes by name, whatever order is asked for: only there it needs no scan.
func listOf(req *plazav1.ListMembersRequest, cursor page.Cursor) store.MemberList {
	list := store.MemberList{
		CommunityID: req.GetCommunityId(),
		Roles:       req.GetRoles(),
		Without:     req.GetExcludingRoles(),
		ByName:      req.GetSortBy() == "displayName" || req.GetSearch() != "",
		Prefix:      req.GetSearch(),
		Limit:       cursor.Limit + 1,
	}
	list.Desc = (!list.ByName && req.GetSortBy() != "firstCreated") != cursor.Back
	list.AfterTime, list.AfterKey, list.AfterID = cursor.Start(list.Desc)
	return list
}

func place(m store.MemberRow) (t time.Time, key, id string) { return m.CreatedAt, m.NameKey, m.UserID }
