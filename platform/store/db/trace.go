package db

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/span"
)

// startSpan starts the span of a round trip if its request is traced. The span has the names of the statements and never
// their arguments.
func startSpan(ctx context.Context, name string, home region.Code, statements func() []string) (context.Context, trace.Span) {
	return span.Start(ctx, name, trace.SpanKindClient, func() []attribute.KeyValue {
		names := statements()
		return []attribute.KeyValue{
			attribute.String("plaza.home", string(home)),
			attribute.StringSlice("plaza.statements", names),
			attribute.Int("db.operation.batch.size", len(names)),
		}
	})
}

// endSpan ends the span of a round trip. The error itself can contain values of a row.
func endSpan(s trace.Span, err error) {
	if err != nil && s.IsRecording() {
		s.SetStatus(codes.Error, sqlState(err))
	}
	s.End()
}

// addRetry adds the retry of a transaction to its span.
func addRetry(ctx context.Context, err error) {
	trace.SpanFromContext(ctx).AddEvent("retry", trace.WithAttributes(attribute.String("plaza.reason", retryReason(err))))
}

func namesOfQueries(queries []query) []string {
	names := make([]string, len(queries))
	for i, q := range queries {
		names[i] = q.statement.Name
	}
	return names
}

func namesOfSteps(steps []Step) []string {
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = s.statement.Name
	}
	return names
}
