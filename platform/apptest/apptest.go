// Package apptest runs the whole program for tests: three regions with real listeners on one migrated database, and
// clients that speak to them over HTTP.
//
// Starting a network takes a few tenths of a second. Tests that do not depend on network-wide state share one:
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
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/plaza-social/plaza/platform/app"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/ratelimit"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// readyTimeout limits the wait for a region to become ready. It is generous because the machine may be busy.
const readyTimeout = time.Minute

// schema is the initial content of each network's database.
var schema = testdb.NewTemplate(func(ctx context.Context, url string) error {
	if err := db.Migrate(ctx, db.MigrateOptions{URL: url}); err != nil {
		return err
	}
	return app.StartInsecure(ctx, url)
})

// DirectoryKey is the directory key of every network.
const DirectoryKey = "the directory key of every network in a test"

// Network is a running network: one server per region, in this process.
type Network struct {
	// ServerKey, APIKey and AdminToken are what plaza dev writes into dev.json.
	ServerKey  string
	APIKey     string
	AdminToken string
	// NetworkID is 24 lowercase hexadecimal characters.
	NetworkID string
	// DatabaseURL is the database of every region, regardless of WithDatabaseURLs.
	DatabaseURL string
	// Files is the folder with the uploaded files of every home.
	Files string
	// Keys are the paths of the key files, which the servers reload when they change.
	Keys KeyFiles

	files   fileCache
	locks   lockCheck
	options options
	mu      sync.RWMutex // of regions and stops
	regions map[region.Code]*app.Region
	stops   map[region.Code]func()
	http    *http.Client
}

// Start runs a network until the test ends.
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
	t.Cleanup(n.http.CloseIdleConnections) // runs before the servers stop, so that none waits for a connection
	n.AwaitReady(t)
	return n
}

