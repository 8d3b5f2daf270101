package community

import (
	"cmp"
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListCommunities lists the communities of all regions that the caller may see. Homes that do not answer are left
// out.
//
// A keyword selects the communities whose name starts with it. The list is then ordered by name, because that is the
// order of its index.
func (s *Service) ListCommunities(ctx context.Context, req *plazav1.ListCommunitiesRequest) (*plazav1.ListCommunitiesResponse, error) {
	r := s.NewRequest(ctx)
	cursor := r.Page(req.GetOptions())
	list := listOf(req, cursor)
	r.CommunitiesOfUser(r.Caller.UserID, &list.Mine)
	if list.Deleted {
		r.Check(func() error { return auth.Require(r.Caller, auth.ViewCommunity, auth.Scope{}) })
	}
	r.Check(func() (err error) {
		list.Flagged, err = flaggedOf(req, r.Caller)
		return err
	})
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	list.Everything = membership.SeesAllCommunities(r.Caller)
	read := s.read
	if membershipFilter(req) == "member" {
		read = s.readMine
	}
	rows, paging, err := read(ctx, cursor, list)
	if err != nil {
		return nil, err
	}
	a, err := s.View.LoadCommunities(ctx, s.Store, view.CommunityRows{Communities: rows, Viewer: r.User()})
	return view.CommunityPage(a, paging), err
}

// listOf returns the query of a request.
func listOf(req *plazav1.ListCommunitiesRequest, cursor page.Cursor) communities.CommunityList {
	prefix := cmp.Or(req.GetKeyword(), req.GetDisplayName())
	list := communities.CommunityList{
		Deleted:      req.GetIsDeleted(),
		CategoryID:   req.GetCategoryId(),
		Tags:         req.GetTags(),
		Discoverable: req.IncludeDiscoverablePrivateCommunity == nil || req.GetIncludeDiscoverablePrivateCommunity(),
		NotMine:      membershipFilter(req) == "notMember",
		ByName:       req.GetSortBy() == "displayName" || prefix != "",
		Prefix:       prefix,
		Limit:        cursor.Limit + 1,
	}
	list.Desc = (!list.ByName && req.GetSortBy() != "firstCreated") != cursor.Back
	list.AfterTime, list.AfterKey, list.AfterID = cursor.Start(list.Desc)
	return list
}

// flaggedOf returns the filter by flags, which is for the moderators of the network.
func flaggedOf(req *plazav1.ListCommunitiesRequest, caller *auth.Caller) (*bool, error) {
	flagged, err := service.FlaggedOf(req.HasFlag, auth.Allowed(caller, auth.ModeratePostAndComment, auth.Scope{}))
	if flagged == core.FlaggedAny {
		return nil, err
	}
	return req.HasFlag, err
}

// membershipFilter returns the membership filter of a request, which has two parameters for it.
func membershipFilter(req *plazav1.ListCommunitiesRequest) string {
	return cmp.Or(req.GetFilter(), req.GetMembership())
}

// read reads the page from all homes.
func (s *Service) read(
	ctx context.Context, cursor page.Cursor, list communities.CommunityList,
) ([]communities.Community, *plazav1.Paging, error) {
	found, paging, err := service.Merged[communities.CommunityRow]{
		Cursor: cursor, ByName: list.ByName, Desc: list.Desc,
		At: func(c communities.CommunityRow) (t time.Time, key, id string) { return c.CreatedAt, c.NameKey, c.ID },
		Read: func(reads *store.ReadBatch, from page.Cursor, into *[]communities.CommunityRow) {
			list.AfterTime, list.AfterKey, list.AfterID = from.Start(list.Desc)
			reads.ListCommunities(list, into)
		},
	}.Page(ctx, s.Deps)
	return service.Map(found, func(row communities.CommunityRow) communities.Community { return row.Community }), paging, err
}

// readMine reads the page of the communities that the caller is a member of. Their ids are known, so it reads their
// sort keys first, and then the rows of the page.
func (s *Service) readMine(
	ctx context.Context, cursor page.Cursor, list communities.CommunityList,
) ([]communities.Community, *plazav1.Paging, error) {
	position := func(k communities.CommunityKey) (t time.Time, key, id string) { return k.CreatedAt, k.NameKey, k.ID }
	keys, paging, err := service.Merged[communities.CommunityKey]{
		Cursor: cursor, ByName: list.ByName, Desc: list.Desc, At: position,
		Read: func(reads *store.ReadBatch, from page.Cursor, into *[]communities.CommunityKey) {
			reads.CommunityKeys(list, into)
			reads.Then(func() { *into = service.After(*into, from, list.ByName, list.Desc, position) })
		},
	}.Page(ctx, s.Deps)
	if err != nil {
		return nil, nil, err
	}
	ids := service.Map(keys, func(k communities.CommunityKey) string { return k.ID })
	rows, err := service.Read(ctx, s.Deps, (*store.ReadBatch).Communities, ids)
	service.SortByID(rows, ids, communityID)
	return rows, paging, err
}
