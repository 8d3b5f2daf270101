package store_test

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// The world that the plans are made in. Every row has a number; its id, its home and what it refers to follow from it,
// in SQL and in Go alike. The first community is home to a quarter of all posts, the first post to a fifth of all
// comments: what is slow anywhere is slow there.
const (
	worldUsers       = 30_000
	worldCommunities = 30_000
	worldPosts       = 120_000
	worldComments    = 300_000
	bigCommunity     = 3 // in us, as the rows below
	bigPost          = 4
	bigThread        = 15 // a comment on bigPost with 10,000 replies
	bigCategory      = 3
	flaggedPost      = 100 // a post with 100 flags
	flaggedComment   = 600 // a comment with 100 flags
)

var worldStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// worldID is the id of the row n of a kind, in the home of the row homeOf.
func worldID(kind string, n, homeOf int) string {
	sum := md5.Sum([]byte(kind + strconv.Itoa(n)))
	return []string{"01", "02", "03"}[homeOf%3] + hex.EncodeToString(sum[:])[:22]
}

func userID(n int) string      { return worldID("u", n, n) }
func communityID(n int) string { return worldID("c", n, n) }
func categoryID(n int) string  { return worldID("k", n, n) }
func postID(n int) string      { return worldID("p", n, communityOf(n)) }
func commentID(n int) string   { return worldID("m", n, communityOf(postOf(n))) }

func communityOf(post int) int {
	if post%4 == 0 {
		return bigCommunity
	}
	return 1 + post%2_999
}

func postOf(comment int) int {
	if comment%5 == 0 {
		return bigPost
	}
	return 1 + comment%worldPosts
}

func postTime(n int) time.Time { return worldStart.Add(time.Duration(n) * 7 * time.Second) }

