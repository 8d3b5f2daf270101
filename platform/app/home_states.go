package app

import (
	"context"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
)

// homeState is what is known of a home.
type homeState struct {
	status db.Status
	asOf   time.Time // of the status; zero before the home has answered
	err    error     // of the last attempt
}

// homeStates asks the homes for their status and keeps the answers for the report.
type homeStates struct {
	store    *store.Store
	identity string // of the network
	now      func() time.Time

	mu    sync.Mutex
	known map[region.Code]homeState
}

func newHomeStates(s *store.Store, identity string) *homeStates {
	return &homeStates{store: s, identity: identity, now: time.Now, known: map[region.Code]homeState{}}
}

// last returns what is known of a home, and false if it has not been asked yet.
func (h *homeStates) last(home region.Code) (homeState, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	state, ok := h.known[home]
	return state, ok
}

// ask sends one statement to each home, concurrently.
func (h *homeStates) ask(ctx context.Context) homesAsked {
	asked := homesAsked{}
	for _, home := range region.All() {
		one := &homeAsked{done: make(chan struct{})}
		asked[home] = one
		go func() {
			defer close(one.done)
			one.status, one.err = h.store.Status(ctx, home)
			if ctx.Err() == nil { // otherwise the server is stopping, which says nothing about the home
				h.put(home, one.status, one.err)
			}
		}()
	}
	return asked
}

func (h *homeStates) put(home region.Code, status db.Status, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	state := h.known[home]
	if state.err = err; err == nil {
		state.status, state.asOf = status, h.now()
	}
	h.known[home] = state
}

// homesAsked are statements that ask the homes for their status. Several checks wait for each.
type homesAsked map[region.Code]*homeAsked

type homeAsked struct {
	done   chan struct{} // closed when the fields below are set
	status db.Status
	err    error
}

// status waits for the status of a home.
func (a homesAsked) status(ctx context.Context, home region.Code) (db.Status, error) {
	one := a[home]
	select {
	case <-one.done:
		return one.status, one.err
	case <-ctx.Done():
		return db.Status{}, ctx.Err()
	}
}

// respond waits for the status of a home and returns nil if the home has answered.
func (a homesAsked) respond(ctx context.Context, home region.Code) error {
	_, err := a.status(ctx, home)
	return err
}
