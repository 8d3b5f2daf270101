package realtime

import (
	"cmp"
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/span"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/eventlog"
)

// traceOf returns the trace of the request that wrote a row: a row that this server has just written does not contain it, but is delivered
// within the request.
func traceOf(ctx context.Context, row core.OutboxRow) string { return cmp.Or(row.Trace, span.Of(ctx)) }

// startPublishing starts the span of the delivery of an event to the streams and connections of this server, in the trace of the request
// that caused it.
func startPublishing(ctx context.Context, home region.Code, e eventlog.LoggedEvent) (context.Context, trace.Span) {
	return span.Continue(ctx, e.Trace, "publish "+e.Name, trace.SpanKindProducer, func() []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("plaza.home", home.String())}
	})
}
