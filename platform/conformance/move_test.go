package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// moveFixture is a network in which one user left traces in every table and has a wall.
type moveFixture struct {
	*erasureFixture
	post, comment, poll, story, room, file, event string
}

func newMoveFixture(t *testing.T) *moveFixture {
	t.Helper()
	f := &moveFixture{erasureFixture: newErasureFixture(t)}
	f.file = text(upload(t, f.user, "file", "a.txt", []byte("the content of a file")), "fileId")
	f.post = newWallPost(t, f.user, object{"attachments": []object{{"type": "file", "fileId": f.file}}})
	f.comment = newComment(t, f.friend, f.post)
	newComment(t, f.stranger, f.post, object{"parentId": f.comment})
	f.do(t, f.stranger, http.MethodPost, "/api/v2/reactions", object{"referenceType": "post", "referenceId": f.post, "reactionName": "like"})
	f.do(t, f.friend, http.MethodPost, "/api/v2/reactions",
		object{"referenceType": "comment", "referenceId": f.comment, "reactionName": "wow"})
	flag(t, f.stranger, "posts", f.post)
	poll := f.do(t, f.user, http.MethodPost, pollsPath, object{"question": "Which?", "answers": []object{{"data": "this"}, {"data": "that"}}})
	f.poll = poll.String(t, "polls.0.pollId")
	newWallPost(t, f.user, object{"dataType": "poll", "data": object{"text": "vote!", "pollId": f.poll}})
	f.do(t, f.friend, http.MethodPost, pollsPath+"/"+f.poll+"/votes", object{"answerIds": []string{poll.String(t, "polls.0.answers.0.id")}})
	f.event = newEvent(t, f.user, with(eventIn(erasedID), object{"originType": "user"}))
	rsvp(t, f.friend, http.MethodPost, f.event, "going").OK(t)
	f.story = newWallStory(t, f.user)
	f.room = text(newRoom(t, f.user, object{"liveChatEnabled": true}), "roomId")
	f.do(t, f.user, http.MethodPost, "/api/v5/messages", object{"messageFeedId": f.room, "dataType": "text", "data": object{"text": "hello"}})
	return f
}

// awaitMove moves a user and waits until the move is done.
func awaitMove(t *testing.T, n *apptest.Network, userID string, to region.Code) object {
	t.Helper()
	admin := n.Admin(region.SG)
	admin.Do(t, http.MethodPost, movePath(userID), object{"region": to}).OK(t)
	var move object
	require.Eventually(t, func() bool {
		move = admin.Do(t, http.MethodGet, movePath(userID), nil).OK(t).Get(t, "move").(object)
		return text(move, "state") == "done" || text(move, "state") == "cancelled"
	}, apptest.Patience, 100*time.Millisecond)
	require.Equal(t, "done", text(move, "state"), "%v", move)
	require.Equal(t, false, move["allowInterruption"])
	return move
}

func movePath(userID string) string { return "/api/v4/users/" + userID + "/move" }

// paths are the requests whose responses must not change.
func (f *moveFixture) paths() []string {
	return []string{
		"/api/v3/users/" + erasedID, "/api/v3/posts/" + f.post, "/api/v3/comments/" + f.comment, pollsPath + "/" + f.poll,
		"/api/v1/rooms/" + f.room,
		"/api/v4/posts?targetId=" + erasedID + "&targetType=user", "/api/v3/comments?referenceId=" + f.post + "&referenceType=post",
		"/api/v3/user-feeds/" + erasedID,
		"/api/v3/reactions?referenceId=" + f.post + "&referenceType=post", "/api/v4/stories/" + f.story,
		"/api/v4/stories?targetId=" + erasedID + "&targetType=user",
		"/api/v3/files/" + f.file, "/api/v4/me/following", "/api/v4/me/followers", "/api/v4/users/" + erasedID + "/following",
		"/api/v4/users/" + erasedID + "/followers",
		"/api/v4/users/" + erasedID + "/followInfo", "/api/v1/me/following-feeds?sortBy=lastCreated", "/api/v4/me/global-feeds",
		"/api/v5/me/global-story-targets",
		"/api/v3/communities", "/api/v3/channels", "/api/v1/markers/userMarker", "/api/v1/markers/channels?ids=" + f.channel,
		"/api/v4/me/user-blocks",
		"/api/v1/events/" + f.event, "/api/v1/events/" + f.event + "/rsvp", "/api/v1/events?originType=user&originId=" + erasedID,
		"/api/v1/events/me/rsvps",
		"/api/v1/posts/schedule", "/api/v1/invitations/me", "/api/v1/rooms", "/api/v3/video-streaming", "/api/v3/users",
		"/api/v5/messages?messageFeedId=" + f.room, "/api/v3/channels/" + f.room,
	}
}

