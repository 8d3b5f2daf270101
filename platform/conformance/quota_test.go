package conformance

import (
	"io/fs"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
)

// requireQuota checks the answer to a request beyond a daily quota.
func requireQuota(t *testing.T, answer *apptest.Response, quota string) {
	t.Helper()
	require.Equal(t, http.StatusTooManyRequests, answer.Status, answer.Short())
	code, _ := answer.Error(t)
	require.Equal(t, 400311, code)
	require.Equal(t, "the quota is "+quota+" per user and day", answer.String(t, "data.detail.0"))
	wait, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	require.NoError(t, err)
	require.LessOrEqual(t, wait, 24*60*60)
	require.Positive(t, wait)
}

// TestQuotaOfCreations creates from all regions at once: exactly as many succeed as the quota allows.
func TestQuotaOfCreations(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t, apptest.WithConfig(func(cfg *config.Config) { cfg.DailyCommunities, cfg.DailyChannels = 5, 6 }))
	for name, tc := range map[string]struct {
		path  string
		body  func(i int) object
		quota int
		text  string
	}{
		"communities": {"/api/v3/communities", func(int) object { return object{"displayName": "c"} }, 5, "5 new communities"},
		"channels":    {"/api/v3/channels", func(int) object { return object{"type": "community", "displayName": "c"} }, 6, "6 new channels"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			alice := n.NewUser(t, region.EU, "alice")
			var created atomic.Int64
			var g sync.WaitGroup
			for i := range 15 {
				g.Go(func() {
					if alice.At(region.All()[i%3]).Do(t, http.MethodPost, tc.path, tc.body(i)).Status == http.StatusOK {
						created.Add(1)
					}
				})
			}
			g.Wait()
			require.EqualValues(t, tc.quota, created.Load())
			requireQuota(t, alice.Do(t, http.MethodPost, tc.path, tc.body(0)), tc.text)
			n.NewUser(t, region.EU, "bob").Do(t, http.MethodPost, tc.path, tc.body(0)).OK(t)
		})
	}
	for range 8 {
		n.Admin(region.EU).Do(t, http.MethodPost, "/api/v3/channels", object{"type": "community", "displayName": "c"}).OK(t)
	}
}

func TestQuotaOfConversations(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t, apptest.WithConfig(func(cfg *config.Config) { cfg.DailyChannels = 2 }))
	alice := n.NewUser(t, region.EU, "alice")
	create := func(with string) *apptest.Response {
		return alice.Do(t, http.MethodPost, "/api/v3/channels/conversation", object{"userIds": []string{with}, "isDistinct": true})
	}
	first := n.NewUser(t, region.EU, "bob").UserID
	create(first).OK(t)
	create(n.NewUser(t, region.US, "carol").UserID).OK(t)
	create(first).OK(t) // exists
	requireQuota(t, create(n.NewUser(t, region.US, "dave").UserID), "2 new channels")
}

func TestQuotaOfUploads(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t, apptest.WithConfig(func(cfg *config.Config) { cfg.DailyUploads, cfg.DailyUploadBytes = 3, 1000 }))
	upload := func(c *apptest.Client, size int) *apptest.Response {
		return c.UploadTo(t, "/api/v4/files", "a.txt", make([]byte, size))
	}
	alice, bob := n.NewUser(t, region.EU, "alice"), n.NewUser(t, region.US, "bob")
	for range 3 {
		upload(alice, 10).OK(t)
	}
	requireQuota(t, upload(alice, 10), "3 uploaded files")
	upload(bob, 400).OK(t)
	requireQuota(t, upload(bob, 601), "1000 uploaded bytes")
	upload(bob, 600).OK(t)
	requireQuota(t, upload(bob, 1), "1000 uploaded bytes")
	for range 4 {
		upload(n.Admin(region.EU), 400).OK(t)
	}
	require.Len(t, storedObjects(t, n), 3+2+4, "refused uploads leave no byte")
}

// storedObjects returns the objects in the storage folder of a network.
func storedObjects(t *testing.T, n *apptest.Network) (paths []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(n.Files, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.HasSuffix(path, ".attrs") {
			paths = append(paths, path)
		}
		return err
	}))
	return paths
}

// TestQuotaOfUploadsInProgress uploads several files at a time, each of which exceeds the quota. None is stored as a whole, because the
// bytes of all count as they arrive.
func TestQuotaOfUploadsInProgress(t *testing.T) {
	t.Parallel()
	const quota, parallel = 1 << 20, 6
	n := apptest.Start(t, apptest.WithConfig(func(cfg *config.Config) { cfg.DailyUploadBytes = quota }))
	alice := n.NewUser(t, region.EU, "alice")
	upload := func(size int) *apptest.Response {
		return alice.UploadTo(t, "/api/v4/files", "a.txt", make([]byte, size))
	}
	answers := make([]*apptest.Response, parallel)
	var g sync.WaitGroup
	for i := range answers {
		g.Go(func() { answers[i] = upload(quota + 1) })
	}
	g.Wait()
	for _, answer := range answers {
		requireQuota(t, answer, "1048576 uploaded bytes")
	}
	require.Empty(t, storedObjects(t, n))
	upload(quota).OK(t) // the bytes of refused uploads do not count
}

// TestQuotaOfSessions checks that a session beyond the quota ends the oldest one.
func TestQuotaOfSessions(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t, apptest.WithConfig(func(cfg *config.Config) { cfg.MaxSessions = 3 }))
	id := apptest.UserID("alice")
	var sessions []*apptest.Client
	for range 4 {
		for _, s := range sessions {
			s.Do(t, http.MethodGet, "/api/v3/users", nil).OK(t)
		}
		sessions = append(sessions, n.SignIn(t, region.EU, id))
	}
	require.Equal(t, http.StatusUnauthorized, sessions[0].Do(t, http.MethodGet, "/api/v3/users", nil).Status)
	for _, s := range sessions[1:] {
		s.Do(t, http.MethodGet, "/api/v3/users", nil).OK(t)
	}
	var g sync.WaitGroup
	for range 10 {
		g.Go(func() { n.SignIn(t, region.US, id) })
	}
	g.Wait()
	conn := connectTo(t, n)
	var left int
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM sessions WHERE user_id = $1", sessions[0].InternalID).Scan(&left))
	require.Equal(t, 3, left)
}
