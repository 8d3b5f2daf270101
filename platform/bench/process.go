package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	cmd  *exec.Cmd
	log  *os.File
}

// bareName is the name of the bare server.
const bareName = "bare"

const (
	readyTimeout = 20 * time.Second
	stopTimeout  = 10 * time.Second
)

// start starts cmd with its log in the file at logPath. Logging is part of the measured work.
func start(cmd *exec.Cmd, name, logPath string) (*server, error) {
	log, err := os.Create(logPath)
	if err != nil {
		return nil, err
	}
	cmd.Stderr = log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return &server{name: name, cmd: cmd, log: log}, nil
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
func startPlaza(ctx context.Context, name, binary string, e *environment) (*server, error) {
	api, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	ops, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, binary, "serve")
	cmd.Env = append(withoutSettings(os.Environ()),
		"PLAZA_REGION="+string(home), "PLAZA_NETWORK_ID="+networkID, "PLAZA_LISTEN="+api, "PLAZA_OPS_LISTEN="+ops,
		"PLAZA_DATABASE_URL="+e.database.URL(), "PLAZA_DIRECTORY_KEY=bench", "PLAZA_DRAIN_DELAY=0s",
		"PLAZA_SERVER_KEYS_FILE="+e.path("server-keys.json"), "PLAZA_API_KEYS_FILE="+e.path("api-keys.json"),
		"PLAZA_SIGNING_KEYS_FILE="+e.path("signing-keys.json"))
	s, err := start(cmd, name, e.path(name+".log"))
	if err != nil {
		return nil, err
	}
	s.api, s.ops = api, ops
	if err := s.waitReady(ctx); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
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

// startBare starts this program as the bare server, which prints its addresses to standard output and exits at the end
// of its standard input, so that it does not outlive the benchmark.
func startBare(ctx context.Context, e *environment) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-bare")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s, err := start(cmd, bareName, e.path("bare.log"))
	if err != nil {
		return nil, err
	}
	cfg := bare.Config{
		DatabaseURL: e.database.URL(), NetworkID: networkID, SigningKeysFile: e.path("signing-keys.json"), Home: home,
		PoolSize: int32(config.Default().PoolSize),
	}
	if err := json.NewEncoder(in).Encode(cfg); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the bare server failed to start: %s", s.logTail()), s.stop())
	}
	s.api, s.ops, _ = strings.Cut(strings.TrimSpace(line), " ")
	return s, nil
}

// serveBare runs the bare server in its process.
func serveBare(ctx context.Context, _ options) error {
	in := bufio.NewReader(os.Stdin)
	var cfg bare.Config
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	if err := json.Unmarshal(line, &cfg); err != nil {
		return err
	}
	metrics := telemetry.NewMetrics(cfg.NetworkID, cfg.Home)
	s, err := bare.New(ctx, cfg, metrics.Registerer())
	if err != nil {
		return err
	}
	defer s.Close()
	api, err := listenAndServe(ctx, s.Handler())
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics.Gatherer(), promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	ops, err := listenAndServe(ctx, mux)
	if err != nil {
		return err
	}
	fmt.Println(api, ops)
	parentGone := make(chan struct{})
	go func() {
		_, _ = in.ReadByte()
		close(parentGone)
	}()
	select {
	case <-ctx.Done():
	case <-parentGone:
	}
	return nil
}

func listenAndServe(ctx context.Context, handler http.Handler) (address string, err error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s := &http.Server{Handler: handler, ReadHeaderTimeout: readyTimeout}
	go func() { _ = s.Serve(l) }() // runs until the process exits
	return l.Addr().String(), nil
}
