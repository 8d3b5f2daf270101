package network

import (
	"bytes"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/store/db"
)

// RateUsage is the number of requests that servers have recently admitted for a key.
type RateUsage struct {
	Key    []byte
	Level  float64
	Refill float64 // by which the level declines, per second
}

// The database's clock is the one that all servers share.
var (
	sqlRateUsageAdd = db.Register("rateUsages.add", `INSERT INTO rate_usages (home, key, level, refill, updated_at)
		VALUES ($1, $2::bytea, $3::float8, $4::float8, now())
		ON CONFLICT (home, key) DO UPDATE SET refill = excluded.refill, updated_at = excluded.updated_at, level = excluded.level
			+ GREATEST(0, rate_usages.level - rate_usages.refill * EXTRACT(epoch FROM excluded.updated_at - rate_usages.updated_at)::float8)
		RETURNING level`)
	sqlRateUsagesSweep = db.Register("rateUsages.sweep", `WITH gone AS (DELETE FROM rate_usages WHERE home = $1 AND key IN
		(SELECT key FROM rate_usages WHERE home = $1 AND updated_at < $2::timestamptz ORDER BY updated_at LIMIT 500) RETURNING key)
		SELECT count(*) FROM gone`)
)

// AddRateUsages adds to the levels of keys, of which none may occur twice, and reads the new levels by key.
func (w Tx) AddRateUsages(usages []RateUsage, levels map[string]float64) {
	// Rows are locked in the same order by all transactions, so that concurrent changes do not deadlock.
	for _, u := range slices.SortedFunc(slices.Values(usages), func(a, b RateUsage) int { return bytes.Compare(a.Key, b.Key) }) {
		w.Query(sqlRateUsageAdd, func(rows pgx.Rows) error {
			var level float64
			err := db.Value(&level)(rows)
			levels[string(u.Key)] = level
			return err
		}, u.Key, u.Level, u.Refill)
	}
}

// SweepRateUsages deletes up to 500 usages that have not changed since a time, and counts them.
func (w Tx) SweepRateUsages(before time.Time, removed *int64) {
	w.Query(sqlRateUsagesSweep, db.Value(removed), before)
}