// requestTimes are the parts of responses that differ between requests.
var requestTimes = regexp.MustCompile(`/download/[^"]*|"(token|next|previous)":"[^"]*"`)

// unordered returns a response without such parts, and with its related objects in a fixed order: homes are merged in
// the order in which they answer.
func unordered(t *testing.T, body []byte) string {
	t.Helper()
	var decoded any
	require.NoError(t, json.Unmarshal(body, &decoded))
	sorted, err := json.Marshal(sortLists(decoded))
	require.NoError(t, err)
	return requestTimes.ReplaceAllString(string(sorted), "")
}

func sortLists(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = sortLists(v[key])
		}
	case []any:
		for i := range v {
			v[i] = sortLists(v[i])
		}
		slices.SortFunc(v, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	return value
}

// responses returns the status and body of each path for each viewer through each region.
func (f *moveFixture) responses(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for name, viewer := range map[string]*apptest.Client{"user": f.user, "friend": f.friend, "stranger": f.stranger} {
		for _, through := range region.All() {
			for _, path := range f.paths() {
				r := viewer.At(through).Do(t, http.MethodGet, path, nil)
				all[fmt.Sprint(name, " through ", through, ": ", path)] = fmt.Sprint(r.Status, " ", unordered(t, r.Body))
			}
		}
	}
	return all
}

// rowsByTable returns the number of rows of each table, apart from those that background work changes.
func (f *moveFixture) rowsByTable(t *testing.T) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, table := range db.Tables() {
		if slices.Contains([]string{
			"outbox", "realtime_events", "user_moves", "user_homes", "moved_ids", "audit_events", "audit_targets", "audit_details",
			"directory", "idempotency_keys", "idempotency_marks", "counters", "rate_usages", "realtime_heads",
		}, table) {
			continue
		}
		counts[table] = f.count(t, table)
	}
	return counts
}

