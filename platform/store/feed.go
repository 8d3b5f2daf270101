package store

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// A feed of many targets is put together when it is read: nothing is copied to followers when somebody posts, so a post of
// an account with a million followers costs what every post costs, and a follow, a block or a deletion shows at once.
//
// Each home that has targets is asked one statement. It finds whom the reader follows by itself, in the mirror of follows
// that it has of its own users: lists of thousands of ids never travel. There are two ways.
//
// Walk: look at each target's newest post past the position (one probe of posts_by_created each), keep the targets of the
// newest of those, for the page can come from no other, and read their posts. That costs a probe a target: right for some
// hundreds.
//
// Scan: walk posts_by_recency, the home's posts in the order of the feed, ask of each whether the reader follows where it
// stands (one probe), and stop when the page is full or after feedWindow posts. Who follows thousands finds a page in there,
// and the sooner the more they are. Where it is not enough, as for thousands of accounts that have fallen silent, the same
// statement goes on with Walk; the database evaluates that part only where it has to.
//
// Both start at the position of the page, so that a late page costs what the first one does. BenchmarkFeed measures them.
const (
	feedWindow  = 2000 // posts that a scan looks at
	walkTargets = 1000 // targets of a home up to which a walk is the cheaper way
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

type feedWay string

const (
	feedWalk     feedWay = "Walk"
	feedScan     feedWay = "Scan"
	feedEveryone feedWay = "Everyone"
)

var feedStatements = makeFeedStatements()

func feedName(way feedWay, ranked bool, o listOrder) string {
	name := "feeds." + strings.ToLower(string(way))
	if ranked {
		name += "Ranked"
	}
	return name + o.name
}

func makeFeedStatements() map[string]*Statement {
	all := map[string]*Statement{}
	for _, way := range []feedWay{feedWalk, feedScan, feedEveryone} {
		for _, ranked := range []bool{false, true} {
			for _, o := range []listOrder{orderCreatedDesc, orderCreatedAsc} {
				name := feedName(way, ranked, o)
				all[name] = stmt(name, feedSQL(way, ranked, o))
			}
		}
	}
	return all
}

// The parts of every feed. Params: $2 the reader, $3 and $4 the position, $5 the limit, $6 hidden authors, $7 communities,
// $8 structure types, $9 whether with followed walls, $10 whether with the own one.
const (
	feedLive   = ` AND is_parent AND feed_type = 'published' AND deleted_at IS NULL`
	feedFilter = ` AND author_id <> ALL($6::text[]) AND (cardinality($8::text[]) = 0 OR structure_type = ANY($8::text[]))`
	feedWanted = `wanted AS (SELECT followee_id AS target_id FROM followers WHERE home = $1 AND follower_id = $2 AND status = 'accepted' AND $9::boolean
		UNION ALL SELECT $2::text WHERE $10::boolean
		UNION ALL SELECT id FROM communities WHERE home = $1 AND id = ANY($7::text[]) AND deleted_at IS NULL)`
	// feedReader has one row where the reader follows what a recent post stands on, and none elsewhere.
	feedReader = `(SELECT 1 AS one FROM followers WHERE home = $1 AND followee_id = recent.target_id AND follower_id = $2 AND status = 'accepted' AND $9::boolean
		UNION ALL SELECT 1 WHERE recent.target_id = $2::text AND $10::boolean
		UNION ALL SELECT 1 FROM communities WHERE home = $1 AND id = recent.target_id AND id = ANY($7::text[]) AND deleted_at IS NULL)`
)

func feedSQL(way feedWay, ranked bool, o listOrder) string {
	past := ` AND ` + o.after("created_at", "id", "$3::timestamptz", "$4")
	by := ` ORDER BY ` + o.by("created_at", "id")
	page := by + ` LIMIT $5::bigint`
	next := 11
	var with, found string
	switch way {
	case feedWalk:
		with = `WITH ` + feedWanted + `, ` + feedWalked(o, past, page, "")
		found = `SELECT id, created_at FROM walked`
	case feedScan:
		recent := `(SELECT id, target_id, author_id, structure_type, created_at FROM posts WHERE home = $1` + feedLive + past + by +
			` LIMIT ` + strconv.Itoa(feedWindow) + `) AS recent`
		with = `WITH ` + feedWanted + `,
			scanned AS (SELECT recent.id, recent.created_at FROM ` + recent + ` CROSS JOIN LATERAL ` + feedReader + ` AS reader WHERE true` +
			feedFilter + ` ORDER BY ` + o.by("recent.created_at", "recent.id") + ` LIMIT $5::bigint),
			enough AS (SELECT CASE WHEN (SELECT count(*) FROM scanned) >= $5::bigint THEN true
				ELSE (SELECT count(*) FROM ` + recent + `) < ` + strconv.Itoa(feedWindow) + ` END AS enough), ` +
			feedWalked(o, past, page, ` WHERE NOT (SELECT enough FROM enough)`)
		found = `SELECT id, created_at FROM scanned WHERE (SELECT enough FROM enough) UNION ALL SELECT id, created_at FROM walked`
	case feedEveryone:
		with = `WITH ` + feedWanted
		found = `SELECT id, created_at FROM posts WHERE home = $1` + feedLive + past + feedFilter + ` AND target_id <> ALL($6::text[])
			AND ((target_type = 'user' AND $11::boolean)
			OR EXISTS (SELECT 1 FROM communities WHERE home = $1 AND communities.id = posts.target_id AND communities.deleted_at IS NULL AND is_public)
			OR target_id IN (SELECT target_id FROM wanted))` + page
		next++
	}
	sql := with + ` SELECT f.id, p.target_type, p.target_id, p.author_id, f.created_at`
	from := ` FROM (` + found + `) AS f CROSS JOIN LATERAL (SELECT target_type, target_id, author_id FROM posts WHERE home = $1 AND id = f.id) AS p`
	if ranked {
		asOf := "$" + strconv.Itoa(next) + "::timestamptz"
		sql += `, r.n, c.n, EXISTS (SELECT 1 FROM reactions WHERE home = $1 AND reference_id = f.id AND user_id = $2 AND created_at <= ` + asOf + `)`
		from += ` CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT id FROM reactions WHERE home = $1 AND reference_id = f.id
				AND created_at <= ` + asOf + ` LIMIT 100) AS few) AS r
			CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT id FROM comments WHERE home = $1 AND reference_id = f.id
				AND created_at <= ` + asOf + ` AND (deleted_at IS NULL OR deleted_at > ` + asOf + `) LIMIT 100) AS few) AS c`
	}
	return sql + from + ` ORDER BY ` + o.by("f.created_at", "f.id") + ` LIMIT $5::bigint`
}

// feedWalked finds the page by looking at each target. Once there are as many newest posts as the page has rows, no row
// lies past the last of them, and no more is read.
func feedWalked(o listOrder, past, page, only string) string {
	bound, open, within := "min", "0001-01-01", ">="
	if !o.desc {
		bound, open, within = "max", "9999-01-01", "<="
	}
	mine := func(of string) string {
		return ` FROM posts WHERE home = $1 AND target_id = ` + of + `.target_id` + feedLive + past + feedFilter
	}
	by := ` ORDER BY ` + o.by("created_at", "id")
	return `newest AS (SELECT w.target_id, n.created_at, n.id FROM wanted AS w CROSS JOIN LATERAL (SELECT created_at, id` + mine("w") + by + ` LIMIT 1) AS n` +
		only + ` ORDER BY ` + o.by("n.created_at", "n.id") + ` LIMIT $5::bigint),
		bound AS (SELECT CASE WHEN count(*) >= $5::bigint THEN ` + bound + `(created_at) ELSE '` + open + `'::timestamptz END AS at FROM newest),
		walked AS (SELECT p.id, p.created_at FROM newest AS t CROSS JOIN LATERAL (SELECT id, created_at` + mine("t") +
		` AND created_at ` + within + ` (SELECT at FROM bound)` + page + `) AS p ORDER BY ` + o.by("p.created_at", "p.id") + ` LIMIT $5::bigint)`
}

// ListFeed reads up to Limit entries in the order of the feed, from every home that has targets.
func (r *Reads) ListFeed(q FeedQuery, into *[]FeedEntry) {
	*into = nil
	communities := byHome(q.Communities)
	var parts []*[]FeedEntry
	for _, home := range region.All() {
		targets := q.targets(home, communities[home])
		if targets == 0 && !q.Everyone {
			continue
		}
		way, args := feedWalk, []any{
			q.ReaderID, q.After, q.AfterID, q.Limit, emptyIfNil(q.Hidden), emptyIfNil(communities[home]), emptyIfNil(q.StructureTypes), q.Following, q.OwnWall,
		}
		switch {
		case q.Everyone:
			way, args = feedEveryone, append(args, q.WallsOpen)
		case targets > walkTargets:
			way = feedScan
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
