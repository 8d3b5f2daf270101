package network

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/db"
)

// UsageKind is what is counted per user and day.
type UsageKind string

// The kinds of daily usages.
const (
	UsageUploads     UsageKind = "uploads"
	UsageUploadBytes UsageKind = "uploadBytes"
	UsageChannels    UsageKind = "channels"
	UsageCommunities UsageKind = "communities"
)

var (
	sqlDailyUsageAdd = db.Register("dailyUsages.add", `INSERT INTO daily_usages (home, user_id, kind, day, used) VALUES ($1, $2, $3, $4, $5::bigint)
		ON CONFLICT (home, user_id, day, kind) DO UPDATE SET used = daily_usages.used + excluded.used`)
	sqlDailyUsageGuard = db.Register("dailyUsages.guard", `SELECT 1 / count(*) FROM daily_usages WHERE home = $1 AND user_id = $2 AND kind = $3
		AND day = $4
		AND used <= $5::bigint`)
	sqlDailyUsages = db.Register("dailyUsages.read", `SELECT kind, used FROM daily_usages WHERE home = $1 AND user_id = $2 AND day = $3
		ORDER BY kind`)
	sqlDailyUsagesSweep = db.Register("dailyUsages.sweep", `WITH gone AS (DELETE FROM daily_usages WHERE home = $1 AND (user_id, day, kind) IN
		(SELECT user_id, day, kind FROM daily_usages WHERE home = $1 AND day < $2 ORDER BY day LIMIT 100) RETURNING kind) SELECT count(*)
		FROM gone`)
)

// DailyUsage is how much of a kind a user has created on a day.
type DailyUsage struct {
	Kind UsageKind
	Used int64
}

// dayOf returns the day of a time in UTC.
func dayOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// AddDailyUsage adds n to the usage of a user at the time now, and makes the transaction fail with refusal if the usage
// would exceed quota.
func (w Tx) AddDailyUsage(userID string, kind UsageKind, n, quota int64, now time.Time, refusal error) {
	w.Exec(sqlDailyUsageAdd, userID, string(kind), dayOf(now), n)
	w.Guard(sqlDailyUsageGuard, refusal, userID, string(kind), dayOf(now), quota)
}

// DailyUsages reads the usages of a user on the day of now.
func (r ReadBatch) DailyUsages(userID string, now time.Time, into *[]DailyUsage) {
	r.AddAt(userID, sqlDailyUsages, db.Rows(into), userID, dayOf(now))
}

// SweepDailyUsages deletes up to 100 usages of days before that of a time, and counts them.
func (w Tx) SweepDailyUsages(before time.Time, removed *int64) {
	w.Query(sqlDailyUsagesSweep, db.Value(removed), dayOf(before))
}
