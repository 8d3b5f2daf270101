package community

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Bounds of what recommendations are derived from.
const (
	maxTasteUsers       = 100 // followed users
	maxTasteCommunities = 100 // communities of the caller, and of each followed user
)

// ranking is a page of a ranked list that is being read.
type ranking struct {
	*service.Request
	cursor       page.Cursor
	mine         []string
	banned       []string
	followed     []string
	discoverable bool
}

// rankingRequest is implemented by the requests of ranked lists.
type rankingRequest interface {
	GetOptions() *plazav1.PageOptions
}

func (s *Service) newRanking(ctx context.Context, req rankingRequest, discoverable *bool) *ranking {
	r := &ranking{Request: s.NewRequest(ctx), discoverable: discoverable == nil || *discoverable}
	r.cursor = r.Page(req.GetOptions())
	r.CommunitiesOfUser(r.Caller.UserID, &r.mine)
	return r
}

// ListTrendingCommunities lists the communities that the caller may see by their activity.
func (s *Service) ListTrendingCommunities(ctx context.Context,
	req *plazav1.ListTrendingCommunitiesRequest,
) (*plazav1.ListCommunitiesResponse, error) {
	r := s.newRanking(ctx, req, req.IncludeDiscoverablePrivateCommunity)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	t, err := s.trendsAt(ctx, r.cursor.Time)
	if err != nil {
		return nil, err
	}
	return s.rankedPage(ctx, r, t, slices.Clone(t.list))
}

// ListRecommendedCommunities lists communities that the caller is not a member of by how likely they are to interest the
// caller.
func (s *Service) ListRecommendedCommunities(ctx context.Context,
	req *plazav1.ListRecommendedCommunitiesRequest,
) (*plazav1.ListCommunitiesResponse, error) {
	r := s.newRanking(ctx, req, req.IncludeDiscoverablePrivateCommunity)
	r.Check(r.RequireUser)
	r.BansOfUser(r.Caller.UserID, &r.banned)
	r.Followed(r.Caller.UserID, &r.followed)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	t, err := s.trendsAt(ctx, r.cursor.Time)
	if err != nil {
		return nil, err
	}
	taste, others, err := s.taste(ctx, r, t)
	if err != nil {
		return nil, err
	}
	return s.rankedPage(ctx, r, t, taste.recommend(t.with(others)))
}

// taste reads what the recommendations for the caller depend on, and the communities of followed users that are not among
// the trends. Homes that do not answer are left out.
func (s *Service) taste(ctx context.Context, r *ranking, t trends) (taste, []communities.Rankable, error) {
	var joined []communities.UserCommunity
	var own, others []communities.Rankable
	reads := s.Store.NewBestEffortBatch()
	reads.CommunitiesOfUsers(r.followed[:min(len(r.followed), maxTasteUsers)], maxTasteCommunities, &joined)
	reads.Rankables(r.mine[:min(len(r.mine), maxTasteCommunities)], &own)
	reads.Then(func() { reads.Rankables(t.missing(joined), &others) })
	err := reads.Run(ctx)
	return newTaste(joined, own, slices.Concat(r.mine, r.banned)), others, err
}

// missing returns the communities of users that the trends do not contain.
func (t trends) missing(joined []communities.UserCommunity) []string {
	seen := map[string]bool{}
	for _, c := range t.list {
		seen[c.ID] = true
	}
	var ids []string
	for _, j := range joined {
		if !seen[j.CommunityID] {
			seen[j.CommunityID], ids = true, append(ids, j.CommunityID)
		}
	}
	return ids
}

// rankedPage responds with the page of the list that the caller may see.
func (s *Service) rankedPage(ctx context.Context, r *ranking, t trends, list []ranked) (*plazav1.ListCommunitiesResponse, error) {
	list = slices.DeleteFunc(list, func(c ranked) bool { return !r.canDiscover(c.Rankable) })
	at := func(c ranked) (time.Time, string, string) { return t.at, c.key(), c.ID }
	desc := !r.cursor.Back
	list, paging := service.Page(r.cursor, service.After(list, r.cursor, true, desc, at), true, desc, at)
	if len(list) == 0 {
		if err := service.RequireEnd(t.reads, r.cursor.First()); err != nil {
			return nil, err
		}
	}
	rows, err := s.visibleRows(ctx, r, service.Map(list, func(c ranked) string { return c.ID }))
	if err != nil {
		return nil, err
	}
	a, err := s.View.LoadCommunities(ctx, s.Store, view.CommunityRows{Communities: rows, Viewer: r.User()})
	return view.CommunityPage(a, paging), err
}

// canDiscover reports whether the caller may find a community in the list.
func (r *ranking) canDiscover(c communities.Rankable) bool {
	return c.IsPublic || c.IsDiscoverable && r.discoverable || membership.SeesAllCommunities(r.Caller) || slices.Contains(r.mine, c.ID)
}

// visibleRows reads communities in the order of ids, without those that the caller may not find any more.
func (s *Service) visibleRows(ctx context.Context, r *ranking, ids []string) ([]communities.Community, error) {
	var rows []communities.Community
	reads := s.Store.NewBestEffortBatch()
	reads.Communities(ids, &rows)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	if err := s.RequireHomes(reads, ids); err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(c communities.Community) bool {
		return c.DeletedAt != nil || !r.canDiscover(communities.Rankable{ID: c.ID, IsPublic: c.IsPublic, IsDiscoverable: c.IsDiscoverable})
	})
	service.SortByID(rows, ids, communityID)
	return rows, nil
}
