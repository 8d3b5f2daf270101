package network

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Idempotency is an execution of a request with an Idempotency-Key.
type Idempotency struct {
	Key         []byte
	Request     []byte // hash of the request
	Attempt     string // the execution
	LockedUntil time.Time
	Answer      []byte // nil until the request has succeeded
	ExpiresAt   time.Time
}

// IdempotencyMark says which attempt of a request has changed rows of a home.
type IdempotencyMark struct {
	Attempt string
	// Created are the ids of the objects that the request has created. Known reports whether they are recorded: versions
	// before the column did not.
	Created []string
	Known   bool
}

var idempotencyColumns = db.Columns[Idempotency]()

var (
	sqlIdempotencyReserve = db.Register("idempotency.reserve", `INSERT INTO idempotency_keys (home, key, request, attempt, locked_until, expires_at)
		VALUES ($1, $2::bytea, $3::bytea, $4, $5::timestamptz, $6::timestamptz)
		ON CONFLICT (home, key) DO UPDATE SET request = excluded.request, attempt = excluded.attempt, locked_until = excluded.locked_until,
			expires_at = excluded.expires_at, answer = NULL
		WHERE idempotency_keys.expires_at <= $7::timestamptz OR
			idempotency_keys.answer IS NULL AND idempotency_keys.locked_until <= $7::timestamptz AND idempotency_keys.request = excluded.request`)
	sqlIdempotencyRead   = db.Register("idempotency.read", `SELECT `+idempotencyColumns+` FROM idempotency_keys WHERE home = $1 AND key = $2::bytea`)
	sqlIdempotencyFinish = db.Register("idempotency.finish", `UPDATE idempotency_keys SET answer = $4::bytea WHERE home = $1 AND key = $2::bytea
		AND attempt = $3`)
	sqlIdempotencyUnlock = db.Register("idempotency.unlock", `UPDATE idempotency_keys SET locked_until = $4::timestamptz WHERE home = $1
		AND key = $2::bytea AND attempt = $3`)
	sqlIdempotencyRelease = db.Register("idempotency.release", `DELETE FROM idempotency_keys WHERE home = $1 AND key = $2::bytea AND attempt = $3
		AND answer IS NULL`)
	sqlIdempotencySweep = db.Register("idempotency.sweep", `WITH gone AS (DELETE FROM idempotency_keys WHERE home = $1 AND key
		IN (SELECT key FROM idempotency_keys /*@{FORCE_INDEX=idempotency_keys_by_expiry}*/ WHERE home = $1 AND expires_at < $2::timestamptz
		ORDER BY expires_at LIMIT 100) RETURNING key) SELECT count(*) FROM gone`)

	sqlIdempotencyMarks = db.Register("idempotencyMarks.read", `SELECT attempt, COALESCE(created, '{}'), created IS NOT NULL
		FROM idempotency_marks WHERE home = $1 AND key = $2::bytea AND expires_at > $3::timestamptz`)
	sqlIdempotencyMark = db.Register("idempotencyMarks.insert", `INSERT INTO idempotency_marks (home, key, attempt, expires_at, created) VALUES ($1,
		$2::bytea, $3, $4::timestamptz, $6::text[])
		ON CONFLICT (home, key) DO UPDATE SET attempt = excluded.attempt, expires_at = excluded.expires_at, created = excluded.created
		WHERE idempotency_marks.expires_at <= $5::timestamptz OR idempotency_marks.attempt = excluded.attempt`)
	sqlIdempotencyMarkGuard = db.Register("idempotencyMarks.guard", `SELECT 1 / count(*) FROM idempotency_marks WHERE home = $1 AND key = $2::bytea
		AND attempt = $3`)
	sqlIdempotencyMarkSweep = db.Register("idempotencyMarks.sweep", `WITH gone AS (DELETE FROM idempotency_marks WHERE home = $1 AND key IN
		(SELECT key FROM idempotency_marks /*@{FORCE_INDEX=idempotency_marks_by_expiry}*/ WHERE home = $1 AND expires_at < $2::timestamptz
		ORDER BY expires_at LIMIT 100) RETURNING key) SELECT count(*) FROM gone`)
)

// ReserveIdempotency stores i unless another attempt holds the key or has succeeded, and reads the row that was stored
// before and the one that is stored then. An attempt of the same request holds the key until LockedUntil.
func (w Tx) ReserveIdempotency(i Idempotency, now time.Time, before, stored **Idempotency) {
	w.Query(sqlIdempotencyRead, db.Row(before), i.Key)
	w.Exec(sqlIdempotencyReserve, i.Key, i.Request, i.Attempt, i.LockedUntil, i.ExpiresAt, now)
	w.Query(sqlIdempotencyRead, db.Row(stored), i.Key)
}

// FinishIdempotency stores the answer of an attempt that still holds its key.
func (w Tx) FinishIdempotency(i Idempotency, answer []byte) {
	w.Exec(sqlIdempotencyFinish, i.Key, i.Attempt, answer)
}

// UnlockIdempotency ends the reservation of an attempt that may have changed something.
func (w Tx) UnlockIdempotency(i Idempotency, now time.Time) {
	w.Exec(sqlIdempotencyUnlock, i.Key, i.Attempt, now)
}

// ReleaseIdempotency deletes the key of an attempt that has changed nothing.
func (w Tx) ReleaseIdempotency(i Idempotency) { w.Exec(sqlIdempotencyRelease, i.Key, i.Attempt) }

// SweepIdempotency deletes up to 100 keys and 100 marks that expired before a time, and counts them.
func (w Tx) SweepIdempotency(before time.Time, keys, marks *int64) {
	w.Query(sqlIdempotencySweep, db.Value(keys), before)
	w.Query(sqlIdempotencyMarkSweep, db.Value(marks), before)
}

// IdempotencyMarks reads the marks of a key at every home.
func (r ReadBatch) IdempotencyMarks(key []byte, now time.Time, into *[]IdempotencyMark) {
	*into = nil
	core.ReadEveryHome(r.ReadBatch, sqlIdempotencyMarks, into, key, now)
}

// WithIdempotency returns a context whose transactions fail with refusal if another attempt of the request has changed
// rows of the same home. The transactions record that this attempt has done so, with the ids of the objects that it has
// created by then.
func WithIdempotency(ctx context.Context, i Idempotency, now time.Time, refusal error, created func() []string) (marked context.Context,
	changed func() bool,
) {
	return db.WithPrologue(ctx, func(tx *db.Tx) {
		tx.Exec(sqlIdempotencyMark, i.Key, i.Attempt, i.ExpiresAt, now, core.EmptyIfNil(created()))
		tx.Guard(sqlIdempotencyMarkGuard, refusal, i.Key, i.Attempt)
	})
}

// WithoutIdempotency returns a context for transactions that may be repeated.
func WithoutIdempotency(ctx context.Context) context.Context { return db.WithoutPrologue(ctx) }
