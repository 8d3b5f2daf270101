package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/app"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/dburl"
	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/statusz"
	"github.com/plaza-social/plaza/platform/store/db"
)

var quiet = slog.New(slog.DiscardHandler)

// testConfig returns a configuration with free ports, without database and keys.
func testConfig() config.Config {
	cfg := config.Default()
	cfg.Region, cfg.NetworkID = region.EU, config.NetworkID(strings.Repeat("a", 24))
	cfg.Listen, cfg.OpsListen = "127.0.0.1:0", "127.0.0.1:0"
	cfg.DrainDelay = 0
	return cfg
}

// running is a server under test.
type running struct {
	*app.Region
	stop  context.CancelFunc
	ended chan error
}

// run starts a server that serves handler until the test ends.
func run(t testing.TB, cfg config.Config, opts ...app.Option) *running {
	t.Helper()
	return runWithLog(t, cfg, quiet, opts...)
}

func runWithLog(t testing.TB, cfg config.Config, log *slog.Logger, opts ...app.Option) *running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	server, err := app.New(ctx, cfg, log, opts...)
	require.NoError(t, err)
	r := &running{Region: server, stop: stop, ended: make(chan error, 1)}
	go func() { r.ended <- server.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-r.ended)
	})
	return r
}

// finish stops the server and returns the result of Run.
func (r *running) finish(t *testing.T) error {
	t.Helper()
	r.stop()
	err := <-r.ended
	r.ended <- err // for the cleanup
	return err
}

func hello(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }

func get(t testing.TB, client *http.Client, url string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}

func TestHTTP1AndHTTP2OnOnePort(t *testing.T) {
	r := run(t, testConfig(), app.WithHandler(http.HandlerFunc(hello)))
	for name, c := range map[string]struct {
		set  func(*http.Protocols)
		want string
	}{
		"HTTP/1.1": {func(p *http.Protocols) { p.SetHTTP1(true) }, "HTTP/1.1"},
		"h2c":      {func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) }, "HTTP/2.0"},
	} {
		t.Run(name, func(t *testing.T) {
			transport := &http.Transport{Protocols: new(http.Protocols)}
			defer transport.CloseIdleConnections()
			c.set(transport.Protocols)
			status, body := get(t, &http.Client{Transport: transport}, "http://"+r.APIAddr()+"/")
			require.Equal(t, http.StatusOK, status)
			require.Equal(t, c.want, body)
		})
	}
}

func TestHeaderTooLarge(t *testing.T) {
	cfg := testConfig()
	cfg.MaxHeaderBytes = 8 << 10
	r := run(t, cfg, app.WithHandler(http.HandlerFunc(hello)))
	status, _ := get(t, http.DefaultClient, "http://"+r.APIAddr()+"/", "X-Long", strings.Repeat("x", 6<<10))
	require.Equal(t, http.StatusOK, status)
	status, _ = get(t, http.DefaultClient, "http://"+r.APIAddr()+"/", "X-Long", strings.Repeat("x", 16<<10))
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, status)
}

func TestOperations(t *testing.T) {
	r := run(t, testConfig(), app.WithHandler(http.HandlerFunc(hello)))
	for path, want := range map[string]string{
		"/livez":   "ok\n",
		"/readyz":  "ready\nserver: ok\n",
		"/metrics": `plaza_build_info{`,
	} {
		status, body := get(t, http.DefaultClient, "http://"+r.OpsAddr()+path)
		require.Equal(t, http.StatusOK, status, path)
		require.Contains(t, body, want, path)
	}
	for _, path := range []string{"/nothing", "/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/cmdline"} {
		status, _ := get(t, http.DefaultClient, "http://"+r.OpsAddr()+path)
		require.Equal(t, http.StatusNotFound, status, path)
	}
}

