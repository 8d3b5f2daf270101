package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// Backlog is how far the background work of a home is behind. A zero time means that nothing waits.
type Backlog struct {
	OldestOutbox    time.Time // when the oldest outbox row was written that is still there
	OldestScheduled time.Time // when the first scheduled post that waits was to be published; may lie ahead
}

// What never failed waits in the order in which it is due; what failed has been put off, the oldest the longest, and has
// an index of its own. The oldest of all is one of the two that come first.
var (
	sqlOutboxFirst = stmt("outbox.first", `SELECT created_at FROM outbox
		WHERE home = $1 AND lane = $2::bigint ORDER BY not_before, id LIMIT 1`)
	sqlOutboxFirstFailed = stmt("outbox.firstFailed", `SELECT created_at FROM outbox
		WHERE home = $1 AND lane = $2::bigint AND attempts > 0 ORDER BY created_at, id LIMIT 1`)
	sqlScheduledFirst = stmt("scheduledPosts.first", `SELECT scheduled_at FROM scheduled_posts
		WHERE home = $1 AND lane = $2::bigint AND status = 'WAIT' ORDER BY due_at, id LIMIT 1`)
	sqlScheduledFirstFailed = stmt("scheduledPosts.firstFailed", `SELECT scheduled_at FROM scheduled_posts
		WHERE home = $1 AND lane = $2::bigint AND status = 'WAIT' AND attempts > 0 ORDER BY scheduled_at, id LIMIT 1`)
)

// Backlog reads how far the background work of a home is behind.
func (s *Store) Backlog(ctx context.Context, home region.Code) (Backlog, error) {
	var b Backlog
	r := s.NewReadBatch()
	for lane := range int64(OutboxLanes) {
		r.earliest(home, sqlOutboxFirst, lane, &b.OldestOutbox)
		r.earliest(home, sqlOutboxFirstFailed, lane, &b.OldestOutbox)
	}
	for lane := range int64(ScheduleLanes) {
		r.earliest(home, sqlScheduledFirst, lane, &b.OldestScheduled)
		r.earliest(home, sqlScheduledFirstFailed, lane, &b.OldestScheduled)
	}
	err := r.Run(ctx)
	return b, err
}

// earliest queues a statement that finds at most one time, and keeps it in into where it is earlier than what is there.
func (r *ReadBatch) earliest(home region.Code, st *Statement, lane int64, into *time.Time) {
	var found []time.Time
	r.add(home, st, scanAll(&found, func(rows pgx.Rows) (at time.Time, err error) { err = rows.Scan(&at); return at, err }), lane)
	r.Then(func() {
		if len(found) > 0 && (into.IsZero() || found[0].Before(*into)) {
			*into = found[0]
		}
	})
}

// SchemaVersion reads the version of the schema as a home's database has it, 0 when there is none. It uses the home's
// pool: MigrationStatus is for programs without one.
func (s *Store) SchemaVersion(ctx context.Context, home region.Code) (int64, error) {
	h := s.homes[home]
	bounded, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	var version int64
	err := h.roundTrip(ctx, func() error {
		err := h.pool.QueryRow(bounded, sqlSchemaVersion).Scan(&version)
		if isUndefinedTable(err) {
			version, err = 0, nil
		}
		return err
	})
	return version, err
}
