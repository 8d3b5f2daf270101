package search

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/textsearch"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

const (
	// maxRankedWords is the number of different words of a text that are compared.
	maxRankedWords = 8
	// maxCandidates is the number of objects with a word that each home contributes.
	maxCandidates = 200
)

// RankPosts lists the posts that are most similar to a text.
func (s *Service) RankPosts(ctx context.Context, req *plazav1.RankPostsRequest) (*plazav1.RankPostsResponse, error) {
	c := s.newCaller(ctx)
	cursor, filter := c.Page(req.GetOptions()), c.filterOf(ctx, req)
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	filter.SearchPage, filter.Tags = newest(c), req.GetTags()
	filter.AllCommunities = c.AllWalls
	rows, paging, err := s.rank(ctx, cursor, ranking{textsearch.SearchPosts, req.GetQuery(), c.settings.PostMinScore},
		func(reads *store.ReadBatch, word textsearch.SearchWord, into *[]textsearch.SearchHit) {
			filter.SearchWord = word
			reads.SearchPosts(filter, into)
		})
	if err != nil {
		return nil, err
	}
	a, err := s.posts(ctx, c, service.Map(rows, rankedID))
	if err != nil {
		return nil, err
	}
	scores := scoresOf(rows)
	results := service.Map(a.Posts, func(post *plazav1.Post) *plazav1.RankedPost {
		return &plazav1.RankedPost{PostId: post.GetPostId(), Score: scores[post.GetPostId()]}
	})
	return view.Fill(a, &plazav1.RankPostsResponse{SearchResult: results, SearchResults: results, Paging: paging}), nil
}

// RankCommunities lists the communities that are most similar to a text.
func (s *Service) RankCommunities(ctx context.Context, req *plazav1.RankCommunitiesRequest) (*plazav1.RankCommunitiesResponse, error) {
	c := s.newCaller(ctx)
	cursor := c.Page(req.GetOptions())
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	filter := textsearch.CommunitySearch{
		SearchPage: newest(c), Tags: req.GetTags(), CategoryIDs: req.GetCategoryIds(), Member: memberFilter(req.GetFilter()),
		Discoverable: req.IncludeDiscoverablePrivateCommunity == nil || req.GetIncludeDiscoverablePrivateCommunity(),
	}
	filter.AllCommunities = membership.SeesAllCommunities(c.Caller)
	rows, paging, err := s.rank(ctx, cursor, ranking{textsearch.SearchCommunities, req.GetQuery(), c.settings.CommunityMinScore},
		func(reads *store.ReadBatch, word textsearch.SearchWord, into *[]textsearch.SearchHit) {
			filter.SearchWord = word
			reads.SearchCommunities(filter, into)
		})
	if err != nil {
		return nil, err
	}
	a, err := s.communities(ctx, c, service.Map(rows, rankedID))
	if err != nil {
		return nil, err
	}
	scores := scoresOf(rows)
	results := service.Map(a.GetCommunities(), func(community *plazav1.Community) *plazav1.RankedCommunity {
		return &plazav1.RankedCommunity{CommunityId: community.GetCommunityId(), Score: scores[community.GetCommunityId()]}
	})
	return &plazav1.RankCommunitiesResponse{
		SearchResult: results, SearchResults: results, Communities: a.GetCommunities(), CommunityUsers: a.GetCommunityUsers(),
		Files: a.GetFiles(), Users: a.GetUsers(), Categories: a.GetCategories(), Feeds: a.GetFeeds(), Paging: paging,
	}, nil
}

// newest returns a page of the newest objects with a word.
func newest(c *caller) textsearch.SearchPage {
	p := textsearch.SearchPage{Searcher: c.Searcher, Desc: true, Limit: maxCandidates}
	p.After, _, p.AfterID = page.Cursor{}.Start(true)
	return p
}

// memberFilter returns the value of the filter by membership.
func memberFilter(filter string) *bool {
	isMember := filter == "member"
	if isMember || filter == "notMember" {
		return &isMember
	}
	return nil
}

// ranking selects objects by their similarity to a text.
type ranking struct {
	kind     textsearch.SearchKind
	text     string
	minScore float64
}

// rank reads the objects that contain words of a text, and returns a page of them by score. query queues the read of those with
// one word. All pages rank the same words, but what was written in the meantime can move an object to another page.
func (s *Service) rank(ctx context.Context, cursor page.Cursor, of ranking,
	query func(*store.ReadBatch, textsearch.SearchWord, *[]textsearch.SearchHit),
) ([]Ranked, *plazav1.Paging, error) {
	words := service.Distinct(textsearch.Words(of.text))
	found := make([]Found, min(len(words), maxRankedWords))
	reads := s.Store.NewBestEffortBatch()
	for i := range found {
		f := &found[i]
		f.Word = words[i]
		query(reads, exactly(of.kind, f.Word), &f.Exact)
		if utf8.RuneCountInString(f.Word) >= textsearch.StemRunes {
			query(reads, textsearch.SearchWord{Key: textsearch.StemKey(of.kind, f.Word)}, &f.Stem)
		}
	}
	if err := reads.Run(ctx); err != nil {
		return nil, nil, err
	}
	desc := !cursor.Back
	rows := slices.DeleteFunc(Rank(found), func(r Ranked) bool { return r.Score < of.minScore })
	at := func(r Ranked) (time.Time, string, string) { return time.Time{}, r.key(), r.ID }
	if rows = service.After(rows, cursor, true, desc, at); len(rows) == 0 {
		return nil, &plazav1.Paging{}, service.RequireEnd(reads, cursor.First())
	}
	rows, paging := service.Page(cursor, rows, true, desc, at)
	return rows, paging, nil
}

func rankedID(r Ranked) string { return r.ID }

func scoresOf(rows []Ranked) map[string]float64 {
	scores := make(map[string]float64, len(rows))
	for _, r := range rows {
		scores[r.ID] = r.Score
	}
	return scores
}
