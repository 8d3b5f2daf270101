package store_test

import (
	"crypto/md5"
	"time"

	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/network"
)

var _ = planned((*collector).collectLimits,
	`INSERT INTO rate_usages (home, key, level, refill, updated_at)
		SELECT CASE n % 3 WHEN 0 THEN 'us' WHEN 1 THEN 'eu' ELSE 'sg' END, decode(md5(n::text), 'hex'), n, 20, AT(n, 5) FROM generate_series(1,
		30000) AS n`,
	`INSERT INTO daily_usages (home, user_id, kind, day, used)
		SELECT 'us', ID(u, (1 + n % 30000), (1 + n % 30000)), CASE WHEN n > 30000 THEN 'uploads' ELSE 'channels' END, '2026-01-' || (10 + n %
		20), n
		FROM generate_series(1, 60000) AS n ON CONFLICT DO NOTHING`,
	`INSERT INTO idempotency_keys (home, key, request, attempt, locked_until, answer, expires_at)
		SELECT 'us', decode(md5(n::text), 'hex'), 'x', 'a', AT(n, 5), 'x', AT(n, 5) FROM generate_series(1, 60000) AS n`,
	`INSERT INTO idempotency_marks (home, key, attempt, expires_at)
		SELECT 'us', decode(md5(n::text), 'hex'), 'a', AT(n, 5) FROM generate_series(1, 60000) AS n`,
)

func (c *collector) collectLimits() {
	usages := make([]network.RateUsage, 100)
	for i := range usages {
		usages[i] = network.RateUsage{Key: []byte{0xff, byte(i)}, Level: 20, Refill: 20}
	}
	c.write(func(w *store.Tx) { w.AddRateUsages(usages, map[string]float64{}) })
	now := time.Date(2026, 1, 12, 0, 0, 0, 0, time.UTC)
	var used []network.DailyUsage
	c.write(func(w *store.Tx) { w.AddDailyUsage(userID(3), network.UsageChannels, 1, 1_000_000, now, nil) })
	c.reads(func(r *store.ReadBatch) { r.DailyUsages(userID(3), now, &used) })
	c.write(func(w *store.Tx) { w.SweepDailyUsages(now, new(int64)) })
	i := network.Idempotency{Key: []byte{1}, Request: []byte{2}, Attempt: "a", LockedUntil: now, ExpiresAt: now}
	c.write(func(w *store.Tx) { w.ReserveIdempotency(i, now, new(*network.Idempotency), new(*network.Idempotency)) })
	c.write(func(w *store.Tx) { w.FinishIdempotency(i, []byte{1}) })
	c.write(func(w *store.Tx) { w.UnlockIdempotency(i, now) })
	c.write(func(w *store.Tx) { w.ReleaseIdempotency(i) })
	c.reads(func(r *store.ReadBatch) { r.IdempotencyMarks([]byte{1}, now, new([]network.IdempotencyMark)) })
	c.write(func(w *store.Tx) { w.SweepIdempotency(worldStart.Add(10*time.Second), new(int64), new(int64)) })
	c.byName("idempotencyMarks.insert", "us", []byte{1}, "a", now, now, []string{"b"})
	mark := md5.Sum([]byte("1"))
	c.byName("idempotencyMarks.guard", "us", mark[:], "a")
	c.write(func(w *store.Tx) { w.SweepRateUsages(worldStart.Add(100_000*time.Millisecond), new(int64)) })
}
