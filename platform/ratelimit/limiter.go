package ratelimit

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"

	"github.com/plaza-social/plaza/platform/region"
)

// Kind is what a bucket limits. It is a label of metrics.
type Kind string

// The kinds of buckets.
const (
	Users            Kind = "user"            // all requests of a user
	SessionAddresses Kind = "session_address" // sessions created from an address
	SessionKeys      Kind = "session_api_key" // sessions created with an API key
	WrongCredentials Kind = "wrong_credential"
	Downloads        Kind = "download_address" // downloads without a token from an address
	StoredAnswers    Kind = "stored_answer"    // KiB of answers that are stored for the idempotency keys of a user
	Exempt           Kind = "exempt"           // requests of administrators and server keys, which are never refused
)

// Kinds returns every kind.
func Kinds() []Kind {
	return []Kind{Users, SessionAddresses, SessionKeys, WrongCredentials, Downloads, StoredAnswers, Exempt}
}

// Key identifies a bucket.
type Key struct {
	Kind Kind
	Home region.Code // that stores the usage shared between servers
	ID   string
}

// State is the state of a bucket after a request.
type State struct {
	Limit      Limit
	Allowed    bool
	Remaining  int           // requests that would be allowed now
	Reset      time.Duration // until the bucket is full
	RetryAfter time.Duration // until the next request would be allowed; 0 if it is allowed now
}

// DefaultBuckets is the number of buckets of each kind that a Limiter keeps.
const DefaultBuckets = 1 << 16

// sharedParts is the number of parts of a bucket, one of which a server may admit before it knows what the other servers have admitted
// since: of 20 requests that are left, one. A user thus gets at most 1.1 times the limit at once from three servers.
const sharedParts = 20

// Limiter holds the buckets of one server. Of each kind it keeps a bounded number; the least recently used bucket is
// forgotten first, which makes it full again. It is safe for concurrent use.
type Limiter struct {
	now func() time.Time

	mu      sync.Mutex
	buckets map[Kind]*simplelru.LRU[Key, *bucket]
	pending map[region.Code]map[Key]*bucket // whose usage is to be shared, by home
	wake    map[region.Code]chan struct{}
	urgent  map[region.Code]chan struct{} // receives when a request waits for an exchange
	shares  map[region.Code]bool          // whether exchanges succeed; Admit waits for no others
}

// bucket is a token bucket.
type bucket struct {
	limit    Limit
	tokens   *rate.Limiter
	unshared int           // requests that were allowed since the usage was last shared
	sharing  int           // requests that are being shared
	shared   chan struct{} // closed after the next exchange; nil unless a request waits for it
}

// New returns a Limiter with the given number of buckets of each kind.
func New(buckets int, now func() time.Time) *Limiter {
	l := &Limiter{
		now: now, buckets: map[Kind]*simplelru.LRU[Key, *bucket]{},
		pending: map[region.Code]map[Key]*bucket{}, wake: map[region.Code]chan struct{}{},
		urgent: map[region.Code]chan struct{}{}, shares: map[region.Code]bool{},
	}
	for _, kind := range Kinds() {
		lru, err := simplelru.NewLRU(buckets, l.forget)
		if err != nil {
			panic(err) // buckets is not positive
		}
		l.buckets[kind] = lru
	}
	for _, home := range region.All() {
		l.pending[home], l.wake[home], l.urgent[home] = map[Key]*bucket{}, make(chan struct{}, 1), make(chan struct{}, 1)
	}
	return l
}

// Admit is Take for requests that other servers may receive at the same time: once this server has admitted a part of the bucket, it
// waits until it knows what the others have admitted. It waits for one exchange at a time, and for none while exchanges fail or when ctx
// is done.
func (l *Limiter) Admit(ctx context.Context, key Key, limit Limit) State {
	for {
		state, shared := l.takeShared(key, limit)
		if shared == nil {
			return state
		}
		select {
		case <-ctx.Done():
			return l.Take(key, limit)
		case <-shared:
		}
	}
}

// AdmitSpare is Admit, unless less than half of the bucket would be left: it leaves the rest to other requests of the key.
func (l *Limiter) AdmitSpare(ctx context.Context, key Key, limit Limit) State {
	if state := l.peek(key, limit); !state.Allowed {
		return state
	}
	return l.Admit(ctx, key, limit)
}

