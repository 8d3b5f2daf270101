package feed

import (
	"cmp"
	"context"
	"time"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// The orders of the following feed.
const (
	byLastCreated   = "lastCreated"
	byCustomRanking = "customRanking"
)

// sources are what a reader's feed is made of, and the round trip that told.
type sources struct {
	*service.First
	settings    store.Settings
	counts      store.Counts
	communities []string
	hidden      []string
}

// sources reads what a feed of the caller can be made of: the first of four round trips. The second finds the page, the
// third reads its posts and where they stand, the fourth what they refer to. Each asks the homes concerned in parallel, and
// from the second on a home that is away leaves its part out of the page.
func (s *Service) sources(ctx context.Context) (*sources, error) {
	src := &sources{First: s.Begin(ctx), counts: store.Counts{}}
	if id := src.Caller.UserID; id != "" {
		src.Counts(service.HomeOf(id), []string{id}, src.counts)
		src.CommunitiesOfUser(id, &src.communities)
		src.HiddenFrom(id, &src.hidden)
	}
	src.Settings(s.Region, &src.settings)
	if err := src.Run(ctx); err != nil {
		return nil, err
	}
	return src, src.RequireUser()
}

// query is a feed of the caller without anything in it.
func (src *sources) query() store.FeedQuery {
	id := src.User().ID
	q := store.FeedQuery{ReaderID: id, FollowedAt: map[region.Code]int64{}, Hidden: src.hidden}
	for _, home := range region.All() {
		q.FollowedAt[home] = src.counts.Of(id, store.CountFollowing(home))
	}
	return q
}

// ListFollowingFeed lists the posts of the caller's wall, of the walls that the caller follows and of the caller's
// communities.
func (s *Service) ListFollowingFeed(ctx context.Context, req *connect.Request[plazav1.ListFollowingFeedRequest]) (*connect.Response[plazav1.ListFollowingFeedResponse], error) {
	p := paging{sortBy: cmp.Or(req.Msg.GetSortBy(), byCustomRanking), limit: req.Msg.Limit, token: req.Msg.GetToken(), field: "token"}
	list, err := s.lister(p)
	if err != nil {
		return nil, err
	}
	src, err := s.sources(ctx)
	if err != nil {
		return nil, err
	}
	q := src.query()
	q.OwnWall, q.Following, q.Communities = true, true, src.communities
	a, paging, err := s.page(ctx, src, list, q)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(a.FollowingFeed(paging)), nil
}

// paging is what a request says of the page.
type paging struct {
	sortBy string
	limit  *int32
	token  string
	field  string // the token's, for errors
}

// lister finds a page of a feed: the entries that a query of its making found, in order, and the tokens of its neighbours.
type lister interface {
	query(q store.FeedQuery) store.FeedQuery
	entries(found []store.FeedEntry) ([]store.FeedEntry, *plazav1.Paging)
}

// lister reads the token, or starts the feed.
func (s *Service) lister(p paging) (lister, error) {
	limit := page.DefaultLimit
	if p.limit != nil {
		limit = int(*p.limit)
	}
	bad := fail.Validation(p.field + ": is not a token of this list")
	if p.sortBy == byCustomRanking {
		if p.token == "" {
			now := s.Now()
			return rankCursor{limit: limit, asOf: now, high: top(now)}, nil
		}
		c, err := parseRank(p.token)
		if err != nil {
			return nil, bad
		}
		return c, nil
	}
	if p.token == "" {
		return timeLister{page.Cursor{Limit: limit}}, nil
	}
	c, err := page.ParseToken(p.token)
	if err != nil {
		return nil, bad
	}
	return timeLister{c}, nil
}

// timeLister lists newest first.
type timeLister struct{ page.Cursor }

func (l timeLister) query(q store.FeedQuery) store.FeedQuery {
	q.Desc, q.Limit = !l.Back, l.Limit+1
	q.After, _, q.AfterID = l.Start(q.Desc)
	return q
}

func (l timeLister) entries(found []store.FeedEntry) ([]store.FeedEntry, *plazav1.Paging) {
	return page.Window(l.Cursor, found, func(e store.FeedEntry) (time.Time, string, string) { return e.CreatedAt, "", e.ID })
}

func (c rankCursor) entries(found []store.FeedEntry) ([]store.FeedEntry, *plazav1.Paging) {
	rows, next, previous := c.window(found).page()
	entries := make([]store.FeedEntry, len(rows))
	for i, r := range rows {
		entries[i] = r.FeedEntry
	}
	return entries, &plazav1.Paging{Next: next, Previous: previous, Prev: previous}
}

// page finds and reads a page of a feed.
func (s *Service) page(ctx context.Context, src *sources, list lister, q store.FeedQuery) (*view.Aggregate, *plazav1.Paging, error) {
	var found []store.FeedEntry
	reads := s.Store.Related()
	reads.ListFeed(list.query(q), &found)
	if err := reads.Run(ctx); err != nil {
		return nil, nil, err
	}
	entries, paging := list.entries(found)
	known, err := s.content(ctx, src.First, entries)
	if err != nil {
		return nil, nil, err
	}
	a, err := s.View.Gather(ctx, s.Store, src.User().ID, known)
	return a, paging, err
}

// content reads the posts of entries and where they stand, and leaves out what went meanwhile.
func (s *Service) content(ctx context.Context, f *service.First, entries []store.FeedEntry) (view.Known, error) {
	var posts, communities, walls, authors []string
	for _, e := range entries {
		posts, authors = append(posts, e.ID), append(authors, e.AuthorID)
		if e.TargetType == "community" {
			communities = append(communities, e.TargetID)
		} else {
			walls = append(walls, e.TargetID)
		}
	}
	var rows []store.Post
	k := view.Known{Users: f.UserRows()}
	var owners []store.User
	reads := s.Store.Related()
	reads.PostsByID(posts, &rows)
	reads.Communities(distinct(communities), &k.Communities)
	reads.Memberships(f.Caller.UserID, distinct(communities), &k.Members)
	reads.Users(distinct(append(walls, authors...)), &owners)
	reads.ChildrenOf(posts, &k.Children)
	if err := reads.Run(ctx); err != nil {
		return k, err
	}
	k.Users = append(k.Users, owners...)
	k.Posts = standing(f, entries, rows, k)
	return k, nil
}

// standing returns the posts in the order of the entries, without those that the caller may not see any more: whoever was
// put out of a private community a moment ago may still have it among the sources.
func standing(f *service.First, entries []store.FeedEntry, rows []store.Post, k view.Known) []store.Post {
	places := map[string]service.Place{}
	for i := range k.Communities {
		places[k.Communities[i].ID] = service.Place{Community: &k.Communities[i]}
	}
	for i := range k.Members {
		if place, ok := places[k.Members[i].CommunityID]; ok {
			place.Member = &k.Members[i]
			places[k.Members[i].CommunityID] = place
		}
	}
	for _, u := range k.Users {
		if u.DeletedAt == nil {
			places[u.ID] = service.Place{WallOwnerID: u.ID}
		}
	}
	byID := make(map[string]store.Post, len(rows))
	for _, p := range rows {
		byID[p.ID] = p
	}
	var posts []store.Post
	for _, e := range entries {
		p, found := byID[e.ID]
		if found && p.DeletedAt == nil && p.FeedType == "published" && places[p.TargetID].RequireSee(f.Caller) == nil {
			posts = append(posts, p)
		}
	}
	return posts
}
