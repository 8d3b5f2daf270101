package notification_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/push"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/service/notification"
	"github.com/plaza-social/plaza/platform/store"
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

// TestSlowPushService holds that a push service which a user has chosen, and which does not answer, does not delay the pushes of others
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
			p := store.Push{Provider: push.WebPush, UserID: users[token], Device: deviceNamed(token), Data: []byte(`{}`), CreatedAt: w.Deps.Now()}
			p.Identify(fmt.Sprint(number))
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
	tx.InsertSession(store.Session{ID: region.NewID(region.EU), UserID: user, DeviceHash: hash, CreatedAt: now, ExpiresAt: now.Add(24 * time.Hour)})
	tx.PutPushDevice(store.PushDevice{UserID: user, Device: deviceNamed(token), Platform: "web", Provider: push.WebPush, Token: token, UpdatedAt: now})
	require.NoError(t, tx.Commit(t.Context()))
}
