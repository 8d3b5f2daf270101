//go:build faults

package faults

import (
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/app"
	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/faults/proxy"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/statusz"
)

// TestReadyWithoutAnnouncement makes the transactions of servers fail until they refuse writes because they could not announce
// themselves. Servers that were ready stay so, because they read. After an outage they become ready when they accept writes.
func TestReadyWithoutAnnouncement(t *testing.T) {
	t.Parallel()
	var p *proxy.Proxy
	var once sync.Once
	through := func(url string) string {
		once.Do(func() { p = proxy.New(t, url) })
		return p.Through(url)
	}
	const lease = 10 * time.Second // a write right after an announcement must not come too late on a busy machine
	var readOnly atomic.Bool
	n := startAll(t, apptest.WithProductionLimits(), apptest.WithLimits(func(l *limits.Limits) { l.AnnounceLease = lease }),
		apptest.WithStoreFault(func() error {
			if readOnly.Load() {
				return errors.New("the database is read-only")
			}
			return nil
		}),
		apptest.WithDatabaseURLs(map[region.Code]func(string) string{region.US: through, region.EU: through, region.SG: through}))
	t.Cleanup(p.Restore)
	user := n.SignIn(t, region.US, apptest.UserID("writer"))
	await := func(until func(app.Readiness) bool) app.Readiness {
		t.Helper()
		var latest app.Readiness
		require.Eventually(t, func() bool {
			latest = n.Region(region.US).Ready(t.Context())
			return until(latest)
		}, apptest.Patience, 20*time.Millisecond)
		return latest
	}
	passes := func(r app.Readiness, name string) bool {
		i := slices.IndexFunc(r.Checks, func(c statusz.CheckResult) bool { return c.Name == name })
		return i >= 0 && r.Checks[i].Ready
	}
	write := func() int {
		return user.Do(t, http.MethodPost, "/api/v3/communities", object{"displayName": "c"}).Status
	}
	await(func(r app.Readiness) bool { return passes(r, "announcement") })
	require.Equal(t, http.StatusOK, write())

	readOnly.Store(true)
	require.True(t, await(func(r app.Readiness) bool { return !passes(r, "announcement") }).Ready)
	require.Equal(t, http.StatusServiceUnavailable, write())
	require.Equal(t, http.StatusOK, user.Do(t, http.MethodGet, "/api/v3/communities", nil).Status)

	p.Refuse()
	await(func(r app.Readiness) bool { return !r.Ready })
	p.Restore()
	back := await(func(r app.Readiness) bool { return passes(r, statusz.CheckDatabase) })
	require.False(t, back.Ready, "it refuses writes: %s", back)
	readOnly.Store(false)
	await(func(r app.Readiness) bool { return r.Ready })
	require.Equal(t, http.StatusOK, write())
}
