package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Backlog is the age of the background work of a home. A zero time means that nothing is waiting.
type Backlog struct {
	OldestOutbox    time.Time // when the oldest outbox row was inserted
	OldestScheduled time.Time // the earliest time of a waiting scheduled post; may be in the future
}

// Earliest returns the backlog of two homes together.
func (b Backlog) Earliest(other Backlog) Backlog {
	return Backlog{earlier(b.OldestOutbox, other.OldestOutbox), earlier(b.OldestScheduled, other.OldestScheduled)}
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// Outbox rows that never failed are ordered by when they are due. Failed rows were postponed by at most a minute, so that
// the oldest row is among the first ones, unless so many wait that the first one is old as well. Scheduled posts that have
// failed have a separate index.
var (
	outboxFirst = core.ForEachIn([]int{core.OutboxLanes}, "outbox.first", 0, core.NoLane, `SELECT min(created_at) FROM (SELECT created_at
		FROM outbox /*@{FORCE_INDEX=outbox_due}*/
		WHERE home = $1 AND lane = {value}::bigint ORDER BY not_before, id LIMIT 1000) AS due HAVING count(*) > 0`, "")
	scheduledFirst = core.ForEachIn([]int{content.ScheduleLanes}, "scheduledPosts.first", 0, core.NoLane, `SELECT scheduled_at
		FROM scheduled_posts /*@{FORCE_INDEX=scheduled_posts_due}*/
		WHERE home = $1 AND lane = {value}::bigint AND status = 'WAIT' ORDER BY due_at, id LIMIT 1`, "")
	scheduledFirstFailed = core.ForEachIn([]int{content.ScheduleLanes}, "scheduledPosts.firstFailed", 0, core.NoLane, `SELECT scheduled_at
		FROM scheduled_posts /*@{FORCE_INDEX=scheduled_posts_failed}*/
		WHERE home = $1 AND lane = {value}::bigint AND has_failed ORDER BY scheduled_at, id LIMIT 1`, "")
)

// Backlog reads the age of the background work of a home.
func (s *Store) Backlog(ctx context.Context, home region.Code) (Backlog, error) {
	var b Backlog
	r := s.NewReadBatch()
	r.earliest(home, outboxFirst, core.OutboxLanes, &b.OldestOutbox)
	r.earliest(home, scheduledFirst, content.ScheduleLanes, &b.OldestScheduled)
	r.earliest(home, scheduledFirstFailed, content.ScheduleLanes, &b.OldestScheduled)
	err := r.Run(ctx)
	return b, err
}

// earliest queues a statement that returns at most one time for each lane, and stores the earliest in into if it is earlier.
func (r *ReadBatch) earliest(home region.Code, e core.Each, lanes int64, into *time.Time) {
	all := make([]int64, lanes)
	for lane := range all {
		all[lane] = int64(lane)
	}
	core.EachPart(r.ReadBatch, home, e, all, func(int) func(pgx.Rows) error {
		found := new([]time.Time)
		r.Then(func() {
			for _, at := range *found {
				if into.IsZero() || at.Before(*into) {
					*into = at
				}
			}
		})
		return db.Values(found)
	})
}
