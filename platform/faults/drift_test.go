//go:build faults

package faults

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
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

// The size of a workload. Its users work on few communities, so that they conflict.
const (
	workers     = 9
	workerSteps = 60
)

// workload is many users who work on a few communities concurrently, through all regions, while the database aborts
// transactions and connections are closed.
type workload struct {
	*apptest.Network
	admin       *apptest.Client
	people      []*apptest.Client
	communities []string
	poll        string
	answers     []string
	event       string

	mu       sync.Mutex
	posts    []string
	comments [][2]string // id and post
	stories  []string
	storied  []string // comments on stories

	tries    atomic.Int64 // transactions
	statuses sync.Map     // number of answers by status
}

func newWorkload(t *testing.T) *workload {
	t.Helper()
	s := &workload{}
	var on atomic.Bool
	s.Network = startAll(t, apptest.WithStoreFault(func() error {
		if on.Load() && s.tries.Add(1)%5 == 0 {
			return &pgconn.PgError{Code: "40001"}
		}
		return nil
	}))
	s.admin = s.Admin(region.SG)
	s.admin.Do(t, http.MethodPut, "/api/v3/network-settings", object{"flagHideLimit": 3}).OK(t)
	for i := range workers {
		s.people = append(s.people, s.NewUser(t, region.All()[i%3], "worker"))
	}
	for i, fields := range []object{nil, {"needApprovalOnPostCreation": true}, {"needApprovalOnCommentCreation": true}} {
		id := s.people[i].NewCommunity(t, fields)
		s.communities = append(s.communities, id)
		for _, c := range s.people[3:] {
			c.Join(t, id)
		}
		for range 2 {
			s.posts = append(s.posts, s.people[i].NewPost(t, id))
		}
		post := s.posts[len(s.posts)-1]
		s.comments = append(s.comments, [2]string{s.people[i].NewComment(t, post), post})
	}
	for i, id := range s.communities {
		s.stories = append(s.stories, s.people[i].NewStory(t, id))
	}
	poll := post(t, s.people[0], "/api/v3/polls", object{"question": "Which?", "answers": []object{{"data": "this"}, {"data": "that"}}})
	s.poll, s.answers = poll.String(t, "polls.0.pollId"), poll.Strings(t, "polls.0.answers", "id")
	s.event = post(t, s.people[0], "/api/v1/events", newEvent(s.communities[0])).String(t, "events.0.eventId")
	on.Store(true)
	return s
}

// newEvent returns a request for an event of a community.
func newEvent(communityID string) object {
	at := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
	return object{
		"title": "Climb", "type": "virtual", "originType": "community", "originId": communityID, "startTime": at(24 * time.Hour),
		"endTime": at(25 * time.Hour),
	}
}

// worker is one of the users of a workload.
type worker struct {
	*workload
	t    *testing.T
	rand *rand.Rand
	me   *apptest.Client
}

func pick[T any](h *worker, from []T) T { return from[h.rand.IntN(len(from))] }

// do sends a request to a random region. Refusals and unavailable regions are expected; internal errors and
// validation errors are not.
func (h *worker) do(c *apptest.Client, method, path string, body any) *apptest.Response {
	answer := c.At(pick(h, region.All())).Do(h.t, method, path, body)
	count, _ := h.statuses.LoadOrStore(answer.Status, new(atomic.Int64))
	count.(*atomic.Int64).Add(1)
	if answer.Status == http.StatusInternalServerError || answer.Status == http.StatusUnprocessableEntity {
		h.t.Errorf("%s %s: %s", method, path, answer.Body)
	}
	return answer
}

func (h *worker) randomPost() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.posts[max(0, len(h.posts)-1-h.rand.IntN(8))]
}

func (h *worker) randomComment() [2]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.comments[max(0, len(h.comments)-1-h.rand.IntN(8))]
}

