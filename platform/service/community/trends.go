package community

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
)

// trends are the active communities of all homes at a time, the most active ones first.
type trends struct {
	at   time.Time
	list []ranked
	// reads are those of the list. Homes that did not answer are missing from it.
	reads *store.ReadBatch
}

// trendCache keeps the latest complete trends, which are the same for all callers.
type trendCache struct {
	mu     sync.Mutex
	latest trends
}

// trendsAt returns the trends at a time; for the zero time, the trends of now or of up to RankingAge ago.
func (s *Service) trendsAt(ctx context.Context, at time.Time) (trends, error) {
	now := s.Now()
	if cached, ok := s.trends.get(at, now.Add(-s.RankingAge)); ok {
		return cached, nil
	}
	if at.IsZero() {
		at = now
	}
	t, err := s.readTrends(ctx, at)
	if err == nil && len(t.reads.Missing()) == 0 && !t.reads.Incomplete() {
		s.trends.put(t)
	}
	return t, err
}

// get returns the trends at a time, or, for the zero time, those after the time since.
func (c *trendCache) get(at, since time.Time) (trends, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.IsZero() {
		return c.latest, c.latest.at.After(since)
	}
	return c.latest, c.latest.at.Equal(at)
}

// put keeps trends unless there are later ones.
func (c *trendCache) put(t trends) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.at.After(c.latest.at) {
		c.latest = t
	}
}

// readTrends reads trends in two round trips.
func (s *Service) readTrends(ctx context.Context, at time.Time) (trends, error) {
	var active []communities.CommunityActivity
	var found []communities.Rankable
	t := trends{at: at, reads: s.Store.NewBestEffortBatch()}
	t.reads.ActivityAt(at, &active)
	t.reads.Then(func() {
		t.reads.Rankables(service.Map(active, func(a communities.CommunityActivity) string { return a.TargetID }), &found)
	})
	if err := t.reads.Run(ctx); err != nil {
		return trends{}, err
	}
	activity := make(map[string]int64, len(active))
	for _, a := range active {
		activity[a.TargetID] = a.Activity
	}
	t.list = service.Map(found, func(c communities.Rankable) ranked { return ranked{c, activity[c.ID]} })
	byScore(t.list)
	return t, nil
}

// with returns the list of the trends and of other communities.
func (t trends) with(others []communities.Rankable) []ranked {
	list := slices.Clone(t.list)
	for _, c := range others {
		list = append(list, ranked{Rankable: c})
	}
	return list
}
