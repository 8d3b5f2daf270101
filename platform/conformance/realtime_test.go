package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
)

const (
	addedStream  = "/realtime/community.userAdded"
	markerStream = "/realtime/marker.marker.user-sync"
)

// add makes clients members as a moderator does.
func add(t *testing.T, moderator *apptest.Client, communityID string, clients ...*apptest.Client) {
	t.Helper()
	moderator.Do(t, http.MethodPost, "/api/v3/communities/"+communityID+"/users", object{"userIds": userIDs(clients...)}).OK(t)
}

func userIDs(clients ...*apptest.Client) []string {
	ids := make([]string, len(clients))
	for i, c := range clients {
		ids[i] = c.UserID
	}
	return ids
}

// addedTo returns the community and the users that an event reports as added.
func addedTo(t *testing.T, e apptest.StreamEvent) (communityID string, users []string) {
	t.Helper()
	require.Equal(t, "community.userAdded", e.Name, e.Data)
	var body struct {
		Data struct {
			CommunityUsers []struct{ CommunityID, UserID string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(e.Data), &body))
	for _, m := range body.Data.CommunityUsers {
		communityID, users = m.CommunityID, append(users, m.UserID)
	}
	slices.Sort(users)
	return communityID, users
}

func TestUserAddedEnvelope(t *testing.T) {
	t.Parallel()
	owner, added := newUser(t, region.EU, "owner"), newUser(t, region.EU, "added")
	c := newCommunity(t, owner)
	s := owner.Listen(t, addedStream, "")
	require.Equal(t, "text/event-stream", s.Header.Get("Content-Type"))
	require.Equal(t, "no-store", s.Header.Get("Cache-Control"))
	before := time.Now().Add(-time.Second)
	add(t, owner, c, added)
	e := s.Next(t)
	body := e.Decode(t)
	require.ElementsMatch(t, []string{"id", "data", "networkId", "path", "eventType", "senderId", "sendTime", "version"}, namesIn(body))
	require.Equal(t, "community.userAdded", body["eventType"])
	require.Equal(t, "1", body["version"])
	require.Equal(t, owner.Network.NetworkID, body["networkId"])
	require.Equal(t, owner.Network.NetworkID+"/social/community/"+c, body["path"])
	require.Equal(t, owner.InternalID, body["senderId"])
	require.Len(t, body["id"], 24)
	sent, err := time.Parse("2006-01-02T15:04:05.000Z", body["sendTime"].(string))
	require.NoError(t, err)
	require.WithinRange(t, sent, before, time.Now())
	data, ok := body["data"].(map[string]any)
	require.True(t, ok)
	require.ElementsMatch(t, []string{"communities", "communityUsers", "files", "users", "categories", "feeds"}, namesIn(data))
	r := e.Response()
	require.Equal(t, c, r.String(t, "data.communities.0.communityId"))
	require.Equal(t, true, r.Get(t, "data.communities.0.isJoined"))
	require.InEpsilon(t, 2, r.Get(t, "data.communities.0.membersCount"), 0)
	require.Equal(t, added.UserID, r.String(t, "data.communityUsers.0.userId"))
	require.Equal(t, "member", r.String(t, "data.communityUsers.0.communityMembership"))
	require.Len(t, data["feeds"], 3)
	require.Len(t, data["users"], 2)
	require.Equal(t, e.ID, s.LastID)
}

func namesIn(o object) []string {
	keys := make([]string, 0, len(o))
	for key := range o {
		keys = append(keys, key)
	}
	return keys
}

// TestUserAddedRecipients has users of every region listen in every region. Only members and the added users get the
// event.
func TestUserAddedRecipients(t *testing.T) {
	t.Parallel()
	owner, outsider := newUser(t, region.US, "owner"), newUser(t, region.SG, "outsider")
	c := newCommunity(t, owner, object{"isPublic": false})
	hidden := newCommunity(t, outsider)
	admin := admin(t).Listen(t, addedStream, "")
	streams := map[string]*apptest.Stream{}
	var newcomers []*apptest.Client
	for _, home := range region.All() {
		newcomer := newUser(t, home, "newcomer")
		newcomers = append(newcomers, newcomer)
		for _, at := range region.All() {
			streams["newcomer of "+home.String()+" at "+at.String()] = newcomer.At(at).Listen(t, addedStream, "")
		}
	}
	streams["owner"] = owner.Listen(t, addedStream, "")
	other := outsider.Listen(t, addedStream, "")
	gone := newUser(t, region.EU, "gone")
	add(t, owner, c, gone)
	gone.Do(t, http.MethodDelete, "/api/v3/communities/"+c+"/leave", nil).OK(t)
	left := gone.Listen(t, addedStream, "")
	_, first := addedTo(t, streams["owner"].Next(t))
	require.Equal(t, []string{gone.UserID}, first)

	add(t, owner, c, newcomers...)
	want := userIDs(newcomers...)
	slices.Sort(want)
	var ids []any
	for name, s := range streams {
		e := s.Next(t)
		community, users := addedTo(t, e)
		if slices.Equal(users, first) { // recipients are the members at the time of delivery
			e = s.Next(t)
			community, users = addedTo(t, e)
		}
		require.Equal(t, c, community, name)
		require.Equal(t, want, users, name)
		ids = append(ids, e.Decode(t)["id"])
	}
	require.Len(t, slices.Compact(ids), 1, "the event has one id")
	for seen := false; !seen; {
		e := admin.Next(t)
		community, users := addedTo(t, e)
		seen = community == c && slices.Equal(users, want)
		require.Equal(t, false, e.Response().Get(t, "data.communities.0.isJoined"))
	}

	// Users who must not get the event get the next one as their first.
	add(t, outsider, hidden, newcomers[0])
	for _, s := range []*apptest.Stream{other, streams["newcomer of us at sg"]} {
		community, _ := addedTo(t, s.Next(t))
		require.Equal(t, hidden, community)
	}
	add(t, outsider, hidden, gone)
	community, _ := addedTo(t, left.Next(t))
	require.Equal(t, hidden, community, "a former member gets no events")
}

func TestUserAddedSources(t *testing.T) {
	t.Parallel()
	owner := newUser(t, region.EU, "owner")
	person := func() *apptest.Client { return newUser(t, region.US, "person") }
	approving := newCommunity(t, owner, object{"requiresJoinApproval": true})
	open := newCommunity(t, owner)
	s := owner.Listen(t, addedStream, "")
	told := func(communityID, senderID string, clients ...*apptest.Client) {
		t.Helper()
		e := s.Next(t)
		community, users := addedTo(t, e)
		want := userIDs(clients...)
		slices.Sort(want)
		require.Equal(t, communityID, community)
		require.Equal(t, want, users)
		require.Equal(t, senderID, e.Response().String(t, "senderId"))
	}
	a, b := person(), person()
	made := newCommunity(t, owner, object{"userIds": userIDs(a, b)})
	told(made, owner.InternalID, a, b)
	newCommunity(t, owner) // no member was added
	join(t, open, a)
	told(open, a.InternalID, a)
	join(t, open, a)
	add(t, owner, open, a, b) // a is a member already
	told(open, owner.InternalID, b)
	c := person()
	c.Do(t, http.MethodPost, "/api/v4/communities/"+open+"/join", nil).OK(t)
	told(open, c.InternalID, c)
	c.Do(t, http.MethodPost, "/api/v4/communities/"+approving+"/join", nil).OK(t)
	owner.Do(t, http.MethodPost, "/api/v4/communities/"+approving+"/join/approve", object{"userId": c.UserID}).OK(t)
	told(approving, owner.InternalID, c)
	admin(t).Do(t, http.MethodPost, "/api/v3/communities/"+approving+"/users", object{"userIds": userIDs(a)}).OK(t)
	told(approving, "", a)
	requireRefused(t, owner.Do(t, http.MethodPost, "/api/v3/communities/"+open+"/users", object{"userIds": []string{"unknown-user"}}),
		http.StatusNotFound, 400400)
	add(t, owner, approving, b)
	told(approving, owner.InternalID, b)
}

func TestResumeMissesNothing(t *testing.T) {
	t.Parallel()
	owner := newUser(t, region.SG, "owner")
	c := newCommunity(t, owner)
	s := owner.Listen(t, addedStream, "")
	start := s.LastID
	require.Regexp(t, `^sg-\d+$`, start)
	var want []string
	next := func() {
		u := newUser(t, region.SG, "u")
		add(t, owner, c, u)
		want = append(want, u.UserID)
	}
	read := func(s *apptest.Stream, n int) (users []string) {
		for range n {
			_, added := addedTo(t, s.Next(t))
			users = append(users, added...)
		}
		return users
	}
	next()
	require.Equal(t, want, read(s, 1))
	middle := s.LastID
	s.Close()
	next()
	next()
	s = owner.At(region.US).Listen(t, addedStream, middle)
	require.Equal(t, want[1:], read(s, 2))
	next()
	require.Equal(t, want[3:], read(s, 1))
	require.Equal(t, want, read(owner.Listen(t, addedStream, start), 4))
	require.Equal(t, want, read(owner.Listen(t, addedStream+"?lastEventId="+start, ""), 4))
}

// TestAdministratorResumes resumes the stream of an administrator, who receives the events of all communities.
func TestAdministratorResumes(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	owner, admin := n.NewUser(t, region.US, "owner"), n.Admin(region.EU)
	c := newCommunity(t, owner)
	s := admin.Listen(t, addedStream, "")
	var want []string
	for range 2 {
		u := n.NewUser(t, region.SG, "u")
		add(t, owner, c, u)
		want = append(want, u.UserID)
	}
	read := func(s *apptest.Stream) {
		t.Helper()
		for _, id := range want {
			community, users := addedTo(t, s.Next(t))
			require.Equal(t, []any{c, []string{id}}, []any{community, users})
		}
	}
	began := s.LastID
	read(s)
	read(admin.Listen(t, addedStream, began))
}

// TestResumeReadsFurtherPages resumes streams that have missed more events than the server reads at a time.
func TestResumeReadsFurtherPages(t *testing.T) {
	t.Parallel()
	const page = 100
	n := apptest.Start(t)
	owner, u := n.NewUser(t, region.SG, "owner"), n.NewUser(t, region.SG, "u")
	c := newCommunity(t, owner)
	paths := map[string]int{addedStream: page + 1, severalStream + topics(communityTopic(owner, c)): 2*page + 1}
	open := map[string]*apptest.Stream{}
	began := map[string]string{}
	for path := range paths {
		open[path] = owner.Listen(t, path, "")
	}
	add(t, owner, c, n.NewUser(t, region.SG, "first"))
	for path, s := range open {
		s.Next(t)
		began[path] = s.LastID
	}
	for range page + 1 {
		add(t, owner, c, u)
		owner.Do(t, http.MethodDelete, membersPath(c), object{"userIds": userIDs(u)}).OK(t)
	}
	for path, n := range paths {
		want := idsOf(t, open[path], n)
		require.Equal(t, want, idsOf(t, owner.Listen(t, path, began[path]), n), path)
	}
}

// idsOf returns the ids of the next events of a stream, which differ.
func idsOf(t *testing.T, s *apptest.Stream, n int) []string {
	t.Helper()
	seen := map[string]bool{}
	var ids []string
	for range n {
		e := s.Next(t)
		id := e.Response().String(t, "id")
		require.False(t, seen[id], e.Data)
		seen[id] = true
		ids = append(ids, id)
	}
	return ids
}

func TestInvalidLastEventIDs(t *testing.T) {
	t.Parallel()
	owner := newUser(t, region.EU, "owner")
	c := newCommunity(t, owner)
	for _, id := range []string{"us-1", "eu-999999999"} {
		s := owner.Listen(t, addedStream, id)
		e := s.Next(t)
		require.Equal(t, "reset", e.Name, id)
		require.Regexp(t, `^eu-\d+$`, e.ID)
		add(t, owner, c, newUser(t, region.EU, "u"))
		addedTo(t, s.Next(t))
	}
	for _, id := range []string{"x", "eu", "eu-", "eu--1", "mars-1", "eu-1x", "eu-99999999999999999999", strings.Repeat("9", 500)} {
		r := owner.With("Last-Event-ID", id).Do(t, http.MethodGet, addedStream, nil)
		requireRefused(t, r, http.StatusUnprocessableEntity, 500000)
	}
}

// requireRefused checks that a request was refused with the error body of every operation.
func requireRefused(t *testing.T, r *apptest.Response, status, code int) {
	t.Helper()
	got, _ := r.Error(t)
	require.Equal(t, [2]int{status, code}, [2]int{r.Status, got}, r.Short())
}

// connectTo returns a connection to the database of a network until the test ends.
func connectTo(t *testing.T, n *apptest.Network) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), n.DatabaseURL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

