package app

import (
	"context"
	"errors"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
)

// maxHeldRequests is the maximum number of requests of a server that wait for moves. More are refused.
const maxHeldRequests = 1000

// moving makes requests wait while the rows that they concern move to another home, which takes a second or two. A request
// that was refused because of a move runs again when it has ended, unless it has changed something before.
type moving struct {
	store *store.Store
	held  chan struct{} // has one for each request that waits
}

func newMoving(s *store.Store) *moving {
	return &moving{store: s, held: make(chan struct{}, maxHeldRequests)}
}

func (m *moving) intercept(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		if !m.store.Routes().Unfinished() {
			return m.once(ctx, request, next)
		}
		until, cancel := context.WithTimeout(ctx, m.store.Limits().HoldMoving)
		defer cancel()
		if caller := auth.CallerFrom(ctx).UserID; m.store.Routes().InTransit(caller) {
			m.wait(until, caller)
		}
		message, _ := request.Any().(proto.Message)
		original := proto.Clone(message) // operations change the message
		for {
			attempt, end := m.store.WithAttempt(ctx)
			response, err := next(attempt, request)
			moving, ok := errors.AsType[*db.MovingError](err)
			if end() || !ok || original == nil || !m.wait(until, moving.UserID) {
				return response, err
			}
			proto.Reset(message)
			proto.Merge(message, original)
		}
	}
}

// once runs a request that does not run again.
func (m *moving) once(ctx context.Context, request connect.AnyRequest, next connect.UnaryFunc) (connect.AnyResponse, error) {
	attempt, end := m.store.WithAttempt(ctx)
	defer end()
	return next(attempt, request)
}

// wait waits until the rows of a user can be written, and reports whether they can.
func (m *moving) wait(ctx context.Context, userID string) bool {
	ok, changed := m.store.Routes().Writable(userID)
	switch {
	case ok:
		return ctx.Err() == nil
	case defence.Off(defence.HeldRequests):
		return false
	}
	select {
	case m.held <- struct{}{}:
	default:
		return false
	}
	defer func() { <-m.held }()
	for !ok {
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		}
		ok, changed = m.store.Routes().Writable(userID)
	}
	return true
}
