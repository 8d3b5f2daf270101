package view

import (
	"encoding/json"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/freeform"
)

// object returns the message for a JSON object of a row. Malformed JSON yields an empty object.
func object(raw []byte) *structpb.Struct { return freeform.Message(raw) }

// ObjectJSON returns the object of a request for a row; nil becomes {}.
func ObjectJSON(s *structpb.Struct) []byte { return freeform.Of(s).Row() }

// ChangedJSON returns the object of a request that changes a row; nil, which leaves it as it is, if there is none.
func ChangedJSON(s *structpb.Struct) []byte {
	if s == nil {
		return nil
	}
	return ObjectJSON(s)
}

// objects decodes a JSON array of objects of a row.
func objects(raw []byte) []*structpb.Struct {
	return mapList(listOf[json.RawMessage](raw), func(part json.RawMessage) *structpb.Struct { return object(part) })
}

// ObjectsJSON encodes objects for a row.
func ObjectsJSON(list []freeform.Object) []byte {
	return listJSON(mapList(list, func(o freeform.Object) json.RawMessage { return o.Row() }))
}

// listOf decodes a JSON array of a row. Malformed JSON yields nil.
func listOf[T any](raw []byte) []T {
	var list []T
	if len(raw) <= 2 || json.Unmarshal(raw, &list) != nil { // [] or nothing
		return nil
	}
	return list
}

// listJSON encodes a list for a row; nil becomes [].
func listJSON[T any](list []T) []byte {
	raw, err := json.Marshal(list)
	if err != nil || len(list) == 0 {
		return []byte("[]")
	}
	return raw
}

// mapList applies convert to every element; nil for an empty list.
func mapList[T, U any](list []T, convert func(T) U) []U {
	if len(list) == 0 {
		return nil
	}
	out := make([]U, len(list))
	for i, element := range list {
		out[i] = convert(element)
	}
	return out
}
