package ratelimit

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/region"
)

// Usage is what a server admitted for a key since it last shared that.
type Usage struct {
	Key       Key
	Taken     int
	PerSecond float64 // the rate at which the usage declines
}

// Exchange adds usages to those in a home and returns the sums over all servers, declined until now, in the same order.
type Exchange func(ctx context.Context, home region.Code, usages []Usage) (levels []float64, err error)

// Intervals and limits of Share. Exchange has its own time limit.
const (
	shareEvery = 25 * time.Millisecond // at most; collects the keys of many users
	shareRetry = time.Second           // after an error
	shareBatch = 500
)

// Share exchanges the usage of keys of a home with the other servers until ctx is done. It does nothing while no key uses
// a notable part of its bucket. failed receives errors; the usage is then shared later.
func (l *Limiter) Share(ctx context.Context, home region.Code, exchange Exchange, failed func(error)) {
	l.setShares(home, true)
	defer l.setShares(home, false)
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake[home]:
		}
		pause, urgent := shareEvery, l.urgent[home]
		err := l.shareOnce(ctx, home, exchange)
		if err != nil && ctx.Err() == nil {
			failed(err)
			pause, urgent = shareRetry, nil
		}
		l.setShares(home, err == nil)
		select {
		case <-ctx.Done():
			return
		case <-urgent:
		case <-time.After(pause):
		}
	}
}

// setShares records whether the usage of keys of a home can be shared. If it cannot, no request waits for that.
func (l *Limiter) setShares(home region.Code, shares bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shares[home] = shares
	if shares {
		return
	}
	for _, b := range l.pending[home] {
		b.endWait()
	}
}

// shareOnce shares the usage of at most shareBatch keys.
func (l *Limiter) shareOnce(ctx context.Context, home region.Code, exchange Exchange) error {
	usages := l.collect(home)
	if len(usages) == 0 {
		return nil
	}
	levels, err := exchange(ctx, home, usages)
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, usage := range usages {
		b, ok := l.buckets[usage.Key.Kind].Peek(usage.Key)
		if !ok {
			continue
		}
		b.sharing = 0
		if err != nil {
			b.unshared += usage.Taken
			l.markPending(usage.Key, b, l.now())
		} else {
			b.lower(l.now(), levels[i])
		}
		b.endWait()
	}
	return err
}

// collect returns the usages to share next.
func (l *Limiter) collect(home region.Code) []Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	var usages []Usage
	for key, b := range l.pending[home] {
		if len(usages) == shareBatch {
			signal(l.wake[home]) // for the others
			break
		}
		usages = append(usages, Usage{Key: key, Taken: b.unshared, PerSecond: b.limit.perSecond()})
		b.sharing, b.unshared = b.unshared, 0
		delete(l.pending[home], key)
	}
	return usages
}

// lower takes what other servers admitted from the bucket: level is the usage of all servers, without what this server
// has admitted since.
func (b *bucket) lower(now time.Time, level float64) {
	excess := int(b.tokens.TokensAt(now) - (float64(b.limit.Requests-b.unshared) - level))
	for excess > 0 {
		n := min(excess, b.limit.Requests)
		b.tokens.ReserveN(now, n) // may leave less than nothing, which is refilled first
		excess -= n
	}
}
