package service

import (
	"context"
	"fmt"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/network"
)

// Quotas limit what a user can have or create. Administrators have none.
type Quotas struct {
	Sessions int64                       // per user; beyond it, the oldest session ends
	Daily    map[network.UsageKind]int64 // per user and day (in UTC)
}

// quotaNames name what a quota counts for the client.
var quotaNames = map[network.UsageKind]string{
	network.UsageUploads: "uploaded files", network.UsageUploadBytes: "uploaded bytes",
	network.UsageChannels: "new channels", network.UsageCommunities: "new communities",
}

// SpendQuota adds n to the usage of a user in tx, which must be at the user's home. The transaction fails if the quota is
// exceeded. An empty userID is that of an administrator.
func (d *Deps) SpendQuota(tx *store.Tx, userID string, kind network.UsageKind, n int64) {
	if quota, limited := d.Quotas.Daily[kind]; limited && userID != "" {
		tx.AddDailyUsage(userID, kind, n, quota, d.Now(), d.quotaExceeded(kind))
	}
}

// RequireQuota spends one of a quota in a transaction of its own, for an object at another home than its creator. It is
// spent even if the creation fails afterwards.
func (d *Deps) RequireQuota(ctx context.Context, userID string, kind network.UsageKind) error {
	if _, limited := d.Quotas.Daily[kind]; !limited || userID == "" {
		return nil
	}
	tx := d.Store.NewTx(d.HomeOf(userID))
	d.SpendQuota(tx, userID, kind, 1)
	return tx.Commit(network.WithoutIdempotency(ctx))
}

// QuotaLeft returns an error if a quota is used up.
func (d *Deps) QuotaLeft(usages []network.DailyUsage) error {
	for _, u := range usages {
		if quota, limited := d.Quotas.Daily[u.Kind]; limited && u.Used >= quota {
			return d.quotaExceeded(u.Kind)
		}
	}
	return nil
}

// QuotaAllows returns an error if a user may not have used as much of a quota.
func (d *Deps) QuotaAllows(kind network.UsageKind, used int64) error {
	if quota, limited := d.Quotas.Daily[kind]; limited && used > quota {
		return d.quotaExceeded(kind)
	}
	return nil
}

func (d *Deps) quotaExceeded(kind network.UsageKind) error {
	now := d.Now()
	tomorrow := now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	return fail.RateLimited(fmt.Sprintf("the quota is %d %s per user and day", d.Quotas.Daily[kind], quotaNames[kind]), tomorrow.Sub(now))
}
