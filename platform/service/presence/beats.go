package presence

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/people"
)

// Bounds of the presences in memory, of each home, and in a statement.
const (
	maxPending  = 100_000
	maxPerStore = 500
)

var errTooMany = fail.Unavailable("too many heartbeats wait to be stored", nil)

// beats are the presences that wait to be stored, one of each user and place.
type beats struct {
	mu      sync.Mutex
	pending map[region.Code]map[key]people.Presence
}

type key struct{ place, userID string }

// add keeps a presence. If the user is in the place already, the earlier time of joining and the later end remain.
func (b *beats) add(home region.Code, p people.Presence) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pending == nil {
		b.pending = map[region.Code]map[key]people.Presence{}
	}
	waiting := b.pending[home]
	if waiting == nil {
		waiting = map[key]people.Presence{}
		b.pending[home] = waiting
	}
	k := key{p.Place, p.UserID}
	old, ok := waiting[k]
	switch {
	case !ok && len(waiting) >= maxPending:
		return errTooMany
	case ok:
		p.JoinedAt = slices.MinFunc([]time.Time{p.JoinedAt, old.JoinedAt}, time.Time.Compare)
		p.Until = slices.MaxFunc([]time.Time{p.Until, old.Until}, time.Time.Compare)
	}
	waiting[k] = p
	return nil
}

// take removes up to maxPerStore presences of a home, and reports whether there are more. Those that have ended are dropped.
func (b *beats) take(home region.Code, now time.Time) (taken []people.Presence, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	waiting := b.pending[home]
	maps.DeleteFunc(waiting, func(_ key, p people.Presence) bool { return p.Until.Before(now) })
	for k, p := range waiting {
		if len(taken) == maxPerStore {
			break
		}
		taken = append(taken, p)
		delete(waiting, k)
	}
	slices.SortFunc(taken, func(a, b people.Presence) int {
		return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.UserID, b.UserID))
	})
	return taken, len(waiting) > 0
}
