package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"sync/atomic"
	"time"

	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/ratelimit"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/network"
)

// rateLimits returns the rate limits of the API, and the work that keeps them up to date: reading the network setting,
// and sharing usage with the other servers.
func (d *dependencies) rateLimits(shared *service.Deps) (*edge.RateLimits, []worker) {
	limiter := ratelimit.New(ratelimit.DefaultBuckets, time.Now)
	configured := d.configuredLimits()
	var current atomic.Pointer[edge.Limits]
	current.Store(&configured)
	limits := &edge.RateLimits{
		Limiter: limiter, Limits: func() edge.Limits { return *current.Load() }, Proxies: d.cfg.TrustedProxies,
		Region: d.cfg.Region, Identify: d.issuer.Identify, Log: d.log,
	}
	settings := jobs.Job{
		Name: "rate limit", Lanes: 1, Every: time.Second, Log: d.log,
		Drain: func(ctx context.Context, home region.Code, _ int64) (bool, error) {
			found, err := service.Read(ctx, shared, (*store.ReadBatch).Settings, home)
			if err == nil {
				current.Store(new(withSetting(configured, found.RateLimit)))
			}
			return false, err
		},
	}
	workers := d.jobWorkers([]jobs.Job{settings, sweepRateUsages(shared)})
	if defence.Off(defence.SharedRateLimits) {
		return limits, workers
	}
	for _, home := range region.All() {
		workers = append(workers, worker{name: "rate limits of " + home.String(), run: func(ctx context.Context) error {
			limiter.Share(ctx, home, d.exchangeRateUsages, func(err error) {
				d.log.WarnContext(ctx, "the usage of rate limits was not shared", "home", home, "error", err)
			})
			return nil
		}})
	}
	return limits, workers
}

func (d *dependencies) configuredLimits() edge.Limits {
	return edge.Limits{
		Users: d.cfg.RateLimit, SessionAddresses: d.cfg.SessionRateLimit, SessionKeys: d.cfg.APIKeyRateLimit,
		Credentials: d.cfg.CredentialRateLimit,
		Downloads:   d.cfg.DownloadRateLimit,
	}
}

// withSetting returns limits with the network setting, which takes precedence if it is set.
func withSetting(limits edge.Limits, setting string) edge.Limits {
	if limit, err := ratelimit.Parse(setting); err == nil {
		limits.Users = limit
	}
	return limits
}

// exchangeRateUsages implements ratelimit.Exchange.
func (d *dependencies) exchangeRateUsages(ctx context.Context, home region.Code, usages []ratelimit.Usage) ([]float64, error) {
	rows := make([]network.RateUsage, len(usages))
	for i, u := range usages {
		rows[i] = network.RateUsage{Key: d.rateUsageKey(u.Key), Level: float64(u.Taken), Refill: u.PerSecond}
	}
	found := make(map[string]float64, len(rows))
	ctx, cancel := context.WithTimeout(ctx, d.limits.ShareRates)
	defer cancel()
	tx := d.store.NewTx(home)
	tx.AddRateUsages(rows, found)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	levels := make([]float64, len(rows))
	for i, row := range rows {
		levels[i] = found[string(row.Key)]
	}
	return levels, nil
}

// rateUsageKey returns the key of a row, from which neither the user nor the address can be derived.
func (d *dependencies) rateUsageKey(key ratelimit.Key) []byte {
	mac := hmac.New(sha256.New, []byte(d.cfg.DirectoryKey.Reveal()))
	mac.Write([]byte("rate limit " + string(key.Kind) + " " + key.ID))
	return mac.Sum(nil)[:16]
}

// quotas returns the configured quotas.
func (d *dependencies) quotas() service.Quotas {
	return service.Quotas{Sessions: int64(d.cfg.MaxSessions), Daily: map[network.UsageKind]int64{
		network.UsageUploads: int64(d.cfg.DailyUploads), network.UsageUploadBytes: int64(d.cfg.DailyUploadBytes),
		network.UsageChannels: int64(d.cfg.DailyChannels), network.UsageCommunities: int64(d.cfg.DailyCommunities),
	}}
}

// sweepDailyUsages returns the job that removes the usages of past days. One day is kept, because the clocks of servers
// may differ.
func sweepDailyUsages(d *service.Deps) jobs.Job {
	return d.SweepRows("daily usage sweep", sweepEvery, func(tx *store.Tx, removed *int64) {
		tx.SweepDailyUsages(d.Now().AddDate(0, 0, -1), removed)
	})
}

// sweepRateUsages returns the job that removes the usages of which nothing can be left.
func sweepRateUsages(d *service.Deps) jobs.Job {
	return d.SweepRows("rate usage sweep", sweepEvery, func(tx *store.Tx, removed *int64) {
		tx.SweepRateUsages(d.Now().Add(-ratelimit.MaxPer), removed)
	})
}
