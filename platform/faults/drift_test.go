package faults

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/region"
)

// drifts are questions to the database whose answers have to be empty: each row is a count, or something else that is
// kept beside the facts, that does not say what the facts say.
var drifts = map[string]string{
	"comments of a post": `SELECT p.id FROM posts p WHERE
		COALESCE((SELECT sum(n) FROM counters c WHERE c.home = p.home AND c.ref = p.id AND c.kind = 'comments'), 0) <>
		(SELECT count(*) FROM comments c WHERE c.home = p.home AND c.reference_id = p.id AND c.deleted_at IS NULL)`,
	"comments ever made": `SELECT p.id FROM posts p WHERE
		COALESCE((SELECT sum(n) FROM counters c WHERE c.home = p.home AND c.ref = p.id AND c.kind = 'segment'), 0) <>
		(SELECT count(*) FROM comments c WHERE c.home = p.home AND c.reference_id = p.id)`,
	"replies": `SELECT p.id FROM comments p WHERE
		COALESCE((SELECT sum(n) FROM counters c WHERE c.home = p.home AND c.ref = p.id AND c.kind = 'replies'), 0) <>
		(SELECT count(*) FROM comments c WHERE c.home = p.home AND c.reference_id = p.reference_id AND c.parent_id = p.id AND c.deleted_at IS NULL)`,
	"members": `SELECT m.id FROM communities m WHERE
		COALESCE((SELECT sum(n) FROM counters c WHERE c.home = m.home AND c.ref = m.id AND c.kind = 'members'), 0) <>
		(SELECT count(*) FROM community_members x WHERE x.home = m.home AND x.community_id = m.id AND x.state = 'member')`,
	"moderators": `SELECT m.id FROM communities m WHERE
		COALESCE((SELECT sum(n) FROM counters c WHERE c.home = m.home AND c.ref = m.id AND c.kind = 'moderators'), 0) <>
		(SELECT count(*) FROM community_members x WHERE x.home = m.home AND x.community_id = m.id AND x.is_moderator)`,
	"posts of a feed": `SELECT t.id FROM (SELECT home, id FROM communities UNION ALL SELECT home, id FROM users) t WHERE
		COALESCE((SELECT sum(n) FROM counters c WHERE c.home = t.home AND c.ref = t.id AND c.kind = 'published'), 0) <>
		(SELECT count(*) FROM posts p WHERE p.home = t.home AND p.target_id = t.id AND p.is_parent AND p.feed_type = 'published' AND p.deleted_at IS NULL)`,
	"reactions": `SELECT f.reference_id FROM (SELECT home, reference_id, name, count(*) AS n FROM reactions GROUP BY home, reference_id, name) f
		FULL JOIN (SELECT home, ref, substr(kind, 10) AS name, sum(n) AS n FROM counters WHERE kind LIKE 'reaction:%' GROUP BY home, ref, kind) c
		ON f.home = c.home AND f.reference_id = c.ref AND f.name = c.name WHERE COALESCE(f.n, 0) <> COALESCE(c.n, 0)`,
	"flags of a post": `SELECT p.id FROM posts p WHERE p.flag_count <> (SELECT count(*) FROM flags f WHERE f.home = p.home AND f.target_id = p.id)
		OR p.flaggers <> COALESCE((SELECT array_agg(f.user_id ORDER BY f.created_at, f.user_id) FROM flags f WHERE f.home = p.home AND f.target_id = p.id), '{}')`,
	"flags of a comment": `SELECT p.id FROM comments p WHERE p.flag_count <> (SELECT count(*) FROM flags f WHERE f.home = p.home AND f.target_id = p.id)
		OR p.flaggers <> COALESCE((SELECT array_agg(f.user_id ORDER BY f.created_at, f.user_id) FROM flags f WHERE f.home = p.home AND f.target_id = p.id), '{}')`,
	"hasFlaggedComment of a post": `SELECT p.id FROM posts p WHERE p.has_flagged_comment <>
		EXISTS (SELECT 1 FROM comments c WHERE c.home = p.home AND c.reference_id = p.id AND c.flag_count > 0 AND c.deleted_at IS NULL)`,
	"hasFlaggedChildren of a post": `SELECT p.id FROM posts p WHERE p.is_parent AND p.has_flagged_children <>
		EXISTS (SELECT 1 FROM posts c WHERE c.home = p.home AND c.parent_id = p.id AND NOT c.is_parent AND c.flag_count > 0 AND c.deleted_at IS NULL)`,
	"hasFlaggedPost of a community": `SELECT m.id FROM communities m WHERE m.has_flagged_post <>
		EXISTS (SELECT 1 FROM posts p WHERE p.home = m.home AND p.target_id = m.id AND p.flag_count > 0 AND p.deleted_at IS NULL)`,
	"hasFlaggedComment of a community": `SELECT m.id FROM communities m WHERE m.has_flagged_comment <>
		EXISTS (SELECT 1 FROM posts p WHERE p.home = m.home AND p.target_id = m.id AND p.has_flagged_comment AND p.deleted_at IS NULL)`,
	"children of a post": `SELECT p.id FROM posts p WHERE p.is_parent AND p.deleted_at IS NULL AND cardinality(p.children) <>
		(SELECT count(*) FROM posts c WHERE c.home = p.home AND c.parent_id = p.id AND NOT c.is_parent AND c.deleted_at IS NULL)`,
	"mirrored memberships": `SELECT m.user_id FROM community_members m LEFT JOIN user_communities u
		ON u.user_id = m.user_id AND u.community_id = m.community_id WHERE u.state IS DISTINCT FROM m.state`,
}

