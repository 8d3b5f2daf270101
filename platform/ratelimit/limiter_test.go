package ratelimit_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/plaza-social/plaza/platform/ratelimit"
	"github.com/plaza-social/plaza/platform/region"
)

// patience is how long tests wait for what must happen. Only a test that fails waits that long.
const patience = 2 * time.Minute

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a time that tests advance.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

var (
	alice = ratelimit.Key{Kind: ratelimit.Users, Home: region.EU, ID: "alice"}
	bob   = ratelimit.Key{Kind: ratelimit.Users, Home: region.EU, ID: "bob"}
	ten   = ratelimit.Limit{Requests: 10, Per: 5 * time.Second}
)

// admitted returns how many of n requests are allowed.
func admitted(l *ratelimit.Limiter, key ratelimit.Key, n int) int {
	allowed := 0
	for range n {
		if l.Take(key, ten).Allowed {
			allowed++
		}
	}
	return allowed
}

func TestTake(t *testing.T) {
	t.Parallel()
	c := newClock()
	l := ratelimit.New(100, c.Now)
	first := l.Take(alice, ten)
	require.Equal(t, ratelimit.State{Limit: ten, Allowed: true, Remaining: 9, Reset: 500 * time.Millisecond}, first)
	require.Equal(t, 9, admitted(l, alice, 9), "at the limit")
	refused := l.Take(alice, ten)
	require.Equal(t, ratelimit.State{Limit: ten, Reset: 5 * time.Second, RetryAfter: 500 * time.Millisecond}, refused)
	require.Equal(t, 10, admitted(l, bob, 11), "another key has a bucket of its own")
	c.advance(500 * time.Millisecond)
	require.Equal(t, 1, admitted(l, alice, 5), "refilled with two requests per second")
	c.advance(time.Hour)
	require.Equal(t, 10, admitted(l, alice, 20), "never more than the limit at once")
}

func TestTakeWithoutLimit(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(1, newClock().Now)
	for range 100 {
		require.Equal(t, ratelimit.State{Allowed: true}, l.Take(alice, ratelimit.Limit{}))
		require.Equal(t, ratelimit.State{Allowed: true}, l.Admit(t.Context(), alice, ratelimit.Limit{}))
		require.Equal(t, ratelimit.State{Allowed: true}, l.AdmitSpare(t.Context(), alice, ratelimit.Limit{}))
	}
}

func TestTakeAfterAChangeOfTheLimit(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(10, newClock().Now)
	require.Equal(t, 10, admitted(l, alice, 11))
	require.Equal(t, 1, l.Take(alice, ratelimit.Limit{Requests: 2, Per: time.Second}).Remaining)
}

// TestBucketsAreBounded checks that the least recently used bucket is forgotten first, and only among those of its kind.
func TestBucketsAreBounded(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(3, newClock().Now)
	require.Equal(t, 10, admitted(l, alice, 11))
	for i := range 2 {
		l.Take(ratelimit.Key{Kind: ratelimit.Users, ID: strconv.Itoa(i)}, ten)
	}
	for i := range 100 {
		l.Take(ratelimit.Key{Kind: ratelimit.WrongCredentials, ID: strconv.Itoa(i)}, ten)
	}
	require.False(t, l.Take(alice, ten).Allowed, "at the limit of buckets")
	for i := range 3 {
		l.Take(ratelimit.Key{Kind: ratelimit.Users, ID: strconv.Itoa(i)}, ten)
	}
	require.True(t, l.Take(alice, ten).Allowed, "one past it")
}

// shared is the usage that servers share, without a decline.
type shared struct {
	mu     sync.Mutex
	levels map[ratelimit.Key]float64
	calls  int
	err    error
	done   chan struct{} // receives after each exchange
}