// startRegion serves one region until the test ends.
func (n *Network) startRegion(t testing.TB, code region.Code, o options) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	server, err := app.New(ctx, n.config(code, o), o.log, app.WithStoreFault(o.fault), app.WithLogLevel(new(slog.LevelVar)), app.WithSentTransactions(n.locks.check),
		app.WithMovePace(movesRead, movesSettle))
	if err != nil {
		stop()
	}
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	end := sync.OnceFunc(func() {
		stop()
		if err := n.locks.failure(); err != nil {
			t.Errorf("the order of locks of SharedTable in package db: %v", err)
		}
		require.NoError(t, <-ended)
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	n.regions[code], n.stops[code] = server, end
	t.Cleanup(end)
}

// Stop stops the server of a region, which then does not respond until Restart.
func (n *Network) Stop(code region.Code) {
	n.mu.RLock()
	end := n.stops[code]
	n.mu.RUnlock()
	end()
}

// Restart stops the server of a region and starts another one at another address.
func (n *Network) Restart(t testing.TB, code region.Code) {
	t.Helper()
	n.Stop(code)
	n.startRegion(t, code, n.options)
	n.AwaitReady(t)
}

// UseDatabase stops the servers of all regions and starts them again with another database.
func (n *Network) UseDatabase(t testing.TB, url string) {
	t.Helper()
	n.DatabaseURL = url
	for _, code := range region.All() {
		n.Stop(code)
		n.startRegion(t, code, n.options)
	}
	n.AwaitReady(t)
}

// AwaitReady waits until every region is ready.
func (n *Network) AwaitReady(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), readyTimeout)
	defer cancel()
	for _, code := range region.All() {
		for {
			server := n.Region(code)
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

// BaseURL returns the address of a region's API without a trailing slash.
func (n *Network) BaseURL(code region.Code) string { return "http://" + n.Region(code).APIAddr() }

// OpsURL returns the address of a region's operations endpoints without a trailing slash.
func (n *Network) OpsURL(code region.Code) string { return "http://" + n.Region(code).OpsAddr() }

// MintAdmin returns an admin token that is issued at the given time and valid for ttl.
func (n *Network) MintAdmin(t testing.TB, name string, issued time.Time, ttl time.Duration) string {
	t.Helper()
	token, _, err := n.issuer(t, issued).MintAdmin(name, ttl)
	require.NoError(t, err)
	return token
}

// AuthToken returns a token with which userID can sign in, like that of the authentication endpoint.
func (n *Network) AuthToken(t testing.TB, userID string) string {
	t.Helper()
	token, err := n.issuer(t, time.Now()).MintAuthToken(userID)
	require.NoError(t, err)
	return token
}

// issuer returns an issuer with the network's signing keys.
func (n *Network) issuer(t testing.TB, at time.Time) *auth.Issuer {
	t.Helper()
	ring, err := auth.OpenKeyring(n.Keys.Signing)
	require.NoError(t, err)
	return auth.NewIssuer(n.NetworkID, ring, auth.WithIssuerClock(func() time.Time { return at }))
}

// Hooks let a package observe the requests of every network in its process. Set them before the first test, in TestMain.
var Hooks struct {
	// Transport returns the transport to use instead of t.
	Transport func(t *http.Transport) http.RoundTripper
	// Event is called for each event of a stream.
	Event func(path string, e StreamEvent)
}

// newHTTPClient returns a client that keeps enough connections for concurrent tests and follows no redirects.
func newHTTPClient() *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	client := &http.Client{
		Transport: transport, Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if Hooks.Transport != nil {
		client.Transport = Hooks.Transport(transport)
	}
	return client
}

// shared is the network that the tests of this process share.
var shared struct {
	once    sync.Once
	network *Network // nil if it did not start
	scope   *processTB
}

// Main runs the tests of a package, stops the network that they shared, and returns the exit code. It fails if goroutines
// are left. Use it in TestMain.
func Main(m *testing.M) int {
	setParallel()
	code := m.Run()
	if shared.scope != nil {
		if err := shared.scope.end(); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, "stopping the shared network:", err)
			code = max(code, 1)
		}
	}
	if code != 0 {
		return code // a failed test may leave goroutines
	}
	if err := goleak.Find(ignoredGoroutines...); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// maxParallel keeps the connections of parallel networks below the limit of the database server.
const maxParallel = 8

// setParallel allows two parallel tests per processor unless the command line sets -parallel. A test of a network spends
// about half of its time waiting for the database.
func setParallel() {
	flag.Parse()
	isSet := false
	flag.Visit(func(f *flag.Flag) { isSet = isSet || f.Name == "test.parallel" })
	if !isSet {
		_ = flag.Set("test.parallel", strconv.Itoa(min(2*runtime.GOMAXPROCS(0), maxParallel)))
	}
}

// ignoredGoroutines end with the process.
var ignoredGoroutines = []goleak.Option{
	goleak.IgnoreAnyFunction("github.com/plaza-social/plaza/platform/devdb.spawn.func1"), // waits for the database server
}

// Shared returns the network that the tests of this package share; the first call starts it. The package needs a TestMain
// that calls Main. Tests that change network settings, or count everything in the network, start a network of their own.
func Shared(t testing.TB) *Network {
	t.Helper()
	shared.once.Do(func() {
		shared.scope = newProcessTB()
		shared.network = startShared(shared.scope)
	})
	require.NotNil(t, shared.network, "the shared network did not start: %v", shared.scope.failure())
	return shared.network
}

// startShared starts a network in a goroutine of its own, which a failure ends like that of a test.
func startShared(tb *processTB) *Network {
	started := make(chan *Network, 1)
	go func() {
		defer close(started)
		started <- Start(tb) //nolint:testifylint // this goroutine acts as a test
	}()
	return <-started
}

// config returns the configuration of one region's server.
func (n *Network) config(code region.Code, o options) config.Config {
	cfg := config.Default()
	cfg.Region, cfg.NetworkID = code, config.NetworkID(n.NetworkID)
	cfg.Listen, cfg.OpsListen = "127.0.0.1:0", "127.0.0.1:0"
	cfg.DrainDelay = 0
	cfg.RateLimit = ratelimit.Limit{} // tests of limits switch them on
	cfg.DirectoryKey = DirectoryKey
	cfg.ServerKeysFile, cfg.APIKeysFile, cfg.SigningKeysFile = n.Keys.Server, n.Keys.API, n.Keys.Signing
	cfg.DatabaseURL = telemetry.SecretURL(n.DatabaseURL)
	cfg.StorageURL = config.StorageURL("file://" + n.Files)
	cfg.PushLocal = true
	cfg.RankingAge = 0 // tests expect what they have done before
	for _, change := range o.changes {
		change(&cfg)
	}
	return cfg
}