// TestNoCountDrifts lets many users flag, comment, react, join and delete at once, through all regions, while one
// transaction in ten is refused with 40001 and connections are killed, and compares every count with its facts.
func TestNoCountDrifts(t *testing.T) {
	var faulty atomic.Bool
	n := apptest.Start(t, apptest.WithStoreFault(func() error {
		if faulty.Load() && rand.IntN(10) == 0 { //nolint:gosec // a test's dice
			return &pgconn.PgError{Code: "40001", Message: "injected"}
		}
		return nil
	}))
	crowd := gather(t, n)
	faulty.Store(true)
	killed := killConnections(t, n.DatabaseURL)
	var answered atomic.Int64
	var g sync.WaitGroup
	for worker := range uint64(8) {
		g.Go(func() {
			dice := rand.New(rand.NewPCG(worker, 7)) //nolint:gosec // a test's dice, the same each time
			for range 60 {
				if crowd.act(t, dice) {
					answered.Add(1)
				}
			}
		})
	}
	g.Wait()
	faulty.Store(false)
	if ended := killed(); !testdb.Cockroach(t) { // which cannot end another's connection by this statement
		require.Positive(t, ended, "no connection was killed")
	}
	require.Greater(t, answered.Load(), int64(200), "too few calls succeeded to tell anything")
	requireNoDrift(t, n.DatabaseURL)
}

// crowd is who acts, and what on.
type crowd struct {
	users       []*apptest.Client
	moderator   *apptest.Client
	communities []string
	posts       []string
	mu          sync.Mutex
	comments    []string
}

func gather(t *testing.T, n *apptest.Network) *crowd {
	t.Helper()
	c := &crowd{moderator: n.Admin(region.US)}
	for i := range 9 {
		c.users = append(c.users, n.NewUser(t, region.All()[i%3], "drift"))
	}
	for i, home := range region.All() {
		founder := c.users[i]
		id := founder.Do(t, http.MethodPost, "/api/v3/communities", object{"displayName": "drift " + string(home)}).OK(t).String(t, "communities.0.communityId")
		c.communities = append(c.communities, id)
		for range 2 {
			post := founder.Do(t, http.MethodPost, "/api/v4/posts", object{
				"targetType": "community", "targetId": id, "data": object{"text": "t"}, "attachments": []object{{"type": "image", "fileId": "f"}},
			}).OK(t)
			c.posts = append(c.posts, post.String(t, "posts.0.postId"), post.String(t, "postChildren.0.postId"))
		}
	}
	return c
}

