package edge_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/fail"
)

// TestSpans checks the span of a request, which continues the client's trace, and the id of the trace in the metrics.
func TestSpans(t *testing.T) {
	exported := tracetest.NewSpanRecorder()
	w, handler := newWorld(t, func(o *edge.Options) {
		o.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(exported)).Tracer("")
	})
	serve := func() *httptest.ResponseRecorder {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v3/comments/c", http.NoBody)
		request.Header.Set("Traceparent", "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01")
		request.Header.Set(edge.HeaderRequestID, "the-id")
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		return answer
	}
	size := serve().Body.Len()
	w.failing(fail.Conflict())
	serve()
	w.failing(io.ErrUnexpectedEOF)
	serve()

	spans := exported.Ended()
	require.Len(t, spans, 3)
	status := []codes.Code{codes.Unset, codes.Unset, codes.Error}
	for i, span := range spans {
		require.Equal(t, "/plaza.v1.CommentService/GetComment", span.Name())
		require.Equal(t, trace.SpanKindServer, span.SpanKind())
		require.Equal(t, "0123456789abcdef0123456789abcdef", span.SpanContext().TraceID().String())
		require.Equal(t, "0123456789abcdef", span.Parent().SpanID().String())
		require.Equal(t, status[i], span.Status().Code)
	}
	attributes := map[string]any{}
	for _, a := range spans[0].Attributes() {
		attributes[string(a.Key)] = a.Value.AsInterface()
	}
	require.Equal(t, map[string]any{
		"http.request.method": "GET", "rpc.method": "/plaza.v1.CommentService/GetComment", "plaza.protocol": "rest", "plaza.request_id": "the-id",
		"http.response.status_code": int64(200), "http.response.body.size": int64(size),
	}, attributes)
	families, err := w.registry.Gather()
	require.NoError(t, err)
	require.NotEmpty(t, exemplars(families))
	for _, id := range exemplars(families) {
		require.Equal(t, "0123456789abcdef0123456789abcdef", id)
	}
}

// exemplars returns the ids of the traces of the measured durations.
func exemplars(families []*dto.MetricFamily) (ids []string) {
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, b := range m.GetHistogram().GetBucket() {
				for _, label := range b.GetExemplar().GetLabel() {
					ids = append(ids, label.GetValue())
				}
			}
		}
	}
	return ids
}
