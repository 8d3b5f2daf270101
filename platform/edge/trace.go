package edge

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// headerTraceParent is the header of the W3C trace context.
const headerTraceParent = "Traceparent"

// startSpan returns ctx with the span of a request: a child of the span that the client sent. Without a tracer, ctx has the id
// of the client's trace, for the log.
func startSpan(ctx context.Context, tracer trace.Tracer, request *http.Request) context.Context {
	if len(request.Header[headerTraceParent]) > 0 {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(request.Header))
	}
	if tracer == nil {
		return ctx
	}
	ctx, _ = tracer.Start(ctx, procedureUnknown, trace.WithSpanKind(trace.SpanKindServer))
	return ctx
}

// endSpan ends the span of a request. It has no path, query or header, which contain ids and credentials.
func endSpan(ctx context.Context, w *responseWriter, method string) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	status := w.outcome()
	span.SetName(w.procedure)
	span.SetAttributes(
		attribute.String("http.request.method", method),
		attribute.String("rpc.method", w.procedure),
		attribute.String("plaza.protocol", string(w.protocol)),
		attribute.String("plaza.request_id", w.requestID),
		attribute.Int("http.response.status_code", status),
		attribute.Int64("http.response.body.size", w.written),
	)
	if status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// sampledTrace returns the id of the trace of a request if the trace is exported, otherwise "".
func sampledTrace(ctx context.Context) string {
	if span := trace.SpanFromContext(ctx); span.IsRecording() && span.SpanContext().IsSampled() {
		return span.SpanContext().TraceID().String()
	}
	return ""
}
