package notification_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/push"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/service/notification"
	"github.com/plaza-social/plaza/platform/store/notify"
	"github.com/plaza-social/plaza/platform/store/people"
)

// slowService is a push service that lets servers wait for the messages to one token.
type slowService struct {
	w    *servicetest.World
	mu   sync.Mutex
	sent map[string]int // by token
	slow bool
}

func (s *slowService) Send(_ context.Context, token string, _ push.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent[token]++
	if s.slow && token == "slow" {
		s.w.Set(s.w.Deps.Now().Add(10 * time.Second))
		return &push.SendError{Outcome: push.Later, Reason: "the provider does not answer in time"}
	}
	return nil
}

// take returns the number of messages to a token since the last call.
func (s *slowService) take(token string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.sent[token]
	s.sent[token] = 0
	return n
}

// TestSlowPushService checks that a push service which a user has chosen, and which does not answer, does not delay the pushes of others
// again and again.
func TestSlowPushService(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	service := &slowService{w: w, sent: map[string]int{}, slow: true}
	w.Deps.Push = map[string]push.Sender{push.WebPush: service}
	sender, err := notification.NewSender(w.Deps, prometheus.NewRegistry())
	require.NoError(t, err)
	users := map[string]string{"slow": region.NewID(region.EU), "fast": region.NewID(region.EU)}
	for token, user := range users {
		register(t, w, user, token)
	}
	number := 0
	add := func(token string, n int) {
		t.Helper()
		tx := w.Store.NewTx(region.EU)
		for range n {
			number++
			p := notify.Push{Provider: push.WebPush, UserID: users[token], Device: deviceNamed(token), Data: []byte(`{}`), CreatedAt: w.Deps.Now()}
			p.Identify(strconv.Itoa(number))
			tx.AddPush(p)
		}
		require.NoError(t, tx.Commit(t.Context()))
	}
	drain := func() {
		t.Helper()
		_, err := sender.Job().Drain(t.Context(), region.EU, int64(slices.Index(push.Providers, push.WebPush)))
		require.NoError(t, err)
	}
	add("slow", 1)
	drain()
	require.Equal(t, 1, service.take("slow"))
	add("slow", 60)
	add("fast", 1)
	drain()
	require.Zero(t, service.take("slow"), "the user's pushes are paused")
	require.Equal(t, 1, service.take("fast"))
	w.Set(w.Deps.Now().Add(time.Minute))
	service.slow = false
	drain()
	require.Equal(t, 61, service.take("slow"), "after the pause")
	service.slow = true
	add("slow", 1)
	drain()
	require.Equal(t, 1, service.take("slow"), "after a fast attempt")
}

func deviceNamed(token string) string {
	return hex.EncodeToString(fmt.Appendf(nil, "%032s", token))
}

// register stores a session of a user with a device that has a token.
func register(t *testing.T, w *servicetest.World, user, token string) {
	t.Helper()
	hash, err := hex.DecodeString(deviceNamed(token))
	require.NoError(t, err)
	now := w.Deps.Now()
	tx := w.Store.NewTx(region.EU)
	tx.InsertSession(people.Session{
		ID: region.NewID(region.EU), UserID: user, DeviceHash: hash, CreatedAt: now,
		ExpiresAt: now.Add(24 * time.Hour),
	})
	tx.PutPushDevice(notify.PushDevice{
		UserID: user, Device: deviceNamed(token), Platform: "web", Provider: push.WebPush, Token: token,
		UpdatedAt: now,
	})
	require.NoError(t, tx.Commit(t.Context()))
}

// scripted is a provider that answers by the title of the message.
type scripted map[string]error

func (s scripted) Send(_ context.Context, _ string, m push.Message) error { return s[m.Title] }

// TestResultsOfPushes sends a push of each result. Those that a provider may accept later are tried again after the longer of its pause and
// the one of the server, unless they would be old by then. All others are not tried again.
func TestResultsOfPushes(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	later := func(after time.Duration) error { return &push.SendError{Outcome: push.Later, After: after} }
	w.Deps.Push = map[string]push.Sender{push.WebPush: scripted{
		"gone": &push.SendError{Outcome: push.Gone}, "also gone": &push.SendError{Outcome: push.Gone},
		"gone too": &push.SendError{Outcome: push.Gone},
		"refused":  &push.SendError{Outcome: push.Refused}, "broken": errors.New("not a SendError"),
		"later": later(0), "in an hour": later(time.Hour), "at the end": later(push.Lifetime), "too late": later(push.Lifetime + time.Second),
		"old": later(push.Lifetime - time.Hour), "too old": later(push.Lifetime - time.Hour + time.Second),
	}}
	registry := prometheus.NewRegistry()
	sender, err := notification.NewSender(w.Deps, registry)
	require.NoError(t, err)
	user, tx := region.NewID(region.EU), w.Store.NewTx(region.EU)
	for _, title := range []string{
		"sent", "gone", "also gone", "gone too", "refused", "broken", "later", "in an hour", "at the end",
		"too late", "old", "too old", "no device",
	} {
		if title != "no device" {
			register(t, w, user, title)
		}
		p := notify.Push{
			Provider: push.WebPush, UserID: user, Device: deviceNamed(title), Title: title, Data: []byte(`{}`),
			CreatedAt: w.Deps.Now(),
		}
		if strings.HasSuffix(title, "old") {
			p.CreatedAt = p.CreatedAt.Add(-time.Hour)
		}
		p.Identify(title)
		tx.AddPush(p)
	}
	require.NoError(t, tx.Commit(t.Context()))
	_, err = sender.Job().Drain(t.Context(), region.EU, int64(slices.Index(push.Providers, push.WebPush)))
	require.NoError(t, err)
	require.Equal(t, "at the end 1 day, in an hour 01:00:00, later 00:00:05, old 1 day",
		w.Text(t, `SELECT string_agg(title || ' ' || (not_before - created_at), ', ' ORDER BY title) FROM pushes`))
	// Without those of the tokens that are gone.
	require.Equal(t, "at the end, broken, in an hour, later, old, refused, sent, too late, too old",
		w.Text(t, `SELECT string_agg(token, ', ' ORDER BY token) FROM push_devices`))
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP plaza_push_notifications_total Attempts to send a push notification, by provider and result: sent, later, gone, refused, dropped.
# TYPE plaza_push_notifications_total counter
plaza_push_notifications_total{provider="apns",result="dropped"} 0
plaza_push_notifications_total{provider="apns",result="gone"} 0
plaza_push_notifications_total{provider="apns",result="later"} 0
plaza_push_notifications_total{provider="apns",result="refused"} 0
plaza_push_notifications_total{provider="apns",result="sent"} 0
plaza_push_notifications_total{provider="fcm",result="dropped"} 0
plaza_push_notifications_total{provider="fcm",result="gone"} 0
plaza_push_notifications_total{provider="fcm",result="later"} 0
plaza_push_notifications_total{provider="fcm",result="refused"} 0
plaza_push_notifications_total{provider="fcm",result="sent"} 0
plaza_push_notifications_total{provider="webpush",result="dropped"} 3
plaza_push_notifications_total{provider="webpush",result="gone"} 3
plaza_push_notifications_total{provider="webpush",result="later"} 6
plaza_push_notifications_total{provider="webpush",result="refused"} 2
plaza_push_notifications_total{provider="webpush",result="sent"} 1
`)))
}
