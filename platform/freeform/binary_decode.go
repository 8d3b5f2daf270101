package freeform

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// UnmarshalBinary decodes a binary message, without unknown fields, and its objects as bytes. The error is an *InvalidError if an object
// cannot be stored, and otherwise that of package proto.
func UnmarshalBinary(data []byte, m proto.Message) error {
	t := taken{}
	rest := data
	if descriptor := m.ProtoReflect().Descriptor(); len(leading(descriptor)) > 0 {
		without, err := t.binaryMessage(make([]byte, 0, len(data)), data, descriptor)
		if err != nil {
			return err
		}
		rest = without
	}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(rest, m); err != nil {
		return err
	}
	t.restore(m)
	return nil
}

var errWire = errors.New("malformed binary message")

// eachField calls do for each field of a binary message with its number, its tag with the value, and its content if it is a message or
// a text.
func eachField(data []byte, do func(number protowire.Number, kind protowire.Type, field, content []byte) error) error {
	for len(data) > 0 {
		number, kind, tag := protowire.ConsumeTag(data)
		if tag < 0 || number > protowire.MaxValidNumber {
			return errWire
		}
		n := protowire.ConsumeFieldValue(number, kind, data[tag:])
		if n < 0 {
			return errWire
		}
		content := data[tag : tag+n]
		if kind == protowire.BytesType {
			content, _ = protowire.ConsumeBytes(content)
		}
		if err := do(number, kind, data[:tag+n], content); err != nil {
			return err
		}
		data = data[tag+n:]
	}
	return nil
}

// binaryMessage appends a binary message without its objects to b.
func (t *taken) binaryMessage(b, data []byte, descriptor protoreflect.MessageDescriptor) ([]byte, error) {
	seen := map[protowire.Number]int{}
	err := eachField(data, func(number protowire.Number, kind protowire.Type, whole, content []byte) error {
		field := leadingField(descriptor, number)
		if field == nil || kind != protowire.BytesType {
			b = append(b, whole...)
			return nil
		}
		if seen[number] > 0 && !field.IsList() { // package proto would merge them
			return (&InvalidError{What: "must not occur twice"}).inside(field.JSONName())
		}
		inner, err := t.binaryField(content, field.Message())
		if invalid, is := errors.AsType[*InvalidError](err); is {
			return invalid.inside(nameOf(field, seen[number]))
		}
		seen[number]++
		b = protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), inner)
		return err
	})
	return b, err
}

// nameOf returns the part of a path for the nth message of a field.
func nameOf(field protoreflect.FieldDescriptor, n int) string {
	if field.IsList() {
		return field.JSONName() + "[" + strconv.Itoa(n) + "]"
	}
	return field.JSONName()
}

// leadingField returns the field with a number if it is or contains an object.
func leadingField(descriptor protoreflect.MessageDescriptor, number protowire.Number) protoreflect.FieldDescriptor {
	for _, field := range leading(descriptor) {
		if field.Number() == number {
			return field
		}
	}
	return nil
}

// binaryField returns what takes the place of a message that is or contains an object.
func (t *taken) binaryField(content []byte, descriptor protoreflect.MessageDescriptor) ([]byte, error) {
	if descriptor.FullName() != structName {
		return t.binaryMessage(nil, content, descriptor)
	}
	raw, err := jsonOfStruct(nil, content, 1)
	if err != nil {
		return nil, err
	}
	o, invalid := checked(raw)
	if invalid != nil {
		return nil, invalid
	}
	return appendPlace(nil, t.add(o)), nil
}

// jsonOfStruct appends the JSON of a binary Struct to b.
func jsonOfStruct(b, data []byte, depth int) ([]byte, error) {
	if depth > MaxDepth {
		return nil, errDepth()
	}
	b = append(b, '{')
	first := true
	err := eachField(data, func(number protowire.Number, kind protowire.Type, _, entry []byte) error {
		if number != fieldsOfStruct || kind != protowire.BytesType {
			return nil
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		var err error
		b, err = jsonOfEntry(b, entry, depth)
		return err
	})
	return append(b, '}'), err
}

func jsonOfEntry(b, data []byte, depth int) ([]byte, error) {
	var key, value []byte
	err := eachField(data, func(number protowire.Number, kind protowire.Type, _, content []byte) error {
		switch {
		case kind != protowire.BytesType:
		case number == keyOfEntry && key != nil, number == valueOfEntry && value != nil:
			return &InvalidError{What: "must have one name and one value in each entry"}
		case number == keyOfEntry:
			key = content
		case number == valueOfEntry:
			value = content
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if b, err = quoted(b, key); err != nil {
		return nil, err
	}
	b, err = jsonOfValue(append(b, ':'), value, depth)
	if invalid, is := errors.AsType[*InvalidError](err); is {
		return nil, invalid.inside(string(key))
	}
	return b, err
}

func quoted(b, text []byte) ([]byte, error) {
	if !utf8.Valid(text) {
		return nil, &InvalidError{What: unclean}
	}
	return jsontext.AppendQuote(b, text)
}

// jsonOfValue appends the JSON of a binary Value to b.
func jsonOfValue(b, data []byte, depth int) ([]byte, error) {
	start := len(b)
	err := eachField(data, func(number protowire.Number, kind protowire.Type, _, content []byte) (err error) {
		end := len(b)
		switch {
		case number == nullValue && kind == protowire.VarintType:
			b = append(b, "null"...)
		case number == boolValue && kind == protowire.VarintType:
			n, _ := protowire.ConsumeVarint(content)
			b = strconv.AppendBool(b, n != 0)
		case number == numberValue && kind == protowire.Fixed64Type:
			bits, _ := protowire.ConsumeFixed64(content)
			b, err = number64(b, math.Float64frombits(bits))
		case number == stringValue && kind == protowire.BytesType:
			b, err = quoted(b, content)
		case number == structValue && kind == protowire.BytesType:
			b, err = jsonOfStruct(b, content, depth+1)
		case number == listValue && kind == protowire.BytesType:
			b, err = jsonOfList(b, content, depth+1)
		}
		if err == nil && end > start && len(b) > end {
			return &InvalidError{What: "must have only one value"}
		}
		return err
	})
	if err == nil && len(b) == start {
		return nil, &InvalidError{What: "must have a value"}
	}
	return b, err
}

func number64(b []byte, f float64) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, &InvalidError{What: "must be a number, not NaN and not infinite"}
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64), nil
}

func jsonOfList(b, data []byte, depth int) ([]byte, error) {
	if depth > MaxDepth {
		return nil, errDepth()
	}
	b = append(b, '[')
	n := 0
	err := eachField(data, func(number protowire.Number, kind protowire.Type, _, value []byte) error {
		if number != valuesOfList || kind != protowire.BytesType {
			return nil
		}
		if n > 0 {
			b = append(b, ',')
		}
		n++
		var err error
		b, err = jsonOfValue(b, value, depth)
		if invalid, is := errors.AsType[*InvalidError](err); is {
			return invalid.inside("[" + strconv.Itoa(n-1) + "]")
		}
		return err
	})
	return append(b, ']'), err
}

func errDepth() *InvalidError {
	return &InvalidError{What: fmt.Sprintf("must not be nested more than %d levels deep", MaxDepth)}
}