func (s *shared) exchange(_ context.Context, home region.Code, usages []ratelimit.Usage) ([]float64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.done <- struct{}{} }()
	s.calls++
	if s.err != nil {
		return nil, s.err
	}
	var levels []float64
	for _, u := range usages {
		if u.Key.Home != home || u.PerSecond != 2 {
			return nil, errors.New("a usage of another home or rate")
		}
		s.levels[u.Key] += float64(u.Taken)
		levels = append(levels, s.levels[u.Key])
	}
	return levels, nil
}

// share starts sharing until the test ends.
func (s *shared) share(t *testing.T, l *ratelimit.Limiter) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var g sync.WaitGroup
	g.Go(func() { l.Share(ctx, region.EU, s.exchange, func(error) {}) })
	t.Cleanup(func() { cancel(); g.Wait() })
}

// TestShare checks that what one server admits is taken from the buckets of the other.
func TestShare(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := &shared{levels: map[ratelimit.Key]float64{}, done: make(chan struct{}, 100)}
	one, other := ratelimit.New(10, c.Now), ratelimit.New(10, c.Now)
	s.share(t, one)
	require.Equal(t, 6, admitted(one, alice, 6))
	require.Eventually(t, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.levels[alice] == 6 }, patience, time.Millisecond)
	s.share(t, other)
	require.Equal(t, 1, admitted(other, alice, 1))
	require.Eventually(t, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.levels[alice] == 7 }, patience, time.Millisecond)
	require.Eventually(t, func() bool { return other.Take(alice, ten).Remaining < 3 }, patience, 20*time.Millisecond)
	require.LessOrEqual(t, 7+admitted(other, alice, 20), 11)
}

// TestShareAfterAnError checks that errors do not limit requests and that no usage is lost.
func TestShareAfterAnError(t *testing.T) {
	t.Parallel()
	s := &shared{levels: map[ratelimit.Key]float64{}, done: make(chan struct{}, 100), err: errors.New("broken")}
	l := ratelimit.New(10, newClock().Now)
	require.Equal(t, 4, admitted(l, alice, 4))
	s.share(t, l)
	<-s.done
	require.Equal(t, 6, admitted(l, alice, 7), "this server's limit applies alone")
	s.mu.Lock()
	s.err = nil
	s.mu.Unlock()
	<-s.done
	s.mu.Lock()
	defer s.mu.Unlock()
	require.InDelta(t, 10, s.levels[alice], 0)
}

// TestShareWhileIdle checks that nothing is exchanged for keys that use little of their bucket.
func TestShareWhileIdle(t *testing.T) {
	t.Parallel()
	s := &shared{levels: map[ratelimit.Key]float64{}, done: make(chan struct{}, 100)}
	l := ratelimit.New(10, newClock().Now)
	hundred := ratelimit.Limit{Requests: 100, Per: 50 * time.Second}
	for range 4 {
		l.Take(alice, hundred)
	}
	l.Take(bob, ten) // its bucket is so small that one request is notable
	s.share(t, l)
	<-s.done
	require.NotContains(t, s.levels, alice)
	l.Take(alice, hundred)
	<-s.done
	require.Equal(t, map[ratelimit.Key]float64{alice: 5, bob: 1}, s.levels)
}

// TestAdmitAtSeveralServers sends requests of a user to three servers at once, each of which would admit 100 alone.
func TestAdmitAtSeveralServers(t *testing.T) {
	t.Parallel()
	const servers, parallel, each = 3, 8, 100
	hundred := ratelimit.Limit{Requests: 100, Per: 50 * time.Second}
	s := &shared{levels: map[ratelimit.Key]float64{}, done: make(chan struct{}, servers*parallel*each)}
	var limiters []*ratelimit.Limiter
	for range servers {
		l := ratelimit.New(10, newClock().Now)
		s.share(t, l)
		l.Take(bob, ten)
		<-s.done // Share has begun
		limiters = append(limiters, l)
	}
	var allowed atomic.Int64
	var g sync.WaitGroup
	for _, l := range limiters {
		for range parallel {
			g.Go(func() {
				for range each {
					if l.Admit(t.Context(), alice, hundred).Allowed {
						allowed.Add(1)
					}
				}
			})
		}
	}
	g.Wait()
	require.GreaterOrEqual(t, allowed.Load(), int64(100))
	require.LessOrEqual(t, allowed.Load(), int64(100+(servers-1)*5), "each server may admit a twentieth that it has not shared")
}

