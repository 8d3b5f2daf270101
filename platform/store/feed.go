package store

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// FeedEntry is a post of a feed, as far as its place in the feed depends on it.
type FeedEntry struct {
	ID         string
	TargetType string
	TargetID   string
	AuthorID   string
	CreatedAt  time.Time
	// Reactions and Comments are how many there were at a time, up to 100 each; Mine is true where the reader reacted. They
	// are filled for ranked feeds.
	Reactions int64
	Comments  int64
	Mine      bool
}

func scanFeedEntry(rows pgx.Rows) (FeedEntry, error) {
	var e FeedEntry
	err := rows.Scan(&e.ID, &e.TargetType, &e.TargetID, &e.AuthorID, &e.CreatedAt)
	return e, err
}

func scanRankedEntry(rows pgx.Rows) (FeedEntry, error) {
	var e FeedEntry
	err := rows.Scan(&e.ID, &e.TargetType, &e.TargetID, &e.AuthorID, &e.CreatedAt, &e.Reactions, &e.Comments, &e.Mine)
	return e, err
}

// FeedQuery asks for the published posts of many targets.
type FeedQuery struct {
	// ReaderID is whose feed it is: an internal id.
	ReaderID string
	// OwnWall adds the reader's own wall, Following the walls that the reader follows.
	OwnWall, Following bool
	// FollowedAt is how many the reader follows at each home, give or take: it says which homes to ask, and how.
	FollowedAt map[region.Code]int64
	// Communities are ids, each once; deleted communities have no posts in a feed.
	Communities []string
	// Everyone adds the posts of all public communities, and of all walls where WallsOpen says so.
	Everyone, WallsOpen bool
	// Hidden are authors whose posts are left out.
	Hidden []string
	// StructureTypes keep posts that hold one of them; empty means all.
	StructureTypes []string
	Desc           bool
	// The position after which the page starts.
	After   time.Time
	AfterID string
	Limit   int
	// Ranked fills what entries are ranked by, as it was at AsOf.
	Ranked bool
	AsOf   time.Time
}

// targets is how many targets a home has for the query.
func (q FeedQuery) targets(home region.Code, communities []string) int {
	n := len(communities)
	if q.Following {
		n += int(q.FollowedAt[home])
	}
	if own, err := region.HomeOf(q.ReaderID); err == nil && own == home && q.OwnWall {
		n++
	}
	return n
}

// ListFeed reads up to Limit entries in the order of the feed, from every home that has targets.
func (r *ReadBatch) ListFeed(q FeedQuery, into *[]FeedEntry) {
	*into = nil
	communities := byHome(q.Communities)
	var parts []*[]FeedEntry
	for _, home := range region.All() {
		targets := q.targets(home, communities[home])
		if targets == 0 && !q.Everyone {
			continue
		}
		way := q.way(targets)
		args := []any{
			q.ReaderID, q.After, q.AfterID, q.Limit, emptyIfNil(q.Hidden), emptyIfNil(communities[home]), emptyIfNil(q.StructureTypes), q.Following, q.OwnWall,
		}
		switch way {
		case feedEveryone:
			args = append(args, q.WallsOpen)
		case feedWalk:
			args = append(args, q.firsts(targets))
		case feedScan, feedMixed, feedProbe:
			args = append(args, q.firsts(targets), scanWindow(targets))
		}
		scan := scanFeedEntry
		if q.Ranked {
			scan, args = scanRankedEntry, append(args, q.AsOf)
		}
		part := new([]FeedEntry)
		parts = append(parts, part)
		r.add(home, feedStatements[feedName(way, q.Ranked, pick(q.Desc, orderCreatedDesc, orderCreatedAsc))], scanAll(part, scan), args...)
	}
	r.Then(func() { *into = mergeEntries(parts, q) })
}

// mergeEntries puts the pages of the homes in order and cuts them to one page.
func mergeEntries(parts []*[]FeedEntry, q FeedQuery) []FeedEntry {
	var all []FeedEntry
	for _, part := range parts {
		all = append(all, *part...)
	}
	slices.SortFunc(all, func(a, b FeedEntry) int {
		if q.Desc {
			return compareKeys(b.CreatedAt, b.ID, a.CreatedAt, a.ID)
		}
		return compareKeys(a.CreatedAt, a.ID, b.CreatedAt, b.ID)
	})
	return all[:min(len(all), q.Limit)]
}
