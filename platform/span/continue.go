package span

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// keyTraceParent is the key of the W3C trace context.
const keyTraceParent = "traceparent"

type tracerKey struct{}

// WithTracer returns the context of work outside of requests, whose spans tracer makes. A nil tracer makes none.
func WithTracer(ctx context.Context, tracer trace.Tracer) context.Context {
	if tracer == nil {
		return ctx
	}
	return context.WithValue(ctx, tracerKey{}, tracer)
}

// Of returns the span in ctx as in a header traceparent, or "" if it is not exported. It is stored with work that a request leaves to
// others.
func Of(ctx context.Context) string {
	if !isExported(trace.SpanContextFromContext(ctx)) {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[keyTraceParent]
}

// Continue is Start for work that a request may have left to others: unless the span in ctx is in the same trace, the new one is a child of
// stored, which Of returned for the request. It is Start if stored is empty.
func Continue(ctx context.Context, stored, name string, kind trace.SpanKind, attributes func() []attribute.KeyValue) (context.Context,
	trace.Span,
) {
	if stored == "" {
		return Start(ctx, name, kind, attributes)
	}
	parent := propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{keyTraceParent: stored})
	if id := trace.SpanContextFromContext(parent).TraceID(); id == trace.SpanContextFromContext(ctx).TraceID() {
		return Start(ctx, name, kind, attributes)
	}
	tracer := tracerOf(ctx)
	if tracer == nil {
		return ctx, none
	}
	return tracer.Start(parent, name, trace.WithSpanKind(kind), trace.WithAttributes(attributes()...))
}

// tracerOf returns the tracer of ctx, or nil if it exports nothing.
func tracerOf(ctx context.Context) trace.Tracer {
	if tracer, ok := ctx.Value(tracerKey{}).(trace.Tracer); ok {
		return tracer
	}
	s := trace.SpanFromContext(ctx)
	if !s.SpanContext().IsValid() || s.SpanContext().IsRemote() {
		return nil
	}
	return s.TracerProvider().Tracer(Tracer)
}
