package app

import (
	"context"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// upload finishes an upload whose form has a digest. If the request has an Idempotency-Key, it does so once. The key is
// looked up when the whole form has arrived, because the digest is known only then.
func (i *idempotency) upload(
	ctx context.Context, header, response http.Header, procedure string, digest []byte, finish func(context.Context) ([]*plazav1.File, error),
) ([]*plazav1.File, error) {
	keys := header[headerIdempotencyKey]
	switch {
	case len(keys) == 0:
		return finish(ctx)
	case len(keys) != 1 || !validIdempotencyKey(keys[0]):
		return nil, errIdempotencyKey
	}
	output := (&plazav1.UploadedFiles{}).ProtoReflect().Type()
	answer, err := i.answer(ctx, keys[0], newForm(procedure, digest), output, func(ctx context.Context, _ connect.AnyRequest) (connect.AnyResponse, error) {
		files, err := finish(ctx)
		if err != nil {
			return nil, err
		}
		return connect.NewResponse(&plazav1.UploadedFiles{Files: files}), nil
	})
	if err != nil {
		return nil, err
	}
	if replayed := answer.Header().Get(headerIdempotencyReplayed); replayed != "" {
		response.Set(headerIdempotencyReplayed, replayed)
	}
	uploaded, _ := answer.Any().(*plazav1.UploadedFiles)
	return uploaded.GetFiles(), nil
}

// form is the form of an upload in the place of a request message.
type form struct {
	connect.AnyRequest
	procedure string
	digest    []byte
}

func newForm(procedure string, digest []byte) form {
	return form{connect.NewRequest(&emptypb.Empty{}), procedure, digest}
}

// Any returns the message that identifies the form.
func (f form) Any() any { return wrapperspb.Bytes(f.digest) }

// Spec returns the procedure.
func (f form) Spec() connect.Spec { return connect.Spec{Procedure: f.procedure} }