// worldSQL fills the tables. HOME(x) and ID(kind, n, x) stand for what homes and worldID say.
var worldSQL = []string{
	`INSERT INTO users (home, id, public_id, display_name, name_key, profile_handle, handle_key, flag_count, created_at, updated_at,
		deleted_at)
		SELECT HOME(n), ID(u, n, n), 'user-' || n::text, 'Name ' || md5(n::text), substr(md5(n::text), 1, 3), '', substr(md5('h' || n::text), 1,
		3),
			CASE WHEN n % 1000 = 0 THEN 1 ELSE 0 END, AT(n, 11), AT(n, 11), CASE WHEN n % 100 = 7 THEN AT(n, 11) END
		FROM generate_series(1, 30000) AS n`,
	`INSERT INTO directory (home, user_hash, user_id, created_at)
		SELECT HOME(n), decode(md5('h' || n::text), 'hex'), ID(u, n, n), AT(n, 11) FROM generate_series(1, 30000) AS n`,
	`INSERT INTO handles (home, handle_hash, user_id, claim_id, claimed_at)
		SELECT HOME(n), decode(md5('n' || n::text), 'hex'), ID(u, n, n), ID(h, n, n), AT(n, 11) FROM generate_series(1, 30000) AS n`,
	`INSERT INTO sessions (home, user_id, id, device_hash, created_at, expires_at)
		SELECT HOME(n), ID(u, n, n), ID(s, n, n), decode(md5('d' || n::text), 'hex'), AT(n, 11), AT(n, 60) FROM generate_series(1, 30000) AS n`,
	`INSERT INTO categories (home, id, name, name_key, created_at, updated_at)
		SELECT HOME(n), ID(k, n, n), md5(n::text), substr(md5(n::text), 1, 12), AT(n, 60), AT(n, 60) FROM generate_series(1, 30000) AS n`,
	`INSERT INTO communities (home, id, display_name, name_key, creator_id, creator_public_id, is_official, is_public, is_discoverable,
			only_admin_can_post, post_approval, comment_approval, join_approval, story_comments, notification_mode, type, tags, category_ids,
			has_flagged_post, created_at, updated_at, deleted_at)
		SELECT HOME(n), ID(c, n, n), md5(n::text), substr(md5(n::text), 1, 12), ID(u, n, n), 'user-' || n::text, false, n % 10 <> 9, n % 20 <> 9,
			false, false, false, false, false, 'default', 'default', CASE WHEN n % 31 = 0 THEN ARRAY['tag'] ELSE ARRAY[]::text[] END,
			ARRAY[ID(k, n, n)], n % 100 = 0, AT(n, 60), AT(n, 60), CASE WHEN n % 50 = 7 THEN AT(n, 60) END
		FROM generate_series(1, 30000) AS n`,
	`INSERT INTO community_categories (home, category_id, community_id, name_key, created_at)
		SELECT HOME(n), ID(k, n, n), ID(c, n, n), substr(md5(n::text), 1, 12), AT(n, 60) FROM generate_series(1, 30000) AS n`,
	`INSERT INTO community_categories (home, category_id, community_id, name_key, created_at)
		SELECT HOME(n), ID(k, 3, 3), ID(c, n, n), substr(md5(n::text), 1, 12), AT(n, 60) FROM generate_series(4, 3000) AS n`,
	`INSERT INTO community_members (home, community_id, user_id, user_public_id, name_key, state, roles, is_moderator, version,
			joined_at, created_at, updated_at)
		SELECT HOME(c), ID(c, c, c), ID(u, n, n), 'user-' || n::text, 'use', CASE WHEN n % 20 = 7 THEN 'left' ELSE 'member' END,
			CASE WHEN n % 1000 = 3 THEN ARRAY['community-moderator'] ELSE ARRAY['community-member'] END, n % 1000 = 3, 1,
			AT(n, 11), AT(n, 11), AT(n, 11)
		FROM (SELECT n, CASE WHEN n <= 20000 THEN 3 ELSE 4 + n % 2000 END AS c FROM generate_series(1, 30000) AS n) AS m`,
	`INSERT INTO user_communities (home, user_id, community_id, state, version, changed_at)
		SELECT HOME(n), ID(u, n, n), ID(c, c, c), 'member', 1, AT(n, 11)
		FROM (SELECT n, CASE WHEN n <= 20000 THEN 3 ELSE 4 + n % 2000 END AS c FROM generate_series(1, 30000) AS n) AS m`,
	`INSERT INTO join_requests (home, community_id, id, requestor_id, requestor_public_id, status, created_at, updated_at)
		SELECT 'us', ID(c, 3, 3), ID(i, n, 3), ID(u, n, n), 'user-' || n::text, CASE WHEN n % 200 = 0 THEN 'pending' ELSE 'approved' END,
			AT(n, 11), AT(n, 11) FROM generate_series(1, 20000) AS n`,
	`INSERT INTO join_requests (home, community_id, id, requestor_id, requestor_public_id, status, created_at, updated_at)
		SELECT HOME(c), ID(c, c, c), ID(j, n, c), ID(u, 1, 1), 'user-1', 'approved', AT(n, 11), AT(n, 11)
		FROM (SELECT n, 4 + n % 2000 AS c FROM generate_series(1, 10000) AS n) AS j`,
	`INSERT INTO posts (home, id, target_type, target_id, target_public_id, author_id, author_public_id, parent_id, is_parent, children,
			feed_type, data_type, structure_type, tags, flaggers, flag_count, has_flagged_comment, created_at, updated_at, edited_at, deleted_at)
		SELECT HOME(c), ID(p, n, c), 'community', ID(c, c, c), ID(c, c, c), ID(u, 1 + n % 30000, 1 + n % 30000), 'user-' || (1 + n % 30000)::text,
			CASE WHEN n % 20 = 8 THEN ID(p, (n - 8), c) ELSE '' END, n % 20 <> 8, CASE WHEN n % 20 = 0 THEN ARRAY[ID(p, (n + 8), c)]
			ELSE ARRAY[]::text[] END,
			CASE WHEN n % 40 = 36 THEN 'reviewing' ELSE 'published' END, CASE WHEN n % 20 = 8 THEN 'image' WHEN n % 4000 = 16 THEN 'poll'
			ELSE 'text' END,
			CASE WHEN n % 20 = 0 THEN 'image' WHEN n % 4000 = 4 THEN 'video' ELSE 'text' END,
			CASE WHEN n % 40 = 4 THEN ARRAY['tag'] ELSE ARRAY[]::text[] END, CASE WHEN n % 100 = 0 THEN ARRAY[ID(u, 1, 1)] ELSE ARRAY[]::text[] END,
			CASE WHEN n % 100 = 0 THEN 1 ELSE 0 END, n % 200 = 4, AT(n, 7), AT(n, 7), AT(n, 7), CASE WHEN n % 19 = 5 THEN AT(n, 7) END
		FROM (SELECT n, CASE WHEN n % 4 = 0 THEN 3 ELSE 1 + n % 2999 END AS c FROM generate_series(1, 120000) AS n) AS p`,
	`INSERT INTO comments (home, id, reference_type, reference_id, target_type, target_id, target_public_id, parent_id, root_id, author_id,
			author_public_id, data_types, segment, approval_status, flag_count, created_at, updated_at, edited_at, deleted_at)
		SELECT HOME(c), ID(m, n, c), 'post', ID(p, p, c), 'community', ID(c, c, c), ID(c, c, c),
			CASE WHEN n % 30 = 5 THEN ID(m, 15, c) WHEN n % 15 = 10 THEN ID(m, (n - 10), c) ELSE '' END, ID(m, n, c),
			ID(u, 1 + n % 30000, 1 + n % 30000), 'user-' || (1 + n % 30000)::text, CASE WHEN n % 60 = 0 THEN ARRAY['image'] ELSE ARRAY['text'] END,
			n, CASE WHEN n % 60 = 0 OR n % 40 <> 20 THEN 'approved' WHEN n % 80 = 20 THEN 'pending' ELSE 'declined' END, CASE WHEN n % 300 = 0
			THEN 1 ELSE 0 END, AT(n, 3), AT(n, 3), AT(n, 3), CASE WHEN n % 19 = 7 THEN AT(n, 3) END
		FROM (SELECT n, p, CASE WHEN p % 4 = 0 THEN 3 ELSE 1 + p % 2999 END AS c
			FROM (SELECT n, CASE WHEN n % 5 = 0 THEN 4 ELSE 1 + n % 120000 END AS p FROM generate_series(1, 300000) AS n) AS q) AS m`,
	`INSERT INTO flags (home, target_id, user_id, target_type, reason, detail, created_at)
		SELECT 'us', ID(p, (4 * n), 3), ID(u, 1, 1), 'post', 'Reason ' || (n % 9)::text, '', AT(n, 28) FROM generate_series(26, 20000) AS n`,
	`INSERT INTO flags (home, target_id, user_id, target_type, reason, detail, created_at)
		SELECT 'us', ID(p, 100, 3), ID(u, n, n), 'post', 'Others', '', AT(n, 7) FROM generate_series(1, 100) AS n`,
	`INSERT INTO flags (home, target_id, user_id, target_type, reason, detail, created_at)
		SELECT 'us', ID(m, 600, 3), ID(u, n, n), 'comment', 'Others', '', AT(n, 7) FROM generate_series(1, 100) AS n`,
	`INSERT INTO reactions (home, reference_id, user_id, name, id, reference_type, user_public_id, created_at)
		SELECT 'us', ID(p, 4, 3), ID(u, n, n), CASE WHEN n % 100 = 0 THEN 'love' ELSE 'like' END, ID(r, n, 3), 'post', 'user-' || n::text, AT(n,
		3)
		FROM generate_series(1, 10000) AS n`,
	`INSERT INTO reactions (home, reference_id, user_id, name, id, reference_type, user_public_id, created_at)
		SELECT 'us', ID(p, (4 * n), 3), ID(u, 1, 1), 'like', ID(q, n, 3), 'post', 'user-1', AT(n, 28) FROM generate_series(2, 20000) AS n`,
	`INSERT INTO counters (home, ref, kind, shard, n)
		SELECT HOME(c), ID(p, n, c), kind, n % 16, 1
		FROM (SELECT n, CASE WHEN n % 4 = 0 THEN 3 ELSE 1 + n % 2999 END AS c FROM generate_series(1, 60000) AS n) AS p,
			(VALUES ('comments'), ('segment')) AS k (kind)`,
	`INSERT INTO counters (home, ref, kind, shard, n)
		SELECT HOME(n), ID(c, n, n), kind, shard, 1
		FROM generate_series(1, 3000) AS n, (VALUES ('members'), ('published')) AS k (kind), generate_series(0, 15) AS shard`,
	`INSERT INTO settings (home, name, value, changed_at, origin)
		SELECT home, 'flagLimit', '100', AT(0, 0), 'us' FROM (VALUES ('us'), ('eu'), ('sg')) AS h (home)`,
	`INSERT INTO outbox (home, lane, id, topic, payload, not_before, created_at, order_key, written_at)
		SELECT HOME(n), n % 4, ID(o, n, n), 'membership', '[]', AT(n, 60), AT(n, 60), CASE WHEN n % 3 = 0 THEN '' ELSE ID(p, n, (n % 600)) END,
		AT(n, 60)
		FROM generate_series(1, 6000) AS n`,
}

