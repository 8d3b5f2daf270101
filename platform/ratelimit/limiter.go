package ratelimit

import (
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
	Users            Kind = "user"             // all requests of a user
	SessionAddresses Kind = "session_address"  // sessions created from an address
	SessionKeys      Kind = "session_api_key"  // sessions created with an API key
	WrongCredentials Kind = "wrong_credential" //nolint:gosec // from an address; not a credential
	Downloads        Kind = "download_address" // downloads without a token from an address
	Exempt           Kind = "exempt"           // requests of administrators and server keys, which are never refused
)

// Kinds returns every kind.
func Kinds() []Kind {
	return []Kind{Users, SessionAddresses, SessionKeys, WrongCredentials, Downloads, Exempt}
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

// sharedParts is the number of parts of a bucket after each of which its usage is shared with the other servers.
const sharedParts = 8

// Limiter holds the buckets of one server. Of each kind it keeps a bounded number; the least recently used bucket is
// forgotten first, which makes it full again. It is safe for concurrent use.
type Limiter struct {
	now func() time.Time

	mu      sync.Mutex
	buckets map[Kind]*simplelru.LRU[Key, *bucket]
	pending map[region.Code]map[Key]*bucket // whose usage is to be shared, by home
	wake    map[region.Code]chan struct{}
}

// bucket is a token bucket.
type bucket struct {
	limit    Limit
	tokens   *rate.Limiter
	unshared int // requests that were allowed since the usage was last shared
}

// New returns a Limiter with the given number of buckets of each kind.
func New(buckets int, now func() time.Time) *Limiter {
	l := &Limiter{
		now: now, buckets: map[Kind]*simplelru.LRU[Key, *bucket]{},
		pending: map[region.Code]map[Key]*bucket{}, wake: map[region.Code]chan struct{}{},
	}
	for _, kind := range Kinds() {
		lru, err := simplelru.NewLRU(buckets, func(key Key, _ *bucket) { delete(l.pending[key.Home], key) })
		if err != nil {
			panic(err) // buckets is not positive
		}
		l.buckets[kind] = lru
	}
	for _, home := range region.All() {
		l.pending[home], l.wake[home] = map[Key]*bucket{}, make(chan struct{}, 1)
	}
	return l
}

// Take takes a request from the bucket of key and reports whether it is allowed.
func (l *Limiter) Take(key Key, limit Limit) State {
	if limit.IsOff() {
		return State{Allowed: true}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.bucket(key, limit)
	allowed := b.tokens.AllowN(now, 1)
	if allowed {
		b.countUnshared(now)
		l.markPending(key, b)
	}
	return b.state(now, allowed)
}

// bucket returns the bucket of key. A bucket with another limit is replaced.
func (l *Limiter) bucket(key Key, limit Limit) *bucket {
	if b, ok := l.buckets[key.Kind].Get(key); ok && b.limit == limit {
		return b
	}
	b := &bucket{limit: limit, tokens: rate.NewLimiter(rate.Limit(limit.perSecond()), limit.Requests)}
	delete(l.pending[key.Home], key)
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

// countUnshared counts an allowed request. What was refilled already need not be shared any more.
func (b *bucket) countUnshared(now time.Time) {
	used := float64(b.limit.Requests) - b.tokens.TokensAt(now)
	b.unshared = min(b.unshared+1, int(math.Ceil(used)))
}

// after returns the time in which the bucket is refilled by a number of tokens.
func (b *bucket) after(tokens float64) time.Duration {
	return time.Duration(math.Ceil(max(tokens, 0) / b.limit.perSecond() * float64(time.Second)))
}

// markPending schedules the usage of a bucket to be shared once it is notable.
func (l *Limiter) markPending(key Key, b *bucket) {
	pending, known := l.pending[key.Home]
	if !known || b.unshared < max(b.limit.Requests/sharedParts, 1) {
		return
	}
	pending[key] = b
	l.wakeUp(key.Home)
}

func (l *Limiter) wakeUp(home region.Code) {
	select {
	case l.wake[home] <- struct{}{}:
	default: // Share will run already
	}
}
