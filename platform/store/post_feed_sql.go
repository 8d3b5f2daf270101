package store

import (
	"strconv"
	"strings"

	"github.com/plaza-social/plaza/platform/store/db"
)

type feedKey struct {
	plan   feedPlan
	ranked bool
}

var feedStatements = makeFeedStatements()

func makeFeedStatements() map[feedKey]directions {
	all := map[feedKey]directions{}
	for _, plan := range []feedPlan{feedWalk, feedScan, feedMixed, feedProbe, feedEveryone} {
		for _, ranked := range []bool{false, true} {
			all[feedKey{plan, ranked}] = inBoth(createdOrders, func(o db.Order) *db.Statement {
				return stmt("feeds."+strings.ToLower(string(plan))+pick(ranked, "Ranked", "")+o.Name, feedSQL(plan, ranked, o))
			})
		}
	}
	return all
}

// The common parts of the statements. Params: $2 the reader, $3 and $4 the position, $5 the limit, $6 hidden authors,
// $7 communities, $8 structure types, $9 whether to include followed walls, $10 whether to include the own wall.
const (
	feedLive = ` AND is_parent AND feed_type = 'published' AND deleted_at IS NULL`
	// feedListed selects the same posts as feedLive, by the index posts_by_recency.
	feedListed = ` AND is_listed`
	feedFilter = ` AND author_id <> ALL($6::text[]) AND (cardinality($8::text[]) = 0 OR structure_type = ANY($8::text[]))`
	feedWanted = `wanted AS (SELECT followee_id AS target_id FROM followers WHERE home = $1 AND follower_id = $2 AND status = 'accepted' AND $9::boolean
		UNION ALL SELECT $2::text WHERE $10::boolean
		UNION ALL SELECT id FROM communities WHERE home = $1 AND id = ANY($7::text[]) AND deleted_at IS NULL)`
	// feedReader has one row if the target of a recent post is a target of the feed.
	feedReader = `(SELECT 1 AS one FROM followers WHERE home = $1 AND followee_id = recent.target_id AND follower_id = $2 AND status = 'accepted' AND $9::boolean
		UNION ALL SELECT 1 WHERE recent.target_id = $2::text AND $10::boolean
		UNION ALL SELECT 1 FROM communities WHERE home = $1 AND id = recent.target_id AND id = ANY($7::text[]) AND deleted_at IS NULL)`
)

func feedSQL(plan feedPlan, ranked bool, o db.Order) string {
	past := ` AND ` + o.After("created_at", "id", "$3::timestamptz", "$4")
	by := ` ORDER BY ` + o.By("created_at", "id")
	page := by + ` LIMIT $5::bigint`
	next := 12
	var with, found string
	switch plan {
	case feedWalk:
		with = `WITH ` + feedWanted + `, ` + feedWalked(o, past, page, "")
		found = `SELECT id, created_at FROM walked`
	case feedScan, feedMixed, feedProbe:
		with = `WITH ` + feedWanted + `, ` + feedScanned(plan, o, past) + feedWalked(o, past, page, ` WHERE (SELECT walk FROM result)`)
		found = `SELECT id, created_at FROM sampled WHERE (SELECT next FROM seen) = 'page'
			UNION ALL SELECT id, created_at FROM scanned WHERE NOT (SELECT walk FROM result)
			UNION ALL SELECT id, created_at FROM walked`
		next++
	case feedEveryone:
		with = `WITH ` + feedWanted
		found = `SELECT id, created_at FROM posts WHERE home = $1` + feedListed + past + feedFilter + ` AND target_id <> ALL($6::text[])
			AND ((target_type = 'user' AND $11::boolean)
			OR EXISTS (SELECT 1 FROM communities WHERE home = $1 AND communities.id = posts.target_id AND communities.deleted_at IS NULL AND is_public)
			OR target_id IN (SELECT target_id FROM wanted))` + page
	}
	asOf := "$" + strconv.Itoa(next) + "::timestamptz"
	sql := with + ` SELECT f.id, p.target_type, p.target_id, p.author_id, f.created_at, ` + pick(ranked, `r.n, c.n, EXISTS (SELECT 1 FROM reactions WHERE home = $1
		AND reference_id = f.id AND user_id = $2 AND created_at <= `+asOf+`)`, `0::bigint, 0::bigint, false`)
	from := ` FROM (` + found + `) AS f CROSS JOIN LATERAL (SELECT target_type, target_id, author_id FROM posts WHERE home = $1 AND id = f.id) AS p`
	if ranked {
		from += ` CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT id FROM reactions WHERE home = $1 AND reference_id = f.id
				AND created_at <= ` + asOf + ` LIMIT 100) AS few) AS r
			CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT id FROM comments WHERE home = $1 AND reference_id = f.id AND approval_status = 'approved'
				AND created_at <= ` + asOf + ` AND (deleted_at IS NULL OR deleted_at > ` + asOf + `) LIMIT 100) AS few) AS c`
	}
	return sql + from + ` ORDER BY ` + o.By("f.created_at", "f.id") + ` LIMIT $5::bigint`
}

