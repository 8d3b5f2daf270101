package webhook

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// State is how the delivery of the events of a home to a webhook goes.
type State struct {
	Home      region.Code
	WebhookID string
	// Oldest is when the oldest event happened that waits; zero if none does.
	Oldest time.Time
	// Dead is the number of events that could not be delivered and are kept.
	Dead int64
	// Failed is why the latest attempt failed; empty if it succeeded.
	Failed string
}

// states are the states of the webhooks whose events this server sends.
type states struct {
	mu   sync.Mutex
	rows map[queueKey]State
}

func (s *states) set(state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		s.rows = map[queueKey]State{}
	}
	s.rows[queueKey{state.Home, state.WebhookID}] = state
}

func (s *states) forget(key queueKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.rows, key)
}

// States returns the state of each webhook and home whose events this server sends, as of the last seconds.
func (d *Dispatcher) States() []State {
	d.states.mu.Lock()
	defer d.states.mu.Unlock()
	all := make([]State, 0, len(d.states.rows))
	for _, state := range d.states.rows {
		all = append(all, state)
	}
	slices.SortFunc(all, func(a, b State) int {
		return cmp.Or(cmp.Compare(a.WebhookID, b.WebhookID), cmp.Compare(a.Home, b.Home))
	})
	return all
}

// failureOf returns why the attempts of a round failed, or an empty text if one succeeded.
func failureOf(attempted []chain) string {
	failed := ""
	for _, c := range attempted {
		for _, row := range c {
			if row.State == store.DeliveryDelivered {
				return ""
			}
			failed = row.Error
		}
	}
	return failed
}
