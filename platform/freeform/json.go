package freeform

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/tidwall/gjson"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
)

// UnmarshalJSON decodes a message as protojson does, without unknown fields, and its objects as bytes. The error is an *InvalidError if
// JSON is nested too deeply or if an object cannot be stored, and otherwise that of protojson.
func UnmarshalJSON(data []byte, m proto.Message) error {
	options := protojson.UnmarshalOptions{DiscardUnknown: true}
	descriptor := m.ProtoReflect().Descriptor()
	switch {
	case tooDeep(data):
		return errDepth()
	case len(leading(descriptor)) == 0, !gjson.ValidBytes(data):
		return options.Unmarshal(data, m)
	}
	t := taken{}
	rest := t.message(make([]byte, 0, len(data)), gjson.ParseBytes(data), descriptor)
	if t.invalid != nil {
		return t.invalid
	}
	if err := options.Unmarshal(rest, m); err != nil {
		return err
	}
	t.restore(m)
	return nil
}

// tooDeep reports whether JSON is nested more than MaxDepth levels deep.
func tooDeep(data []byte) bool {
	depth, inText := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{', c == '[':
			if depth++; depth > MaxDepth {
				return true
			}
		case c == '}', c == ']':
			depth--
		}
	}
	return false
}

// place is the name of the only member of an object in place of one that was taken out of a message. Its value is a number.
const place = "#"

// taken are objects that were taken out of a message.
type taken struct {
	objects []Object
	invalid *InvalidError
}

// add adds an object, and returns its number.
func (t *taken) add(o Object) int {
	t.objects = append(t.objects, o)
	return len(t.objects) - 1
}

// restore lets the Structs of a message carry the objects that were taken out.
func (t *taken) restore(m proto.Message) {
	eachObject(m.ProtoReflect(), func(s *structpb.Struct) {
		at := int(s.GetFields()[place].GetNumberValue())
		s.Fields = nil
		if o := t.objects[at]; !o.isEmpty() {
			carry(s, o)
		}
	})
}

// message appends the JSON of a message without its objects to b.
func (t *taken) message(b []byte, value gjson.Result, descriptor protoreflect.MessageDescriptor) []byte {
	switch {
	case !value.IsObject():
		return append(b, value.Raw...) // which protojson refuses, or null
	case descriptor.FullName() == structName:
		o, invalid := checked([]byte(value.Raw))
		t.invalid = invalid
		return append(strconv.AppendInt(append(b, `{"`+place+`":`...), int64(t.add(o)), 10), '}')
	}
	return t.members(b, value, func(b []byte, key string, inner gjson.Result) []byte {
		return t.field(b, inner, fieldOf(descriptor, key))
	})
}

// members appends an object to b, with the values that each appends.
func (t *taken) members(b []byte, object gjson.Result, each func(b []byte, key string, value gjson.Result) []byte) []byte {
	b = append(b, '{')
	object.ForEach(func(key, value gjson.Result) bool {
		b = append(append(b, key.Raw...), ':')
		b = append(each(b, key.String(), value), ',')
		t.invalid = t.invalid.inside(key.String())
		return t.invalid == nil
	})
	return append(bytes.TrimSuffix(b, []byte(",")), '}')
}

// fieldOf returns the field with a name in JSON if it is or contains an object.
func fieldOf(descriptor protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	for _, field := range leading(descriptor) {
		if field.JSONName() == name || string(field.Name()) == name {
			return field
		}
	}
	return nil
}

// field appends the value of a field, which is nil for those without objects.
func (t *taken) field(b []byte, value gjson.Result, field protoreflect.FieldDescriptor) []byte {
	switch {
	case field == nil:
		return append(b, value.Raw...)
	case field.IsList() && value.IsArray():
		return t.list(b, value, field)
	case field.IsMap() && value.IsObject():
		return t.members(b, value, func(b []byte, _ string, entry gjson.Result) []byte { return t.message(b, entry, messageOf(field)) })
	}
	return t.message(b, value, messageOf(field))
}

func (t *taken) list(b []byte, list gjson.Result, field protoreflect.FieldDescriptor) []byte {
	i := 0
	b = append(b, '[')
	list.ForEach(func(_, element gjson.Result) bool {
		b = append(t.message(b, element, field.Message()), ',')
		t.invalid = t.invalid.inside("[" + strconv.Itoa(i) + "]")
		i++
		return t.invalid == nil
	})
	return append(bytes.TrimSuffix(b, []byte(",")), ']')
}

// MarshalJSON encodes a message as protojson does, without spaces.
func MarshalJSON(m proto.Message) ([]byte, error) {
	t := taken{}
	copied := proto.Clone(m)
	eachObject(copied.ProtoReflect(), func(s *structpb.Struct) {
		n := t.add(Of(s))
		s.ProtoReflect().SetUnknown(nil)
		s.Fields = map[string]*structpb.Value{place: structpb.NewNumberValue(float64(n))}
	})
	raw, err := protojson.Marshal(copied)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer // protojson adds spaces at random
	if err := json.Compact(&compact, raw); err != nil {
		return nil, err
	}
	return t.replaced(compact.Bytes()), nil
}

// replaced returns JSON with the objects in their places. No text contains such a place, because the quotes in texts are escaped.
func (t *taken) replaced(raw []byte) []byte {
	before := []byte(`{"` + place + `":`)
	var b []byte
	for {
		at := bytes.Index(raw, before)
		if at < 0 {
			return append(b, raw...)
		}
		b = append(b, raw[:at]...)
		number, rest, _ := bytes.Cut(raw[at+len(before):], []byte("}"))
		i, err := strconv.Atoi(string(number))
		if err != nil || i >= len(t.objects) {
			return append(b, raw[at:]...) // not possible
		}
		b, raw = append(b, t.objects[i].Row()...), rest
	}
}
