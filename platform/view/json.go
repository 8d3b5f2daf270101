package view

import (
	"bytes"
	"encoding/json"

	"github.com/tidwall/gjson"
	"google.golang.org/protobuf/types/known/structpb"
)

// object decodes a JSON object of a row. Malformed JSON yields an empty object.
func object(raw []byte) *structpb.Struct {
	if len(raw) <= 2 || !gjson.ValidBytes(raw) { // {} or nothing
		return &structpb.Struct{}
	}
	return structOf(gjson.ParseBytes(raw))
}

// structOf converts a JSON object; other JSON values yield an empty struct.
func structOf(object gjson.Result) *structpb.Struct {
	s := &structpb.Struct{}
	if object.IsObject() {
		s.Fields = map[string]*structpb.Value{}
		object.ForEach(func(key, value gjson.Result) bool {
			s.Fields[key.String()] = valueOf(value)
			return true
		})
	}
	return s
}

func valueOf(value gjson.Result) *structpb.Value {
	switch {
	case value.Type == gjson.String:
		return structpb.NewStringValue(value.String())
	case value.Type == gjson.Number:
		return structpb.NewNumberValue(value.Num)
	case value.IsBool():
		return structpb.NewBoolValue(value.Bool())
	case value.IsObject():
		return structpb.NewStructValue(structOf(value))
	case value.IsArray():
		return structpb.NewListValue(&structpb.ListValue{Values: mapList(value.Array(), valueOf)})
	}
	return structpb.NewNullValue()
}

// ObjectJSON is EncodeObject for an object that was encoded before, in a check of its size.
func ObjectJSON(s *structpb.Struct) []byte {
	raw, err := EncodeObject(s)
	if err != nil {
		return []byte("{}")
	}
	return raw
}

// EncodeObject encodes an object of a request for a row, without insignificant spaces; nil becomes {}. It fails for NaN
// and infinite numbers, which binary messages can contain.
func EncodeObject(s *structpb.Struct) ([]byte, error) {
	if len(s.GetFields()) == 0 {
		return []byte("{}"), nil
	}
	raw, err := s.MarshalJSON() // adds spaces at random
	if err != nil {
		return nil, err
	}
	compact := bytes.NewBuffer(raw[:0])
	if err := json.Compact(compact, raw); err != nil {
		return nil, err
	}
	return compact.Bytes(), nil
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
