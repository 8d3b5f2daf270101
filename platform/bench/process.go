package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/plaza-social/plaza/platform/bench/bare"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// server is one of the two servers.
type server struct {
	name string
	api  string // host:port
	ops  string // host:port
	// profiles is where the server serves profiles.
	profiles profiles

	cmd *exec.Cmd
	log *os.File

	database *database
}

// The names of the servers. Another plaza program is called "other".
const (
	plazaName = "plaza"
	bareName  = "bare"
)

const (
	readyTimeout = 20 * time.Second
	stopTimeout  = 10 * time.Second
)

// start starts the program of command, which serves at the addresses api and ops, and waits until it is ready. Its log
// is written to a file: logging is part of the measured work.
func (e *environment) start(ctx context.Context, name string, d *database, command func(api, ops string) *exec.Cmd) (*server, error) {
	api, apiErr := freeAddress(ctx)
	ops, opsErr := freeAddress(ctx)
	log, logErr := os.Create(e.path(name + ".log"))
	if err := errors.Join(apiErr, opsErr, logErr); err != nil {
		return nil, err
	}
	cmd := command(api, ops)
	cmd.Stderr = log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	s := &server{name: name, api: api, ops: ops, profiles: profiles{opsClient, "http://" + ops}, cmd: cmd, log: log, database: d}
	if err := s.waitReady(ctx); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// stop stops the server and waits for it. Its exit code is ignored.
func (s *server) stop() error {
	_ = s.cmd.Cancel()
	ended := time.AfterFunc(stopTimeout, func() { _ = s.cmd.Process.Kill() })
	defer ended.Stop()
	_ = s.cmd.Wait()
	return s.log.Close()
}

// logTail returns the end of the server's log, for errors.
func (s *server) logTail() string {
	content, err := os.ReadFile(s.log.Name())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}

// startPlaza starts one region's server with the default configuration, including its access log.
func (e *environment) startPlaza(ctx context.Context, name, binary string, d *database) (*server, error) {
	settings, profiles, err := e.controlOf(ctx, name)
	if err != nil {
		return nil, err
	}
	started, err := e.start(ctx, name, d, func(api, ops string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, binary, "serve")
		cmd.Env = append(append(withoutSettings(os.Environ()), settings...),
			"PLAZA_REGION="+string(home), "PLAZA_NETWORK_ID="+networkID, "PLAZA_LISTEN="+api, "PLAZA_OPS_LISTEN="+ops,
			"PLAZA_DATABASE_URL="+d.url, "PLAZA_DIRECTORY_KEY=the directory key of the benchmark", "PLAZA_DRAIN_DELAY=0s", "PLAZA_RATE_LIMIT=off",
			"PLAZA_SERVER_KEYS_FILE="+e.path("server-keys.json"), "PLAZA_API_KEYS_FILE="+e.path("api-keys.json"),
			"PLAZA_SIGNING_KEYS_FILE="+e.path("signing-keys.json"))
		return cmd
	})
	if err == nil {
		started.profiles = profiles
	}
	return started, err
}

// withoutSettings removes variables that affect the server's configuration.
func withoutSettings(environ []string) []string {
	return slices.DeleteFunc(environ, func(variable string) bool { return strings.HasPrefix(variable, "PLAZA_") })
}

func (s *server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		_, err := get(ctx, "http://"+s.ops+"/readyz")
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w\n%s", s.name, err, s.logTail())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// freeAddress returns an address that is currently free.
func freeAddress(ctx context.Context) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// bareConfig configures the process of the bare server.
type bareConfig struct {
	bare.Config

	Listen    string `json:"listen"`
	OpsListen string `json:"opsListen"`
}

// startBare starts this program as the bare server, which reads its configuration from standard input and exits at the
// end of it, so that it does not outlive the benchmark.
func (e *environment) startBare(ctx context.Context) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-bare")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	return e.start(ctx, bareName, e.ofOther, func(api, ops string) *exec.Cmd {
		_ = json.NewEncoder(in).Encode(bareConfig{Listen: api, OpsListen: ops, Config: bare.Config{
			DatabaseURL: e.ofOther.url, NetworkID: networkID, SigningKeysFile: e.path("signing-keys.json"), Home: home,
			PoolSize: int32(config.Default().PoolSize),
		}}) // into the pipe's buffer
		return cmd
	})
}

// serveBare runs the bare server in its process.
func serveBare(ctx context.Context, _ options) error {
	var cfg bareConfig
	if err := json.NewDecoder(os.Stdin).Decode(&cfg); err != nil {
		return err
	}
	metrics := telemetry.NewMetrics(cfg.NetworkID, cfg.Home)
	s, err := bare.New(ctx, cfg.Config, metrics.Registerer())
	if err != nil {
		return err
	}
	defer s.Close()
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics.Gatherer(), promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	ended := make(chan error, 3)
	for address, handler := range map[string]http.Handler{cfg.Listen: s.Handler(), cfg.OpsListen: mux} {
		server := &http.Server{Addr: address, Handler: handler, ReadHeaderTimeout: readyTimeout}
		go func() { ended <- server.ListenAndServe() }()
	}
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin) // ends with the benchmark
		ended <- err
	}()
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		return err
	}
}
