package view

import (
	"encoding/json"

	"google.golang.org/protobuf/types/known/structpb"
)

// object decodes a JSON object of a row. Malformed JSON yields an empty object. encoding/json is faster than protojson here.
func object(raw []byte) *structpb.Struct {
	var fields map[string]any
	if len(raw) <= 2 || json.Unmarshal(raw, &fields) != nil { // {} or nothing
		return &structpb.Struct{}
	}
	s, err := structpb.NewStruct(fields)
	if err != nil {
		return &structpb.Struct{}
	}
	return s
}

// ObjectJSON encodes an object of a request for a row; nil becomes {}.
func ObjectJSON(s *structpb.Struct) []byte {
	if s == nil || len(s.GetFields()) == 0 {
		return []byte("{}")
	}
	raw, err := s.MarshalJSON()
	if err != nil {
		return []byte("{}")
	}
	return raw
}

// objects decodes a JSON array of objects of a row.
func objects(raw []byte) []*structpb.Struct {
	return mapList(listOf[json.RawMessage](raw), func(part json.RawMessage) *structpb.Struct { return object(part) })
}

// ObjectsJSON encodes objects of a request for a row.
func ObjectsJSON(list []*structpb.Struct) []byte {
	return listJSON(mapList(list, func(s *structpb.Struct) json.RawMessage { return ObjectJSON(s) }))
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