// actions are what a worker does, some of them more often than others.
var actions = repeat(map[int][]func(h *worker, post string, comment [2]string, community string){
	1: {(*worker).deletePost, (*worker).deleteComment, (*worker).clear, (*worker).review, (*worker).changeMembers},
	3: {(*worker).writeStory, (*worker).useStory},
	2: {
		(*worker).reviewComment, (*worker).edit, (*worker).unflag, (*worker).react, (*worker).joinOrLeave, (*worker).followOrBlock,
		(*worker).vote, (*worker).attend,
	},
	4: {(*worker).newPost, (*worker).comment, (*worker).reply, (*worker).flag},
})

func repeat[T any](often map[int][]T) []T {
	var all []T
	for _, n := range slices.Sorted(maps.Keys(often)) {
		for range n {
			all = append(all, often[n]...)
		}
	}
	return all
}

// step runs a random action.
func (h *worker) step() {
	pick(h, actions)(h, h.randomPost(), h.randomComment(), pick(h, h.communities))
}

func (h *worker) deletePost(post string, _ [2]string, _ string) {
	h.do(h.randomModerator(), http.MethodDelete, "/api/v4/posts/"+post+h.permanent(), nil)
}

func (h *worker) deleteComment(_ string, comment [2]string, _ string) {
	h.do(h.randomModerator(), http.MethodDelete, "/api/v4/comments/"+comment[0]+h.permanent(), nil)
}

func (h *worker) permanent() string { return fmt.Sprintf("?permanent=%t", h.rand.IntN(3) == 0) }

func (h *worker) flag(post string, comment [2]string, _ string) {
	h.do(h.me, http.MethodPost, "/api/v3/posts/"+post+"/flag", nil)
	h.do(h.me, http.MethodPost, "/api/v3/comments/"+comment[0]+"/flag", nil)
	h.do(h.me, http.MethodPost, "/api/v4/me/flags/"+h.people[0].UserID, nil)
}

func (h *worker) unflag(post string, comment [2]string, _ string) {
	h.do(h.me, http.MethodDelete, "/api/v3/posts/"+post+"/unflag", nil)
	h.do(h.me, http.MethodDelete, "/api/v3/comments/"+comment[0]+"/unflag", nil)
	h.do(h.me, http.MethodDelete, "/api/v4/me/flags/"+h.people[0].UserID, nil)
}

func (h *worker) clear(post string, comment [2]string, _ string) {
	h.do(h.admin, http.MethodDelete, "/api/v3/posts/"+post+"/flags", nil)
	h.do(h.admin, http.MethodDelete, "/api/v3/comments/"+comment[0]+"/flags", nil)
}

func (h *worker) review(post string, _ [2]string, _ string) {
	h.do(h.admin, http.MethodPost, "/api/v3/posts/"+post+"/"+pick(h, []string{"approve", "decline"}), nil)
}

func (h *worker) reviewComment(_ string, comment [2]string, _ string) {
	h.do(h.admin, http.MethodPost, "/api/v3/comments/"+comment[0]+"/"+pick(h, []string{"approve", "approve", "decline"}), nil)
}

// edit changes the text of a comment, and the text or the pictures of a post.
func (h *worker) edit(post string, comment [2]string, _ string) {
	words := object{"data": object{"text": "other words"}}
	h.do(h.randomModerator(), http.MethodPut, "/api/v3/comments/"+comment[0], words)
	pictures := []object{}
	for i := range h.rand.IntN(3) {
		pictures = append(pictures, object{"type": "image", "fileId": h.me.Network.File(h.t, "image", i)})
	}
	h.do(h.admin, http.MethodPut, "/api/v4/posts/"+post, pick(h, []object{words, {"attachments": pictures}}))
}

func (h *worker) react(post string, _ [2]string, _ string) {
	ref := object{"referenceId": post, "referenceType": "post", "reactionName": pick(h, []string{"like", "love"})}
	h.do(h.me, pick(h, []string{http.MethodPost, http.MethodPost, http.MethodDelete}), "/api/v2/reactions", ref)
}

// followOrBlock follows a user, or ends that in one of several ways.
func (h *worker) followOrBlock(string, [2]string, string) {
	who := pick(h, h.people).UserID
	methods := []string{http.MethodPost, http.MethodPost, http.MethodDelete}
	h.do(h.me, pick(h, methods), "/api/v4/me/following/"+who, nil)
	switch h.rand.IntN(4) {
	case 0:
		h.do(h.me, http.MethodDelete, "/api/v4/me/followers/"+who, nil)
	case 1:
		h.do(h.me, http.MethodPost, "/api/v4/me/user-blocks/"+who, nil)
	case 2:
		h.do(h.me, http.MethodDelete, "/api/v4/me/user-blocks/"+pick(h, h.people).UserID, nil)
	}
}

func (h *worker) vote(string, [2]string, string) {
	ballot := object{"answerIds": []string{pick(h, h.answers)}}
	h.do(h.me, pick(h, []string{http.MethodPost, http.MethodPut}), "/api/v3/polls/"+h.poll+"/votes", ballot)
}

func (h *worker) attend(string, [2]string, string) {
	answer := object{"status": pick(h, []string{"going", "interested", "not_going"})}
	h.do(h.me, pick(h, []string{http.MethodPost, http.MethodPut}), "/api/v1/events/"+h.event+"/rsvp", answer)
}

func (h *worker) comment(post string, _ [2]string, _ string)  { h.newComment(post, "") }
func (h *worker) reply(_ string, comment [2]string, _ string) { h.newComment(comment[1], comment[0]) }

// randomModerator returns an administrator or the worker, who may be a moderator.
func (h *worker) randomModerator() *apptest.Client { return pick(h, []*apptest.Client{h.admin, h.me}) }

func (h *worker) newPost(_ string, _ [2]string, community string) {
	body := object{"targetType": "community", "targetId": community, "data": object{"text": "hello"}}
	if h.rand.IntN(2) == 0 {
		body["attachments"] = []object{
			{"type": "image", "fileId": h.me.Network.File(h.t, "image", 0)},
			{"type": "image", "fileId": h.me.Network.File(h.t, "image", 1)},
		}
	}
	answer := h.do(h.me, http.MethodPost, "/api/v4/posts", body)
	if answer.Status != http.StatusOK {
		return
	}
	ids := append(answer.Strings(h.t, "posts", "postId"), answer.Strings(h.t, "postChildren", "postId")...)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.posts = append(h.posts, ids...)
}

func (h *worker) newComment(post, parent string) {
	body := object{"referenceType": "post", "referenceId": post, "data": object{"text": "well"}}
	if parent != "" {
		body["parentId"] = parent
	}
	answer := h.do(h.me, http.MethodPost, "/api/v3/comments", body)
	if answer.Status != http.StatusOK {
		return
	}
	id := answer.String(h.t, "comments.0.commentId")
	h.mu.Lock()
	defer h.mu.Unlock()
	h.comments = append(h.comments, [2]string{id, post})
}

func (h *worker) joinOrLeave(_ string, _ [2]string, community string) {
	path := "/api/v3/communities/" + community
	if h.rand.IntN(3) == 0 {
		h.do(h.me, http.MethodDelete, path+"/leave", nil)
	}
	h.do(h.me, http.MethodPost, path+"/join", nil)
}

func (h *worker) changeMembers(_ string, _ [2]string, community string) {
	path := "/api/v3/communities/" + community + "/users"
	who := object{"userIds": []string{pick(h, h.people).UserID, pick(h, h.people).UserID}}
	switch h.rand.IntN(6) {
	case 0:
		h.do(h.admin, http.MethodPut, path+"/ban", who)
	case 1, 2:
		h.do(h.admin, http.MethodPut, path+"/unban", object{"userIds": h.userIDs()})
	case 3:
		h.do(h.admin, http.MethodPost, path, who)
	case 4:
		h.do(h.admin, http.MethodDelete, path, who)
	case 5:
		who["roles"] = []string{"community-moderator"}
		h.do(h.admin, pick(h, []string{http.MethodPost, http.MethodDelete}), "/api/v4/communities/"+community+"/users/roles", who)
	}
}

func (s *workload) userIDs() []string {
	var ids []string
	for _, c := range s.people {
		ids = append(ids, c.UserID)
	}
	return ids
}

// run has all users work concurrently and closes connections in the meantime.
func (s *workload) run(t *testing.T) {
	t.Helper()
	ctx, calm := context.WithCancel(t.Context())
	defer calm()
	killed := make(chan int, 1)
	go func() { killed <- killConnections(ctx, t, s.DatabaseURL, s.tries.Load) }()
	var all sync.WaitGroup
	for i, c := range s.people {
		h := &worker{workload: s, t: t, rand: rand.New(rand.NewPCG(uint64(i), 7)), me: c}
		all.Go(func() {
			for range workerSteps {
				h.step()
			}
		})
	}
	all.Wait()
	calm()
	if n := <-killed; !testdb.Cockroach(t) { // its connections cannot be closed this way
		require.Positive(t, n)
	}
	require.Positive(t, s.tries.Load())
	s.statuses.Range(func(status, count any) bool {
		t.Logf("%v answers of status %v", count.(*atomic.Int64).Load(), status)
		return true
	})
}

// killConnections closes connections of the servers until ctx ends, and returns their number. done counts requests of the caller: after
// each connection, one more must be done before the next one is closed. On a slow machine no request would succeed otherwise.
func killConnections(ctx context.Context, t *testing.T, url string, done func() int64) int {
	t.Helper()
	killed := 0
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for ctx.Err() == nil {
		before := done()
		var n int
		err := conn.QueryRow(ctx, `SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
			WHERE datname = current_database() AND application_name LIKE 'plaza-%' ORDER BY state <> 'active', random() LIMIT 1) AS one`).Scan(&n)
		if err == nil {
			killed += n
		}
		for waited := false; !waited || ctx.Err() == nil && done() == before; waited = true {
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	return killed
}

// driftQueries are queries that find every count and mark that differs from the rows that it is derived from.
var driftQueries = map[string]string{
	"comments of a post": counted("comments",
		`SELECT home, reference_id AS ref, count(*) AS n FROM comments WHERE deleted_at IS NULL AND approval_status = 'approved' GROUP BY home,
			reference_id`, "posts"),
	"replies to a comment": counted("replies",
		`SELECT home, parent_id AS ref, count(*) AS n FROM comments WHERE deleted_at IS NULL AND approval_status = 'approved' AND parent_id <> ''
			GROUP BY home, parent_id`, "comments"),
	"latest comments of a post":   latest("comments", "posts", "reference_id = r.id AND parent_id = ''"),
	"latest replies to a comment": latest("replies", "comments", "reference_id = r.reference_id AND parent_id = r.id"),
	"members of a community": counted("members",
		`SELECT home, community_id AS ref, count(*) AS n FROM community_members WHERE state = 'member' GROUP BY home, community_id`,
		"communities"),
	"moderators of a community": counted("moderators",
		`SELECT home, community_id AS ref, count(*) AS n FROM community_members WHERE is_moderator GROUP BY home, community_id`, "communities"),
	"published posts":    counted("published", postsIn("published"), "communities"),
	"posts under review": counted("reviewing", postsIn("reviewing"), "communities"),
	"declined posts":     counted("declined", postsIn("declined"), "communities"),
	"likes":              counted("reaction:like", reactionsBy("like"), "posts"),
	"loves":              counted("reaction:love", reactionsBy("love"), "posts"),
	"counts of deleted references": `SELECT c.ref, c.kind FROM counters AS c WHERE c.kind IN ('comments', 'segment', 'impressions', 'reach')
		AND NOT EXISTS (SELECT 1 FROM posts AS p WHERE p.home = c.home AND p.id = c.ref) AND NOT EXISTS (SELECT 1 FROM stories AS p WHERE p.home
		= c.home AND p.id = c.ref)`,
	"segments": `SELECT id FROM comments WHERE segment < 1 OR segment > (SELECT sum(n) FROM counters AS c WHERE c.home =
		comments.home AND c.ref = reference_id AND c.kind = 'segment')`,
	"moderators": `SELECT user_id FROM community_members WHERE is_moderator <> (state = 'member' AND 'community-moderator'
		= ANY(roles)) OR (state <> 'member' AND roles <> '{}')`,
	"flags of posts":    flagged("posts"),
	"flags of comments": flagged("comments"),
	"flags of users":    flagged("users"),
	"flags of deleted targets": `SELECT target_id FROM flags AS f WHERE NOT EXISTS (SELECT 1 FROM posts WHERE home = f.home AND id =
		f.target_id) AND NOT EXISTS (SELECT 1 FROM comments WHERE home = f.home AND id = f.target_id) AND NOT EXISTS (SELECT 1 FROM stories WHERE
		home = f.home AND id = f.target_id) AND NOT EXISTS (SELECT 1 FROM users WHERE home = f.home AND id = f.target_id)`,
	"children of posts": `SELECT p.id FROM posts AS p WHERE p.is_parent AND p.deleted_at IS NULL AND p.children IS DISTINCT FROM
		COALESCE((SELECT array_agg(k.id ORDER BY array_position(p.children, k.id)) FROM posts AS k WHERE k.home = p.home AND k.parent_id = p.id
		AND k.deleted_at IS NULL), '{}')`,
	"children of deleted": `SELECT k.id FROM posts AS k JOIN posts AS p ON p.home = k.home AND p.id = k.parent_id WHERE
		p.deleted_at IS NOT NULL AND k.deleted_at IS NULL`,
	"children without a parent": `SELECT k.id FROM posts AS k WHERE k.parent_id <> '' AND NOT EXISTS (SELECT 1 FROM posts AS p WHERE
		p.home = k.home AND p.id = k.parent_id)`,
	"children in another feed": `SELECT k.id FROM posts AS k JOIN posts AS p ON p.home = k.home AND p.id = k.parent_id WHERE p.feed_type
		<> k.feed_type`,
	"comments of deleted references": `SELECT c.id FROM comments AS c WHERE NOT EXISTS (SELECT 1 FROM posts AS p WHERE p.home = c.home AND
		p.id = c.reference_id) AND NOT EXISTS (SELECT 1 FROM stories AS p WHERE p.home = c.home AND p.id = c.reference_id)`,
	"hasFlaggedChildren": `SELECT p.id FROM posts AS p WHERE p.deleted_at IS NULL AND p.has_flagged_children <> EXISTS (
		SELECT 1 FROM posts AS k WHERE k.home = p.home AND k.parent_id = p.id AND k.flag_count > 0 AND k.deleted_at IS NULL)`,
	"hasFlaggedComment of posts": `SELECT p.id FROM posts AS p WHERE p.deleted_at IS NULL AND p.has_flagged_comment <> EXISTS (
		SELECT 1 FROM comments AS c WHERE c.home = p.home AND c.reference_id = p.id AND c.flag_count > 0 AND c.deleted_at IS NULL)`,
	"hasFlaggedPost": `SELECT c.id FROM communities AS c WHERE c.has_flagged_post <> EXISTS (
		SELECT 1 FROM posts AS p WHERE p.home = c.home AND p.target_id = c.id AND p.flag_count > 0 AND p.deleted_at IS NULL)`,
	"hasFlaggedComment of communities": `SELECT c.id FROM communities AS c WHERE c.has_flagged_comment <> EXISTS (
		SELECT 1 FROM posts AS p JOIN comments AS k ON k.home = p.home AND k.reference_id = p.id AND k.flag_count > 0 AND k.deleted_at IS NULL
		WHERE p.home = c.home AND p.target_id = c.id AND p.deleted_at IS NULL)`,
	"followers": counted("followers",
		`SELECT home, followee_id AS ref, count(*) AS n FROM followers WHERE status = 'accepted' GROUP BY home, followee_id`, "users"),
	"requests to follow": counted("followRequests",
		`SELECT home, followee_id AS ref, count(*) AS n FROM followers WHERE status = 'pending' GROUP BY home, followee_id`, "users"),
	"followed in us": counted("following:us", followedIn("01"), "users"),
	"followed in eu": counted("following:eu", followedIn("02"), "users"),
	"followed in sg": counted("following:sg", followedIn("03"), "users"),
	"blocks": counted("blocks",
		`SELECT home, blocker_id AS ref, count(*) AS n FROM blocks WHERE status = 'blocked' GROUP BY home, blocker_id`, "users"),
	"votes": `SELECT f.poll_id, f.answer_id, f.n, c.ref, c.kind, c.n FROM (SELECT home, poll_id, answer_id, count(*) AS n FROM poll_votes
		GROUP BY home, poll_id, answer_id) AS f
		FULL JOIN (SELECT home, ref, kind, sum(n) AS n FROM counters WHERE kind LIKE 'vote:%' GROUP BY home, ref, kind) AS c
		ON c.home = f.home AND c.ref = f.poll_id AND c.kind = 'vote:' || f.answer_id WHERE COALESCE(f.n, 0) <> COALESCE(c.n, 0)`,
	"answers to events": `SELECT f.event_id, f.status, f.n, c.ref, c.kind, c.n FROM (SELECT home, event_id, status, count(*) AS n FROM
		event_rsvps GROUP BY home, event_id, status) AS f
		FULL JOIN (SELECT home, ref, kind, sum(n) AS n FROM counters WHERE kind LIKE 'rsvp:%' GROUP BY home, ref, kind) AS c
		ON c.home = f.home AND c.ref = f.event_id AND c.kind = 'rsvp:' || f.status WHERE COALESCE(f.n, 0) <> COALESCE(c.n, 0)`,
	"follows and their mirrors": `SELECT f.follower_id, f.followee_id, f.status AS at_follower, f.version AS version, m.status AS at_followee,
		m.version AS mirrored
		FROM follows AS f FULL JOIN followers AS m ON m.follower_id = f.follower_id AND m.followee_id = f.followee_id WHERE m.status IS DISTINCT
		FROM f.status`,
	"blocks and their mirrors": `SELECT b.blocker_id, b.blocked_id, b.status AS at_blocker, m.status AS at_blocked
		FROM blocks AS b FULL JOIN blocked_by AS m ON m.blocker_id = b.blocker_id AND m.blocked_id = b.blocked_id WHERE m.status IS DISTINCT FROM
		b.status`,
	"follows across a block": `SELECT f.follower_id, f.followee_id, f.status FROM follows AS f JOIN blocks AS b
		ON (b.blocker_id = f.follower_id AND b.blocked_id = f.followee_id) OR (b.blocker_id = f.followee_id AND b.blocked_id = f.follower_id)
		WHERE f.status <> 'none' AND b.status = 'blocked'`,
	"unchecked kinds of counts": `SELECT DISTINCT kind FROM counters WHERE kind NOT LIKE 'vote:%' AND kind NOT LIKE 'rsvp:%' AND kind NOT LIKE
		'following:%' AND kind NOT IN (
		'comments', 'segment', 'replies', 'members', 'moderators', 'published', 'reviewing', 'declined', 'reaction:like', 'reaction:love',
		'followers', 'followRequests', 'blocks', 'stories', 'impressions', 'reach', 'flags-open', 'flags-claimed', 'flags-resolved')`,
	"open flag items":     flagItemsIn("open"),
	"claimed flag items":  flagItemsIn("claimed"),
	"resolved flag items": flagItemsIn("resolved"),
	"flags of flag items": `SELECT i.target_id, i.flag_count, f.n FROM flag_items AS i LEFT JOIN LATERAL (
		SELECT count(*) AS n FROM flags WHERE home = i.home AND target_id = i.target_id) AS f ON true WHERE i.state <> 'resolved' AND
		i.flag_count <> f.n`,
	"communities of users": `SELECT m.user_id, m.community_id, m.state, m.version, u.state, u.version FROM community_members AS m
		FULL JOIN user_communities AS u ON u.user_id = m.user_id AND u.community_id = m.community_id
		WHERE u.state IS DISTINCT FROM m.state OR u.version IS DISTINCT FROM m.version`,
}

// counted finds existing references whose count of a kind differs from the rows.
func counted(kind, facts, of string) string {
	return `SELECT home, ref, f.n AS facts, c.n AS counted FROM (` + facts + `) AS f
		FULL JOIN (SELECT home, ref, sum(n) AS n FROM counters WHERE kind = '` + kind + `' GROUP BY home, ref) AS c USING (home, ref)
		JOIN ` + of + ` USING (home) WHERE ` + of + `.id = ref AND COALESCE(f.n, 0) <> COALESCE(c.n, 0)`
}

// latest finds existing references whose latest three comments differ from those that the counts keep.
func latest(kind, of, belongs string) string {
	return `SELECT * FROM (SELECT r.id, ARRAY(SELECT id FROM comments WHERE home = r.home AND ` + belongs +
		` AND approval_status = 'approved' AND deleted_at IS NULL
				ORDER BY created_at DESC, id DESC LIMIT 3) AS facts,
			ARRAY(SELECT substr(entry, 17, 24) FROM (SELECT DISTINCT entry FROM counters CROSS JOIN LATERAL (VALUES (latest_1), (latest_2),
			(latest_3)) AS v (entry)
				WHERE home = r.home AND ref = r.id AND kind = '` + kind + `' AND entry <> '') AS e ORDER BY entry DESC LIMIT 3) AS kept
			FROM ` + of + ` AS r WHERE r.deleted_at IS NULL) AS l WHERE facts <> kept`
}

// flagItemsIn finds the places and homes whose count of flag items of a state differs from the items.
func flagItemsIn(state string) string {
	return `SELECT home, ref, f.n AS facts, c.n AS counted FROM (SELECT i.home, r.ref, count(*) AS n FROM flag_items AS i
			CROSS JOIN LATERAL unnest(ARRAY[i.place_id, CASE i.home WHEN 'us' THEN '01' WHEN 'eu' THEN '02' ELSE '03' END || repeat('0', 22)]) AS r
			(ref)
			WHERE i.state = '` + state + `' AND r.ref <> '' GROUP BY i.home, r.ref) AS f
		FULL JOIN (SELECT home, ref, sum(n) AS n FROM counters WHERE kind = 'flags-` + state + `' GROUP BY home, ref) AS c USING (home, ref)
		WHERE COALESCE(f.n, 0) <> COALESCE(c.n, 0)`
}

func postsIn(feedType string) string {
	return `SELECT home, target_id AS ref, count(*) AS n FROM posts WHERE is_parent AND deleted_at IS NULL AND feed_type = '` + feedType +
		`' GROUP BY home, target_id`
}

func followedIn(prefix string) string {
	return `SELECT home, follower_id AS ref, count(*) AS n FROM follows WHERE status = 'accepted' AND substr(followee_id, 1, 2) = '` +
		prefix + `' GROUP BY home, follower_id`
}

func reactionsBy(name string) string {
	return `SELECT home, reference_id AS ref, count(*) AS n FROM reactions WHERE name = '` + name + `' GROUP BY home, reference_id`
}

// flagged finds rows whose flag fields differ from the flags.
func flagged(table string) string {
	return `SELECT t.id, t.flag_count, t.flaggers FROM ` + table + ` AS t LEFT JOIN LATERAL (
		SELECT count(*) AS n, COALESCE(array_agg(user_id ORDER BY user_id), '{}') AS ids FROM flags WHERE home = t.home AND target_id = t.id) AS
		f ON true
		WHERE t.flag_count <> f.n OR (SELECT COALESCE(array_agg(id ORDER BY id), '{}') FROM unnest(t.flaggers) AS a (id)) <> f.ids`
}

// TestCountsDoNotDrift compares every count with the rows after a workload.
func TestCountsDoNotDrift(t *testing.T) {
	s := newWorkload(t)
	s.run(t)
	conn := connect(t, s.Network)
	require.Eventually(t, func() bool { return len(rows(t, conn, `SELECT topic, attempts FROM outbox`)) == 0 }, apptest.Patience,
		50*time.Millisecond)
	for name, sql := range driftQueries {
		require.Empty(t, rows(t, conn, sql), name)
	}
	for name, sql := range storyDriftQueries {
		require.Empty(t, rows(t, conn, sql), name)
	}
	s.requireAnswers(t, conn)
}

// requireAnswers compares the counts in answers of all regions with the rows.
func (s *workload) requireAnswers(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	live := rows(t, conn,
		`SELECT p.id, (SELECT count(*) FROM comments AS c WHERE c.home = p.home AND c.reference_id = p.id AND c.deleted_at IS NULL AND
			c.approval_status = 'approved') AS comments,
		(SELECT count(*) FROM flags AS f WHERE f.home = p.home AND f.target_id = p.id) AS flags,
		(SELECT count(*) FROM posts AS k WHERE k.home = p.home AND k.parent_id = p.id AND k.deleted_at IS NULL) AS children
		FROM posts AS p WHERE p.deleted_at IS NULL ORDER BY p.id`)
	require.NotEmpty(t, live)
	for i, p := range live {
		answer := s.admin.At(region.All()[i%3]).Do(t, http.MethodGet, "/api/v3/posts/"+p["id"].(string), nil).OK(t)
		require.EqualValues(t, p["comments"], answer.Int(t, "posts.0.commentsCount"))
		require.EqualValues(t, p["flags"], answer.Int(t, "posts.0.flagCount"))
		require.EqualValues(t, p["children"], answer.Int(t, "posts.0.childrenNumber"))
	}
	for _, c := range rows(t, conn, `SELECT c.id, (SELECT count(*) FROM community_members AS m WHERE m.home = c.home AND m.community_id = c.id
		AND m.state = 'member') AS members,
		(SELECT count(*) FROM community_members AS m WHERE m.home = c.home AND m.community_id = c.id AND m.is_moderator) AS moderators,
		(SELECT count(*) FROM posts AS p WHERE p.home = c.home AND p.target_id = c.id AND p.is_parent AND p.deleted_at IS NULL AND p.feed_type =
		'published') AS posts
		FROM communities AS c`) {
		answer := s.admin.Do(t, http.MethodGet, "/api/v3/communities/"+c["id"].(string), nil).OK(t)
		require.EqualValues(t, c["members"], answer.Int(t, "communities.0.membersCount"))
		require.EqualValues(t, c["moderators"], answer.Int(t, "communities.0.moderatorMemberCount"))
		require.EqualValues(t, c["posts"], answer.Int(t, "communities.0.postsCount"))
	}
	for i, c := range rows(t, conn, `SELECT c.id, (SELECT count(*) FROM comments AS k WHERE k.home = c.home AND k.parent_id = c.id AND
		k.deleted_at IS NULL AND k.approval_status = 'approved') AS replies
		FROM comments AS c JOIN posts AS p ON p.home = c.home AND p.id = c.reference_id WHERE c.deleted_at IS NULL AND p.deleted_at IS NULL`) {
		answer := s.admin.At(region.All()[i%3]).Do(t, http.MethodGet, "/api/v3/comments/"+c["id"].(string), nil).OK(t)
		require.EqualValues(t, c["replies"], answer.Int(t, "comments.0.childrenNumber"))
	}
}
