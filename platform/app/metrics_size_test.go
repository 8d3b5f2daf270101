package app_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// The largest response to a scrape in bytes: of a server on which every operation was called, and of one on which every
// operation failed too.
const (
	maxMetrics        = 160_000
	maxMetricsFailing = 220_000
)

// TestMetricsStaySmall calls every operation. The series that the rejected requests created are counted a second time for
// operations that also succeed, and a third time for those that also fail.
func TestMetricsStaySmall(t *testing.T) {
	r, _ := serving(t)
	callAll(t, r)
	text := scrape(t, r)
	rejected := 0
	for _, procedure := range procedures() {
		line := fmt.Sprintf("plaza_http_requests_total{code=\"4xx\",network=%q,procedure=%q,region=\"eu\"} ", testConfig().NetworkID,
			strings.TrimPrefix(procedure, "/plaza.v1."))
		at := strings.Index(text, line)
		require.GreaterOrEqual(t, at, 0, "%s was not counted:\n%s", procedure, text)
		rejected += strings.IndexByte(text[at:], '\n') + 1
	}
	t.Logf("%d bytes, of them %d for rejected requests by operation", len(text), rejected)
	require.Less(t, len(text)+rejected, maxMetrics)
	require.Less(t, len(text)+2*rejected, maxMetricsFailing)
}

// TestClientsAddNoSeries sends requests with random paths, user agents, origins and errors: what a client chooses is not
// the value of a label.
func TestClientsAddNoSeries(t *testing.T) {
	r, _ := serving(t)
	for _, name := range []string{
		"plaza_database_up", "plaza_outbox_oldest_age_seconds", "plaza_scheduled_posts_overdue_seconds",
		"plaza_moderation_generation",
	} {
		// In the background.
		require.Eventually(t, func() bool { return strings.Contains(scrape(t, r), "\n"+name+"{") }, patience, 50*time.Millisecond, name)
	}
	random := rand.New(rand.NewPCG(1, 2))
	ask := func() {
		word := fmt.Sprintf("w%x", random.Uint64())
		for _, path := range []string{
			"/" + word, "/api/v3/posts/" + word, "/plaza.v1.PostService/" + word, "/plaza.v1." + word + "/GetPost",
			"/realtime/" + word,
		} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+r.APIAddr()+path, strings.NewReader(`{"`+word+`":`))
			require.NoError(t, err)
			for _, name := range []string{"User-Agent", "Origin", "X-Request-Id", "X-API-Key", "X-Forwarded-For"} {
				request.Header.Set(name, word)
			}
			request.Header.Set("Content-Type", []string{"application/json", "application/grpc", "application/" + word}[random.IntN(3)])
			response, err := http.DefaultClient.Do(request)
			require.NoError(t, err)
			_, _ = io.Copy(io.Discard, response.Body)
			require.NoError(t, response.Body.Close())
		}
	}
	for range 20 {
		ask()
	}
	before := seriesOf(scrape(t, r))
	for range 2000 {
		ask()
	}
	for name := range seriesOf(scrape(t, r)) {
		require.Contains(t, before, name)
	}
}

// BenchmarkScrape measures a scrape of a server on which every operation was called.
func BenchmarkScrape(b *testing.B) {
	r, _ := serving(b)
	callAll(b, r)
	b.ResetTimer()
	for b.Loop() {
		scrape(b, r)
	}
}

// callAll calls every operation without credentials.
func callAll(tb testing.TB, r *running) {
	tb.Helper()
	for _, procedure := range procedures() {
		request, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, "http://"+r.APIAddr()+procedure, strings.NewReader("{}"))
		require.NoError(tb, err)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		require.NoError(tb, err)
		_, _ = io.Copy(io.Discard, response.Body)
		require.NoError(tb, response.Body.Close())
	}
}

// procedures returns the names of all operations.
func procedures() []string {
	var all []string
	protoregistry.GlobalFiles.RangeFilesByPackage(plazav1.File_plaza_v1_post_proto.Package(), func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				all = append(all, fmt.Sprintf("/%s/%s", service.FullName(), service.Methods().Get(j).Name()))
			}
		}
		return true
	})
	return all
}

// scrape returns the metrics of a server in the text format.
func scrape(tb testing.TB, r *running) string {
	tb.Helper()
	status, body := get(tb, http.DefaultClient, "http://"+r.OpsAddr()+"/metrics")
	require.Equal(tb, http.StatusOK, status)
	return body
}

// seriesOf returns the names of the series in a response to a scrape.
func seriesOf(text string) map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(text) {
		if name, _, found := strings.Cut(line, "} "); found {
			all[name] = true
		}
	}
	return all
}