// execute runs a statement directly on the database.
func execute(t *testing.T, n *apptest.Network, sql string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), n.DatabaseURL)
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	_, err = conn.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// queryText returns the text that a query returns.
func queryText(t *testing.T, n *apptest.Network, sql string) (text string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), n.DatabaseURL)
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&text))
	return text
}

// scrape returns a server's metrics.
func scrape(t *testing.T, n *apptest.Network, code region.Code) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.OpsURL(code)+"/metrics", nil)
	require.NoError(t, err)
	resp, err := n.HTTP().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(text)
}

// TestResumeAfterTrim checks that a client that was away for longer than the log keeps events gets a reset.
func TestResumeAfterTrim(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	owner := n.NewUser(t, region.EU, "owner")
	c := newCommunity(t, owner)
	s := owner.Listen(t, addedStream, "")
	old := s.LastID
	for range 3 {
		add(t, owner, c, n.NewUser(t, region.EU, "u"))
		addedTo(t, s.Next(t))
	}
	execute(t, n, `DELETE FROM realtime_events WHERE home = 'eu' AND seq <= 2`)
	execute(t, n, `UPDATE realtime_heads SET trimmed = 2 WHERE home = 'eu'`)
	require.Equal(t, "reset", owner.Listen(t, addedStream, old).Next(t).Name)
	_, users := addedTo(t, owner.Listen(t, addedStream, "eu-2").Next(t))
	require.Len(t, users, 1)
}

