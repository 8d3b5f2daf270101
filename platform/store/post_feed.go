package store

import (
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
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
	Reactions int64
	Comments  int64
	Mine      bool
}

// PostFeedQuery selects the published posts of many targets.
type PostFeedQuery struct {
	// ReaderID is the internal id of the feed's owner.
	ReaderID string
	// OwnWall includes the reader's own wall, Following the followed walls.
	OwnWall, Following bool
	// FollowedAt is the approximate number of followed users by home. It determines the homes and their plans.
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

// targets returns the number of the query's targets in a home. own is the home of the reader.
func (q PostFeedQuery) targets(home, own region.Code, communities []string) int {
	n := len(communities)
	if q.Following {
		n += int(q.FollowedAt[home])
	}
	if q.OwnWall && own == home {
		n++
	}
	return n
}

// ListPostFeed reads up to Limit entries in the order of the feed from every home that has targets.
func (r *ReadBatch) ListPostFeed(q PostFeedQuery, into *[]PostFeedEntry) {
	*into = nil
	communities := r.ByHome(q.Communities)
	own, _ := r.HomeOf(q.ReaderID) // the id of a row
	var parts []*[]PostFeedEntry
	for _, home := range region.All() {
		targets := q.targets(home, own, communities[home])
		if targets == 0 && !q.Everyone {
			continue
		}
		plan := q.choosePlan(targets)
		args := []any{
			q.ReaderID, q.After, q.AfterID, q.Limit, emptyIfNil(q.Hidden), emptyIfNil(communities[home]), emptyIfNil(q.StructureTypes), q.Following, q.OwnWall,
		}
		switch plan {
		case feedEveryone:
			args = append(args, q.WallsOpen)
		case feedWalk:
			args = append(args, q.firsts(targets))
		case feedScan, feedMixed, feedProbe:
			args = append(args, q.firsts(targets), scanWindow(targets))
		}
		if q.Ranked {
			args = append(args, q.AsOf)
		}
		part := new([]PostFeedEntry)
		parts = append(parts, part)
		r.Add(home, lookup(feedStatements, feedKey{plan, q.Ranked}).in(q.Desc), db.Rows(part), args...)
	}
	r.Then(func() { *into = mergeEntries(parts, q) })
}

// mergeEntries merges the pages of the homes into one page.
func mergeEntries(parts []*[]PostFeedEntry, q PostFeedQuery) []PostFeedEntry {
	var all []PostFeedEntry
	for _, part := range parts {
		all = append(all, *part...)
	}
	slices.SortFunc(all, func(a, b PostFeedEntry) int {
		if q.Desc {
			return compareKeys(b.CreatedAt, b.ID, a.CreatedAt, a.ID)
		}
		return compareKeys(a.CreatedAt, a.ID, b.CreatedAt, b.ID)
	})
	return all[:min(len(all), q.Limit)]
}
