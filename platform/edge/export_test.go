package edge

import (
	"io"
	"net/http"
)

// ReadStream reads the body of a stream to its end.
func ReadStream(w http.ResponseWriter, request *http.Request) error {
	_, err := io.Copy(io.Discard, NewStreamBody(w, request))
	return err
}
