package main

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/devdb"
)

// statementSettings make PostgreSQL record the time of planning and of executing statements.
var statementSettings = []string{
	"shared_preload_libraries=pg_stat_statements",
	"pg_stat_statements.track_planning=on",
	"pg_stat_statements.track_utility=off", // BEGIN and COMMIT
}

// The work of a server's database, in addition to the metrics of the server.
const (
	statementCount   = "database_statements"
	executionSeconds = "database_execution_seconds"
	planningSeconds  = "database_planning_seconds"
)

// database is the database of one server. Each server has its own copy, so that the background work of one does not
// change the measurement of the other; on engines that cannot copy databases they share one.
type database struct {
	url    string
	conn   *pgx.Conn
	counts bool // whether the engine records statements
}

// openDatabases returns the databases of n servers. Nothing may be connected to the database of e.
func (e *environment) openDatabases(ctx context.Context, n int) ([]*database, error) {
	databases := make([]*database, n)
	for i := range databases {
		databases[i] = &database{url: e.engine.URL(), counts: e.engine.Engine() == devdb.PostgreSQL}
		if i == 0 || !databases[i].counts {
			continue
		}
		var err error
		if databases[i].url, err = devdb.CloneDatabase(ctx, e.engine.URL(), serverNames[i], devdb.DatabaseName); err != nil {
			return nil, err
		}
	}
	for _, d := range databases {
		if err := d.open(ctx); err != nil {
			return nil, err
		}
	}
	return databases, nil
}

func (d *database) open(ctx context.Context) (err error) {
	if d.conn, err = pgx.Connect(ctx, d.url); err != nil || !d.counts {
		return err
	}
	_, err = d.conn.Exec(ctx, "CREATE EXTENSION pg_stat_statements")
	return err
}

// addTo adds the work of the database to the counters of its server.
func (d *database) addTo(ctx context.Context, c counters) error {
	if !d.counts {
		return nil
	}
	var calls, execution, planning float64 // times in milliseconds
	err := d.conn.QueryRow(ctx, `SELECT COALESCE(sum(calls), 0)::float8, COALESCE(sum(total_exec_time), 0)::float8,
		COALESCE(sum(total_plan_time), 0)::float8
		FROM pg_stat_statements AS s JOIN pg_database AS d ON d.oid = s.dbid WHERE d.datname = current_database()`).Scan(&calls, &execution,
		&planning)
	c[statementCount], c[executionSeconds], c[planningSeconds] = calls, execution/1000, planning/1000
	return err
}

// analyse updates the statistics after the warm-up, as autovacuum does within a minute: plans for empty tables do not suit
// those that the operation fills.
func (d *database) analyse(ctx context.Context) error {
	if !d.counts {
		return nil
	}
	_, err := d.conn.Exec(ctx, "ANALYZE")
	return err
}

// settleTimeout limits how long a measurement waits for the background work that it has caused.
const settleTimeout = 20 * time.Second

// settle waits until all events have been delivered, so that measurements include the work that requests leave behind.
func (d *database) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	for {
		var busy bool
		if err := d.conn.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM outbox)").Scan(&busy); err != nil || !busy {
			return err
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}

// showStatements runs an operation on plaza and shows the most expensive statements, if requested.
func (b *bench) showStatements(ctx context.Context, op *operation) error {
	s := b.environment.plaza()
	if b.statements == 0 || !s.database.counts {
		return nil
	}
	if _, err := s.database.conn.Exec(ctx, "SELECT pg_stat_statements_reset()"); err != nil {
		return err
	}
	l, c, err := b.once(ctx, op, s, profileLength)
	if err != nil {
		return err
	}
	for series, value := range c {
		if strings.HasPrefix(series, retries) && value > 0 {
			b.progress.sayf("%9.2f  %s for each %s", value/float64(len(l.latencies)), series, op.name)
		}
	}
	rows, err := s.database.conn.Query(ctx, `SELECT calls / $1::float8, total_exec_time / $1::float8, total_plan_time / $1::float8,
		substr(regexp_replace(query, '\s+', ' ', 'g'), 1, 150)
		FROM pg_stat_statements AS s JOIN pg_database AS d ON d.oid = s.dbid WHERE d.datname = current_database()
		ORDER BY total_exec_time + total_plan_time DESC LIMIT $2`, len(l.latencies), b.statements)
	if err != nil {
		return err
	}
	defer rows.Close()
	b.progress.sayf("    calls  execution  planning  for each %s", op.name)
	for rows.Next() {
		var calls, execution, planning float64
		var query string
		if err := rows.Scan(&calls, &execution, &planning, &query); err != nil {
			return err
		}
		b.progress.sayf("%9.2f  %6.3f ms %6.3f ms  %s", calls, execution, planning, query)
	}
	return rows.Err()
}
