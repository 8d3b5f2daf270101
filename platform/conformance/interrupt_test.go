package conformance

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/store/db"
)

// guards stops one transaction before it is sent, and notes the conditions that make transactions fail.
type guards struct {
	mu     sync.Mutex
	next   *stop
	failed []refusal
}

// refusal is a condition that made a transaction fail.
type refusal struct {
	// statement is the name of the statement.
	statement string
	// places are the lines of code that queued it, from the innermost call outwards, such as "service/post/flag.go:37".
	places []string
}

// stop is a transaction that waits before it is sent.
type stop struct {
	at               func(place string) bool
	reached, resumed chan struct{}
}

// sent is called before each transaction of the network is sent.
func (g *guards) sent(sent []db.Queued) {
	if s := g.take(sent); s != nil {
		close(s.reached)
		<-s.resumed
	}
}

// take returns the stop that is set, once, if the transaction has a condition at its place.
func (g *guards) take(sent []db.Queued) *stop {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next == nil || !slices.ContainsFunc(sent, func(q db.Queued) bool { return slices.ContainsFunc(linesOf(q), g.next.at) }) {
		return nil
	}
	s := g.next
	g.next = nil
	return s
}

// refuse notes a condition that made a transaction fail.
func (g *guards) refuse(q db.Queued) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed = append(g.failed, refusal{q.Statement.Name, linesOf(q)})
}

// begin sets the stop for the next transaction with a condition at a place.
func (g *guards) begin(at func(place string) bool) *stop {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed = nil
	g.next = &stop{at, make(chan struct{}), make(chan struct{})}
	return g.next
}

// end removes the stop, unless a transaction has reached it.
func (g *guards) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next = nil
}

// interrupt calls change between what request reads and the transaction that depends on it: the first one with a condition that was
// queued at the place waits before it is sent, until change returns. It returns the conditions that made a transaction fail in the
// meantime. It must not be called concurrently.
func (g *guards) interrupt(t testing.TB, at func(place string) bool, request, change func()) []refusal {
	t.Helper()
	s := g.begin(at)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		request()
	}()
	defer func() { <-answered }() // also if the test fails
	defer g.end()
	select {
	case <-s.reached:
	case <-answered:
		require.Fail(t, "the request was answered before a transaction with the condition")
	case <-time.After(apptest.Patience):
		require.Fail(t, "no transaction with the condition")
	}
	func() {
		defer close(s.resumed)
		change()
	}()
	<-answered
	return g.refusals()
}

// refusals returns the conditions that made a transaction fail since the last call of interrupt began.
func (g *guards) refusals() []refusal {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.failed)
}

// sources is the folder of the platform in the paths of source files.
const sources = "/platform/"

// linesOf returns the lines of code that queued a condition.
func linesOf(q db.Queued) []string {
	if len(q.Callers) == 0 {
		return nil
	}
	var places []string
	frames := runtime.CallersFrames(q.Callers)
	for {
		frame, more := frames.Next()
		if i := strings.LastIndex(frame.File, sources); i >= 0 {
			places = append(places, fmt.Sprintf("%s:%d", frame.File[i+len(sources):], frame.Line))
		}
		if !more {
			return places
		}
	}
}
