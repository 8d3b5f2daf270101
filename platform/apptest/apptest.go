// Package apptest runs the whole program in tests: three regions with real listeners on a migrated database, and HTTP
// clients for them.
//
// Starting a network takes a few tenths of a second. Tests without special requirements share one:
//
//	func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }
//
//	func TestSomething(t *testing.T) {
//		n := apptest.Shared(t)
//		alice := n.SignIn(t, region.EU, apptest.UserID("alice"))
//		alice.Do(t, http.MethodGet, "/api/v3/users", nil).OK(t)
//	}
package apptest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/app"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// readyTimeout limits how long a region may take to become ready. It allows for a busy machine.
const readyTimeout = time.Minute

// schema is the template of each network's database.
var schema = testdb.NewTemplate(func(ctx context.Context, url string) error {
	return store.Migrate(ctx, store.MigrateOptions{URL: url})
})

// Network is a running network: one server per region, in this process.
type Network struct {
	// ServerKey, APIKey and AdminToken are the values that plaza dev writes to dev.json.
	ServerKey  string
	APIKey     string
	AdminToken string
	// NetworkID is 24 lowercase hexadecimal characters.
	NetworkID string
	// DatabaseURL is the URL of the database of all regions, regardless of WithDatabaseURLs.
	DatabaseURL string
	// Files is the directory in which the contents of files of all homes are stored.
	Files string
	// Keys are the paths of the key files, which servers re-read when they change.
	Keys KeyFiles

	files   fileCache
	options options
	mu      sync.RWMutex // guards regions and stops
	regions map[region.Code]*app.Region
	stops   map[region.Code]func()
	http    *http.Client
}

// Start starts a network that runs until the test ends.
func Start(t testing.TB, opts ...Option) *Network {
	t.Helper()
	o := newOptions(opts)
	n := &Network{
		NetworkID:   "0123456789abcdef01234567",
		DatabaseURL: schema.New(t),
		options:     o,
		regions:     map[region.Code]*app.Region{},
		stops:       map[region.Code]func(){},
		http:        newHTTPClient(),
	}
	n.makeKeys(t)
	n.Files = t.TempDir()
	for _, code := range region.All() {
		n.startRegion(t, code, o)
	}
	t.Cleanup(n.http.CloseIdleConnections) // runs first, so that no server waits for a connection
	n.awaitReady(t, o.lost)
	return n
}

// startRegion starts the server of one region, which runs until the test ends.
func (n *Network) startRegion(t testing.TB, code region.Code, o options) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	server, err := app.New(ctx, n.config(code, o), o.log, app.WithStoreFault(o.fault))
	if err != nil {
		stop()
	}
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	end := sync.OnceFunc(func() {
		stop()
		require.NoError(t, <-ended)
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	n.regions[code], n.stops[code] = server, end
	t.Cleanup(end)
}

// Restart stops the server of a region and starts a new one, at another address.
func (n *Network) Restart(t testing.TB, code region.Code) {
	t.Helper()
	n.mu.RLock()
	end := n.stops[code]
	n.mu.RUnlock()
	end()
	n.startRegion(t, code, n.options)
	n.awaitReady(t, n.options.lost)
}

func (n *Network) awaitReady(t testing.TB, lost map[region.Code]bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), readyTimeout)
	defer cancel()
	for code, server := range n.regions {
		for !lost[code] {
			state := server.Ready(ctx)
			if state.Ready {
				break
			}
			require.NoError(t, ctx.Err(), "region %s: %s", server.Code(), state)
			pause(ctx, 5*time.Millisecond)
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Region returns the server of one region.
func (n *Network) Region(code region.Code) *app.Region {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.regions[code]
}

// BaseURL returns the URL of a region's API, without trailing slash.
func (n *Network) BaseURL(code region.Code) string { return "http://" + n.Region(code).APIAddr() }

// OpsURL returns the URL of a region's operations listener, without trailing slash.
func (n *Network) OpsURL(code region.Code) string { return "http://" + n.Region(code).OpsAddr() }

// MintAdmin returns an admin token issued at the given time and valid for ttl from then on.
func (n *Network) MintAdmin(t testing.TB, name string, issued time.Time, ttl time.Duration) string {
	t.Helper()
	ring, err := auth.OpenKeyring(n.Keys.Signing)
	require.NoError(t, err)
	issuer := auth.NewIssuer(n.NetworkID, ring, auth.WithIssuerClock(func() time.Time { return issued }))
	token, _, err := issuer.MintAdmin(name, ttl)
	require.NoError(t, err)
	return token
}

// newHTTPClient returns a client with enough idle connections for concurrent tests. It does not follow redirects.
func newHTTPClient() *http.Client {
	return &http.Client{
		Transport: transport{&http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}},
		Timeout:   time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
}

// networkOf is the network shared by the tests of this process.
var networkOf struct {
	network *Network
	scope   *processTB
}

// Main runs the tests of a package and then stops the shared network. Call it in TestMain.
func Main(m *testing.M) int {
	code := m.Run()
	if networkOf.scope != nil {
		if err := networkOf.scope.end(); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, "stopping the shared network failed:", err)
			return max(code, 1)
		}
	}
	return code
}

// Shared returns the network shared by the tests of this package, starting it on the first call. The package needs a
// TestMain that calls Main. Tests that change network settings or count rows must start their own network.
func Shared(t testing.TB) *Network {
	t.Helper()
	if networkOf.scope == nil {
		networkOf.scope = newProcessTB()
		networkOf.network = startShared(networkOf.scope)
	}
	require.NotNil(t, networkOf.network, "starting the shared network failed: %v", networkOf.scope.failure())
	return networkOf.network
}

// startShared starts a network in a goroutine, which a failure may exit like that of a test.
func startShared(tb *processTB) *Network {
	started := make(chan *Network, 1)
	go func() {
		defer close(started)
		started <- Start(tb) //nolint:testifylint // this goroutine acts as a test's
	}()
	return <-started
}

// config returns the configuration of one region's server.
func (n *Network) config(code region.Code, o options) config.Config {
	cfg := config.Default()
	cfg.Region, cfg.NetworkID = code, config.NetworkID(n.NetworkID)
	cfg.Listen, cfg.OpsListen = "127.0.0.1:0", "127.0.0.1:0"
	cfg.DrainDelay = 0
	cfg.DirectoryKey = "the directory key of a test"
	cfg.ServerKeysFile, cfg.APIKeysFile, cfg.SigningKeysFile = n.Keys.Server, n.Keys.API, n.Keys.Signing
	cfg.DatabaseURL = telemetry.SecretURL(n.DatabaseURL)
	cfg.StorageURL = config.StorageURL("file://" + n.Files)
	if o.change != nil {
		o.change(&cfg)
	}
	return cfg
}