// TestAdmitWithoutExchange checks that a request does not wait while exchanges fail, when its context is done, or after Share has ended.
func TestAdmitWithoutExchange(t *testing.T) {
	t.Parallel()
	s := &shared{levels: map[ratelimit.Key]float64{}, done: make(chan struct{}, 1000), err: errors.New("broken")}
	l := ratelimit.New(10, newClock().Now)
	s.share(t, l)
	l.Take(bob, ten)
	<-s.done
	for range 10 {
		require.True(t, l.Admit(t.Context(), alice, ten).Allowed)
	}
	require.False(t, l.Admit(t.Context(), alice, ten).Allowed)

	slow := ratelimit.New(10, newClock().Now)
	ctx, cancel := context.WithCancel(t.Context())
	entered := make(chan struct{})
	enter := sync.OnceFunc(func() { close(entered) })
	var g sync.WaitGroup
	g.Go(func() {
		slow.Share(ctx, region.EU, func(ctx context.Context, _ region.Code, _ []ratelimit.Usage) ([]float64, error) {
			enter()
			<-ctx.Done()
			return nil, ctx.Err()
		}, func(error) {})
	})
	require.True(t, slow.Admit(t.Context(), alice, ten).Allowed)
	<-entered
	gone, leave := context.WithCancel(t.Context())
	leave()
	require.True(t, slow.Admit(gone, alice, ten).Allowed, "the client has gone")
	g.Go(func() {
		if !slow.Admit(t.Context(), alice, ten).Allowed {
			t.Error("refused after the end of Share")
		}
	})
	cancel()
	g.Wait()
	require.True(t, slow.Admit(t.Context(), alice, ten).Allowed)
}

// TestLastRequestWaitsForTheExchange admits the last request of a bucket only once it is known that no other server has admitted it.
func TestLastRequestWaitsForTheExchange(t *testing.T) {
	t.Parallel()
	for others, allowed := range map[int]bool{0: true, 1: false} {
		synctest.Test(t, func(t *testing.T) {
			l := ratelimit.New(10, newClock().Now)
			require.Equal(t, 9, admitted(l, alice, 9))
			ctx, cancel := context.WithCancel(t.Context())
			answer := make(chan struct{})
			go l.Share(ctx, region.EU, func(context.Context, region.Code, []ratelimit.Usage) ([]float64, error) {
				<-answer
				return []float64{float64(9 + others)}, nil
			}, func(error) {})
			synctest.Wait()
			var last *ratelimit.State
			go func() {
				state := l.Admit(ctx, alice, ten)
				last = &state
			}()
			synctest.Wait()
			require.Nil(t, last, "the request waits")
			close(answer)
			synctest.Wait()
			require.NotNil(t, last)
			require.Equal(t, allowed, last.Allowed, "%d of others", others)
			cancel()
		})
	}
}

// TestForgottenWhileARequestWaits checks that a request does not wait for the exchange of a bucket that was forgotten.
func TestForgottenWhileARequestWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := ratelimit.New(1, newClock().Now)
		require.Equal(t, 9, admitted(l, alice, 9))
		ctx, cancel := context.WithCancel(t.Context())
		go l.Share(ctx, region.EU, func(ctx context.Context, _ region.Code, _ []ratelimit.Usage) ([]float64, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, func(error) {})
		synctest.Wait()
		var waiting *ratelimit.State
		go func() {
			state := l.Admit(ctx, alice, ten)
			waiting = &state
		}()
		synctest.Wait()
		require.Nil(t, waiting)
		l.Take(bob, ten)
		synctest.Wait()
		require.NotNil(t, waiting)
		require.True(t, waiting.Allowed, "its bucket is new")
		cancel()
	})
}

