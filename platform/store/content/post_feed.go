package content

import (
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Feeds are assembled when they are read: posts are not copied to followers, so that a post of an account with a million
// followers costs as much as any other, and follows, blocks and deletions take effect immediately. Each home with targets
// finds its part of a page.
//
// With up to feedTargets targets, whose ids are known, a branch of UNION ALL reads the first posts of each. With more, the
// next posts of the home are compared with the targets, in the order of the feed, until the page is full. This is fast if
// many of the home's posts are on targets. The number of posts is limited, so that it takes about as long as the branches of
// all targets, which are read if the page is not full. The home finds the targets in its mirror of follows.
//
// Late pages cost as much as the first one. BenchmarkFeed measures feeds; README.md has figures.
const (
	listedTargets  = 2_000  // maximum number of targets to make a list of
	postsPerTarget = 100    // a branch takes as long as comparing so many posts with the list
	maxListed      = 50_000 // maximum number of posts to compare with the list
	maxProbed      = 20_000 // maximum number of posts to look up
	everyoneWindow = 2_000  // number of posts of which most are in the feed
	everyoneLast   = 20_000 // number of posts after which the page ends, with a token for those that follow
)

// PostFeedEntry is the position of a post in a feed.
type PostFeedEntry struct {
	ID         string
	TargetType string
	TargetID   string
	AuthorID   string
	CreatedAt  time.Time
	// Reactions and Comments are the counts at AsOf, at most 100 each. Mine reports whether the reader has reacted.
	// They are set in ranked feeds only.
	Reactions int64 `db:"-"`
	Comments  int64 `db:"-"`
	Mine      bool  `db:"-"`
}

// PostFeedQuery selects the published posts of many targets.
type PostFeedQuery struct {
	// ReaderID is the internal id of the feed's owner.
	ReaderID string
	// OwnWall includes the reader's own wall, Following the followed walls.
	OwnWall, Following bool
	// Followed are the followed users of homes that FollowedAt does not contain. For the others, FollowedAt is their
	// approximate number.
	Followed   []string
	FollowedAt map[region.Code]int64
	// Communities are distinct ids. Posts of deleted communities are excluded.
	Communities []string
	// Everyone includes the posts of all public communities and, with WallsOpen, of all walls.
	Everyone, WallsOpen bool
	// Hidden are the authors whose posts are excluded.
	Hidden []string
	// StructureTypes filters by structure type; empty means all.
	StructureTypes []string
	Desc           bool
	// The position that the page starts after.
	After   time.Time
	AfterID string
	Limit   int
	// Ranked sets the fields that entries are ranked by, as of AsOf.
	Ranked bool
	AsOf   time.Time
}

// ListPostFeed reads up to Limit entries in the order of the feed from every home that has targets. It takes one round
// trip, another one to rank, and up to two if a home's next posts do not fill the page.
func (r ReadBatch) ListPostFeed(q PostFeedQuery, into *[]PostFeedEntry) {
	*into = nil
	f := &postFeed{PostFeedQuery: q, reads: r, into: into}
	communities, followed := r.ByHome(q.Communities), r.ByHome(q.Followed)
	own, _ := r.HomeOf(q.ReaderID) // the id of a row
	for _, home := range region.All() {
		h := &homeFeed{postFeed: f, home: home, communities: communities[home]}
		if q.Following && q.FollowedAt[home] == 0 {
			h.walls = followed[home]
		}
		if q.OwnWall && own == home {
			h.walls = append(slices.Clone(h.walls), q.ReaderID)
		}
		h.begin()
	}
}

// postFeed is a page that is being read.
type postFeed struct {
	PostFeedQuery
	reads   ReadBatch
	homes   []*homeFeed
	pending int // homes that have not found their part
	into    *[]PostFeedEntry
}

// homeFeed finds the part of one home.
type homeFeed struct {
	*postFeed
	home        region.Code
	walls       []string // that are known
	communities []string
	rows        []PostFeedEntry
}

// begin queues the first statement, unless the home has no targets.
func (h *homeFeed) begin() {
	unknown := 0
	if h.Following {
		unknown = int(h.FollowedAt[h.home])
	}
	targets := len(h.walls) + len(h.communities) + unknown
	if targets == 0 && !h.Everyone {
		return
	}
	h.homes = append(h.homes, h)
	h.pending++
	switch {
	case h.Everyone:
		h.everyone(feedEveryone, everyoneWindow)
	case unknown == 0 && targets <= feedTargets:
		h.branches()
	default:
		h.window(targets, unknown > 0)
	}
}

// args returns the arguments that all statements have.
func (h *homeFeed) args(more ...any) []any {
	return append([]any{h.After, h.AfterID, h.Limit, core.EmptyIfNil(h.Hidden), core.EmptyIfNil(h.StructureTypes)}, more...)
}

// then calls next after the round trip, or ends the part if the home did not answer.
func (h *homeFeed) then(next func()) {
	h.reads.Then(func() {
		if slices.Contains(h.reads.Missing(), h.home) {
			h.rows = nil
			h.end()
			return
		}
		next()
	})
}

// everyone looks for the page among some of the home's posts, and then among more of them. If they do not fill the page, it ends
// where the home stopped.
func (h *homeFeed) everyone(st core.Directions, posts int) {
	h.reads.Add(h.home, st.In(h.Desc), db.Rows(&h.rows),
		h.args(posts, h.ReaderID, h.Following, h.OwnWall, core.EmptyIfNil(h.communities), h.WallsOpen)...)
	h.then(func() {
		if len(h.rows) < h.Limit && posts < everyoneLast {
			h.everyone(feedEveryoneLast, everyoneLast)
			return
		}
		h.stop()
		h.end()
	})
}

// stop removes the last post of the window from the rows, and notes that the home stopped there before the page was full.
func (h *homeFeed) stop() {
	last := slices.IndexFunc(h.rows, func(e PostFeedEntry) bool { return e.TargetType == "" })
	if last < 0 {
		return
	}
	end := core.Position{Time: h.rows[last].CreatedAt, ID: h.rows[last].ID}
	if h.rows = slices.Delete(h.rows, last, last+1); len(h.rows) < h.Limit {
		h.reads.StopAt(end)
	}
}

// window looks for the page among some of the home's posts. Otherwise all targets are read, after those that are unknown.
func (h *homeFeed) window(targets int, unknown bool) {
	st, posts := feedProbed, maxProbed
	if targets <= listedTargets {
		st, posts = feedListed, min(maxListed, postsPerTarget*targets)
	}
	h.reads.Add(h.home, st.In(h.Desc), db.Rows(&h.rows), h.args(posts, h.ReaderID, h.Following, h.OwnWall, core.EmptyIfNil(h.communities))...)
	h.then(func() {
		switch {
		case len(h.rows) >= h.Limit:
			h.end()
		case unknown:
			var followed []string
			h.reads.FollowedAtHome(h.home, h.ReaderID, &followed)
			h.then(func() {
				h.walls = append(h.walls, followed...)
				h.branches()
			})
		default:
			h.branches()
		}
	})
}

// branches reads each target, and again without communities that turn out to be deleted.
func (h *homeFeed) branches() {
	targets := slices.Concat(h.walls, h.communities)
	if len(targets) == 0 {
		h.rows = nil
		h.end()
		return
	}
	var deleted []string
	if len(h.communities) > 0 {
		h.reads.Add(h.home, sqlCommunitiesDeleted, db.Values(&deleted), h.communities)
	}
	var found []PostFeedEntry
	core.ReadEachAt(h.reads.ReadBatch, h.home, targets, feedBranches[h.Desc], &found, h.args()...)
	h.then(func() {
		if len(deleted) > 0 {
			h.communities = slices.DeleteFunc(h.communities, func(id string) bool { return slices.Contains(deleted, id) })
			h.branches()
			return
		}
		h.rows = found
		h.end()
	})
}

// end merges the parts if this is the last one.
func (h *homeFeed) end() {
	h.pending--
	if h.pending == 0 {
		h.merge()
	}
}

// merge merges the parts into the page, and queues the statements that rank it.
func (f *postFeed) merge() {
	var all []PostFeedEntry
	for _, h := range f.homes {
		all = append(all, h.rows...)
	}
	slices.SortFunc(all, f.compare)
	*f.into = all[:min(len(all), f.Limit)]
	if f.Ranked && len(*f.into) > 0 {
		f.rank()
	}
}

func (f *postFeed) compare(a, b PostFeedEntry) int {
	if f.Desc {
		a, b = b, a
	}
	return core.CompareKeys(a.CreatedAt, a.ID, b.CreatedAt, b.ID)
}

// rank sets what the entries are ranked by. It removes those of homes that do not answer.
func (f *postFeed) rank() {
	at := func(e PostFeedEntry) region.Code {
		home, _ := f.reads.HomeOf(e.ID) // the id of a row
		return home
	}
	byHome := map[region.Code][]*PostFeedEntry{}
	for i, e := range *f.into {
		byHome[at(e)] = append(byHome[at(e)], &(*f.into)[i])
	}
	for home, entries := range byHome {
		f.reads.Rank(home, entries, f.ReaderID, f.AsOf)
	}
	f.reads.Then(func() {
		*f.into = slices.DeleteFunc(*f.into, func(e PostFeedEntry) bool { return slices.Contains(f.reads.Missing(), at(e)) })
	})
}
