package store

import (
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
	sqlRateUsagesAdd = stmt("rateUsages.add", `INSERT INTO rate_usages (home, key, level, refill, updated_at)
		SELECT $1, u.key, u.level, u.refill, now() FROM unnest($2::bytea[], $3::float8[], $4::float8[]) AS u (key, level, refill)
		ON CONFLICT (home, key) DO UPDATE SET refill = excluded.refill, updated_at = excluded.updated_at, level = excluded.level
			+ GREATEST(0, rate_usages.level - rate_usages.refill * EXTRACT(epoch FROM excluded.updated_at - rate_usages.updated_at)::float8)
		RETURNING key, level`)
	sqlRateUsagesSweep = stmt("rateUsages.sweep", `WITH gone AS (DELETE FROM rate_usages WHERE home = $1 AND key IN
		(SELECT key FROM rate_usages WHERE home = $1 AND updated_at < $2::timestamptz ORDER BY updated_at LIMIT 500) RETURNING key) SELECT count(*) FROM gone`)
)

// AddRateUsages adds to the levels of keys, of which none may occur twice, and reads the new levels by key.
func (w *Tx) AddRateUsages(usages []RateUsage, levels map[string]float64) {
	keys, added, refills := make([][]byte, len(usages)), make([]float64, len(usages)), make([]float64, len(usages))
	for i, u := range usages {
		keys[i], added[i], refills[i] = u.Key, u.Level, u.Refill
	}
	w.Query(sqlRateUsagesAdd, func(rows pgx.Rows) error {
		var key []byte
		var level float64
		_, err := pgx.ForEachRow(rows, []any{&key, &level}, func() error {
			levels[string(key)] = level
			return nil
		})
		return err
	}, keys, added, refills)
}

// SweepRateUsages deletes up to 500 usages that have not changed since a time, and counts them.
func (w *Tx) SweepRateUsages(before time.Time, removed *int64) {
	w.Query(sqlRateUsagesSweep, db.Value(removed), before)
}
