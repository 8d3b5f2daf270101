package db

import "sync"

// breaker is a circuit breaker: while it is open, calls to the home fail without being sent. A background probe, not a
// caller, finds out when the home is reachable again.
type breaker struct {
	mu      sync.Mutex
	open    bool
	probing bool
}

// allow reports whether the breaker is closed.
func (b *breaker) allow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.open
}

// success closes the breaker.
func (b *breaker) success() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = false
}

// failure opens the breaker and reports whether the caller must start the probe.
func (b *breaker) failure() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	start := !b.probing
	b.open, b.probing = true, true
	return start
}

// keepProbing reports whether the breaker is still open. If it is not, the probe is marked as stopped.
func (b *breaker) keepProbing() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = b.open
	return b.open
}