// TestUrgentExchange checks that a request which waits for an exchange does not also wait for the interval between two of them.
func TestUrgentExchange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := ratelimit.New(10, time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		go l.Share(ctx, region.EU, func(_ context.Context, _ region.Code, all []ratelimit.Usage) ([]float64, error) {
			return make([]float64, len(all)), nil
		}, func(error) {})
		l.Take(bob, ten)
		synctest.Wait() // for the first exchange
		for range 3 {
			require.True(t, l.Admit(ctx, alice, ten).Allowed)
		}
		require.Zero(t, time.Since(start))
		cancel()
	})
}

// TestAdmitSpare leaves half of a bucket to other requests.
func TestAdmitSpare(t *testing.T) {
	t.Parallel()
	c := newClock()
	l := ratelimit.New(10, c.Now)
	for range 5 {
		require.True(t, l.AdmitSpare(t.Context(), alice, ten).Allowed)
	}
	state := l.AdmitSpare(t.Context(), alice, ten)
	require.False(t, state.Allowed)
	require.Equal(t, 500*time.Millisecond, state.RetryAfter)
	require.True(t, l.Take(alice, ten).Allowed)
	c.advance(time.Second)
	require.True(t, l.AdmitSpare(t.Context(), alice, ten).Allowed, "refilled")
	require.False(t, l.AdmitSpare(t.Context(), alice, ten).Allowed)
}

// TestTakeSeveral takes several requests at once: all of them or none.
func TestTakeSeveral(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(10, newClock().Now)
	require.Equal(t, 4, l.TakeN(alice, ten, 6).Remaining)
	refused := l.TakeN(alice, ten, 5)
	require.Equal(t, []any{false, 4}, []any{refused.Allowed, refused.Remaining})
	require.True(t, l.TakeN(alice, ten, 4).Allowed)
}

// usages returns what a limiter shares when its sharing begins.
func usages(t *testing.T, l *ratelimit.Limiter) map[string]int {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	found := map[string]int{}
	l.Share(ctx, region.EU, func(_ context.Context, _ region.Code, all []ratelimit.Usage) ([]float64, error) {
		defer cancel()
		for _, u := range all {
			found[u.Key.ID] = u.Taken
		}
		return make([]float64, len(all)), nil
	}, func(error) {})
	return found
}

// TestUsageToShare checks that a usage is shared unless it was refilled already, or its bucket was forgotten or has got another limit.
func TestUsageToShare(t *testing.T) {
	t.Parallel()
	c := newClock()
	l := ratelimit.New(2, c.Now)
	key := func(id string) ratelimit.Key { return ratelimit.Key{Kind: ratelimit.Users, Home: region.EU, ID: id} }
	require.Equal(t, 6, admitted(l, key("refilled"), 6))
	c.advance(time.Hour)
	require.Equal(t, 2, admitted(l, key("refilled"), 2))
	require.Equal(t, 3, admitted(l, key("forgotten"), 3))
	l.Take(key("refilled"), ten) // used more recently
	require.Equal(t, 5, admitted(l, key("changed"), 5))
	l.Take(key("changed"), ratelimit.Limit{Requests: 100, Per: 50 * time.Second}) // too little of it to be shared
	require.Equal(t, map[string]int{"refilled": 3}, usages(t, l))
}

// TestOthersAreSubtracted has a server admit requests during an exchange: what other servers have admitted is taken from the rest.
func TestOthersAreSubtracted(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(10, newClock().Now)
	require.Equal(t, 3, admitted(l, alice, 3))
	ctx, cancel := context.WithCancel(t.Context())
	l.Share(ctx, region.EU, func(_ context.Context, _ region.Code, all []ratelimit.Usage) ([]float64, error) {
		defer cancel()
		require.Len(t, all, 1)
		require.Equal(t, 2, admitted(l, alice, 2))
		return []float64{3 + 2}, nil // 2 of others
	}, func(error) {})
	require.Equal(t, 2, l.Take(alice, ten).Remaining, "of 10, without 6 of this server and 2 of others")
}

