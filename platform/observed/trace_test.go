package observed_test

import (
	"bytes"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// logBuffer is a log that can be read while it is written.
type logBuffer struct {
	mu  sync.Mutex
	raw bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.raw.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.raw.String()
}

// The trace of a client, and its span.
const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanID  = "00f067aa0ba902b7"
)

const followRequested = "/plaza.v1.FollowService/FollowUser"

// TestTraces follows a user of another home in the trace of a client: the trace has the request, its statements, and the
// delivery to the other home. The log and the exemplar of the latency have its id.
func TestTraces(t *testing.T) {
	c := startCollector(t)
	log := &logBuffer{}
	n := apptest.Start(t, apptest.WithLog(slog.New(slog.NewJSONHandler(log, nil))))
	alice, bob := n.NewUser(t, region.EU, "alice"), n.NewUser(t, region.US, "bob")
	alice.With("traceparent", "00-"+traceID+"-"+spanID+"-01").Do(t, http.MethodPost, "/api/v4/me/following/"+bob.UserID, nil).OK(t)

	spans := c.await(t, traceID, followRequested, "read", "transaction", "deliver follow")
	request := spans[followRequested]
	require.Equal(t, spanID, hex.EncodeToString(request.GetParentSpanId()))
	require.Contains(t, attribute(request, "http.response.status_code"), "200")
	for _, name := range []string{"read", "transaction"} {
		require.Contains(t, attribute(spans[name], "plaza.statements"), ".", name)
	}
	require.Contains(t, log.String(), `"traceId":"`+traceID+`"`)
	require.Contains(t, openMetrics(t, n, region.EU), `# {trace_id="`+traceID+`"}`)
}

// TestTracesAreSampled sends requests with a ratio of 0: a client cannot make its trace be exported.
func TestTracesAreSampled(t *testing.T) {
	c := startCollector(t, "OTEL_TRACES_SAMPLER_ARG", "0")
	n := apptest.Start(t)
	alice := n.NewUser(t, region.EU, "alice")
	alice.With("traceparent", "00-"+traceID+"-"+spanID+"-01").Do(t, http.MethodGet, "/api/v3/users", nil).OK(t)
	n.Restart(t, region.EU) // which exports everything
	require.Empty(t, c.text())
}

// openMetrics returns the metrics of a server in the format with exemplars.
func openMetrics(t *testing.T, n *apptest.Network, code region.Code) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.OpsURL(code)+"/metrics", nil)
	require.NoError(t, err)
	request.Header.Set("Accept", "application/openmetrics-text;version=1.0.0")
	response, err := n.HTTP().Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(text)
}