func TestStreamAuthorization(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	user := newUser(t, region.US, "user")
	for _, path := range []string{addedStream, markerStream} {
		requireRefused(t, n.Anonymous(region.US).Do(t, http.MethodGet, path, nil), http.StatusUnauthorized, 400100)
		requireRefused(t, n.Bearer(region.US, "nonsense").Do(t, http.MethodGet, path, nil), http.StatusUnauthorized, 400100)
		requireRefused(t, n.Anonymous(region.US).Do(t, http.MethodGet, path+"?access_token=nonsense", nil), http.StatusUnauthorized, 400100)
		requireRefused(t, user.Do(t, http.MethodPost, path, nil), http.StatusMethodNotAllowed, 400000)
		n.Anonymous(region.US).Listen(t, path+"?access_token="+user.Token, "").Close()
	}
	requireRefused(t, user.Do(t, http.MethodGet, "/realtime/", nil), http.StatusNotFound, 400400)
	requireRefused(t, user.Do(t, http.MethodGet, "/realtime/community.invented", nil), http.StatusNotFound, 400400)
	requireRefused(t, admin(t).Do(t, http.MethodGet, markerStream, nil), http.StatusForbidden, 400300)
	admin(t).Listen(t, addedStream, "").Close()
	ended := newUser(t, region.US, "ended")
	ended.Do(t, http.MethodDelete, "/api/v4/sessions", nil).OK(t)
	requireRefused(t, ended.Do(t, http.MethodGet, addedStream, nil), http.StatusUnauthorized, 400100)
}

