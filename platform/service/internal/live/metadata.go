package live

import (
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/view"
)

// maxMetadata is the maximum size of the custom fields of a room or stream, in bytes of JSON.
const maxMetadata = 10 * 1024

// Metadata returns the JSON of the custom fields of a room or stream.
func Metadata(s *structpb.Struct) ([]byte, error) {
	raw := view.ObjectJSON(s)
	if len(raw) > maxMetadata {
		return nil, fail.Validation(fmt.Sprintf("metadata: must be at most %d bytes", maxMetadata))
	}
	if !json.Valid(raw) {
		return nil, fail.Validation("metadata: must be an object")
	}
	return raw, nil
}

// ChangedMetadata is Metadata for an update; nil stays nil.
func ChangedMetadata(s *structpb.Struct) ([]byte, error) {
	if s == nil {
		return nil, nil
	}
	return Metadata(s)
}
