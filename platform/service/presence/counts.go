package presence

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
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

// counts are the latest counts, by place.
type counts struct{ *lru.Cache[string, count] }

func newCounts() counts {
	cache, err := lru.New[string, count](maxCounts)
	if err != nil {
		panic(err) // the size is a positive constant
	}
	return counts{cache}
}

// get returns the count of a place, unless it is too old.
func (c counts) get(place string, now time.Time) (count, bool) {
	found, ok := c.Get(place)
	return found, ok && now.Sub(found.at) < countAge
}
