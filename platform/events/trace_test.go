package events_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/span"
	"github.com/plaza-social/plaza/platform/store/core"
)

// TestRetriesAreInTheTraceOfTheRequest lets the first delivery fail. The second one, by a worker without the request, is in its trace.
func TestRetriesAreInTheTraceOfTheRequest(t *testing.T) {
	t.Parallel()
	exported := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(exported)).Tracer("")
	o := newOffice(t)
	o.refuse = func(string) error { return errors.New("broken") }
	request, requested := tracer.Start(t.Context(), "request")
	w := o.store.NewTx(region.US)
	row := w.Emit(topic, "follow", start, o.FirstTry())
	require.NoError(t, w.Commit(request))
	requested.End()
	o.Deliver(request, region.US, row)

	o.refuse = func(string) error { return nil }
	o.clock.Store(2000)
	require.NoError(t, o.Job().Once(span.WithTracer(t.Context(), tracer), region.US))
	require.Equal(t, []string{"follow"}, o.take())
	deliveries := map[codes.Code]sdktrace.ReadOnlySpan{}
	for _, s := range exported.Ended() {
		if s.Name() == "deliver "+topic {
			require.Equal(t, requested.SpanContext().TraceID(), s.SpanContext().TraceID())
			deliveries[s.Status().Code] = s
		}
	}
	require.Contains(t, deliveries, codes.Error, "the first delivery")
	require.Contains(t, deliveries, codes.Unset, "the second delivery")
	require.Contains(t, deliveries[codes.Unset].Attributes(), attribute.Int64("plaza.attempts", 0))
}

// TestRowsOfSeveralRequests delivers the rows of two requests together: each has a span in the trace of its request.
func TestRowsOfSeveralRequests(t *testing.T) {
	t.Parallel()
	exported := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(exported)).Tracer("")
	o := newOffice(t)
	o.HandleRuns(topic, func(context.Context, []core.OutboxRow) error { return nil })
	wanted := map[trace.TraceID]int{}
	for range 2 {
		request, requested := tracer.Start(t.Context(), "request")
		wanted[requested.SpanContext().TraceID()] = 1
		w := o.store.NewTx(region.US)
		w.EmitInOrder("key", topic, "event", start, o.FirstTry())
		require.NoError(t, w.Commit(request))
	}
	o.clock.Store(2000)
	require.NoError(t, o.Job().Once(span.WithTracer(t.Context(), tracer), region.US))
	found := map[trace.TraceID]int{}
	for _, s := range exported.Ended() {
		if s.Name() == "deliver "+topic {
			found[s.SpanContext().TraceID()]++
		}
	}
	require.Equal(t, wanted, found)
}
