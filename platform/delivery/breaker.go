package delivery

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/network"
)

// breaker keeps a webhook from attempts with every event while its receiver answers none of several.
type breaker struct {
	failures int // rounds in which events of several objects failed and none succeeded
	until    time.Time
}

const (
	// probes is the number of objects of a round after a failure.
	probes = 2
	// maxPause is the longest time between two rounds after failures.
	maxPause = time.Minute
)

// limit returns the number of objects of the next round.
func (b *breaker) limit(now time.Time) int {
	switch {
	case b.failures == 0:
		return dueLimit
	case now.Before(b.until):
		return 0
	}
	return probes
}

// observe takes the results of a round into account.
func (b *breaker) observe(attempted []chain, now time.Time) {
	for _, c := range attempted {
		if c[0].State == network.DeliveryDelivered {
			*b = breaker{}
			return
		}
	}
	if len(attempted) < probes && b.failures == 0 {
		return // it can be the event
	}
	b.failures++
	b.until = now.Add(min(time.Second<<min(b.failures-1, 6), maxPause))
}
