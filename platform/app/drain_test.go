package app_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/app"
)

// TestDrainUnderLoad stops a server under constant load, as a rollout does. Clients behave like a load balancer: they
// stop sending requests when /readyz returns 503. Until then every request gets a complete response, on kept-alive and
// on new connections.
func TestDrainUnderLoad(t *testing.T) {
	drained := make(chan time.Time)
	var arrived, answered, afterNotice atomic.Int64
	var noticed, failed atomic.Bool
	body := strings.Repeat("x", 20_000)
	r := run(t, testConfig(), app.WithDrained(drained), app.WithHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived.Add(1)
		_, _ = io.WriteString(w, body[:len(body)/2])
		_ = http.NewResponseController(w).Flush() // in progress until the client has read this
		_, _ = io.WriteString(w, body[len(body)/2:])
	})))
	ready := "http://" + r.OpsAddr() + "/readyz"

	var clients sync.WaitGroup
	var failures sync.Map
	for i := range 16 {
		transport := &http.Transport{DisableKeepAlives: i%4 == 0}
		client := &http.Client{Transport: transport}
		clients.Go(func() {
			defer transport.CloseIdleConnections()
			for !noticed.Load() {
				if err := callOnce(client, "http://"+r.APIAddr()+"/", body); err != nil {
					failures.Store(fmt.Sprintf("client %d: %v", i, err), true)
					failed.Store(true)
					return
				}
				answered.Add(1)
				if !r.Ready(t.Context()).Ready {
					afterNotice.Add(1)
				}
			}
		})
	}
	require.Eventually(t, func() bool { return answered.Load() > 500 || failed.Load() }, patience, time.Millisecond)
	r.stop()
	require.Eventually(t, func() bool {
		status, _ := get(t, http.DefaultClient, ready)
		return status == http.StatusServiceUnavailable && (afterNotice.Load() > 0 || failed.Load())
	}, patience, time.Millisecond, "requests are served while the server drains")
	noticed.Store(true)
	clients.Wait()
	close(drained)
	require.NoError(t, r.finish(t))
	failures.Range(func(failure, _ any) bool {
		t.Error(failure)
		return true
	})
	require.Equal(t, arrived.Load(), answered.Load(), "no request was lost")
}

// callOnce makes one request and reads the whole response.
func callOnce(client *http.Client, url, want string) error {
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != http.StatusOK || string(got) != want) {
		err = fmt.Errorf("status %d with %d bytes", resp.StatusCode, len(got))
	}
	return err
}

// TestDrainClosesConnections checks that a draining server asks clients to close kept-alive connections, so that it
// does not close one on which a request is arriving.
func TestDrainClosesConnections(t *testing.T) {
	drained := make(chan time.Time)
	r := run(t, testConfig(), app.WithDrained(drained), app.WithHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "answered")
	})))
	closes := func() bool {
		resp, err := http.Get("http://" + r.APIAddr() + "/")
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, resp.Body)
		require.NoError(t, resp.Body.Close())
		return resp.Close
	}
	require.False(t, closes())
	r.stop()
	require.Eventually(t, func() bool { return !r.Ready(t.Context()).Ready }, patience, time.Millisecond)
	require.True(t, closes())
	close(drained)
	require.NoError(t, r.finish(t))
}