func TestStreamLimitPerUser(t *testing.T) {
	t.Parallel()
	user := newUser(t, region.EU, "user")
	var last *apptest.Stream
	for range 16 {
		last = user.Listen(t, addedStream, "")
	}
	requireRefused(t, user.Do(t, http.MethodGet, markerStream, nil), http.StatusTooManyRequests, 400311)
	newUser(t, region.EU, "other").Listen(t, addedStream, "")
	last.Close()
	require.Eventually(t, func() bool {
		req := user.Request(t, http.MethodGet, addedStream, nil)
		resp, err := user.Network.HTTP().Do(req)
		require.NoError(t, err)
		return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	}, apptest.Patience, 10*time.Millisecond)
}

// endsWith checks the reason in a stream's last event.
func endsWith(t *testing.T, s *apptest.Stream, reason string) {
	t.Helper()
	rest := s.End(t)
	require.NotEmpty(t, rest)
	last := rest[len(rest)-1]
	require.Equal(t, "end", last.Name)
	require.JSONEq(t, `{"reason":"`+reason+`"}`, last.Data)
}

func TestStreamsEndWithTheirSession(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, c *apptest.Client){
		"signed out": func(t *testing.T, c *apptest.Client) {
			t.Helper()
			c.Do(t, http.MethodDelete, "/api/v4/sessions", nil).OK(t)
		},
		"all sessions": func(t *testing.T, c *apptest.Client) {
			t.Helper()
			c.Do(t, http.MethodDelete, "/api/v4/sessions/users/"+c.UserID, nil).OK(t)
		},
		"banned": func(t *testing.T, c *apptest.Client) {
			t.Helper()
			admin(t).Do(t, http.MethodPost, "/api/v2/users/ban", object{"userId": c.UserID}).OK(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, other := newUser(t, region.SG, "ending"), newUser(t, region.SG, "other")
			s, staying := c.At(region.US).Listen(t, addedStream, ""), other.Listen(t, addedStream, "")
			end(t, c)
			endsWith(t, s, "sessionEnded")
			community := newCommunity(t, other)
			add(t, other, community, newUser(t, region.SG, "u"))
			addedTo(t, staying.Next(t))
		})
	}
}

