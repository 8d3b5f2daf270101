package apptest_test

import (
	"errors"
	"net/http"
	"os"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
)

func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }

func TestSharedNetwork(t *testing.T) {
	n := apptest.Shared(t)
	require.Same(t, n, apptest.Shared(t))
	alice := n.NewUser(t, region.EU, "alice")
	for _, code := range region.All() {
		answer := alice.At(code).Do(t, http.MethodGet, "/api/v3/users/"+alice.UserID, nil).OK(t)
		require.Equal(t, alice.InternalID, answer.String(t, "users.0._id"))
		require.Equal(t, []string{alice.UserID}, answer.Strings(t, "users", "userId"))
		require.False(t, answer.Bool(t, "users.0.isDeleted"))
		require.Equal(t, 0, answer.Int(t, "users.0.flagCount"))
		require.Len(t, answer.List(t, "users"), 1)
		require.True(t, answer.Has(t, "users.0.userId"))
		require.False(t, answer.Has(t, "users.1"))
	}
	code, message := n.Anonymous(region.US).Do(t, http.MethodGet, "/api/v3/users", nil).Error(t)
	require.Equal(t, 400100, code)
	require.NotEmpty(t, message)
	n.Admin(region.SG).Do(t, http.MethodGet, "/api/v3/network-settings", nil).OK(t)
}

func TestOptions(t *testing.T) {
	var calls atomic.Int64
	var seen []region.Code
	broken := errors.New("broken")
	var fault atomic.Pointer[error]
	n := apptest.Start(t,
		apptest.WithConfig(func(cfg *config.Config) { seen = append(seen, cfg.Region); cfg.MaxBodyBytes = 1000 }),
		apptest.WithStoreFault(func() error {
			calls.Add(1)
			if err := fault.Load(); err != nil {
				return *err
			}
			return nil
		}),
		apptest.WithDatabaseURLs(map[region.Code]func(string) string{
			region.US: func(url string) string { return url },
		}),
	)
	require.Empty(t, seen, "servers start when they are used")
	n.OpsURL(region.EU)
	require.Equal(t, []region.Code{region.EU}, seen)
	before := calls.Load()
	alice := n.NewUser(t, region.EU, "alice")
	require.Greater(t, calls.Load(), before)
	fault.Store(&broken)
	answer := n.Anonymous(region.EU).With("X-API-Key", n.APIKey).Do(t, http.MethodPost, "/api/v5/sessions",
		map[string]any{"userId": alice.UserID, "deviceId": "d"})
	require.Equal(t, http.StatusInternalServerError, answer.Status)
	fault.Store(nil)
	require.Equal(t, http.StatusRequestEntityTooLarge,
		alice.Do(t, http.MethodPost, "/api/v4/posts", string(make([]byte, 2000))).Status)
	n.StartAll(t)
	require.ElementsMatch(t, region.All(), seen)
}