func (f *moveFixture) count(t *testing.T, table string) (n int) {
	t.Helper()
	require.NoError(t, f.conn.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	return n
}

// facts returns the sums of all counts by reference and kind.
func (f *moveFixture) facts(t *testing.T) map[string]int64 {
	t.Helper()
	rows,
		err := f.conn.Query(t.Context(),
		`SELECT ref || ' ' || kind, sum(n)::bigint FROM counters WHERE ref NOT LIKE '%0000000000000000000000' GROUP BY 1`)
	require.NoError(t, err)
	defer rows.Close()
	sums := map[string]int64{}
	for rows.Next() {
		var key string
		var n int64
		require.NoError(t, rows.Scan(&key, &n))
		if n != 0 {
			sums[key] = n
		}
	}
	require.NoError(t, rows.Err())
	return sums
}

// requireAt checks that no row of an id that moved is at another home than the given one.
func (f *moveFixture) requireAt(t *testing.T, home region.Code) {
	t.Helper()
	for table, column := range map[string]string{
		"users": "id", "sessions": "user_id", "follows": "follower_id", "followers": "followee_id", "blocks": "blocker_id",
		"blocked_by":       "blocked_id",
		"user_communities": "user_id", "user_feed_markers": "user_id", "daily_usages": "user_id", "posts": "id", "comments": "id",
		"stories":       "id",
		"story_targets": "target_id", "polls": "id", "poll_votes": "poll_id", "planned_events": "id", "event_rsvps": "event_id", "rooms": "id",
		"video_streams": "id", "files": "id", "file_uses": "object_id",
		"reactions": "reference_id", "flags": "target_id", "flag_items": "target_id", "flag_notes": "target_id", "counters": "ref",
		"views":      "reference_id",
		"story_seen": "target_id", "channels": "id", "channel_users": "channel_id", "message_feeds": "id", "messages": "id",
		"scheduled_posts": "id", "invitations": "id",
	} {
		var moved, elsewhere int
		require.NoError(t, f.conn.QueryRow(t.Context(), fmt.Sprintf(`SELECT count(*), count(*) FILTER (WHERE t.home <> $1) FROM %s AS t
			JOIN moved_ids AS m ON m.home = 'us' AND m.id = t.%s`, table, column), home).Scan(&moved, &elsewhere))
		require.Zero(t, elsewhere, "rows of %s at another home", table)
	}
	var orphans int // rows that refer to the user but were not collected
	require.NoError(t, f.conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM posts WHERE target_id = $1 AND home <> $2)
		+ (SELECT count(*) FROM comments WHERE target_id = $1 AND home <> $2) + (SELECT count(*) FROM files WHERE owner_id = $1 AND home <> $2)
		+ (SELECT count(*) FROM stories WHERE target_id = $1 AND home <> $2) + (SELECT count(*) FROM polls WHERE creator_id = $1 AND home <> $2)`,
		f.user.InternalID, home).Scan(&orphans))
	require.Zero(t, orphans)
}

// TestMove checks that everything of a user moves, and that no response changes through any region.
func TestMove(t *testing.T) {
	t.Parallel()
	f := newMoveFixture(t)
	require.Eventually(t, func() bool { return f.count(t, "outbox") == 0 }, apptest.Patience, 50*time.Millisecond)
	before, rows, facts := f.responses(t), f.rowsByTable(t), f.facts(t)
	for i, to := range []region.Code{region.SG, region.US, region.EU} {
		move := awaitMove(t, f.n, erasedID, to)
		require.Equal(t, string(to), text(move, "to"))
		require.NotEmpty(t, move["moved"])
		f.requireAt(t, to)
		require.Equal(t, rows, f.rowsByTable(t), "move %d", i)
		require.Equal(t, facts, f.facts(t), "move %d", i)
		after := f.responses(t)
		for _, key := range slices.Sorted(maps.Keys(before)) {
			require.Equal(t, before[key], after[key], "%s after the move to %s", key, to)
		}
	}
	f.requireUsable(t)
}

// TestWritesDuringMove checks that everybody can write and read on a wall while its owner moves, at every server: requests wait
// until the rows are at the new home, and nothing is lost.
func TestWritesDuringMove(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	n.StartAll(t)
	owner, friend := n.NewUser(t, region.EU, "owner"), n.NewUser(t, region.US, "friend")
	first := newWallPost(t, owner)
	moved := make(chan struct{})
	var writers sync.WaitGroup
	written := make([][]string, 3)
	for i, at := range region.All() {
		writers.Go(func() {
			for done := false; !done; {
				select {
				case <-moved:
					done = true // one more
				default:
				}
				id := newWallPost(t, owner.At(at))
				newComment(t, friend.At(at), id)
				newComment(t, friend.At(at), first)
				written[i] = append(written[i], id)
				require.Equal(t, id, friend.At(at).Do(t, http.MethodGet, "/api/v3/posts/"+id, nil).OK(t).String(t, "posts.0.postId"))
			}
		})
	}
	awaitMove(t, n, owner.UserID, region.SG)
	close(moved)
	writers.Wait()
	for _, id := range slices.Concat(written...) {
		post := friend.Do(t, http.MethodGet, "/api/v3/posts/"+id, nil).OK(t)
		require.EqualValues(t, 1, post.Get(t, "posts.0.commentsCount"))
	}
	comments := len(slices.Concat(written...))
	require.EqualValues(t, comments, friend.Do(t, http.MethodGet, "/api/v3/posts/"+first, nil).OK(t).Get(t, "posts.0.commentsCount"))
	require.Equal(t, strconv.Itoa(comments+1), queryText(t, n, `SELECT count(*)::text FROM posts WHERE home = 'sg'`))
	require.Equal(t, "0", queryText(t, n, `SELECT count(*)::text FROM posts WHERE home = 'eu'`))
}

// requireUsable checks that the user and others can continue to write.
func (f *moveFixture) requireUsable(t *testing.T) {
	t.Helper()
	post := newWallPost(t, f.user, object{"data": object{"text": "I moved"}})
	newComment(t, f.friend, post)
	newComment(t, f.friend, f.post)
	f.do(t, f.user, http.MethodPut, "/api/v3/posts/"+f.post, object{"data": object{"text": "edited"}})
	f.do(t, f.friend, http.MethodDelete, "/api/v4/me/following/"+erasedID, nil)
	f.do(t, f.user, http.MethodDelete, "/api/v3/posts/"+f.post, nil)
	f.do(t, f.user, http.MethodDelete, "/api/v3/files/"+f.file, nil)
	require.NotEmpty(t, f.do(t, f.n.SignIn(t, region.SG, erasedID), http.MethodGet, "/api/v3/users/"+erasedID, nil).Body)
}

// TestMoveThenErase checks that a moved user can be exported and erased.
func TestMoveThenErase(t *testing.T) {
	t.Parallel()
	f := newMoveFixture(t)
	awaitMove(t, f.n, erasedID, region.SG)
	f.do(t, f.user, http.MethodPost, "/api/v4/users/"+erasedID+"/export", nil)
	awaitExport(t, f.user, erasedID)
	id := f.do(t, f.user, http.MethodDelete, "/api/v4/users/"+erasedID, nil).String(t, "erasureId")
	f.awaitErasure(t, id)
	var left int
	require.NoError(t, f.conn.QueryRow(t.Context(),
		`SELECT (SELECT count(*) FROM posts WHERE data::text LIKE '%planted%') + (SELECT count(*) FROM files WHERE owner_id = $1)
		+ (SELECT count(*) FROM sessions WHERE user_id = $1) + (SELECT count(*) FROM users WHERE id = $1 AND display_name <> '')`,
		id).Scan(&left))
	require.Zero(t, left)
}

// TestStreamAcrossMove checks that the stream of a user ends when the user has moved, that a client which resumes is told that it
// may have missed events, and that the stream then has the events that follow, also in a region that served none before.
func TestStreamAcrossMove(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	owner, other := n.NewUser(t, region.EU, "owner"), n.NewUser(t, region.US, "other")
	community := newCommunity(t, owner)
	s, stays := owner.Listen(t, addedStream, ""), other.Listen(t, addedStream, "")
	add(t, owner, community, other)
	_, users := addedTo(t, s.Next(t))
	require.Equal(t, userIDs(other), users)
	addedTo(t, stays.Next(t))
	for _, to := range []region.Code{region.SG, region.US} {
		awaitMove(t, n, owner.UserID, to)
		endsWith(t, s, "userMoved")
		s = owner.Listen(t, addedStream, s.LastID)
		reset := s.Next(t)
		require.Equal(t, "reset", reset.Name)
		require.Regexp(t, "^"+string(to)+`-\d+$`, reset.ID)
		for range 2 {
			u := n.NewUser(t, region.SG, "u")
			add(t, owner, community, u)
			_, users := addedTo(t, s.Next(t))
			require.Equal(t, userIDs(u), users)
			addedTo(t, stays.Next(t))
		}
	}
}

// TestExportAcrossMove checks that the archive of an export survives a move, and that an export which a move interrupts begins
// again at the new home and is complete.
func TestExportAcrossMove(t *testing.T) {
	t.Parallel()
	f := newErasureFixture(t)
	f.do(t, f.user, http.MethodPost, exportPath(erasedID), nil)
	ready := awaitExport(t, f.user, erasedID)
	before := f.do(t, f.user, http.MethodGet, text(ready, "archivePath"), nil).Body
	awaitMove(t, f.n, erasedID, region.SG)
	require.Equal(t, ready, awaitExport(t, f.user, erasedID))
	require.Equal(t, before, f.do(t, f.user.At(region.US), http.MethodGet, text(ready, "archivePath"), nil).Body)

	execute(t, f.n, `UPDATE user_exports SET state = 'collecting', step = 'posts', exported = '{}', due_at = now() + INTERVAL '1 hour'`)
	awaitMove(t, f.n, erasedID, region.US)
	again := awaitExport(t, f.user, erasedID)
	require.Equal(t, ready["exported"], again["exported"])
	f.requireArchive(t, unzip(t, f.do(t, f.user, http.MethodGet, text(again, "archivePath"), nil).Body), again["exported"].(object))
	awaitOneObject(t, f.n, f.user.InternalID) // at the new home
}

// TestMoveRefused checks which moves are not possible.
func TestMoveRefused(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	n.StartAll(t) // each server says that it follows moves
	u := n.NewUser(t, region.EU, "mover")
	admin := n.Admin(region.US)
	require.Equal(t, http.StatusConflict, admin.Do(t, http.MethodPost, movePath(u.UserID), object{"region": "eu"}).Status)
	require.Equal(t, http.StatusUnprocessableEntity, admin.Do(t, http.MethodPost, movePath(u.UserID), object{"region": "mars"}).Status)
	require.Equal(t, http.StatusNotFound, admin.Do(t, http.MethodPost, movePath("unknown"), object{"region": "us"}).Status)
	require.Equal(t, http.StatusNotFound, admin.Do(t, http.MethodGet, movePath(u.UserID), nil).Status)
	require.Equal(t, http.StatusForbidden, u.Do(t, http.MethodPost, movePath(u.UserID), object{"region": "us"}).Status)
	require.Equal(t, "3",
		queryText(t, n, `SELECT count(*)::text FROM servers WHERE 'moves' = ANY(capabilities) AND seen_at > now() - INTERVAL '1 minute'`))
	execute(t, n, `INSERT INTO servers (home, id, version, capabilities, seen_at) VALUES ('sg', 'x', 'old', '{}', now())`)
	refused := admin.Do(t, http.MethodPost, movePath(u.UserID), object{"region": "us"})
	require.Equal(t, http.StatusConflict, refused.Status)
	require.Contains(t, refused.String(t, "data.detail.0"), "does not follow moves")
	execute(t, n, `DELETE FROM servers WHERE id = 'x'`)
	begun := admin.Do(t, http.MethodPost, movePath(u.UserID), object{"region": "us", "allowInterruption": true}).OK(t)
	require.Equal(t, true, begun.Get(t, "move.allowInterruption"))
	require.Equal(t, http.StatusConflict, admin.Do(t, http.MethodPost, movePath(u.UserID), object{"region": "sg"}).Status)
	gone := n.NewUser(t, region.EU, "leaver")
	gone.Do(t, http.MethodDelete, "/api/v4/users/"+gone.UserID, nil).OK(t)
	require.Equal(t, http.StatusNotFound, admin.Do(t, http.MethodPost, movePath(gone.UserID), object{"region": "us"}).Status)
}
