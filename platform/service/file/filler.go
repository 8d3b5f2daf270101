package file

import (
	"context"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/service"
)

// NewFiller returns the interceptor that fills the collection `files` of every response that has one.
func NewFiller(d *service.Deps) connect.Interceptor {
	return connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
			response, err := next(ctx, request)
			if err != nil {
				return nil, err
			}
			if message, ok := response.Any().(proto.Message); ok {
				if err := d.View.FillFiles(ctx, d.Store, message); err != nil {
					return nil, err
				}
			}
			return response, nil
		}
	})
}
