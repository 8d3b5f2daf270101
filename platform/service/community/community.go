// Package community holds the communities.
package community

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements CommunityService.
type Service struct{ *service.Deps }

// New makes the service.
func New(d *service.Deps) *Service { return &Service{d} }

// answer makes the answer about communities, with the memberships and users that are known already.
func (s *Service) answer(ctx context.Context, a view.CommunityAnswer) (*plazav1.CommunityAggregate, error) {
	aggregate, err := s.View.Communities(ctx, s.Store, a)
	if err != nil {
		return nil, err
	}
	return aggregate, nil
}

// GetCommunity gets one community. A deleted one says so; one that the caller may not know of is 400400.
func (s *Service) GetCommunity(ctx context.Context, req *plazav1.GetCommunityRequest) (*plazav1.CommunityAggregate, error) {
	var c *store.Community
	var mine *store.Member
	r := s.NewRequest(ctx)
	r.Community(req.GetCommunityId(), &c)
	if r.Caller.UserID != "" {
		r.Member(req.GetCommunityId(), r.Caller.UserID, &mine)
	}
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	if c == nil || !membership.CanFind(r.Caller, *c, mine) {
		return nil, fail.NotFound()
	}
	return s.answer(ctx, view.CommunityAnswer{Communities: []store.Community{*c}, Viewer: r.User(), Members: known(mine)})
}

func known(m *store.Member) []store.Member {
	if m == nil {
		return nil
	}
	return []store.Member{*m}
}

// BatchGetCommunities gets several communities in the order of the request. Those that are unknown, that the caller may
// not know of, or whose region is away are left out.
func (s *Service) BatchGetCommunities(ctx context.Context, req *plazav1.BatchGetCommunitiesRequest) (*plazav1.CommunityAggregate, error) {
	r := s.NewRequest(ctx)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	ids := req.GetCommunityIds()
	var rows []store.Community
	var mine []store.Member
	reads := s.Store.NewBestEffortBatch()
	reads.Communities(ids, &rows)
	if r.Caller.UserID != "" {
		reads.Memberships(r.Caller.UserID, ids, &mine)
	}
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	discoverable := req.IncludeDiscoverablePrivateCommunity == nil || req.GetIncludeDiscoverablePrivateCommunity()
	rows = slices.DeleteFunc(rows, func(c store.Community) bool {
		c.IsDiscoverable = c.IsDiscoverable && discoverable
		return !membership.CanFind(r.Caller, c, membershipIn(mine, c.ID))
	})
	slices.SortFunc(rows, func(a, b store.Community) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return s.answer(ctx, view.CommunityAnswer{Communities: rows, Viewer: r.User(), Members: of(mine, rows)})
}

func membershipIn(members []store.Member, communityID string) *store.Member {
	i := slices.IndexFunc(members, func(m store.Member) bool { return m.CommunityID == communityID })
	if i < 0 {
		return nil
	}
	return &members[i]
}

// of keeps the memberships of communities that are in the answer.
func of(members []store.Member, rows []store.Community) []store.Member {
	return slices.DeleteFunc(members, func(m store.Member) bool {
		return !slices.ContainsFunc(rows, func(c store.Community) bool { return c.ID == m.CommunityID })
	})
}

// requireOfficial refuses whoever may not say that the network stands behind a community.
func requireOfficial(r *service.Request) error {
	return auth.Require(r.Caller, auth.EditCommunity, auth.Scope{})
}

// requireCategories returns 400400 unless every category is there.
func requireCategories(wanted []string, rows []store.Category) error {
	for _, id := range wanted {
		if !slices.ContainsFunc(rows, func(c store.Category) bool { return c.ID == id && c.DeletedAt == nil }) {
			return fail.NotFound()
		}
	}
	return nil
}

// unique returns the texts of a request, each once; nil where there are none.
func unique(list []string) []string {
	var out []string
	for _, text := range list {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}
