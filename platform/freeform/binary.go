package freeform

import (
	"math"
	"strconv"

	"github.com/tidwall/gjson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/narrow"
)

// The numbers of the fields of google.protobuf.Struct, its entries, Value and ListValue.
const (
	fieldsOfStruct protowire.Number = 1
	keyOfEntry     protowire.Number = 1
	valueOfEntry   protowire.Number = 2
	nullValue      protowire.Number = 1
	numberValue    protowire.Number = 2
	stringValue    protowire.Number = 3
	boolValue      protowire.Number = 4
	structValue    protowire.Number = 5
	listValue      protowire.Number = 6
	valuesOfList   protowire.Number = 1
)

// MarshalBinary appends the binary encoding of a message to b. It changes the message while it runs.
func MarshalBinary(b []byte, m proto.Message) ([]byte, error) {
	var changed []*structpb.Struct
	var carried []protoreflect.RawFields
	eachObject(m.ProtoReflect(), func(s *structpb.Struct) {
		if unknown := s.ProtoReflect().GetUnknown(); len(unknown) > 0 {
			changed, carried = append(changed, s), append(carried, unknown)
			s.ProtoReflect().SetUnknown(appendStruct(nil, gjson.ParseBytes(Of(s))))
		}
	})
	defer func() {
		for i, s := range changed {
			s.ProtoReflect().SetUnknown(carried[i])
		}
	}()
	return proto.MarshalOptions{}.MarshalAppend(b, m)
}

// appendPlace appends the fields of the Struct that takes the place of the nth object.
func appendPlace(b []byte, n int) []byte {
	return appendStruct(b, gjson.Parse(`{"`+place+`":`+strconv.Itoa(n)+`}`))
}

// appendStruct appends the fields of a Struct to b.
func appendStruct(b []byte, object gjson.Result) []byte {
	object.ForEach(func(key, value gjson.Result) bool {
		b = appendLengthed(b, fieldsOfStruct, func(b []byte) []byte {
			b = protowire.AppendString(protowire.AppendTag(b, keyOfEntry, protowire.BytesType), key.String())
			return appendLengthed(b, valueOfEntry, func(b []byte) []byte { return appendValue(b, value) })
		})
		return true
	})
	return b
}

// appendValue appends the field of a Value to b.
func appendValue(b []byte, value gjson.Result) []byte {
	switch {
	case value.Type == gjson.String:
		return protowire.AppendString(protowire.AppendTag(b, stringValue, protowire.BytesType), value.String())
	case value.Type == gjson.Number:
		return protowire.AppendFixed64(protowire.AppendTag(b, numberValue, protowire.Fixed64Type), math.Float64bits(value.Num))
	case value.IsBool():
		return protowire.AppendVarint(protowire.AppendTag(b, boolValue, protowire.VarintType), protowire.EncodeBool(value.Bool()))
	case value.IsObject():
		return appendLengthed(b, structValue, func(b []byte) []byte { return appendStruct(b, value) })
	case value.IsArray():
		return appendLengthed(b, listValue, func(b []byte) []byte {
			value.ForEach(func(_, element gjson.Result) bool {
				b = appendLengthed(b, valuesOfList, func(b []byte) []byte { return appendValue(b, element) })
				return true
			})
			return b
		})
	}
	return protowire.AppendVarint(protowire.AppendTag(b, nullValue, protowire.VarintType), 0)
}

// appendLengthed appends a field with a message, whose fields content appends.
func appendLengthed(b []byte, number protowire.Number, content func([]byte) []byte) []byte {
	b = protowire.AppendTag(b, number, protowire.BytesType)
	start := len(b)
	b = content(append(b, 0)) // a place for the length, which mostly takes one byte
	size := len(b) - start - 1
	if more := protowire.SizeBytes(size) - size - 1; more > 0 {
		b = append(b, make([]byte, more)...)
		copy(b[start+1+more:], b[start+1:start+1+size])
	}
	protowire.AppendVarint(b[:start], narrow.To[uint64](size))
	return b
}
