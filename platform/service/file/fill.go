package file

import (
	"context"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
)

// Filler is an interceptor that fills the collection `files` of every answer that has one.
func (s *Service) Filler() connect.Interceptor {
	return connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
			response, err := next(ctx, request)
			if err != nil {
				return nil, err
			}
			if answer, ok := response.Any().(proto.Message); ok {
				if err := s.View.FillFiles(ctx, s.Store, answer); err != nil {
					return nil, err
				}
			}
			return response, nil
		}
	})
}