// act does one thing as somebody, through the address of any region, and reports whether it succeeded. Whether it does
// is not the question: connections die.
func (c *crowd) act(t *testing.T, dice *rand.Rand) bool {
	user := c.users[dice.IntN(len(c.users))].At(region.All()[dice.IntN(3)])
	post := c.posts[dice.IntN(len(c.posts))]
	community := c.communities[dice.IntN(len(c.communities))]
	comment := c.someComment(dice)
	switch dice.IntN(14) {
	case 0, 1, 2:
		return c.comment(t, user, post, "")
	case 3:
		return comment != "" && c.comment(t, user, post, comment)
	case 4:
		return did(user.Do(t, http.MethodDelete, "/api/v4/comments/"+comment, nil))
	case 5, 6:
		return did(user.Do(t, http.MethodPost, "/api/v3/comments/"+comment+"/flag", nil))
	case 7:
		return did(user.Do(t, http.MethodDelete, "/api/v3/comments/"+comment+"/unflag", nil))
	case 8:
		return did(user.Do(t, http.MethodPost, "/api/v3/posts/"+post+"/flag", nil))
	case 9:
		return did(c.moderator.Do(t, http.MethodDelete, "/api/v3/posts/"+post+"/flags", nil))
	case 10:
		return did(user.Do(t, http.MethodPost, "/api/v3/communities/"+community+"/join", nil))
	case 11:
		return did(user.Do(t, http.MethodDelete, "/api/v3/communities/"+community+"/leave", nil))
	case 12:
		body := object{"referenceId": post, "referenceType": "post", "reactionName": "like"}
		if dice.IntN(3) == 0 {
			return did(user.Do(t, http.MethodDelete, "/api/v2/reactions", body))
		}
		return did(user.Do(t, http.MethodPost, "/api/v2/reactions", body))
	}
	made := user.Do(t, http.MethodPost, "/api/v4/posts", object{"targetType": "community", "targetId": community, "data": object{"text": "t"}})
	if !did(made) {
		return false
	}
	return dice.IntN(2) == 0 || did(user.Do(t, http.MethodDelete, "/api/v4/posts/"+made.String(t, "posts.0.postId"), nil))
}

func did(r *apptest.Response) bool { return r.Status == http.StatusOK }

func (c *crowd) someComment(dice *rand.Rand) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.comments) == 0 {
		return "none"
	}
	return c.comments[dice.IntN(len(c.comments))]
}

func (c *crowd) comment(t *testing.T, user *apptest.Client, post, parent string) bool {
	made := user.Do(t, http.MethodPost, "/api/v3/comments", object{"referenceId": post, "parentId": parent, "data": object{"text": "c"}})
	if !did(made) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.comments = append(c.comments, made.String(t, "comments.0.commentId"))
	return true
}

// killConnections ends a connection of the servers every few milliseconds until the returned function is called, which
// tells how many it was.
func killConnections(t *testing.T, databaseURL string) (stop func() int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var killed atomic.Int64
	var g sync.WaitGroup
	g.Go(func() {
		db, err := pgx.Connect(ctx, databaseURL)
		if err != nil {
			return
		}
		defer func() { _ = db.Close(context.WithoutCancel(ctx)) }()
		for ctx.Err() == nil {
			tag, err := db.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE datname = current_database() AND application_name LIKE 'plaza-%' ORDER BY random() LIMIT 1`)
			if err == nil {
				killed.Add(tag.RowsAffected())
			}
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	return func() int64 {
		cancel()
		g.Wait()
		return killed.Load()
	}
}

// requireNoDrift waits until the outbox is empty, and then asks every question.
func requireNoDrift(t *testing.T, databaseURL string) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), databaseURL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close(t.Context()) })
	require.Eventually(t, func() bool {
		var left int
		require.NoError(t, db.QueryRow(t.Context(), `SELECT count(*) FROM outbox`).Scan(&left))
		return left == 0
	}, time.Minute, 100*time.Millisecond, "the outbox does not empty")
	for what, question := range drifts {
		rows, err := db.Query(t.Context(), question)
		require.NoError(t, err, what)
		wrong, err := pgx.CollectRows(rows, pgx.RowTo[*string])
		require.NoError(t, err, what)
		require.Empty(t, wrong, "%s: these do not say what the facts say", what)
	}
	var comments, flags int
	require.NoError(t, db.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM comments), (SELECT count(*) FROM flags)`).Scan(&comments, &flags))
	require.Positive(t, comments)
	require.Positive(t, flags)
}
