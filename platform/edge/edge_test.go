package edge_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/fail"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

func TestNewRequiresEveryService(t *testing.T) {
	services := slices.DeleteFunc((&fake{}).services(), func(s edge.Service) bool { return s.Name == "plaza.v1.PostService" })
	_, err := edge.New(edge.Options{Services: services})
	require.ErrorIs(t, err, edge.ErrServiceMissing)
	require.ErrorContains(t, err, "Post")
}

func TestRequestID(t *testing.T) {
	w := start(t)
	for _, tc := range []struct {
		name, given string
		kept        bool
	}{
		{"none", "", false},
		{"valid", "abc-DEF_1.2:3/4+5=", true},
		{"longest", strings.Repeat("x", 128), true},
		{"too long", strings.Repeat("x", 129), false},
		{"space", "a b", false},
		{"quote", `a"b`, false},
		{"not ASCII", "é", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, path := range []string{"/api/v3/comments/c", "/nothing", "/plaza.v1.PostService/GetPost"} {
				got := w.call(t, "GET", path, "", edge.HeaderRequestID, tc.given).header.Get(edge.HeaderRequestID)
				if tc.kept {
					require.Equal(t, tc.given, got)
				} else {
					require.Regexp(t, "^[0-9a-f]{32}$", got)
				}
			}
		})
	}
}

func TestLogHandlerAddsTheRequestID(t *testing.T) {
	log := &logBuffer{}
	logger := slog.New(edge.LogHandler(edge.LogHandler(slog.NewJSONHandler(log, nil)))).With("a", 1).WithGroup("g")
	w := start(t)
	w.do = func(ctx context.Context) error {
		logger.InfoContext(ctx, "inside", "b", edge.RequestID(ctx))
		return nil
	}
	w.call(t, "GET", "/api/v3/comments/c", "", edge.HeaderRequestID, "the-id")
	require.Equal(t, 2, strings.Count(log.String(), "the-id"), log.String())
	logger.Info("outside")
	require.Equal(t, 2, strings.Count(log.String(), "the-id"), log.String())
	require.Empty(t, edge.RequestID(t.Context()))
}

func TestGzipAnswers(t *testing.T) {
	w := start(t)
	w.post = feed(20)
	plain := w.call(t, "GET", "/api/v5/posts?targetId=t", "", "Accept-Encoding", "identity")
	require.Empty(t, plain.header.Get("Content-Encoding"))
	for _, accept := range []string{"gzip", "deflate, gzip;q=0.5", "*", "br, gzip"} {
		t.Run(accept, func(t *testing.T) {
			got := w.call(t, "GET", "/api/v5/posts?targetId=t", "", "Accept-Encoding", accept)
			require.Equal(t, "gzip", got.header.Get("Content-Encoding"))
			reader, err := gzip.NewReader(strings.NewReader(got.body))
			require.NoError(t, err)
			data, err := io.ReadAll(reader)
			require.NoError(t, err)
			require.Equal(t, plain.body, string(data))
		})
	}
	for _, accept := range []string{"gzip;q=0", "br", "identity, *;q=0", "gzip;q=x"} {
		t.Run(accept, func(t *testing.T) {
			got := w.call(t, "GET", "/api/v5/posts?targetId=t", "", "Accept-Encoding", accept)
			require.Empty(t, got.header.Get("Content-Encoding"))
		})
	}
	t.Run("not for small bodies", func(t *testing.T) {
		require.Empty(t, w.call(t, "GET", "/api/v3/users/u", "", "Accept-Encoding", "gzip").header.Get("Content-Encoding"))
	})
	t.Run("not for errors", func(t *testing.T) {
		w.failing(fail.Validation(strings.Repeat("x", 10_000)))
		got := w.call(t, "GET", "/api/v3/users/u", "", "Accept-Encoding", "gzip")
		require.Empty(t, got.header.Get("Content-Encoding"))
		require.True(t, json.Valid([]byte(got.body)))
	})
}

func TestGzipOfResponseBodyField(t *testing.T) {
	w := start(t)
	got := w.call(t, "GET", "/api/v3/roles/"+strings.Repeat("r", 100), "", "Accept-Encoding", "gzip")
	require.Equal(t, 200, got.status)
}

func TestCORS(t *testing.T) {
	t.Run("every origin", func(t *testing.T) {
		w := start(t)
		got := w.call(t, "OPTIONS", "/api/v5/sessions", "", "Origin", "https://app.example",
			"Access-Control-Request-Method", "POST",
			"Access-Control-Request-Headers", "authorization,content-type,set-access-token-cookie,x-api-key")
		require.Equal(t, http.StatusNoContent, got.status)
		require.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"))
		require.Equal(t, "POST", got.header.Get("Access-Control-Allow-Methods"))
		require.Equal(t, "authorization,content-type,set-access-token-cookie,x-api-key", got.header.Get("Access-Control-Allow-Headers"))

		got = w.call(t, "GET", "/api/v3/comments/c", "", "Origin", "https://app.example")
		require.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"))
		require.Contains(t, got.header.Get("Access-Control-Expose-Headers"), edge.HeaderRequestID)
		require.Empty(t, got.header.Get("Access-Control-Allow-Credentials"))

		got = w.call(t, "GET", "/nothing", "", "Origin", "https://app.example")
		require.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"), "browsers must let pages read errors")
	})
	t.Run("some origins", func(t *testing.T) {
		w := start(t, func(o *edge.Options) { o.CORSOrigins = []string{"https://app.example"} })
		got := w.call(t, "GET", "/api/v3/comments/c", "", "Origin", "https://app.example")
		require.Equal(t, "https://app.example", got.header.Get("Access-Control-Allow-Origin"))
		got = w.call(t, "GET", "/api/v3/comments/c", "", "Origin", "https://other.example")
		require.Empty(t, got.header.Get("Access-Control-Allow-Origin"))
	})
	t.Run("OPTIONS without preflight headers", func(t *testing.T) {
		requireError(t, start(t).call(t, "OPTIONS", "/api/v5/sessions", ""), 405, 400000, "Bad Request.")
	})
}