// TestTokensAreNotLogged listens with the token as a query parameter and searches the log for it.
func TestTokensAreNotLogged(t *testing.T) {
	t.Parallel()
	var log syncBuffer
	n := apptest.Start(t, apptest.WithLog(slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	user := n.NewUser(t, region.EU, "user")
	n.Anonymous(region.EU).Listen(t, addedStream+"?access_token="+user.Token, "").Close()
	requireRefused(t, n.Anonymous(region.EU).Do(t, http.MethodGet, addedStream+"?access_token=x"+user.Token, nil), http.StatusUnauthorized,
		400100)
	require.Eventually(t, func() bool { return strings.Count(log.String(), addedStream) >= 2 }, apptest.Patience, 10*time.Millisecond)
	require.NotContains(t, log.String(), user.Token)
	require.NotContains(t, log.String(), "access_token")
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// TestStreamsOutliveTheRequestTimeout: neither the request timeout nor the request metrics apply to streams. The region that
// serves the stream has a short timeout, and a request that it times out shows that the stream is older than that.
func TestStreamsOutliveTheRequestTimeout(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t, apptest.WithConfig(func(cfg *config.Config) {
		if cfg.Region == region.US {
			cfg.RequestTimeout = config.Duration(100 * time.Millisecond)
		}
	}))
	owner := n.NewUser(t, region.EU, "owner")
	c := newCommunity(t, owner)
	s := owner.At(region.US).Listen(t, addedStream, "")
	requireBodyTimeout(t, n, region.US)
	add(t, owner, c, n.NewUser(t, region.EU, "u"))
	addedTo(t, s.Next(t))
	metrics := scrape(t, n, region.US)
	require.Contains(t, metrics, `plaza_realtime_streams{event="community.userAdded"`)
	require.NotContains(t, metrics, `plaza_http_service_duration_seconds_count{service="realtime`)
	require.Regexp(t, `plaza_http_requests_in_flight\{[^}]*\} 0`, metrics)
	s.Close()
}

// requireBodyTimeout sends a request without its body and waits until the server gives up on it.
func requireBodyTimeout(t *testing.T, n *apptest.Network, code region.Code) {
	t.Helper()
	conn, err := net.Dial("tcp", n.Region(code).APIAddr())
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, "POST /api/v4/posts HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{")
	require.NoError(t, err)
	answer, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Contains(t, string(answer), "408 Request Timeout")
}
