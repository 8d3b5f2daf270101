package idempotency

import (
	"context"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Upload finishes an upload whose form has a digest. If the request has an Idempotency-Key, it does so once. The key is
// looked up when the whole form has arrived, because the digest is known only then.
func (e *Executor) Upload(
	ctx context.Context, header, response http.Header, procedure string, digest []byte, finish func(context.Context) ([]*plazav1.File, error),
) ([]*plazav1.File, error) {
	keys := header[headerKey]
	switch {
	case len(keys) == 0:
		return finish(ctx)
	case len(keys) != 1 || !validKey(keys[0]):
		return nil, errKey
	}
	output := (&plazav1.UploadedFiles{}).ProtoReflect().Type()
	execute := func(ctx context.Context) (connect.AnyResponse, error) {
		files, err := finish(ctx)
		if err != nil {
			return nil, err
		}
		return connect.NewResponse(&plazav1.UploadedFiles{Files: files}), nil
	}
	// The digest takes the place of a request: it identifies the form.
	answer, err := e.answer(ctx, keys[0], call{procedure, wrapperspb.Bytes(digest), output, execute})
	if err != nil {
		return nil, err
	}
	if replayed := answer.Header().Get(headerReplayed); replayed != "" {
		response.Set(headerReplayed, replayed)
	}
	uploaded, _ := answer.Any().(*plazav1.UploadedFiles)
	return uploaded.GetFiles(), nil
}
