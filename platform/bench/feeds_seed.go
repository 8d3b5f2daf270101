package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/core"
)

// feedReader is a user who follows many accounts.
type feedReader struct {
	person

	follows int
}

// followed returns the number of accounts that each reader follows. There are many, to find cliffs between query plans.
func followed() []int { return []int{10, 50, 200, 500, 1000, 2000, 5000} }

const (
	walls     = 20_000 // accounts with posts
	busy      = 1_500  // posts of the accounts that every reader follows
	seedBatch = 25_000 // posts per statement
)

// Accounts are numbered. The ten accounts that every reader follows have about 1,500 posts, so that the feed of a
// reader who follows only these has fifty pages.
const (
	sqlFeedWalls = `INSERT INTO users (home, id, public_id, display_name, name_key, created_at, updated_at)
		SELECT 'us', '01' || substr(md5('wall' || n::text), 1, 22), 'wall-' || n::text, 'Wall ' || n::text, 'wal', $2::timestamptz,
		$2::timestamptz
		FROM generate_series(0, $1::int - 1) AS n`
	sqlFeedPosts = `INSERT INTO posts (home, id, target_type, target_id, target_public_id, author_id, author_public_id, is_parent,
			feed_type, data_type, structure_type, data, created_at, updated_at, edited_at)
		SELECT 'us', '01' || substr(md5('feedpost' || n::text), 1, 22), 'user', wall, public_id, wall, public_id, true, 'published', 'text',
		'text',
			jsonb_build_object('text', repeat('We saw two herons and a seal. ', 7)), at, at AS updated_at, at AS edited_at
		FROM (
			SELECT n, '01' || substr(md5('wall' || w::text), 1, 22) AS wall, 'wall-' || w::text AS public_id,
				$4::timestamptz + n * INTERVAL '1 second' AS at
			FROM (
				SELECT n, CASE WHEN n % $5::int = 0 THEN (n / $5::int) % 10 ELSE (n::bigint * 7919) % $3::bigint END AS w
				FROM generate_series($1::int, $2::int) AS n
			) AS numbered
		) AS p`
	sqlFeedFollows = `INSERT INTO follows (home, follower_id, followee_id, follower_public_id, followee_public_id, status, version,
		created_at, updated_at)
		SELECT 'us', $1::text, '01' || substr(md5('wall' || n::text), 1, 22), $2::text, 'wall-' || n::text, 'accepted', 1, $4::timestamptz,
		$4::timestamptz
		FROM generate_series(0, $3::int - 1) AS n`
	sqlFeedFollowers = `INSERT INTO followers (home, followee_id, follower_id, follower_public_id, followee_public_id, status, version,
		created_at, updated_at)
		SELECT home, followee_id, follower_id, follower_public_id, followee_public_id, status, version, created_at, updated_at FROM follows
		ON CONFLICT DO NOTHING`
	sqlFeedCounts = `INSERT INTO counters (home, ref, kind, shard, n)
		SELECT 'us', target_id, 'published', 0, count(*) FROM posts WHERE home = 'us' AND target_type = 'user' AND is_parent GROUP BY target_id
		ON CONFLICT DO NOTHING`
)

// seedFeeds adds posts of many accounts, and readers of them.
func (e *environment) seedFeeds(ctx context.Context, p *progress, posts int) ([]feedReader, error) {
	conn, err := pgx.Connect(ctx, e.engine.URL())
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(ctx) }()
	start := service.Millis().Add(-time.Duration(posts) * time.Second)
	if _, err := conn.Exec(ctx, sqlFeedWalls, walls, start); err != nil {
		return nil, fmt.Errorf("walls: %w", err)
	}
	for from := 1; from <= posts; from += seedBatch {
		if _, err := conn.Exec(ctx, sqlFeedPosts, from, min(posts, from+seedBatch-1), walls, start, max(1, posts/busy)); err != nil {
			return nil, fmt.Errorf("posts: %w", err)
		}
		if done := min(posts, from+seedBatch-1); done%(8*seedBatch) == 0 || done == posts {
			p.sayf("%d of %d posts for feeds", done, posts)
		}
	}
	readers, err := e.addReaders(ctx, conn, start)
	if err != nil {
		return nil, err
	}
	for _, sql := range []string{sqlFeedFollowers, sqlFeedCounts} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return nil, err
		}
	}
	p.sayf("updating the statistics of the database")
	return readers, e.analyse(ctx, conn)
}

// addReaders adds the readers, each with a session and with as many followed accounts as followed returns.
func (e *environment) addReaders(ctx context.Context, conn *pgx.Conn, now time.Time) ([]feedReader, error) {
	st, issuer, err := e.openStore(ctx)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	var readers []feedReader
	for _, follows := range followed() {
		public := fmt.Sprintf("reader-of-%d", follows)
		w := st.NewTx(home)
		reader, err := addPerson(w, issuer, public, strings.ToUpper(public), now)
		if err != nil {
			return nil, err
		}
		w.Count(reader.id, core.CountFollowing(home), int64(follows))
		if err := w.Commit(ctx); err != nil {
			return nil, err
		}
		if _, err := conn.Exec(ctx, sqlFeedFollows, reader.id, public, follows, now); err != nil {
			return nil, fmt.Errorf("follows: %w", err)
		}
		readers = append(readers, feedReader{person: reader, follows: follows})
	}
	return readers, nil
}