// The shapes of the world: functions that change the statements that fill it.
func full(sql string) string { return sql }

var series = regexp.MustCompile(`generate_series\((\d+), (\d+)\)`)

// oneRow makes each statement insert the first of its rows.
func oneRow(sql string) string { return series.ReplaceAllString(sql, "generate_series($1, $1)") }

// skewed makes each statement insert a hundredth of its rows.
func skewed(sql string) string {
	return series.ReplaceAllStringFunc(sql, func(call string) string {
		bounds := series.FindStringSubmatch(call)
		first, _ := strconv.Atoi(bounds[1])
		last, _ := strconv.Atoi(bounds[2])
		return fmt.Sprintf("generate_series(%d, %d)", first, first+(last-first)/100)
	})
}

// fillWorld fills the tables with a shape of the world.
func fillWorld(t *testing.T, conn *pgx.Conn, shape func(sql string) string) {
	t.Helper()
	all := worldSQL
	for _, noun := range plannedNouns {
		all = append(all, noun.world...)
	}
	for _, sql := range all {
		_, err := conn.Exec(t.Context(), expandWorld(shape(sql)))
		require.NoError(t, err, sql)
	}
}

// expandWorld writes the calls of HOME, ID and AT out. Their arguments are names, numbers or bracketed.
func expandWorld(sql string) string {
	for name, write := range map[string]func(args []string) string{
		"HOME(": func(a []string) string { return `(ARRAY['us', 'eu', 'sg'])[1 + ` + a[0] + ` % 3]` },
		"ID(": func(a []string) string {
			return `((ARRAY['01', '02', '03'])[1 + (` + a[2] + `) % 3] || substr(md5('` + a[0] + `' || (` + a[1] + `)::text), 1, 22))`
		},
		"AT(": func(a []string) string {
			return `(TIMESTAMPTZ '2026-01-01 00:00:00Z' + ` + a[0] + ` * ` + a[1] + ` * INTERVAL '1 second')`
		},
	} {
		for {
			before, rest, found := strings.Cut(sql, name)
			if !found {
				break
			}
			args, after := callArgs(rest)
			sql = before + write(args) + after
		}
	}
	return sql
}

// callArgs reads the arguments of a call up to its closing bracket.
func callArgs(text string) (args []string, rest string) {
	depth, from := 0, 0
	for i, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		case r == ',' && depth == 0:
			args, from = append(args, strings.TrimSpace(text[from:i])), i+1
		case r == ')':
			return append(args, strings.TrimSpace(text[from:i])), text[i+1:]
		}
	}
	panic("no closing bracket: " + text)
}
