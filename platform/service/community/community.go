// Package community implements CommunityService.
package community

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements CommunityService.
type Service struct {
	*service.Deps
	trends trendCache
}

// New returns the service.
func New(d *service.Deps) *Service { return &Service{Deps: d} }

// GetCommunity gets one community, which may be deleted. A community that is hidden from the caller is 400400.
func (s *Service) GetCommunity(ctx context.Context, req *plazav1.GetCommunityRequest) (*plazav1.CommunityResponse, error) {
	var c *communities.Community
	var mine *communities.Member
	r := s.NewRequest(ctx)
	membership.Read(r, req.GetCommunityId(), &c, &mine)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	if c == nil || !membership.CanDiscover(r.Caller, *c, mine) {
		return nil, fail.NotFound()
	}
	return s.View.LoadCommunities(ctx, s.Store,
		view.CommunityRows{Communities: []communities.Community{*c}, Viewer: r.User(), Members: membersOf(mine)})
}

// membersOf returns a membership, which may be nil, as a slice.
func membersOf(m *communities.Member) []communities.Member {
	if m == nil {
		return nil
	}
	return []communities.Member{*m}
}

// BatchGetCommunities gets several communities in the order of the request. Communities that do not exist, that are
// hidden from the caller, or whose home is unavailable are left out.
func (s *Service) BatchGetCommunities(ctx context.Context, req *plazav1.BatchGetCommunitiesRequest) (*plazav1.CommunityResponse, error) {
	r := s.NewRequest(ctx)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	ids := req.GetCommunityIds()
	var rows []communities.Community
	var mine []communities.Member
	reads := s.Store.NewBestEffortBatch()
	reads.Communities(ids, &rows)
	reads.Memberships(r.Caller.UserID, ids, &mine)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	discoverable := req.IncludeDiscoverablePrivateCommunity == nil || req.GetIncludeDiscoverablePrivateCommunity()
	rows = slices.DeleteFunc(rows, func(c communities.Community) bool {
		c.IsDiscoverable = c.IsDiscoverable && discoverable
		return !membership.CanDiscover(r.Caller, c, service.Find(mine, func(m communities.Member) bool { return m.CommunityID == c.ID }))
	})
	service.SortByID(rows, ids, communityID)
	return s.View.LoadCommunities(ctx, s.Store, view.CommunityRows{Communities: rows, Viewer: r.User(), Members: membersIn(mine, rows)})
}

// membersIn returns the memberships in the communities.
func membersIn(members []communities.Member, rows []communities.Community) []communities.Member {
	return slices.DeleteFunc(members, func(m communities.Member) bool {
		return !slices.ContainsFunc(rows, func(c communities.Community) bool { return c.ID == m.CommunityID })
	})
}

func communityID(c communities.Community) string { return c.ID }

// requireOfficial returns an error unless the caller may make a community official or not.
func requireOfficial(r *service.Request) error {
	return auth.Require(r.Caller, auth.EditCommunity, auth.Scope{})
}

// requireCategories returns 400400 unless all wanted categories are among rows and not deleted.
func requireCategories(wanted []string, rows []communities.Category) error {
	for _, id := range wanted {
		if !slices.ContainsFunc(rows, func(c communities.Category) bool { return c.ID == id && c.DeletedAt == nil }) {
			return fail.NotFound()
		}
	}
	return nil
}
