package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// configureSession sets what differs on CockroachDB. Tests call it on PostgreSQL, which does not know the settings of CockroachDB.
func configureSession(ctx context.Context, conn *pgx.Conn, readLock time.Duration) error {
	statements := sessionStatements(readLock)
	if reportsCockroach(conn) {
		statements = append(statements, scanStatements...)
	}
	_, err := conn.PgConn().Exec(ctx, strings.Join(statements, "; ")).ReadAll()
	return err
}

// sessionStatements returns the settings that both engines know. CockroachDB's generic plans are not used: they may look up each row
// where a limited scan reads a few (cockroachdb/cockroach#128916). The lock_timeout is for reads, see readLocked.
func sessionStatements(readLock time.Duration) []string {
	return []string{"SET plan_cache_mode = auto", fmt.Sprintf("SET lock_timeout = %d", readLock.Milliseconds())}
}

// scanStatements make CockroachDB plan no full scan. In a table that has few rows, or had few when its statistics were made, a full scan
// costs less than the scans of several keys, and it waits for every region. A statement that needed one would fail; none does, because
// each table has the condition on home, see crdbcheck.
var scanStatements = []string{"SET disallow_full_table_scans = on", "SET large_full_scan_rows = 0"}
