package push

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"
)

// localMessages is the number of messages that a Local keeps.
const localMessages = 100

// Local keeps the latest messages instead of sending them, for tests and development.
type Local struct {
	now func() time.Time
	log *slog.Logger

	mu   sync.Mutex
	sent []LocalMessage
}

// LocalMessage is a message that would have been sent.
type LocalMessage struct {
	Message

	Provider string    `json:"provider"`
	Token    string    `json:"token"`
	At       time.Time `json:"at"`
}

// NewLocal returns a Local that logs each message, without its texts and token.
func NewLocal(now func() time.Time, log *slog.Logger) *Local { return &Local{now: now, log: log} }

// Messages returns the latest messages, the last one first.
func (l *Local) Messages() []LocalMessage {
	l.mu.Lock()
	defer l.mu.Unlock()
	latest := slices.Clone(l.sent)
	slices.Reverse(latest)
	return latest
}

// ServeHTTP serves the latest messages as JSON.
func (l *Local) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string][]LocalMessage{"pushes": append([]LocalMessage{}, l.Messages()...)})
}

func (l *Local) of(provider string) Sender { return localSender{l, provider} }

type localSender struct {
	*Local
	provider string
}

func (s localSender) Send(ctx context.Context, token string, m Message) error {
	s.log.InfoContext(ctx, "push notification kept, not sent", "provider", s.provider, "id", m.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, LocalMessage{Message: m, Provider: s.provider, Token: token, At: s.now()})
	s.sent = s.sent[max(0, len(s.sent)-localMessages):]
	return nil
}
