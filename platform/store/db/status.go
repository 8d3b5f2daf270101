package db

import (
	"context"
	"fmt"
	"time"

	"github.com/plaza-social/plaza/platform/region"
)

// Status is the state of a home.
type Status struct {
	Version       string // of the database, as version() returns it
	SchemaVersion int64  // 0 if there is no schema
	Identity      string // of the network, see NetworkIdentity; "" if the database was migrated without one
}

// Check returns an error if the database is older than MinimumCockroachDB, if the schema is older than the program requires, or if the
// home has the identity of another network, which is ErrOtherNetwork. A newer schema is accepted: migrations only remove what no
// running program uses any more.
func (s Status) Check(identity string) error {
	if err := checkRelease(s.Version); err != nil {
		return err
	}
	if target := TargetVersion(); s.SchemaVersion < target {
		return fmt.Errorf("schema version is %d, required is %d: run plaza migrate up", s.SchemaVersion, target)
	}
	if s.Identity != "" && s.Identity != identity {
		return ErrOtherNetwork
	}
	return nil
}

// statusStatement reads rows, because a CockroachDB node may respond although the rows of the home are unavailable. They
// rarely change, so that it does not wait for a lock.
var statusStatement = Register("store.status", `SELECT version(), COALESCE((SELECT version FROM schema_versions WHERE home = $1), 0),
	COALESCE((SELECT value #>> '{}' FROM settings WHERE home = $1 AND name = '`+identitySetting+`'), '')`)

// versionStatement is for databases without a schema.
var versionStatement = Register("store.version", `SELECT version()`)

// statusAge is for how long the answer to any statement shows that a home responds whose connections are all in use.
const statusAge = time.Second

// Status asks a home for its status with one statement on a connection of its pool. It asks nothing while the breaker of
// the home is open, which has its own probe, and nothing while other statements use all open connections and are answered:
// another connection would be opened, or waited for, to learn what is known. The status is then the last one.
func (d *DB) Status(ctx context.Context, code region.Code) (Status, error) {
	h := d.homes[code]
	if !h.breaker.allow() {
		return Status{}, h.unavailable(errHomeUnavailable)
	}
	start := time.Now()
	if last := h.status.Load(); last != nil && h.isInUse() && h.answeredSince(start.Add(-statusAge)) {
		return *last, nil
	}
	bounded, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	status, err := h.readStatus(bounded)
	if err == nil {
		h.status.Store(&status)
	}
	return status, h.record(ctx, err, start, time.Now())
}

// isInUse reports whether statements use all open connections.
func (h *home) isInUse() bool {
	s := h.pool.Stat()
	return s.IdleConns() == 0 && s.AcquiredConns() > 0
}

// readStatus retries after a lost connection: a restart of the database invalidates every connection of the pool.
func (h *home) readStatus(ctx context.Context) (s Status, err error) {
	read := query{statement: statusStatement, args: []any{string(h.code)}, scan: RowOrZero(&s)}
	if err = retryRead(ctx, h, []query{read}); isUndefinedTable(err) { // without a schema
		err = retryRead(ctx, h, []query{{statement: versionStatement, scan: Value(&s.Version)}})
	}
	return s, err
}
