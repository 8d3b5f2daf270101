package db

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// queueTables are the tables whose rows are deleted soon after they were inserted. CockroachDB keeps deleted rows, and statements
// that read the beginning of an index pass over all of them: a poll of an empty outbox with 105,000 deleted rows took 77 to 147 ms
// instead of less than 1.
var queueTables = []string{"outbox", "webhook_deliveries", "pushes", "idempotency_keys", "idempotency_marks", "realtime_events"}

// queueRetention is how long CockroachDB keeps the deleted rows of queueTables: the least that its documentation recommends, because
// statements and backups that take longer fail. A backup protects what it reads.
const queueRetention = 10 * time.Minute

// QueueTables returns the names of the tables whose rows are deleted soon after they were inserted.
func QueueTables() []string { return slices.Clone(queueTables) }

// QueueStatements returns the statements that make a CockroachDB forget the deleted rows of queues.
func QueueStatements() []string {
	statements := make([]string, len(queueTables))
	for i, table := range queueTables {
		statements[i] = fmt.Sprintf("ALTER TABLE %s CONFIGURE ZONE USING gc.ttlseconds = %d", table, int(queueRetention.Seconds()))
	}
	return statements
}

// configureQueues belongs to every migration, because the setting is no part of a table's definition. It is idempotent.
func configureQueues(ctx context.Context, db *sql.DB, engine Engine) error {
	if engine != CockroachDB {
		return nil
	}
	for _, statement := range QueueStatements() {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
