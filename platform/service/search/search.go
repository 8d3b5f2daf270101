// Package search finds posts and communities by words.
//
// The words are in a table of their own, at the home of what they find, and are written by the transactions that write posts
// and communities (store.SearchKey). Each home finds its part of a page, and decides about visibility with what it stores; what
// is found is checked again by packages visibility and membership.
package search

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/textsearch"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements SearchService.
type Service struct{ *service.Deps }

// New returns the service of searches.
func New(d *service.Deps) *Service { return &Service{d} }

// caller is who searches.
type caller struct {
	*service.Request
	textsearch.Searcher
	settings network.Settings
	hidden   *contact.Hidden
}

// newCaller starts a request that reads what decides about what the caller sees.
func (s *Service) newCaller(ctx context.Context) *caller {
	c := &caller{Request: s.NewRequest(ctx)}
	c.UserID = c.Caller.UserID
	c.Request.CommunitiesOfUser(c.UserID, &c.Communities)
	c.hidden = contact.ReadHidden(c.Request)
	c.Request.Settings(s.Region, &c.settings)
	c.Check(func() error {
		c.Hidden = c.hidden.Some()
		c.WallsOpen = !c.settings.IsPrivate()
		c.AllWalls = auth.Allowed(c.Caller, auth.ViewPostAndComment, auth.Scope{})
		return nil
	})
	return c
}

// SearchPosts lists the posts that have hashtags or contain words.
func (s *Service) SearchPosts(ctx context.Context, req *plazav1.SearchPostsRequest) (*plazav1.ListPostsResponse, error) {
	c := s.newCaller(ctx)
	cursor := c.Page(req.GetOptions())
	searches, err := searchesOf(req)
	c.Fail(err)
	filter := c.filterOf(ctx, req)
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	filter.Searcher, filter.AllCommunities, filter.Limit = c.Searcher, c.AllWalls, cursor.Limit+1
	filter.Desc = (req.GetSortBy() != "firstCreated") != cursor.Back
	hits, paging, err := s.find(ctx, cursor, filter, searches)
	if err != nil {
		return nil, err
	}
	a, err := s.posts(ctx, c, service.Map(hits, func(h textsearch.SearchHit) string { return h.ID }))
	return view.Fill(a, &plazav1.ListPostsResponse{Paging: paging}), err
}

// find reads a page of the posts that one of searches finds.
func (s *Service) find(ctx context.Context, cursor page.Cursor, filter textsearch.PostSearch, searches []search) ([]textsearch.SearchHit,
	*plazav1.Paging, error,
) {
	return service.Merged[textsearch.SearchHit]{
		Cursor: cursor, Desc: filter.Desc,
		At: func(h textsearch.SearchHit) (time.Time, string, string) { return h.CreatedAt, "", h.ID },
		Read: func(reads *store.ReadBatch, from page.Cursor, into *[]textsearch.SearchHit) {
			filter.After, _, filter.AfterID = from.Start(filter.Desc)
			for _, search := range searches {
				filter.SearchWord, filter.Others = search.word, search.others
				reads.SearchPosts(filter, into)
			}
		},
	}.Page(ctx, s.Deps)
}

// targetFilter is implemented by requests that filter by target.
type targetFilter interface {
	GetTargetType() string
	GetTargetId() string
	GetDataTypes() []string
}

// filterOf returns the filter of a request.
func (c *caller) filterOf(ctx context.Context, req targetFilter) textsearch.PostSearch {
	filter := textsearch.PostSearch{
		TargetType: req.GetTargetType(), TargetID: req.GetTargetId(),
		StructureTypes: service.SortedSet(req.GetDataTypes()),
	}
	if filter.TargetType == "all" {
		filter.TargetType = ""
	}
	if filter.TargetType == "" && filter.TargetID != "" {
		c.Fail(errNoTargetType)
	}
	if filter.TargetType == "user" && filter.TargetID != "" {
		filter.TargetID = c.Resolve(ctx, filter.TargetID)
	}
	return filter
}

// posts reads posts and what they refer to, without those that the caller may not see.
func (s *Service) posts(ctx context.Context, c *caller, ids []string) (*view.Aggregate, error) {
	reads := s.Store.NewBestEffortBatch()
	var rows []content.Post
	reads.PostsByID(ids, &rows)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	if err := s.RequireHomes(reads, ids); err != nil {
		return nil, err
	}
	service.SortByID(rows, ids, func(p content.Post) string { return p.ID })
	rows = slices.DeleteFunc(rows, func(p content.Post) bool { return p.FeedType != "published" })
	rows, err := contact.WithoutPosts(ctx, c.hidden, rows)
	if err != nil {
		return nil, err
	}
	known, err := visibility.FilterPosts(ctx, c.Request, rows)
	if err != nil {
		return nil, err
	}
	return s.View.Load(ctx, s.Store, c.Caller.UserID, known)
}

// communities reads communities, without those that the caller may not see.
func (s *Service) communities(ctx context.Context, c *caller, ids []string) (*plazav1.CommunityResponse, error) {
	var rows []communities.Community
	var members []communities.Member
	reads := s.Store.NewBestEffortBatch()
	reads.Communities(ids, &rows)
	reads.Memberships(c.UserID, ids, &members)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	if err := s.RequireHomes(reads, ids); err != nil {
		return nil, err
	}
	rows, err := contact.Without(ctx, c.hidden, rows, func(row communities.Community) string { return row.CreatorID })
	if err != nil {
		return nil, err
	}
	service.SortByID(rows, ids, func(row communities.Community) string { return row.ID })
	rows = slices.DeleteFunc(rows, func(row communities.Community) bool {
		mine := service.Find(members, func(m communities.Member) bool { return m.CommunityID == row.ID })
		return membership.RequireDiscoverable(c.Caller, &row, mine) != nil
	})
	return s.View.LoadCommunities(ctx, s.Store, view.CommunityRows{Communities: rows, Viewer: c.User(), Members: members})
}
