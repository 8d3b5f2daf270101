package edge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// failures is the outermost interceptor. It limits the time of calls, recovers panics, records each error for the log, and
// maps errors to those of the interface.
type failures struct {
	timeout time.Duration
	methods map[string]*method
	limits  *RateLimits
}

// intercept is the interceptor.
func (f *failures) intercept(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (response connect.AnyResponse, err error) {
		ctx, missing := region.WithMissing(ctx)
		limited, cancel := context.WithTimeout(ctx, f.timeout)
		defer cancel()
		defer func() {
			if failed := recovered(recover()); failed != nil {
				response, err = nil, f.mapError(ctx, request.Spec().Procedure, failed)
			}
		}()
		if response, err = next(limited, request); err != nil {
			return nil, f.mapError(limited, request.Spec().Procedure, err)
		}
		setMissing(responseWriterFrom(ctx), missing())
		return response, nil
	}
}

// HeaderMissingHomes is the header of responses without rows of homes that did not answer: their codes, separated by
// commas.
const HeaderMissingHomes = "Plaza-Missing-Homes"

func setMissing(w *responseWriter, homes []region.Code) {
	if w == nil || len(homes) == 0 {
		return
	}
	codes := make([]string, len(homes))
	for i, code := range homes {
		codes[i] = code.String()
	}
	w.Header().Set(HeaderMissingHomes, strings.Join(codes, ", "))
}

// panicError is a recovered panic with its stack.
type panicError struct {
	value any
	stack []byte
}

// Error implements error.
func (p *panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// recovered turns a result of recover into an error. It panics again for http.ErrAbortHandler, which net/http handles.
func recovered(value any) error {
	if value == nil {
		return nil
	}
	if err, ok := value.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(value)
	}
	return &panicError{value: value, stack: debug.Stack()}
}

// mapError records an error in the response writer, and returns it for Connect and gRPC.
func (f *failures) mapError(ctx context.Context, procedure string, err error) error {
	w := responseWriterFrom(ctx)
	if clientGone(ctx, err) {
		if w != nil {
			w.clientGone = true
		}
		return connect.NewError(connect.CodeCanceled, errCanceled)
	}
	failed := f.limits.wrongCredential(ctx, f.failureOf(ctx, procedure, err)).Bounded()
	if w != nil {
		w.failure = failed
		w.record(failed, err)
		setRetryAfter(w.Header(), failed)
	}
	return connectError(failed)
}

// clientGone reports whether err merely results from the client having disconnected.
func clientGone(ctx context.Context, err error) bool {
	failed := fail.From(err)
	unexpected := failed.Code == fail.CodeUnexpected && (failed.Kind == fail.KindPlain || failed.Kind == fail.KindUnavailable)
	return unexpected && errors.Is(ctx.Err(), context.Canceled)
}

// failureOf returns err as clients see it.
func (f *failures) failureOf(ctx context.Context, procedure string, err error) *fail.Error {
	failed := fail.From(err)
	timedOut := errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded)
	var own *connect.Error
	switch {
	case failed.Code == fail.CodeUnexpected && failed.Kind == fail.KindPlain && timedOut:
		return fail.Unavailable(detailTimeout, err)
	case failed.Kind == fail.KindValidation && f.hidesValidation(procedure):
		return fail.BadRequest().Because(err)
	case errors.As(err, &own) && own.Code() == connect.CodeUnimplemented:
		return fail.NotFound().Because(err)
	}
	return failed
}

func (f *failures) hidesValidation(procedure string) bool {
	m := f.methods[procedure]
	return m != nil && m.errors == plazav1.RestErrors_REST_ERRORS_BAD_REQUEST
}
