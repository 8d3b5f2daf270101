package edge

import (
	"context"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/fail"
)

// askPrehook returns the interceptor that asks the pre-hook.
func (o Options) askPrehook(checks *validation) connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
			message, err := asProto(request.Any())
			if err != nil {
				return nil, fail.Unexpected(err)
			}
			changed, err := o.Prehook(ctx, request.Spec().Procedure, message)
			if err != nil {
				return nil, err
			}
			if changed {
				if err := checks.check(message); err != nil {
					return nil, err
				}
			}
			return next(ctx, request)
		}
	}
}
