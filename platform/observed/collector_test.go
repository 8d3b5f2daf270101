package observed_test

import (
	"cmp"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collect "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/apptest"
)

// collector is a server that receives traces by OTLP.
type collector struct {
	mu       sync.Mutex
	spans    []*trace.Span
	exported []string // the requests as text
}

// startCollector starts a collector, and configures the servers that the test starts next to send it every trace.
func startCollector(t *testing.T, env ...string) *collector {
	t.Helper()
	c := &collector{}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	t.Setenv("OTEL_TRACES_SAMPLER_ARG", "1")
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
	for i := 0; i < len(env); i += 2 {
		t.Setenv(env[i], env[i+1])
	}
	return c
}

// ServeHTTP implements http.Handler.
func (c *collector) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	var sent collect.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &sent)
	}
	if err != nil || request.URL.Path != "/v1/traces" {
		http.Error(w, "not a trace", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exported = append(c.exported, sent.String())
	for _, resource := range sent.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
}

// await returns the spans of a trace by name once one of the wanted name was exported.
func (c *collector) await(t *testing.T, traceID string, wanted ...string) map[string]*trace.Span {
	t.Helper()
	var found map[string]*trace.Span
	require.Eventually(t, func() bool {
		found = c.spansOf(traceID)
		for _, name := range wanted {
			if found[name] == nil {
				return false
			}
		}
		return true
	}, apptest.Patience, 10*time.Millisecond, "%v", wanted)
	return found
}

func (c *collector) spansOf(traceID string) map[string]*trace.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := map[string]*trace.Span{}
	for _, s := range c.spans {
		if hex.EncodeToString(s.GetTraceId()) == traceID {
			found[s.GetName()] = s
		}
	}
	return found
}

// awaitAttempts returns the spans of a name in the trace of a client, the first one first, once there are as many as wanted.
func (c *collector) awaitAttempts(t *testing.T, name string, wanted int) []*trace.Span {
	t.Helper()
	var found []*trace.Span
	require.Eventually(t, func() bool {
		found = c.named(name)
		return len(found) >= wanted
	}, apptest.Patience, 10*time.Millisecond, name)
	return found
}

// named returns the spans of a name in the trace of a client, the first one first.
func (c *collector) named(name string) []*trace.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []*trace.Span
	for _, s := range c.spans {
		if hex.EncodeToString(s.GetTraceId()) == traceID && s.GetName() == name {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b *trace.Span) int { return cmp.Compare(a.GetStartTimeUnixNano(), b.GetStartTimeUnixNano()) })
	return found
}

// text returns everything that was exported.
func (c *collector) text() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.exported...)
}

// attribute returns the value of an attribute as text.
func attribute(s *trace.Span, name string) string {
	for _, a := range s.GetAttributes() {
		if a.GetKey() == name {
			return a.GetValue().String()
		}
	}
	return ""
}
