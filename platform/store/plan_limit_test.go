package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/store"
)

var _ = planned((*collector).collectLimits,
	`INSERT INTO rate_usages (home, key, level, refill, updated_at)
		SELECT CASE n % 3 WHEN 0 THEN 'us' WHEN 1 THEN 'eu' ELSE 'sg' END, decode(md5(n::text), 'hex'), n, 20, AT(n, 5) FROM generate_series(1, 30000) AS n`,
)

func (c *collector) collectLimits() {
	usages := make([]store.RateUsage, 100)
	for i := range usages {
		usages[i] = store.RateUsage{Key: []byte{0xff, byte(i)}, Level: 20, Refill: 20}
	}
	c.write(func(w *store.Tx) { w.AddRateUsages(usages, map[string]float64{}) })
	c.write(func(w *store.Tx) { w.SweepRateUsages(worldStart.Add(100_000*time.Millisecond), new(int64)) })
}
