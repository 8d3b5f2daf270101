// Package span starts the spans of work within a request and of the work that it leaves to others, and tells other systems to which trace a
// request belongs. Package tracing exports the spans.
package span

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Tracer is the name of the tracer of all spans.
const Tracer = "github.com/plaza-social/plaza"

// Start starts a child of the span in ctx if that is exported, also after its end. Otherwise it returns ctx and a span that does nothing,
// without calling attributes. The caller must end the span.
func Start(ctx context.Context, name string, kind trace.SpanKind, attributes func() []attribute.KeyValue) (context.Context, trace.Span) {
	parent := trace.SpanFromContext(ctx)
	if !isExported(parent.SpanContext()) {
		return ctx, none
	}
	return parent.TracerProvider().Tracer(Tracer).Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attributes()...))
}

// isExported reports whether this server exports a span: not the one of a client, from which a request continues.
func isExported(s trace.SpanContext) bool { return s.IsSampled() && !s.IsRemote() }

// none is the span of a context without one.
var none = trace.SpanFromContext(context.Background())

// Propagate adds the W3C trace context of ctx, if it has one, to the header of a request to another system.
func Propagate(ctx context.Context, header http.Header) {
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(header))
}
