package edge

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
)

// accessLog writes one line per request. It omits path, query and headers, which contain ids and credentials.
type accessLog struct {
	log   *slog.Logger
	oneIn int64
	seen  atomic.Int64
}

// fault is the error because of which a request failed.
type fault struct {
	code     int
	cause    error // not shown to clients; nil without an error
	ofServer bool  // the server is at fault, not the client
	planned  bool  // see fail.Error
}

// record keeps an error for the line of the request.
func (w *responseWriter) record(failed *fail.Error, cause error) {
	status, _ := statusOf(failed)
	w.fault = fault{code: int(failed.Code), cause: cause, ofServer: status >= http.StatusInternalServerError, planned: failed.Planned}
}

// write writes the line of a request, if it has one: at level error if the server is at fault, and then always.
func (l *accessLog) write(ctx context.Context, w *responseWriter, method string, elapsed time.Duration) {
	level, message := slog.LevelInfo, "request"
	switch {
	case w.fault.planned:
		message = "request refused"
	case w.fault.ofServer, w.outcome() >= http.StatusInternalServerError:
		level, message = slog.LevelError, "request failed"
	case w.procedure == procedureUnknown:
		level = slog.LevelDebug // health checks, preflights, scanners
	}
	if !l.log.Enabled(ctx, level) || level == slog.LevelInfo && !l.sampled(ctx) {
		return
	}
	record := slog.NewRecord(time.Now(), level, message, 0) // the caller's position would cost more than the line
	record.AddAttrs(
		slog.String("method", method),
		slog.String("procedure", w.procedure),
		slog.String("protocol", string(w.protocol)),
		slog.Int("status", w.outcome()),
		slog.Int64("bytes", w.written),
		slog.Duration("duration", elapsed),
	)
	if w.fault.cause != nil && (level == slog.LevelError || l.log.Enabled(ctx, slog.LevelDebug)) {
		record.AddAttrs(w.fault.attrs()...)
	}
	_ = l.log.Handler().Handle(ctx, record) // as slog.Logger does
}

// sampled reports whether a request that the server has not failed has a line.
func (l *accessLog) sampled(ctx context.Context) bool {
	switch {
	case l.oneIn == 1, l.log.Enabled(ctx, slog.LevelDebug):
		return true
	case l.oneIn <= 0:
		return false
	}
	return l.seen.Add(1)%l.oneIn == 1
}

// attrs describes the error, with the stack of a panic.
func (f *fault) attrs() []slog.Attr {
	attrs := []slog.Attr{slog.Int("code", f.code), slog.String("error", f.cause.Error())}
	if p, ok := errors.AsType[*panicError](f.cause); ok {
		attrs = append(attrs, slog.String("stack", string(p.stack)))
	}
	return attrs
}