func TestMetrics(t *testing.T) {
	w := start(t)
	w.call(t, "GET", "/api/v3/comments/c", "")
	w.call(t, "GET", "/made-up/1", "")
	w.call(t, "GET", "/made-up/2", "")
	w.call(t, "POST", "/plaza.v1.CommentService/MadeUp", "{}", "Content-Type", "application/json")
	w.failing(fail.Conflict())
	w.call(t, "GET", "/api/v3/comments/c", "")
	_, err := plazav1connect.NewCommentServiceClient(http2Client(t), w.url, connect.WithGRPC()).
		GetComment(t.Context(), &plazav1.GetCommentRequest{CommentId: "c"})
	require.Error(t, err)
	w.failing(fail.Unauthorized().Because(auth.ErrWrongKey))
	w.call(t, "POST", "/plaza.v1.CommentService/GetComment", `{"commentId": "c"}`, "Content-Type", "application/json")
	families, err := w.registry.Gather()
	require.NoError(t, err)
	text := exposition(t, families, "plaza_http_requests_total", "plaza_http_responses_total", "plaza_http_requests_in_flight")
	require.Equal(t, `# HELP plaza_http_requests_in_flight Requests that are being answered.
# TYPE plaza_http_requests_in_flight gauge
plaza_http_requests_in_flight 0
# HELP plaza_http_requests_total Requests by operation and class of the HTTP status (2xx, 4xx, 5xx); over gRPC, of the status that REST would have had.
# TYPE plaza_http_requests_total counter
plaza_http_requests_total{code="2xx",procedure="CommentService/GetComment"} 1
plaza_http_requests_total{code="4xx",procedure="CommentService/GetComment"} 3
plaza_http_requests_total{code="4xx",procedure="unknown"} 3
# HELP plaza_http_responses_total Requests by protocol and HTTP status; over gRPC, the status that REST would have had.
# TYPE plaza_http_responses_total counter
plaza_http_responses_total{code="200",protocol="rest"} 1
plaza_http_responses_total{code="401",protocol="connect"} 1
plaza_http_responses_total{code="404",protocol="connect"} 1
plaza_http_responses_total{code="404",protocol="rest"} 2
plaza_http_responses_total{code="409",protocol="grpc"} 1
plaza_http_responses_total{code="409",protocol="rest"} 1
`, text)
	requireReason(t, families, "wrong_key", 1)
	requireDurations(t, families, map[string]uint64{"operation": 4, "unknown": 3})
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	require.NoError(t, err)
	require.Empty(t, problems)

	_, err = edge.New(edge.Options{Services: w.services(), Registerer: w.registry})
	require.Error(t, err, "registered twice")
}

// requireReason requires that credentials were refused for one reason only.
func requireReason(t *testing.T, families []*dto.MetricFamily, reason string, times float64) {
	t.Helper()
	counts := map[string]float64{}
	for _, f := range families {
		if f.GetName() == "plaza_unauthorized_total" {
			for _, m := range f.GetMetric() {
				if n := m.GetCounter().GetValue(); n != 0 {
					counts[m.GetLabel()[0].GetValue()] = n
				}
			}
		}
	}
	require.Equal(t, map[string]float64{reason: times}, counts)
}

// requireDurations compares the number of measured requests by kind, and requires that the histograms are native too.
func requireDurations(t *testing.T, families []*dto.MetricFamily, want map[string]uint64) {
	t.Helper()
	for _, f := range families {
		if f.GetName() != "plaza_http_request_duration_seconds" {
			continue
		}
		counts := map[string]uint64{}
		for _, m := range f.GetMetric() {
			counts[m.GetLabel()[0].GetValue()] = m.GetHistogram().GetSampleCount()
			require.NotNil(t, m.GetHistogram().Schema, "native")
		}
		require.Equal(t, want, counts)
		return
	}
	require.Fail(t, "no durations")
}

// exposition returns some metrics in the text format of Prometheus.
func exposition(t *testing.T, families []*dto.MetricFamily, names ...string) string {
	t.Helper()
	var text strings.Builder
	for _, family := range families {
		if slices.Contains(names, family.GetName()) {
			_, err := expfmt.MetricFamilyToText(&text, family)
			require.NoError(t, err)
		}
	}
	return text.String()
}

func TestHeaderLimit(t *testing.T) {
	got := start(t).call(t, "GET", "/api/v3/comments/c", "", "X-Long", strings.Repeat("x", 2*edge.MaxHeaderBytes))
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, got.status)
}