// feedScanned finds the page among the recent posts of the home. The CTE sampled contains the matches among the first
// posts, seen.next the next step, scanned the matches of a longer scan, and result.walk whether a walk is still
// required. Param $12 is the maximum number of posts to scan.
func feedScanned(plan feedPlan, o db.Order, past string) string {
	inOrder := ` ORDER BY ` + o.By("recent.created_at", "recent.id") + ` LIMIT `
	columns := `SELECT id, target_id, author_id, structure_type, created_at FROM `
	recent := func(posts int) string {
		return columns + `posts WHERE home = $1` + feedListed + past +
			` ORDER BY ` + o.By("created_at", "id") + ` LIMIT ` + strconv.Itoa(posts)
	}
	// The constant inner limit improves generic plans, which do not know the window.
	many := `(` + columns + `(` + recent(feedWindow) + `) AS recent` + inOrder + `$12::bigint) AS recent`
	page := feedFilter + inOrder + `$5::bigint`
	probed, listed := ` CROSS JOIN LATERAL `+feedReader+` AS reader WHERE true`, ` WHERE (recent.target_id IN (SELECT target_id FROM wanted)) IS TRUE`
	sample, inSample, inScan := probeSample, probed, listed
	switch plan {
	case feedScan:
		sample, inSample = listSample, listed
	case feedProbe:
		inScan = probed
	case feedMixed, feedWalk, feedEveryone:
	}
	few := strconv.Itoa(sample)
	return `first AS (` + recent(sample) + `),
		sampled AS (SELECT recent.id, recent.created_at FROM first AS recent` + inSample + page + `),
		seen AS (SELECT CASE WHEN n >= $5::bigint OR (SELECT count(*) FROM first) < ` + few + ` THEN 'page'
			WHEN n * $12::bigint >= $5::bigint * ` + few + ` THEN 'scan' ELSE 'walk' END AS next FROM (SELECT count(*) AS n FROM sampled) AS s),
		scanned AS (SELECT recent.id, recent.created_at FROM ` + many + inScan + ` AND (SELECT next FROM seen) = 'scan'` + page + `),
		result AS (SELECT next = 'walk' OR (next = 'scan' AND (SELECT count(*) FROM scanned) < $5::bigint) AS walk FROM seen), `
}

// feedWalked finds the page by reading the first $11 posts of each target. If these are at least a page, no row of the
// page lies beyond the last row of that page, and only targets with such rows are read further.
func feedWalked(o db.Order, past, page, only string) string {
	bound, open, within := "min", "0001-01-01", ">="
	if !o.Desc {
		bound, open, within = "max", "9999-01-01", "<="
	}
	mine := func(of string) string {
		return ` FROM posts WHERE home = $1 AND target_id = ` + of + `.target_id` + feedLive + past + feedFilter
	}
	by := ` ORDER BY ` + o.By("created_at", "id")
	return `newest AS (SELECT w.target_id, n.created_at, n.id FROM wanted AS w CROSS JOIN LATERAL (SELECT created_at, id` + mine("w") + by +
		` LIMIT $11::bigint) AS n` + only + ` ORDER BY ` + o.By("n.created_at", "n.id") + ` LIMIT $5::bigint),
		bound AS (SELECT CASE WHEN count(*) >= $5::bigint THEN ` + bound + `(created_at) ELSE '` + open + `'::timestamptz END AS at FROM newest),
		walked AS (SELECT p.id, p.created_at FROM (SELECT DISTINCT target_id FROM newest) AS t CROSS JOIN LATERAL (SELECT created_at, id` + mine("t") +
		` AND created_at ` + within + ` (SELECT at FROM bound)` + page + `) AS p ORDER BY ` + o.By("p.created_at", "p.id") + ` LIMIT $5::bigint)`
}
