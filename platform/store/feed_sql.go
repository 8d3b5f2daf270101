package store

import (
	"strconv"
	"strings"
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
	for _, way := range []feedWay{feedWalk, feedScan, feedMixed, feedProbe, feedEveryone} {
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
	next := 12
	var with, found string
	switch way {
	case feedWalk:
		with = `WITH ` + feedWanted + `, ` + feedWalked(o, past, page, "")
		found = `SELECT id, created_at FROM walked`
	case feedScan, feedMixed, feedProbe:
		with = `WITH ` + feedWanted + `, ` + feedScanned(way, o, past) + feedWalked(o, past, page, ` WHERE (SELECT walk FROM result)`)
		found = `SELECT id, created_at FROM sampled WHERE (SELECT next FROM seen) = 'page'
			UNION ALL SELECT id, created_at FROM scanned WHERE NOT (SELECT walk FROM result)
			UNION ALL SELECT id, created_at FROM walked`
		next++
	case feedEveryone:
		with = `WITH ` + feedWanted
		found = `SELECT id, created_at FROM posts WHERE home = $1` + feedLive + past + feedFilter + ` AND target_id <> ALL($6::text[])
			AND ((target_type = 'user' AND $11::boolean)
			OR EXISTS (SELECT 1 FROM communities WHERE home = $1 AND communities.id = posts.target_id AND communities.deleted_at IS NULL AND is_public)
			OR target_id IN (SELECT target_id FROM wanted))` + page
	}
	sql := with + ` SELECT f.id, p.target_type, p.target_id, p.author_id, f.created_at`
	from := ` FROM (` + found + `) AS f CROSS JOIN LATERAL (SELECT target_type, target_id, author_id FROM posts WHERE home = $1 AND id = f.id) AS p`
	if ranked {
		asOf := "$" + strconv.Itoa(next) + "::timestamptz"
		sql += `, r.n, c.n, EXISTS (SELECT 1 FROM reactions WHERE home = $1 AND reference_id = f.id AND user_id = $2 AND created_at <= ` + asOf + `)`
		from += ` CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT id FROM reactions WHERE home = $1 AND reference_id = f.id
				AND created_at <= ` + asOf + ` LIMIT 100) AS few) AS r
			CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT id FROM comments WHERE home = $1 AND reference_id = f.id AND approval_status = 'approved'
				AND created_at <= ` + asOf + ` AND (deleted_at IS NULL OR deleted_at > ` + asOf + `) LIMIT 100) AS few) AS c`
	}
	return sql + from + ` ORDER BY ` + o.by("f.created_at", "f.id") + ` LIMIT $5::bigint`
}

// feedScanned finds the page among the home's posts: sampled has what the first of them give, seen.next says what comes next,
// scanned has what a longer look gives, where there was one, and result.walk says whether the page is still to be found.
// Param $12 is how many posts a scan may look at.
func feedScanned(way feedWay, o listOrder, past string) string {
	inOrder := ` ORDER BY ` + o.by("recent.created_at", "recent.id") + ` LIMIT `
	columns := `SELECT id, target_id, author_id, structure_type, created_at FROM `
	recent := func(posts int) string {
		return columns + `posts WHERE home = $1` + feedLive + past +
			` ORDER BY ` + o.by("created_at", "id") + ` LIMIT ` + strconv.Itoa(posts)
	}
	// The inner limit is for the plan, which may be made before the window is known.
	many := `(` + columns + `(` + recent(feedWindow) + `) AS recent` + inOrder + `$12::bigint) AS recent`
	page := feedFilter + inOrder + `$5::bigint`
	probed, listed := ` CROSS JOIN LATERAL `+feedReader+` AS reader WHERE true`, ` WHERE (recent.target_id IN (SELECT target_id FROM wanted)) IS TRUE`
	sample, inSample, inScan := probeSample, probed, listed
	switch way {
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

// feedWalked finds the page by looking at each target: at its first posts, $11 of them. No row of the page lies past the last
// of the first of all, where these are as many as a page has rows, and no more is read of the targets of these.
func feedWalked(o listOrder, past, page, only string) string {
	bound, open, within := "min", "0001-01-01", ">="
	if !o.desc {
		bound, open, within = "max", "9999-01-01", "<="
	}
	mine := func(of string) string {
		return ` FROM posts WHERE home = $1 AND target_id = ` + of + `.target_id` + feedLive + past + feedFilter
	}
	by := ` ORDER BY ` + o.by("created_at", "id")
	return `newest AS (SELECT w.target_id, n.created_at, n.id FROM wanted AS w CROSS JOIN LATERAL (SELECT created_at, id` + mine("w") + by +
		` LIMIT $11::bigint) AS n` + only + ` ORDER BY ` + o.by("n.created_at", "n.id") + ` LIMIT $5::bigint),
		bound AS (SELECT CASE WHEN count(*) >= $5::bigint THEN ` + bound + `(created_at) ELSE '` + open + `'::timestamptz END AS at FROM newest),
		walked AS (SELECT p.id, p.created_at FROM (SELECT DISTINCT target_id FROM newest) AS t CROSS JOIN LATERAL (SELECT created_at, id` + mine("t") +
		` AND created_at ` + within + ` (SELECT at FROM bound)` + page + `) AS p ORDER BY ` + o.by("p.created_at", "p.id") + ` LIMIT $5::bigint)`
}
