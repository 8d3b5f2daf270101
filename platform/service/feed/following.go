package feed

import (
	"cmp"
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// The orders of the following feed.
const (
	byLastCreated   = "lastCreated"
	byCustomRanking = "customRanking"
)

// sources are the communities and walls of a caller's feed.
type sources struct {
	*service.Request
	settings    network.Settings
	counts      core.Counts
	followed    []string
	communities []string
	hidden      *contact.Hidden
}

// sources starts the request for the sources of the caller's feed, the first of usually four round trips. The second one finds the page,
// and another one what it is ranked by; the third one reads the posts and their targets, the fourth one what those refer to.
// Each goes to the homes concerned in parallel, and from the second one on, homes that do not answer are left out of the page.
func (s *Service) sources(ctx context.Context) *sources {
	src := &sources{Request: s.NewUserRequest(ctx), counts: core.Counts{}}
	id := src.Caller.UserID
	src.CountsOf([]string{id}, src.counts)
	src.Followed(id, &src.followed)
	src.CommunitiesOfUser(id, &src.communities)
	src.hidden = contact.ReadHidden(src.Request)
	src.Settings(s.Region, &src.settings)
	return src
}

// query returns the caller's feed query without any sources.
func (src *sources) query() content.PostFeedQuery {
	return content.PostFeedQuery{ReaderID: src.User().ID, Hidden: src.hidden.Some()}
}

// follow includes the walls that the caller follows.
func (src *sources) follow(q *content.PostFeedQuery) {
	q.Follow(src.followed, src.counts, src.Deps.Store.Routes())
}

// ListFollowingFeed lists the posts of the caller's wall, of the walls that the caller follows and of the caller's
// communities.
func (s *Service) ListFollowingFeed(
	ctx context.Context, req *plazav1.ListFollowingFeedRequest,
) (*plazav1.ListFollowingFeedResponse, error) {
	options := page.Merge(nil, req.Limit, req.GetToken())
	list, err := s.lister(cmp.Or(req.GetSortBy(), byCustomRanking), options, "token")
	src := s.sources(ctx)
	src.Fail(err)
	if err := src.Run(ctx); err != nil {
		return nil, err
	}
	q := src.query()
	q.OwnWall, q.Communities = true, src.communities
	src.follow(&q)
	a, paging, err := s.page(ctx, src, list, q)
	return view.Fill(a, &plazav1.ListFollowingFeedResponse{
		Paging: &plazav1.FollowingPaging{Next: paging.GetNext(), Previous: paging.GetPrevious()},
	}), err
}

// lister reads a page of a feed with its tokens.
type lister func(ctx context.Context, d *service.Deps, q content.PostFeedQuery) ([]content.PostFeedEntry, *plazav1.Paging, error)

// lister returns the lister of the token, or of the first page. field is that of the token, for errors.
func (s *Service) lister(sortBy string, o *plazav1.PageOptions, field string) (lister, error) {
	cursor, err := page.Parse(o, page.DefaultLimit)
	list := lister(timeLister{cursor}.page)
	switch now := s.Now(); {
	case sortBy != byCustomRanking:
	case o.GetToken() == "":
		list = rankCursor{limit: cursor.Limit, asOf: now, high: top(now)}.page
	default:
		var ranked rankCursor
		ranked, err = parseRank(o.GetToken())
		list = ranked.page
	}
	if err != nil {
		return nil, fail.Validation(field + ": is not a token of this list")
	}
	return list, nil
}

// timeLister lists a feed newest first.
type timeLister struct{ page.Cursor }

func (l timeLister) page(ctx context.Context, d *service.Deps, q content.PostFeedQuery) ([]content.PostFeedEntry, *plazav1.Paging, error) {
	q.Desc, q.Limit = !l.Back, l.Limit+1
	return service.Merged[content.PostFeedEntry]{
		Cursor: l.Cursor, Desc: q.Desc,
		At: func(e content.PostFeedEntry) (time.Time, string, string) { return e.CreatedAt, "", e.ID },
		Read: func(reads *store.ReadBatch, from page.Cursor, into *[]content.PostFeedEntry) {
			q.After, _, q.AfterID = from.Start(q.Desc)
			reads.ListPostFeed(q, into)
		},
	}.Page(ctx, d)
}

// page reads a page by rank. The posts of homes that do not answer have no rank, so that no token leads back to them.
func (c rankCursor) page(ctx context.Context, d *service.Deps, q content.PostFeedQuery) ([]content.PostFeedEntry, *plazav1.Paging, error) {
	var found []content.PostFeedEntry
	reads := d.Store.NewBestEffortBatch()
	reads.ListPostFeed(c.query(q), &found)
	err := reads.Run(ctx)
	if err != nil {
		return nil, nil, err
	}
	entries, paging := c.entries(found, reads.Stops())
	if len(entries) == 0 && len(reads.Stops()) == 0 {
		err = service.RequireEnd(reads, c.high == top(c.asOf) && c.id == "")
	}
	return entries, paging, err
}

func (c rankCursor) entries(found []content.PostFeedEntry, stops []core.Position) ([]content.PostFeedEntry, *plazav1.Paging) {
	rows, next, previous := c.window(found, stops).page()
	entries := service.Map(rows, func(r ranked) content.PostFeedEntry { return r.PostFeedEntry })
	return entries, &plazav1.Paging{Next: next, Previous: previous, Prev: previous}
}

// page reads a page of a feed.
func (s *Service) page(ctx context.Context, src *sources, list lister, q content.PostFeedQuery) (*view.Aggregate, *plazav1.Paging, error) {
	entries, paging, err := list(ctx, s.Deps, q)
	if err != nil {
		return nil, nil, err
	}
	known, err := s.content(ctx, src, entries)
	if err != nil {
		return nil, nil, err
	}
	a, err := s.View.Load(ctx, s.Store, src.User().ID, known)
	return a, paging, err
}

// content reads the posts of entries and their targets, without posts that were deleted in the meantime.
func (s *Service) content(ctx context.Context, src *sources, entries []content.PostFeedEntry) (view.Rows, error) {
	var posts, communities, walls, authors []string
	for _, e := range entries {
		posts, authors = append(posts, e.ID), append(authors, e.AuthorID)
		if e.TargetType == "community" {
			communities = append(communities, e.TargetID)
		} else {
			walls = append(walls, e.TargetID)
		}
	}
	var rows []content.Post
	k := view.Rows{Users: src.UserRows()}
	var owners []people.User
	reads := s.Store.NewBestEffortBatch()
	reads.PostsByID(posts, &rows)
	reads.Communities(service.SortedSet(communities), &k.Communities)
	reads.Memberships(src.Caller.UserID, service.SortedSet(communities), &k.Members)
	reads.Users(service.SortedSet(append(walls, authors...)), &owners)
	reads.ChildrenOf(posts, &k.Children)
	if err := reads.Run(ctx); err != nil {
		return k, err
	}
	if err := s.RequireHomes(reads, posts); err != nil {
		return k, err
	}
	k.Users = append(k.Users, owners...)
	targets := visibility.NewTargets(k.Communities, k.Members)
	targets.AddFollowedWalls(k.Users)
	shown, err := contact.WithoutPosts(ctx, src.hidden, visiblePosts(src.Caller, entries, rows, targets))
	k.Posts = shown
	k.Communities, k.Members = targets.Referenced(k.Posts)
	return k, err
}

// visiblePosts returns the published posts in the order of the entries, without those that the caller may not see any
// more: a community that the caller was just removed from can still be among the sources.
func visiblePosts(caller *auth.Caller, entries []content.PostFeedEntry, rows []content.Post, targets visibility.Targets) []content.Post {
	byID := make(map[string]content.Post, len(rows))
	for _, p := range rows {
		byID[p.ID] = p
	}
	var posts []content.Post
	for _, e := range entries {
		if p := byID[e.ID]; p.FeedType == "published" {
			posts = append(posts, p)
		}
	}
	return targets.VisiblePosts(caller, posts)
}