// peek returns the state of a bucket for AdmitSpare, without taking a request from it.
func (l *Limiter) peek(key Key, limit Limit) State {
	if limit.IsOff() {
		return State{Allowed: true}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b, now := l.bucket(key, limit), l.now()
	missing := float64(limit.Requests/2+1) - b.tokens.TokensAt(now)
	state := b.state(now, missing <= 0)
	state.RetryAfter = b.after(missing)
	return state
}

// Take takes a request from the bucket of key and reports whether it is allowed.
func (l *Limiter) Take(key Key, limit Limit) State { return l.TakeN(key, limit, 1) }

// TakeN is Take for n requests, all of which are allowed or none.
func (l *Limiter) TakeN(key Key, limit Limit, n int) State {
	if limit.IsOff() {
		return State{Allowed: true}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.take(key, l.bucket(key, limit), n)
}

// takeShared is Take, unless the usage must be shared before: then it returns what is closed after the next exchange.
func (l *Limiter) takeShared(key Key, limit Limit) (State, <-chan struct{}) {
	if limit.IsOff() {
		return State{Allowed: true}, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b, now := l.bucket(key, limit), l.now()
	if !l.shares[key.Home] || b.tokens.TokensAt(now) < 1 || b.unshared+b.sharing < b.part(now) {
		return l.take(key, b, 1), nil
	}
	if b.shared == nil {
		b.shared = make(chan struct{})
	}
	if b.sharing == 0 {
		l.pending[key.Home][key] = b
		signal(l.wake[key.Home])
		signal(l.urgent[key.Home])
	}
	return State{}, b.shared
}

// take takes n requests from a bucket. The caller must hold mu.
func (l *Limiter) take(key Key, b *bucket, n int) State {
	now := l.now()
	allowed := b.tokens.AllowN(now, n)
	if allowed {
		b.countUnshared(now, n)
		l.markPending(key, b, now)
	}
	return b.state(now, allowed)
}

// forget ends the use of a bucket. The caller must hold mu.
func (l *Limiter) forget(key Key, b *bucket) {
	delete(l.pending[key.Home], key)
	b.endWait()
}

// endWait lets the requests go on that wait for an exchange.
func (b *bucket) endWait() {
	if b.shared != nil {
		close(b.shared)
		b.shared = nil
	}
}

// part returns how many requests may be allowed before the usage is shared.
func (b *bucket) part(now time.Time) int {
	left := b.tokens.TokensAt(now) + float64(b.unshared+b.sharing)
	return max(int(left)/sharedParts, 1)
}

// bucket returns the bucket of key. A bucket with another limit is replaced.
func (l *Limiter) bucket(key Key, limit Limit) *bucket {
	b, ok := l.buckets[key.Kind].Get(key)
	if ok && b.limit == limit {
		return b
	}
	if ok {
		l.forget(key, b)
	}
	b = &bucket{limit: limit, tokens: rate.NewLimiter(rate.Limit(limit.perSecond()), limit.Requests)}
	l.buckets[key.Kind].Add(key, b)
	return b
}

func (b *bucket) state(now time.Time, allowed bool) State {
	tokens := b.tokens.TokensAt(now)
	return State{
		Limit: b.limit, Allowed: allowed, Remaining: max(int(tokens), 0),
		Reset:      b.after(float64(b.limit.Requests) - tokens),
		RetryAfter: b.after(1 - tokens),
	}
}

// countUnshared counts n allowed requests. What was refilled already need not be shared any more.
func (b *bucket) countUnshared(now time.Time, n int) {
	used := float64(b.limit.Requests) - b.tokens.TokensAt(now)
	b.unshared = min(b.unshared+n, int(math.Ceil(used)))
}

// after returns the time in which the bucket is refilled by a number of tokens.
func (b *bucket) after(tokens float64) time.Duration {
	return time.Duration(math.Ceil(max(tokens, 0) / b.limit.perSecond() * float64(time.Second)))
}

// markPending schedules the usage of a bucket to be shared once it is notable.
func (l *Limiter) markPending(key Key, b *bucket, now time.Time) {
	pending, known := l.pending[key.Home]
	if !known || b.unshared < b.part(now) {
		return
	}
	pending[key] = b
	signal(l.wake[key.Home])
}

// signal makes a channel receive, unless it will already.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
