package live

import (
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
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

// Thumbnail returns the reference to the thumbnail of a room or stream. A nil or empty id is no reference.
func Thumbnail(id *string) fileref.Reference {
	if id == nil {
		return fileref.Reference{}
	}
	return fileref.Reference{ID: *id, Kind: "image", Field: "thumbnailFileId"}
}