// TestNotableDuringAnExchange admits requests of two keys during an exchange: only those that are a notable part of a bucket, which has
// what is being shared, are in the next one.
func TestNotableDuringAnExchange(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(10, newClock().Now)
	hundred := ratelimit.Limit{Requests: 100, Per: 50 * time.Second}
	require.True(t, l.TakeN(alice, hundred, 50).Allowed)
	ctx, cancel := context.WithCancel(t.Context())
	var exchanges []map[string]int
	l.Share(ctx, region.EU, func(_ context.Context, _ region.Code, all []ratelimit.Usage) ([]float64, error) {
		found := map[string]int{}
		levels := make([]float64, len(all))
		for i, u := range all {
			found[u.Key.ID], levels[i] = u.Taken, float64(u.Taken)
		}
		if exchanges = append(exchanges, found); len(exchanges) == 2 {
			cancel()
			return levels, nil
		}
		require.True(t, l.TakeN(alice, hundred, 4).Allowed)
		require.Equal(t, 1, admitted(l, bob, 1))
		return levels, nil
	}, func(error) {})
	require.Equal(t, []map[string]int{{"alice": 50}, {"bob": 1}}, exchanges)
}

// TestForgottenDuringAnExchange has most buckets of an exchange forgotten before it ends: what other servers have admitted is taken from
// the one that is left.
func TestForgottenDuringAnExchange(t *testing.T) {
	t.Parallel()
	const forgotten = 100
	l := ratelimit.New(forgotten+1, newClock().Now)
	key := func(n int) ratelimit.Key {
		return ratelimit.Key{Kind: alice.Kind, Home: alice.Home, ID: strconv.Itoa(n)}
	}
	for n := range forgotten {
		require.True(t, l.Take(key(n), ten).Allowed)
	}
	require.True(t, l.Take(alice, ten).Allowed)
	ctx, cancel := context.WithCancel(t.Context())
	l.Share(ctx, region.EU, func(_ context.Context, _ region.Code, all []ratelimit.Usage) ([]float64, error) {
		defer cancel()
		levels := make([]float64, len(all))
		for i, u := range all {
			levels[i] = float64(u.Taken + 4) // 4 of others
		}
		for n := range forgotten {
			l.Take(key(forgotten+n), ten)
		}
		return levels, nil
	}, func(error) {})
	require.Equal(t, 4, l.Take(alice, ten).Remaining, "of 10, without 2 of this server and 4 of others")
}

// TestPaceOfExchanges checks that usages are shared a batch at a time, at intervals, and an error is reported and followed by a pause.
func TestPaceOfExchanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := ratelimit.New(2000, time.Now)
		for i := range 1100 {
			l.Take(ratelimit.Key{Kind: ratelimit.Users, Home: region.EU, ID: strconv.Itoa(i)}, ten)
		}
		ctx, cancel := context.WithCancel(t.Context())
		start, broken := time.Now(), errors.New("broken")
		var sizes []int
		var at []time.Duration
		var failures []error
		l.Share(ctx, region.EU, func(_ context.Context, _ region.Code, all []ratelimit.Usage) ([]float64, error) {
			sizes, at = append(sizes, len(all)), append(at, time.Since(start))
			if len(sizes) == 2 {
				return nil, broken
			}
			if len(sizes) == 4 {
				cancel()
			}
			return make([]float64, len(all)), nil
		}, func(err error) { failures = append(failures, err) })
		require.Equal(t, []int{500, 500, 500, 100}, sizes)
		const interval, pause = 25 * time.Millisecond, time.Second
		require.Equal(t, []time.Duration{0, interval, interval + pause, interval + pause + interval}, at)
		require.Equal(t, []error{broken}, failures)
	})
}
