package member

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListMembers lists the members of a community, its banned users, or both. Those of a private community are visible
// to callers who see its content. communityUsers contains the users of the page only.
func (s *Service) ListMembers(ctx context.Context, req *plazav1.ListMembersRequest) (*plazav1.ListMembersResponse, error) {
	r := s.NewRequest(ctx)
	cursor := r.Page(req.GetOptions())
	list := listOf(req, cursor)
	answer, rows, err := loadList(ctx, r, list, statesOf(req))
	if err != nil {
		return nil, err
	}
	rows, paging := service.Page(cursor, rows, list.ByName, list.Desc,
		func(m communities.MemberRow) (t time.Time, key, id string) { return m.CreatedAt, m.NameKey, m.UserID }, r.Stops()...)
	answer.Members = service.Map(rows, func(row communities.MemberRow) communities.Member { return row.Member })
	a, err := s.View.LoadCommunities(ctx, s.Store, answer)
	return view.Fill(a, &plazav1.ListMembersResponse{Paging: paging}), err
}

// loadList reads a community and, in the same round trip, the members in each of the states, and checks that the
// caller may see them.
func loadList(
	ctx context.Context, r *service.Request, list communities.MemberList, states []string,
) (view.CommunityRows, []communities.MemberRow, error) {
	var community *communities.Community
	var mine *communities.Member
	membership.Read(r, list.CommunityID, &community, &mine)
	pages := make([][]communities.MemberRow, len(states))
	for i, state := range states {
		list.State = state
		r.ListMembers(list, &pages[i])
	}
	r.Check(func() error { return visibility.Target{Community: community, Member: mine}.RequireSee(r.Caller) })
	if err := r.Run(ctx); err != nil {
		return view.CommunityRows{}, nil, err
	}
	answer := view.CommunityRows{Communities: []communities.Community{*community}, Viewer: r.User(), OnlyMembers: true}
	return answer, slices.Concat(pages...), nil
}

// statesOf returns the states that the request selects, without repetitions.
func statesOf(req *plazav1.ListMembersRequest) []string {
	if len(req.GetMemberships()) == 0 {
		return []string{communities.StateMember}
	}
	return service.SortedSet(req.GetMemberships())
}

// listOf returns the query of a request. A search is always ordered by name, because that is the order of its index.
func listOf(req *plazav1.ListMembersRequest, cursor page.Cursor) communities.MemberList {
	list := communities.MemberList{
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
