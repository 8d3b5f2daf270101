package edge

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// The encoder writes the same JSON as protojson with EmitUnpopulated: unset lists as [], unset booleans as false,
// unset messages as null, map keys sorted, unset proto3 optional fields omitted. It differs in two ways: timestamps
// always have at least milliseconds, as the interface requires, and the output is compact, without protojson's random
// spaces. It takes a quarter of the time of protojson, because it prepares a plan for each message type, which reads the
// fields of the generated struct.

// appender appends the JSON of a value.
type appender func(b []byte, v reflect.Value) ([]byte, error)

// messagePlan is the encoding of a message type: its fields in the order of the proto file.
type messagePlan []fieldPlan

type fieldPlan struct {
	descriptor protoreflect.FieldDescriptor
	index      int    // in the struct
	key        []byte // `"name":`
	optional   bool   // omitted when unset
	append     appender
}

var messageAppenders sync.Map // reflect.Type -> appender

// messageAppender returns the appender of a message type, which is a pointer to a generated struct.
func messageAppender(goType reflect.Type) appender {
	if known, ok := messageAppenders.Load(goType); ok {
		return known.(appender) // nothing else is stored
	}
	known, _ := messageAppenders.LoadOrStore(goType, newMessageAppender(goType))
	return known.(appender) // nothing else is stored
}

func newMessageAppender(goType reflect.Type) appender {
	if special := specialAppender(goType); special != nil {
		return special
	}
	plan := sync.OnceValue(func() messagePlan { return newMessagePlan(goType) }) // later, because types may be recursive
	return func(b []byte, v reflect.Value) ([]byte, error) { return plan().append(b, v.Elem()) }
}

func newMessagePlan(goType reflect.Type) messagePlan {
	message, _ := reflect.TypeAssert[proto.Message](reflect.Zero(goType))
	fields := message.ProtoReflect().Descriptor().Fields()
	plan := make(messagePlan, fields.Len())
	for i := range plan {
		field := fields.Get(i)
		member := memberOf(goType.Elem(), field)
		plan[i] = fieldPlan{
			descriptor: field,
			index:      member.Index[0],
			key:        append(appendQuoted(nil, field.JSONName()), ':'),
			optional:   field.ContainingOneof() != nil,
			append:     fieldAppender(field, member.Type),
		}
	}
	return plan
}

// memberOf returns the member of a generated struct that holds a field. The API has no oneofs, apart from those of
// optional fields.
func memberOf(goStruct reflect.Type, field protoreflect.FieldDescriptor) reflect.StructField {
	number := strconv.Itoa(int(field.Number()))
	for member := range goStruct.Fields() {
		if tag := strings.Split(member.Tag.Get("protobuf"), ","); len(tag) > 1 && tag[1] == number {
			return member
		}
	}
	panic(fmt.Sprintf("%s is not in the generated struct", field.FullName()))
}

// appendMessage appends m as a JSON object.
func appendMessage(b []byte, m proto.Message) ([]byte, error) {
	return messageAppender(reflect.TypeOf(m))(b, reflect.ValueOf(m))
}

// appendField appends the value of one field of m.
func appendField(b []byte, m proto.Message, field protoreflect.FieldDescriptor) ([]byte, error) {
	goStruct := reflect.ValueOf(m).Elem()
	member := memberOf(goStruct.Type(), field)
	return fieldAppender(field, member.Type)(b, goStruct.Field(member.Index[0]))
}

func (p messagePlan) append(b []byte, goStruct reflect.Value) ([]byte, error) {
	start := len(b)
	for i := range p {
		field := &p[i]
		v := goStruct.Field(field.index)
		if field.optional && v.IsNil() {
			continue
		}
		b = append(append(b, ','), field.key...)
		var err error
		if b, err = field.append(b, v); err != nil {
			return nil, fmt.Errorf("%s: %w", field.descriptor.FullName(), err)
		}
	}
	if len(b) == start {
		return append(b, "{}"...), nil
	}
	b[start] = '{'
	return append(b, '}'), nil
}

func fieldAppender(field protoreflect.FieldDescriptor, goType reflect.Type) appender {
	switch {
	case field.IsMap():
		return mapAppender(singularAppender(field.MapValue(), goType.Elem()))
	case field.IsList():
		return listAppender(singularAppender(field, goType.Elem()))
	case field.Message() == nil && field.HasPresence():
		each := singularAppender(field, goType.Elem())
		return nullable(func(b []byte, v reflect.Value) ([]byte, error) { return each(b, v.Elem()) })
	case field.Message() != nil:
		return nullable(singularAppender(field, goType))
	}
	return singularAppender(field, goType)
}

// nullable appends null for a nil pointer.
func nullable(each appender) appender {
	return func(b []byte, v reflect.Value) ([]byte, error) {
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		return each(b, v)
	}
}

func listAppender(each appender) appender {
	return func(b []byte, v reflect.Value) ([]byte, error) {
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = each(b, v.Index(i)); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	}
}

// mapAppender appends maps with text keys; the API has no others.
func mapAppender(each appender) appender {
	return func(b []byte, v reflect.Value) ([]byte, error) {
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		b = append(b, '{')
		for i, key := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = appendText(b, key.String()); err != nil {
				return nil, err
			}
			if b, err = each(append(b, ':'), v.MapIndex(key)); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	}
}

func singularAppender(field protoreflect.FieldDescriptor, goType reflect.Type) appender {
	switch field.Kind() {
	case protoreflect.BoolKind:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendBool(b, v.Bool()), nil }
	case protoreflect.StringKind:
		return func(b []byte, v reflect.Value) ([]byte, error) { return appendText(b, v.String()) }
	case protoreflect.Int32Kind:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendInt(b, v.Int(), 10), nil }
	case protoreflect.Int64Kind:
		return func(b []byte, v reflect.Value) ([]byte, error) {
			return append(strconv.AppendInt(append(b, '"'), v.Int(), 10), '"'), nil
		}
	case protoreflect.DoubleKind:
		return func(b []byte, v reflect.Value) ([]byte, error) { return appendFloat(b, v.Float()) }
	case protoreflect.EnumKind:
		return enumAppender(field.Enum())
	case protoreflect.MessageKind:
		return messageAppender(goType)
	}
	panic(fmt.Sprintf("%s is a %s, which the API does not use", field.FullName(), field.Kind()))
}

func enumAppender(enum protoreflect.EnumDescriptor) appender {
	names := map[int64][]byte{}
	for i := range enum.Values().Len() {
		value := enum.Values().Get(i)
		names[int64(value.Number())] = appendQuoted(nil, string(value.Name()))
	}
	return func(b []byte, v reflect.Value) ([]byte, error) {
		if name, ok := names[v.Int()]; ok {
			return append(b, name...), nil
		}
		return strconv.AppendInt(b, v.Int(), 10), nil
	}
}
