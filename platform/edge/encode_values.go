package edge

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/freeform"
)

var errText = errors.New("invalid UTF-8")

// specialAppender returns the appender of a well-known type, nil for other types.
func specialAppender(goType reflect.Type) appender {
	switch message := reflect.Zero(goType).Interface().(type) {
	case *timestamppb.Timestamp:
		return specialOf(appendTimestamp)
	case *structpb.Struct:
		return specialOf(appendStruct)
	case proto.Message:
		if message.ProtoReflect().Descriptor().FullName().Parent() == "google.protobuf" {
			return specialOf(appendByProtojson)
		}
	}
	return nil
}

// specialOf returns an appender of one message type.
func specialOf[T proto.Message](each func(b []byte, m T) ([]byte, error)) appender {
	return func(b []byte, v reflect.Value) ([]byte, error) {
		m, _ := reflect.TypeAssert[T](v)
		return each(b, m)
	}
}

var threeZeros = []byte("000")

// appendTimestamp appends a time in UTC with three, six or nine fractional digits.
func appendTimestamp(b []byte, stamp *timestamppb.Timestamp) ([]byte, error) {
	if err := stamp.CheckValid(); err != nil {
		return nil, err
	}
	b = stamp.AsTime().Truncate(time.Second).AppendFormat(append(b, '"'), time.RFC3339)
	point := len(b) - 1 // where the Z is
	b = strconv.AppendInt(b[:point], int64(time.Second)+int64(stamp.GetNanos()), 10)
	b[point] = '.' // instead of the 1 that keeps leading zeros
	b = bytes.TrimSuffix(bytes.TrimSuffix(b, threeZeros), threeZeros)
	return append(b, 'Z', '"'), nil
}

func appendStruct(b []byte, s *structpb.Struct) ([]byte, error) {
	object := freeform.Of(s)
	if defence.Off(defence.RawObjects) {
		values := &structpb.Struct{}
		if err := protojson.Unmarshal(object.Append(nil), values); err != nil {
			return nil, err
		}
	}
	return object.Append(b), nil
}

// appendFloat formats like ECMAScript, as protojson does. NaN and infinities, which JSON cannot represent, are errors.
func appendFloat(b []byte, f float64) ([]byte, error) {
	if abs := math.Abs(f); abs == 0 || abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64), nil
	}
	encoded, err := json.Marshal(f) // with an exponent
	return append(b, encoded...), err
}

// appendText appends s as a JSON string. It returns an error if s is not UTF-8.
func appendText(b []byte, s string) ([]byte, error) {
	b, err := jsontext.AppendQuote(b, s)
	if err != nil {
		return nil, errText
	}
	return b, nil
}

// appendQuoted appends s, which must be valid UTF-8, as a JSON string.
func appendQuoted(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // fails for invalid UTF-8
	return b
}

// appendByProtojson encodes rare types, slowly.
func appendByProtojson(b []byte, m proto.Message) ([]byte, error) {
	data, err := protojson.MarshalOptions{EmitUnpopulated: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return nil, err
	}
	return append(b, compact.Bytes()...), nil
}
