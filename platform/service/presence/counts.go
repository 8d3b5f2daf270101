package presence

import (
	"maps"
	"sync"
	"time"
)

// Bounds of the counts in memory.
const (
	countAge  = 5 * time.Second
	maxCounts = 10_000
)

// count is the number of users in a place at a time.
type count struct {
	n  int64
	at time.Time
}

// counts are the counts of the last seconds, by place.
type counts struct {
	mu      sync.Mutex
	byPlace map[string]count
}

// get returns the count of a place, unless it is too old.
func (c *counts) get(place string, now time.Time) (count, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.byPlace[place]
	return found, ok && now.Sub(found.at) < countAge
}

// put keeps a count. If there are too many, it removes the old ones, and all if that is not enough.
func (c *counts) put(place string, counted count) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.byPlace) >= maxCounts {
		maps.DeleteFunc(c.byPlace, func(_ string, old count) bool { return counted.at.Sub(old.at) >= countAge })
	}
	if c.byPlace == nil || len(c.byPlace) >= maxCounts {
		c.byPlace = map[string]count{}
	}
	c.byPlace[place] = counted
}
