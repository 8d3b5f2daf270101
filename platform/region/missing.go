package region

import (
	"context"
	"slices"
	"sync"
)

// missing are the homes without whose rows a response is built.
type missing struct {
	mu    sync.Mutex
	homes []Code
}

type missingKey struct{}

// WithMissing returns a context in which Miss collects homes, and a function that returns these in the order of
// All.
func WithMissing(ctx context.Context) (context.Context, func() []Code) {
	m := &missing{}
	return context.WithValue(ctx, missingKey{}, m), func() []Code {
		m.mu.Lock()
		defer m.mu.Unlock()
		return slices.DeleteFunc(All(), func(code Code) bool { return !slices.Contains(m.homes, code) })
	}
}

// Miss records that the response is built without rows of a home, which did not answer.
func Miss(ctx context.Context, home Code) {
	m, ok := ctx.Value(missingKey{}).(*missing)
	if !ok {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.homes = append(m.homes, home)
}
