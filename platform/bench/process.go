package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// server is one of the servers.
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

// serverNames are the names of the server that is measured, and of the one that it is compared with.
var serverNames = []string{"plaza", "other"}

const (
	readyTimeout = 20 * time.Second
	stopTimeout  = 10 * time.Second
)

// start starts one region's server with the default configuration, including its access log, and waits until it is ready. Its log is
// written to a file: logging is part of the measured work.
func (e *environment) start(ctx context.Context, name, binary string, d *database) (*server, error) {
	settings, profiles, controlErr := e.controlOf(ctx, name)
	api, apiErr := freeAddress(ctx)
	ops, opsErr := freeAddress(ctx)
	log, logErr := os.Create(e.path(name + ".log"))
	if err := errors.Join(controlErr, apiErr, opsErr, logErr); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, binary, "serve")
	cmd.Env = append(append(withoutSettings(os.Environ()), settings...),
		"PLAZA_REGION="+string(home), "PLAZA_NETWORK_ID="+networkID, "PLAZA_LISTEN="+api, "PLAZA_OPS_LISTEN="+ops,
		"PLAZA_DATABASE_URL="+d.url, "PLAZA_DIRECTORY_KEY=the directory key of the benchmark", "PLAZA_DRAIN_DELAY=0s", "PLAZA_RATE_LIMIT=off",
		"PLAZA_SERVER_KEYS_FILE="+e.path("server-keys.json"), "PLAZA_API_KEYS_FILE="+e.path("api-keys.json"),
		"PLAZA_SIGNING_KEYS_FILE="+e.path("signing-keys.json"))
	cmd.Stderr = log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	s := &server{name: name, api: api, ops: ops, profiles: profiles, cmd: cmd, log: log, database: d}
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
