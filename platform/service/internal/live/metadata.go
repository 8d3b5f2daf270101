package live

import (
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/view"
)

// ChangedMetadata returns the JSON of the new custom fields of a room or stream, nil if they do not change.
func ChangedMetadata(s *structpb.Struct) []byte {
	if s == nil {
		return nil
	}
	return view.ObjectJSON(s)
}
