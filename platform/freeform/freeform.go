// Package freeform carries free-form JSON objects, such as metadata, in messages as bytes. The Go values of a
// google.protobuf.Struct take about 80 times the memory of its JSON, which clients choose.
//
// In this program a Struct has no fields but carries its JSON in an unknown field, from the codec that decodes a request to the row, and
// from the row to the codec that encodes the response. UnmarshalJSON, MarshalJSON, UnmarshalBinary and MarshalBinary take the place
// of the functions of protojson and proto. Clients cannot send the unknown field.
package freeform

import (
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/structpb"
)

// carrierNumber is the number of the unknown field with the JSON. Struct has no field with it.
const carrierNumber = protowire.MaxValidNumber - 1

// Message returns the message that carries an object. Malformed JSON, and JSON that is not an object, yield an empty one.
func Message(o Object) *structpb.Struct {
	s := &structpb.Struct{}
	if !o.isEmpty() && o.isValid() {
		carry(s, o)
	}
	return s
}

func carry(s *structpb.Struct, o Object) {
	carried := make([]byte, 0, protowire.SizeTag(carrierNumber)+protowire.SizeBytes(len(o)))
	carried = protowire.AppendTag(carried, carrierNumber, protowire.BytesType)
	s.ProtoReflect().SetUnknown(protowire.AppendBytes(carried, o))
}

// Of returns the object that a message carries, which must not be changed; nil for nil and for an empty message. A Struct that was
// made of Go values is converted.
func Of(s *structpb.Struct) Object {
	if len(s.GetFields()) > 0 {
		return converted(s)
	}
	if s == nil {
		return nil
	}
	unknown := s.ProtoReflect().GetUnknown()
	number, kind, n := protowire.ConsumeTag(unknown)
	if n < 0 || number != carrierNumber || kind != protowire.BytesType {
		return nil
	}
	object, n := protowire.ConsumeBytes(unknown[n:])
	if n < 0 {
		return nil
	}
	return object
}

// converted returns the JSON of a Struct of Go values, nil if it has none.
func converted(s *structpb.Struct) Object {
	raw, err := protojson.Marshal(s)
	if err != nil {
		return nil
	}
	return Object(raw).Append(nil)
}
