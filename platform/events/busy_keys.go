package events

import (
	"sync"

	"github.com/plaza-social/plaza/platform/region"
)

// busyKeys are the keys whose rows this server is delivering. There is one delivery of each key at a time.
type busyKeys struct {
	mu   sync.Mutex
	keys map[busyKey]bool // whether rows were committed during the delivery
}

type busyKey struct {
	home region.Code
	key  string
}

// start reports whether the caller may deliver the rows of a key, and must call finish afterwards. Otherwise the delivery in progress
// goes on with the rows that the caller has committed.
func (b *busyKeys) start(home region.Code, key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, busy := b.keys[busyKey{home, key}]; busy {
		b.keys[busyKey{home, key}] = true
		return false
	}
	if b.keys == nil {
		b.keys = map[busyKey]bool{}
	}
	b.keys[busyKey{home, key}] = false
	return true
}

// finish ends a delivery. It reports false if rows were committed during it: the caller must then deliver these and call finish again.
func (b *busyKeys) finish(home region.Code, key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.keys[busyKey{home, key}] {
		b.keys[busyKey{home, key}] = false
		return false
	}
	delete(b.keys, busyKey{home, key})
	return true
}
