package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	readyTimeout = time.Minute
	stopTimeout  = 30 * time.Second
	port         = 18081
)

// network is a running plaza dev. Attackers and users send their requests to its region eu.
type network struct {
	dir    string
	cmd    *exec.Cmd
	api    string // base URL
	apiKey string
	client *http.Client
	prefix string       // of the ids of users
	signed atomic.Int64 // number of users who were signed in
}

// newNetwork returns a client of a network whose users have ids with a prefix.
func newNetwork(prefix string) *network {
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	return &network{prefix: prefix, client: client}
}

// startNetwork starts a network with its default limits.
func startNetwork(ctx context.Context, binary string) (n *network, err error) {
	dir, err := os.MkdirTemp("", "plaza-hostile-")
	if err != nil {
		return nil, err
	}
	n = newNetwork("user")
	n.dir = dir
	defer func() {
		if err != nil {
			err = errors.Join(err, n.stop())
		}
	}()
	if binary == "" {
		binary = filepath.Join(dir, "plaza")
		build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./platform/cmd/plaza")
		if output, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go build: %w\n%s", err, output)
		}
	}
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // the database server is another user
		return nil, err
	}
	if err := n.launch(ctx, binary); err != nil {
		return nil, err
	}
	return n, n.readFacts()
}

// launch starts the program and waits until it has written its facts and is ready.
func (n *network) launch(ctx context.Context, binary string) error {
	log, err := os.Create(filepath.Join(n.dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the program has its own descriptor
	n.cmd = exec.CommandContext(ctx, binary, "dev", "--ephemeral", "--port", strconv.Itoa(port), "--data-dir", filepath.Join(n.dir, "data"))
	n.cmd.Stdout, n.cmd.Stderr = log, log
	n.cmd.Cancel = func() error { return n.cmd.Process.Signal(syscall.SIGTERM) }
	n.cmd.WaitDelay = stopTimeout
	if err := n.cmd.Start(); err != nil {
		return err
	}
	for end := time.Now().Add(readyTimeout); time.Now().Before(end) && ctx.Err() == nil; pause(ctx, 100*time.Millisecond) {
		if output, _ := os.ReadFile(log.Name()); bytes.Contains(output, []byte("plaza: ready")) {
			return nil
		}
	}
	output, _ := os.ReadFile(log.Name())
	return fmt.Errorf("plaza dev is not ready after %s:\n%s", readyTimeout, output)
}

func (n *network) readFacts() error {
	content, err := os.ReadFile(filepath.Join(n.dir, "data", "dev.json"))
	if err != nil {
		return err
	}
	var facts struct {
		APIKey  string `json:"apiKey"`
		Regions map[string]struct {
			BaseURL string `json:"baseUrl"`
		} `json:"regions"`
	}
	err = json.Unmarshal(content, &facts)
	n.apiKey, n.api = facts.APIKey, facts.Regions["eu"].BaseURL
	return err
}

// stop stops the program and removes its data.
func (n *network) stop() error {
	if n.cmd != nil && n.cmd.Process != nil {
		_ = n.cmd.Cancel()
		_ = n.cmd.Wait() // its exit code is ignored
	}
	return os.RemoveAll(n.dir)
}

// memory returns the resident memory of the program. dev runs three regions in one process, so that none of them has the
// metrics of a process.
func (n *network) memory(ctx context.Context) (int64, error) {
	output, err := exec.CommandContext(ctx, "ps", "-o", "rss=", "-p", strconv.Itoa(n.cmd.Process.Pid)).Output()
	if err != nil {
		return 0, fmt.Errorf("ps: %w", err)
	}
	kibibytes, err := strconv.ParseInt(strings.TrimSpace(string(output)), 10, 64)
	return kibibytes << 10, err
}

// watchMemory sends the highest memory seen when ctx is done.
func (n *network) watchMemory(ctx context.Context) <-chan int64 {
	found := make(chan int64, 1)
	go func() {
		var highest int64
		for ; ctx.Err() == nil; pause(ctx, 250*time.Millisecond) {
			if bytes, err := n.memory(ctx); err == nil {
				highest = max(highest, bytes)
			}
		}
		found <- highest
	}()
	return found
}

// signIn creates a user, and returns the access token.
func (n *network) signIn(ctx context.Context, c *http.Client) (string, error) {
	body := fmt.Sprintf(`{"userId":"%s-%d","deviceId":"device"}`, n.prefix, n.signed.Add(1))
	var answer struct {
		AccessToken string `json:"accessToken"`
	}
	err := n.call(ctx, c, http.MethodPost, "/api/v5/sessions", http.Header{"X-Api-Key": {n.apiKey}}, body, &answer)
	return answer.AccessToken, err
}

// statusError is the error of a response other than 200.
type statusError struct {
	status int
	body   string
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d: %.300s", e.status, e.body) }

// call sends a request, and decodes the response into answer unless that is nil.
func (n *network) call(ctx context.Context, c *http.Client, method, path string, header http.Header, body string, answer any) error {
	request, err := http.NewRequestWithContext(ctx, method, n.api+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header = header
	response, err := c.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return err
	case response.StatusCode != http.StatusOK:
		return &statusError{response.StatusCode, string(content)}
	case answer == nil:
		return nil
	}
	return json.Unmarshal(content, answer)
}

func bearer(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }
