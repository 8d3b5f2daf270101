// Package apptest runs the whole program for tests: three regions with real listeners on one migrated database, and
// clients that speak to them over HTTP.
//
// The server of a region starts when it is first used, because most tests use one or two, and each server opens
// connections to the homes of all three. Starting one takes a few tenths of a second. Tests that do not depend on network-wide state share
// one:
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
	"flag"
	"fmt"
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
	"github.com/plaza-social/plaza/platform/dburl"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/ratelimit"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// schema is the initial content of each network's database.
var schema = dbtest.NewTemplate("not in secure mode", app.StartInsecure)

// poolSize is the number of connections of a server to each home. It is half of the default, because a process of the
// database for each connection is much of what a test costs.
const poolSize = 4

// Patience is how long tests wait for what must happen in the background. It is generous, because the machine may be busy,
// and only a test that fails waits that long.
const Patience = 2 * time.Minute

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

	t       testing.TB // the network ends with it
	files   fileCache
	locks   lockCheck
	options options
	mu      sync.RWMutex           // held while a server starts
	servers map[region.Code]server // those that have been used
	http    *http.Client
}

// Start runs a network until the test ends.
func Start(t testing.TB, opts ...Option) *Network {
	t.Helper()
	o := newOptions(opts)
	n := &Network{
		t:           t,
		NetworkID:   "0123456789abcdef01234567",
		DatabaseURL: schema.New(t),
		options:     o,
		servers:     map[region.Code]server{},
		http:        newHTTPClient(),
	}
	n.makeKeys(t)
	n.Files = t.TempDir()
	for _, code := range region.All() {
		n.stopAtEnd(code)
	}
	t.Cleanup(n.http.CloseIdleConnections) // runs before the servers stop, so that none waits for a connection
	return n
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
	token, err := n.issuer(t, n.options.clock.Now()).MintAuthToken(userID)
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
		Transport: transport, Timeout: Patience,
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

// lifted is the time limit of the settings that have one, unless they are those of production.
const lifted = config.Duration(limits.Lifted)

// config returns the configuration of one region's server.
func (n *Network) config(code region.Code, o options) config.Config {
	cfg := config.Default()
	cfg.Region, cfg.NetworkID = code, config.NetworkID(n.NetworkID)
	cfg.Listen, cfg.OpsListen = "127.0.0.1:0", "127.0.0.1:0"
	cfg.DrainDelay = 0
	cfg.PoolSize = poolSize
	cfg.RateLimit = ratelimit.Limit{} // tests of limits switch them on
	cfg.DirectoryKey = DirectoryKey
	cfg.ServerKeysFile, cfg.APIKeysFile, cfg.SigningKeysFile = n.Keys.Server, n.Keys.API, n.Keys.Signing
	cfg.DatabaseURL = dburl.MustParse(n.DatabaseURL)
	cfg.StorageURL = config.StorageURL("file://" + n.Files)
	cfg.PushLocal = true
	cfg.RankingAge = 0 // tests expect what they have done before
	if !o.production {
		cfg.StatementTimeout, cfg.RequestTimeout, cfg.ShutdownTimeout = lifted, lifted, lifted
	}
	for _, change := range o.changes {
		change(&cfg)
	}
	return cfg
}