func TestReadyz(t *testing.T) {
	bad := func(context.Context) error { return errors.New("schema version is 12, required is 28") }
	good := func(context.Context) error { return nil }
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, c := range map[string]struct {
		checks []app.Check
		status int
		text   string
	}{
		"all pass": {[]app.Check{{Name: "schema", Run: good}}, 200, "ready\nserver: ok\nschema: ok\n"},
		"one fails": {
			[]app.Check{{Name: "database eu", Run: good}, {Name: "schema", Run: bad}},
			503,
			"not ready\nschema: schema version is 12, required is 28\nserver: ok\ndatabase eu: ok\n",
		},
		"advisory check fails": {
			[]app.Check{{Name: "database us", Advisory: true, Run: bad}},
			200,
			"ready\ndatabase us: schema version is 12, required is 28 (advisory)\nserver: ok\n",
		},
		"one hangs": {
			[]app.Check{{Name: "database eu", Run: hang}},
			503,
			"not ready\ndatabase eu: has not answered within 800ms\nserver: ok\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, testConfig(), app.WithHandler(http.HandlerFunc(hello)), app.WithChecks(c.checks...))
			status, body := get(t, http.DefaultClient, "http://"+r.OpsAddr()+"/readyz")
			require.Equal(t, c.status, status)
			require.Equal(t, c.text, body)
			status, body = get(t, http.DefaultClient, "http://"+r.OpsAddr()+"/readyz", "Accept", "application/json")
			require.Equal(t, c.status, status)
			var answer app.Readiness
			require.NoError(t, json.Unmarshal([]byte(body), &answer))
			require.Equal(t, c.status == 200, answer.Ready)
			require.Len(t, answer.Checks, len(c.checks)+1)
		})
	}
}

// TestDrain stops a server during a request: the request finishes, and in the meantime /readyz reports draining.
func TestDrain(t *testing.T) {
	cfg := testConfig()
	entered, leave := make(chan struct{}), make(chan struct{})
	r := run(t, cfg, app.WithHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-leave
		_, _ = io.WriteString(w, "finished")
	})))
	answer := make(chan string, 1)
	go func() {
		response, err := http.Get("http://" + r.APIAddr() + "/")
		if err != nil {
			answer <- err.Error()
			return
		}
		defer func() { _ = response.Body.Close() }()
		body, _ := io.ReadAll(response.Body)
		answer <- string(body)
	}()
	<-entered
	r.stop()
	require.Eventually(t, func() bool { return !r.Ready(t.Context()).Ready }, patience, time.Millisecond)
	status, body := get(t, http.DefaultClient, "http://"+r.OpsAddr()+"/readyz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "server: draining")
	close(leave)
	require.Equal(t, "finished", <-answer)
	require.NoError(t, r.finish(t))
}

func TestShutdownTimeout(t *testing.T) {
	cfg := testConfig()
	cfg.ShutdownTimeout = config.Duration(50 * time.Millisecond)
	entered := make(chan struct{})
	r := run(t, cfg, app.WithHandler(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		close(entered)
		<-req.Context().Done()
	})))
	go func() {
		resp, err := http.Get("http://" + r.APIAddr() + "/")
		if err == nil {
			_ = resp.Body.Close()
		}
	}()
	<-entered
	require.NoError(t, r.finish(t))
}

func TestPortInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	for setting, change := range map[string]func(*config.Config, config.Address){
		"listen":     func(c *config.Config, a config.Address) { c.Listen = a },
		"ops-listen": func(c *config.Config, a config.Address) { c.OpsListen = a },
	} {
		cfg := testConfig()
		change(&cfg, config.Address(taken.Addr().String()))
		_, err := app.New(t.Context(), cfg, quiet, app.WithHandler(http.HandlerFunc(hello)))
		var wrong *app.ListenError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, setting, wrong.Setting)
		require.ErrorIs(t, err, syscall.EADDRINUSE)
		require.ErrorContains(t, err, "cannot listen on "+taken.Addr().String()+" (--"+setting+")")
	}
}

// fullConfig returns a configuration with a database and its own keys.
func fullConfig(t testing.TB, databaseURL string) config.Config {
	t.Helper()
	cfg, dir := testConfig(), t.TempDir()
	cfg.DatabaseURL = dburl.MustParse(databaseURL)
	cfg.DirectoryKey = "a secret of the directory"
	cfg.ServerKeysFile = filepath.Join(dir, "server.json")
	cfg.APIKeysFile = filepath.Join(dir, "api.json")
	cfg.SigningKeysFile = filepath.Join(dir, "signing.json")
	_, err := auth.GenerateKeySet(cfg.ServerKeysFile, "k1")
	require.NoError(t, err)
	_, err = auth.GenerateKeySet(cfg.APIKeysFile, "k1")
	require.NoError(t, err)
	require.NoError(t, auth.GenerateKeyring(cfg.SigningKeysFile))
	return cfg
}

