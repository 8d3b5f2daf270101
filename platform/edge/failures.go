package edge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

// failures is the outermost interceptor: it limits the time of a unary call, survives panics, logs each failure once,
// and turns it into what the wire shows.
type failures struct {
	log     *slog.Logger
	timeout time.Duration
}

// WrapUnary guards unary handlers; clients pass.
func (f *failures) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (response connect.AnyResponse, err error) {
		if request.Spec().IsClient {
			return next(ctx, request)
		}
		limited, cancel := context.WithTimeout(ctx, f.timeout)
		defer cancel()
		defer func() {
			if failed := recovered(recover()); failed != nil {
				response, err = nil, f.answer(ctx, request.Spec().Procedure, failed)
			}
		}()
		if response, err = next(limited, request); err != nil {
			return nil, f.answer(limited, request.Spec().Procedure, err)
		}
		return response, nil
	}
}

// WrapStreamingClient leaves clients alone.
func (f *failures) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler guards streams, which may take as long as they like.
func (f *failures) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) (err error) {
		defer func() {
			if failed := recovered(recover()); failed != nil {
				err = f.answer(ctx, conn.Spec().Procedure, failed)
			}
		}()
		if err = next(ctx, conn); err != nil {
			return f.answer(ctx, conn.Spec().Procedure, err)
		}
		return nil
	}
}

// panicked is a panic of a handler, with where it happened.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// recovered turns what recover returned into an error. http.ErrAbortHandler goes on: it is net/http's own way out.
func recovered(value any) error {
	if value == nil {
		return nil
	}
	if err, ok := value.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(value)
	}
	return &panicked{value: value, stack: debug.Stack()}
}

func (f *failures) answer(ctx context.Context, procedure string, err error) error {
	if clientGone(ctx, err) {
		f.log.LogAttrs(ctx, slog.LevelDebug, "client gone", slog.String("procedure", procedure))
		if ex := exchangeFrom(ctx); ex != nil {
			ex.clientGone = true
		}
		return connect.NewError(connect.CodeCanceled, errors.New("canceled"))
	}
	failed := failureOf(ctx, procedure, err)
	f.logOnce(ctx, procedure, failed, err)
	if ex := exchangeFrom(ctx); ex != nil {
		ex.failure = failed
	}
	return connectError(failed)
}

// clientGone reports whether err only says that nobody waits for the answer any more.
func clientGone(ctx context.Context, err error) bool {
	return errors.Is(ctx.Err(), context.Canceled) && failsUnexpectedly(fail.From(err))
}

func failsUnexpectedly(e *fail.Error) bool {
	return e.Code == fail.CodeUnexpected && (e.Kind == fail.KindPlain || e.Kind == fail.KindUnavailable)
}

// failureOf is err as the client sees it.
func failureOf(ctx context.Context, procedure string, err error) *fail.Error {
	failed := fail.From(err)
	tooSlow := errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded)
	var own *connect.Error
	switch {
	case failed.Code == fail.CodeUnexpected && failed.Kind == fail.KindPlain && tooSlow:
		return fail.Unavailable(detailTooSlow, err)
	case failed.Kind == fail.KindValidation && procedure == plazav1connect.NetworkSettingServiceUpdateModerationProcedure:
		return fail.BadRequest().Because(err) // the contract knows no validation error there
	case errors.As(err, &own) && own.Code() == connect.CodeUnimplemented:
		return fail.NotFound().Because(err)
	}
	return failed
}

func (f *failures) logOnce(ctx context.Context, procedure string, failed *fail.Error, cause error) {
	level := slog.LevelDebug
	if httpStatus(failed) >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	if !f.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("procedure", procedure),
		slog.Int("code", int(failed.Code)),
		slog.String("error", cause.Error()),
	}
	if p, ok := errors.AsType[*panicked](cause); ok {
		attrs = append(attrs, slog.String("stack", string(p.stack)))
	}
	f.log.LogAttrs(ctx, level, "request failed", attrs...)
}
