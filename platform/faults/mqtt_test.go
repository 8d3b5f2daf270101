//go:build faults

package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/devdb/testdb"
)

const (
	mqttWrites = 3_000 // acknowledged requests
	mqttKills  = 5     // killed servers
)

// publishedPosts are the names of the events that a subscriber received, by post, in the order of their arrival.
type publishedPosts struct {
	mu     sync.Mutex
	events map[string][]string
	began  func() // is called when a stream has begun
}

func (p *publishedPosts) add(t *testing.T, payload []byte) {
	t.Helper()
	var e struct {
		EventType string `json:"eventType"`
		Data      struct {
			Posts []struct {
				PostID string `json:"postId"`
			} `json:"posts"`
		} `json:"data"`
	}
	if err := json.Unmarshal(payload, &e); err != nil || len(e.Data.Posts) == 0 {
		t.Errorf("an event about no post: %s", payload)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	id := e.Data.Posts[0].PostID
	p.events[id] = append(p.events[id], e.EventType)
}

// missing returns the events that did not arrive.
func (p *publishedPosts) missing(want map[string][]string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var missing []string
	for id, names := range want {
		arrived := " " + strings.Join(p.events[id], " ") + " "
		for _, name := range names {
			if !strings.Contains(arrived, " "+name+" ") {
				missing = append(missing, id+" "+name)
			}
		}
	}
	return missing
}

// receive registers a webhook for the events of posts. Every seventh request to it fails.
func (s *serverProcess) receive() *publishedPosts {
	t := s.fleet.t
	t.Helper()
	found := &publishedPosts{events: map[string][]string{}}
	var requests atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || requests.Add(1)%7 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		found.add(t, body)
	}))
	t.Cleanup(receiver.Close)
	as := *s
	as.token = s.fleet.adminToken()
	as.do(http.MethodPost, "/api/v3/network-settings/webhooks",
		object{"url": receiver.URL, "events": []string{"post.created", "post.updated"}})
	return found
}

// adminToken returns the token of an administrator.
func (f *fleet) adminToken() string {
	f.t.Helper()
	keys, err := auth.OpenKeyring(filepath.Join(f.dir, "signing-keys.json"))
	require.NoError(f.t, err)
	token, _, err := auth.NewIssuer(strings.Repeat("a", 24), keys).MintAdmin("test", time.Hour)
	require.NoError(f.t, err)
	return token
}

// subscribe connects to a server as the user who is signed in there and subscribes to a topic filter.
func (s *serverProcess) subscribe(publicID, filter string) *publishedPosts {
	t := s.fleet.t
	t.Helper()
	var userID string
	require.NoError(t, s.fleet.conn.QueryRow(t.Context(), `SELECT id FROM users WHERE public_id = $1`, publicID).Scan(&userID))
	found := &publishedPosts{events: map[string][]string{}}
	o := mqtt.NewClientOptions().AddBroker("ws" + strings.TrimPrefix(s.api, "http") + "/mqtt").SetClientID("subscriber").
		SetUsername(userID).SetPassword(s.token).SetProtocolVersion(4).SetAutoReconnect(false).
		SetConnectionLostHandler(func(_ mqtt.Client, err error) { t.Errorf("the subscriber lost its connection: %v", err) })
	client := mqtt.NewClient(o)
	connected := client.Connect()
	require.True(t, connected.WaitTimeout(time.Minute))
	require.NoError(t, connected.Error())
	t.Cleanup(func() { client.Disconnect(0) })
	subscribed := client.Subscribe(filter, 0, func(_ mqtt.Client, m mqtt.Message) { found.add(t, m.Payload()) })
	require.True(t, subscribed.WaitTimeout(time.Minute))
	require.NoError(t, subscribed.Error())
	return found
}

// mqttLoad writes posts through one server after another.
type mqttLoad struct {
	t         *testing.T
	community string
	server    atomic.Pointer[serverProcess]
	count     atomic.Int64
	mu        sync.Mutex
	acked     map[string][]string // names of events by post
}