// TestOldSchema starts a server before its migration: it is alive but not ready, rejects API requests, and serves them
// after the migration without a restart.
func TestOldSchema(t *testing.T) {
	url := testdb.New(t)
	r := run(t, fullConfig(t, url))
	status, body := get(t, http.DefaultClient, "http://"+r.OpsAddr()+"/readyz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "schema: schema version is 0, required is ")
	status, _ = get(t, http.DefaultClient, "http://"+r.OpsAddr()+"/livez")
	require.Equal(t, http.StatusOK, status)
	status, body = get(t, http.DefaultClient, "http://"+r.APIAddr()+"/api/v3/users")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.JSONEq(t, `{"status":"error","code":500000,"message":"Unexpected error"}`, body)

	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url}))
	require.Eventually(t, func() bool { return r.Ready(t.Context()).Ready }, patience, 10*time.Millisecond)
	status, _ = get(t, http.DefaultClient, "http://"+r.APIAddr()+"/no/such/route")
	require.Equal(t, http.StatusNotFound, status)
}

// TestServerOpensByItself starts a server whose readiness is not asked for: it serves.
func TestServerOpensByItself(t *testing.T) {
	url := testdb.New(t)
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url}))
	r := run(t, fullConfig(t, url))
	require.Eventually(t, func() bool {
		status, _ := get(t, http.DefaultClient, "http://"+r.APIAddr()+"/no/such/route")
		return status == http.StatusNotFound
	}, patience, 10*time.Millisecond)
}

// TestDatabaseOfAnotherNetwork starts a server with the database of another network: it is never ready, and serves nothing.
func TestDatabaseOfAnotherNetwork(t *testing.T) {
	url := testdb.New(t)
	cfg := fullConfig(t, url)
	require.NoError(t, db.Migrate(t.Context(),
		db.MigrateOptions{URL: url, Identity: db.NetworkIdentity(string(cfg.NetworkID), "another key")}))
	r := run(t, cfg)
	status, body := get(t, http.DefaultClient, "http://"+r.OpsAddr()+"/readyz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "schema: "+statusz.OtherNetwork)
	status, _ = get(t, http.DefaultClient, "http://"+r.APIAddr()+"/api/v3/users")
	require.Equal(t, http.StatusServiceUnavailable, status)
}

func TestUnreachableDatabase(t *testing.T) {
	r := run(t, fullConfig(t, "postgresql://plaza:hunter2@127.0.0.1:1/plaza"))
	_, body := get(t, http.DefaultClient, "http://"+r.OpsAddr()+"/readyz")
	require.Contains(t, body, "\ndatabase: failed to connect to ")
	require.Regexp(t, `\ndatabase eu: failed to connect to .* \(advisory\)\n`, body)
	require.Equal(t, 7, strings.Count(body, "\n"), "one line per check")
	require.NotContains(t, body, "hunter2")
}

func TestNewReportsMissingSettings(t *testing.T) {
	_, err := app.New(t.Context(), testConfig(), quiet)
	var wrong *config.Error
	require.ErrorAs(t, err, &wrong)

	cfg := fullConfig(t, "postgresql://db/plaza")
	require.NoError(t, os.Remove(cfg.SigningKeysFile))
	_, err = app.New(t.Context(), cfg, quiet)
	require.ErrorAs(t, err, &wrong)
	require.ErrorContains(t, err, "signing-keys-file: open ")
}

func TestCloseReleasesPorts(t *testing.T) {
	server, err := app.New(t.Context(), testConfig(), quiet, app.WithHandler(http.HandlerFunc(hello)))
	require.NoError(t, err)
	require.NoError(t, server.Close())
	cfg := testConfig()
	cfg.Listen, cfg.OpsListen = config.Address(server.APIAddr()), config.Address(server.OpsAddr())
	run(t, cfg, app.WithHandler(http.HandlerFunc(hello)))
}
