package span_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/plaza-social/plaza/platform/span"
)

const client = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func noAttributes() []attribute.KeyValue { return nil }

// TestContinue continues the trace of a request in work that it left to others, and only there where the trace is exported.
func TestContinue(t *testing.T) {
	t.Parallel()
	exported := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(exported)).Tracer("")
	request, requested := tracer.Start(t.Context(), "request")
	stored := span.Of(request)
	requested.End()
	require.Equal(t, stored, span.Of(request), "also after the request has ended")

	_, late := span.Start(request, "late", trace.SpanKindInternal, noAttributes)
	late.End()
	_, retry := span.Continue(span.WithTracer(t.Context(), tracer), stored, "retry", trace.SpanKindConsumer, noAttributes)
	retry.End()
	other, _ := tracer.Start(t.Context(), "another request")
	_, foreign := span.Continue(other, stored, "foreign", trace.SpanKindConsumer, noAttributes)
	foreign.End()
	ended := exported.Ended()
	require.Len(t, ended, 4)
	for _, s := range ended[1:] {
		require.Equal(t, requested.SpanContext().TraceID(), s.SpanContext().TraceID(), s.Name())
		require.Equal(t, requested.SpanContext().SpanID(), s.Parent().SpanID(), s.Name())
	}
}

// TestContinueWithout has nothing to continue, or nowhere to export it.
func TestContinueWithout(t *testing.T) {
	t.Parallel()
	never := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())).Tracer("")
	tracer := sdktrace.NewTracerProvider().Tracer("")
	unsampled, _ := never.Start(t.Context(), "request")
	ofClient := propagation.TraceContext{}.Extract(t.Context(), propagation.HeaderCarrier(http.Header{"Traceparent": {client}}))
	require.Empty(t, span.Of(t.Context()))
	require.Empty(t, span.Of(unsampled))
	require.Empty(t, span.Of(ofClient), "the span of a client, whose trace this server does not export")
	require.Equal(t, t.Context(), span.WithTracer(t.Context(), nil))
	for name, test := range map[string]struct {
		ctx    context.Context
		stored string
	}{
		"no tracer":               {t.Context(), client},
		"nothing stored":          {span.WithTracer(t.Context(), tracer), ""},
		"not a trace":             {span.WithTracer(t.Context(), tracer), "00-none"},
		"of another trace":        {ofClient, strings.Replace(client, "4bf9", "5bf9", 1)},
		"of a request, unsampled": {unsampled, ""},
	} {
		ctx, s := span.Continue(test.ctx, test.stored, "retry", trace.SpanKindConsumer, func() []attribute.KeyValue {
			require.Fail(t, "attributes of a span that is not exported", name)
			return nil
		})
		require.Equal(t, test.ctx, ctx, name)
		require.False(t, s.IsRecording(), name)
	}
}