// write creates and edits posts until enough requests were acknowledged. A request fails while its server is being replaced.
func (l *mqttLoad) write() {
	for l.count.Load() < mqttWrites && !l.t.Failed() {
		s := l.server.Load()
		status, answer, err := s.send(http.MethodPost, s.api+"/api/v4/posts", object{
			"targetType": "community", "targetId": l.community, "data": object{"text": "hello"},
		})
		if err != nil || status != http.StatusOK {
			continue
		}
		id := fmt.Sprint(first(l.t, answer, "posts", "postId"))
		l.acknowledge(id, "post.created")
		status, _, err = s.send(http.MethodPut, s.api+"/api/v4/posts/"+id, object{"data": object{"text": "edited"}})
		if err == nil && status == http.StatusOK {
			l.acknowledge(id, "post.updated")
		}
	}
}

func (l *mqttLoad) acknowledge(id, event string) {
	l.count.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acked[id] = append(l.acked[id], event)
}

// await waits until n requests were acknowledged.
func (l *mqttLoad) await(n int64) {
	l.t.Helper()
	require.Eventually(l.t, func() bool { return l.count.Load() >= n || l.t.Failed() }, apptest.Patience, time.Millisecond)
}

// TestMQTTEventsOutliveServers writes under load through servers that are killed one after another, while connections to the
// database are closed. Every acknowledged change arrives at a subscriber of another server, at a subscriber by streams of server-sent
// events, which end with the killed servers, and at a webhook, some of whose requests fail. Nothing arrives that was not committed.
func TestMQTTEventsOutliveServers(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	stays := f.start()
	stays.signIn("author")
	community := fmt.Sprint(first(t, stays.do(http.MethodPost, "/api/v3/communities", object{"displayName": "Gardening"}), "communities",
		"communityId"))
	topic := strings.Repeat("a", 24) + "/social/community/" + community + "/post/+"
	found := stays.subscribe("author", topic)
	hook := stays.receive()
	l := &mqttLoad{t: t, community: community, acked: map[string][]string{}}
	replace := func() {
		s := f.start()
		s.token = stays.token
		if old := l.server.Swap(s); old != nil {
			old.kill()
		}
	}
	replace()
	following, stop := context.WithCancel(t.Context())
	defer stop()
	streamed := l.followStream(following, topic)
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(l.write)
	}
	ctx, calm := context.WithCancel(t.Context())
	killed := make(chan int, 1)
	go func() { killed <- killConnections(ctx, t, f.database, l.count.Load) }()
	for i := range mqttKills {
		l.await(int64(i+1) * mqttWrites / (mqttKills + 1))
		replace()
	}
	l.await(mqttWrites)
	calm()
	writers.Wait()
	if n := <-killed; !testdb.Cockroach(t) {
		require.Positive(t, n)
	}
	require.Eventually(t, func() bool { return len(found.missing(l.acked)) == 0 }, apptest.Patience, 20*time.Millisecond,
		"events did not arrive: %v", len(found.missing(l.acked)))
	require.Eventually(t, func() bool { return len(streamed.missing(l.acked)) == 0 }, apptest.Patience, 20*time.Millisecond,
		"events did not arrive by streams: %v", len(streamed.missing(l.acked)))
	streamed.requireCommitted(t, f)
	require.Eventually(t, func() bool { return len(hook.missing(l.acked)) == 0 }, apptest.Patience, 100*time.Millisecond,
		"events did not arrive at the webhook: %v", len(hook.missing(l.acked)))
	hook.requireCommitted(t, f)
	t.Logf("%d acknowledged changes of %d posts, %d servers killed, %d posts announced after their first change",
		l.count.Load(), len(l.acked), mqttKills, found.requireCommitted(t, f))
}

// requireCommitted checks that each post exists, and returns the number of posts whose creation was announced after a change.
func (p *publishedPosts) requireCommitted(t *testing.T, f *fleet) (late int) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	var ids []string
	for id, names := range p.events {
		ids = append(ids, id)
		if names[0] != "post.created" {
			late++
		}
	}
	require.Equal(t, len(ids), f.count(`SELECT count(*) FROM posts WHERE id = ANY($1)`, ids), "an event about a post that does not exist")
	return late
}
