package main

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// schemas collects the components that operations refer to. The schema of a message depends on its use: responses contain all fields,
// requests have limits.
type schemas struct {
	byName   map[string]any
	answered map[protoreflect.FullName]bool // messages that occur in responses
	asked    map[string]string              // fields that a request component omits, by component
}

func newSchemas() *schemas {
	return &schemas{byName: map[string]any{}, answered: map[protoreflect.FullName]bool{}, asked: map[string]string{}}
}

// markAnswered records that a message and the messages it contains occur in responses.
func (s *schemas) markAnswered(message protoreflect.MessageDescriptor) {
	if s.answered[message.FullName()] {
		return
	}
	s.answered[message.FullName()] = true
	for i := range message.Fields().Len() {
		if inner := message.Fields().Get(i).Message(); inner != nil {
			s.markAnswered(inner)
		}
	}
}

// answer returns a reference to the schema of a message in a response.
func (s *schemas) answer(message protoreflect.MessageDescriptor) *schema {
	if known := wellKnown(message); known != nil {
		return known
	}
	name := string(message.Name())
	if s.byName[name] == nil {
		out := &schema{Type: "object", Description: withoutName(commentOf(message), string(message.Name()))}
		s.byName[name] = out // set before the fields, because messages can be recursive
		for i := range message.Fields().Len() {
			field := message.Fields().Get(i)
			if field.ContainingOneof() == nil {
				out.Required = append(out.Required, field.JSONName())
			}
			out.Properties = append(out.Properties, property{field.JSONName(), s.answeredField(field)})
		}
	}
	return ref(name)
}

func (s *schemas) answeredField(field protoreflect.FieldDescriptor) *schema {
	out := shaped(field, s.answer)
	if field.Message() != nil && !field.IsList() && !field.IsMap() && field.ContainingOneof() == nil {
		out = &schema{AnyOf: []*schema{out, {Type: "null"}}} // unset timestamps and objects
	}
	describe(out, field)
	return out
}

// request returns a reference to the schema of a body: the message without the fields in the path.
func (s *schemas) request(message protoreflect.MessageDescriptor, without []string) (*schema, error) {
	name := s.requestName(message)
	left := strings.Join(without, ",")
	if known, ok := s.asked[name]; ok && known != left {
		name += "Without" + strings.ToUpper(left[:min(1, len(left))]) + left[min(1, len(left)):]
	}
	if known, ok := s.asked[name]; ok && known != left {
		return nil, fmt.Errorf("%s: two different bodies with one name", name)
	}
	if s.byName[name] == nil {
		s.asked[name] = left
		out := &schema{Type: "object", Description: withoutName(commentOf(message), string(message.Name()))}
		s.byName[name] = out
		s.addAsked(out, message, without)
	}
	return ref(name), nil
}

func (s *schemas) requestName(message protoreflect.MessageDescriptor) string {
	if s.answered[message.FullName()] {
		return string(message.Name()) + "Input"
	}
	return string(message.Name())
}

// ask returns a reference to the schema of a message nested in a request.
func (s *schemas) ask(message protoreflect.MessageDescriptor) *schema {
	if known := wellKnown(message); known != nil {
		return known
	}
	name := s.requestName(message)
	if s.asked[name] != "" {
		panic(name + " is both a body that omits fields and part of another body")
	}
	if s.byName[name] == nil {
		out := &schema{Type: "object", Description: withoutName(commentOf(message), string(message.Name()))}
		s.byName[name], s.asked[name] = out, ""
		s.addAsked(out, message, nil)
	}
	return ref(name)
}

func (s *schemas) addAsked(out *schema, message protoreflect.MessageDescriptor, without []string) {
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		if slices.Contains(without, field.JSONName()) {
			continue
		}
		asked := s.askedField(field)
		if isRequired(field, asked) {
			out.Required = append(out.Required, field.JSONName())
		}
		out.Properties = append(out.Properties, property{field.JSONName(), asked})
	}
}

func (s *schemas) askedField(field protoreflect.FieldDescriptor) *schema {
	out := shaped(field, s.ask)
	describe(out, field)
	out.limit(rulesOf(field))
	if len(out.Enum) > 0 {
		out.Examples = nil
	}
	return out
}

// describe adds the comment, deprecation and example of a field.
func describe(s *schema, field protoreflect.FieldDescriptor) {
	s.Description = commentOf(field)
	if options, ok := field.Options().(*descriptorpb.FieldOptions); ok {
		s.Deprecated = options.GetDeprecated()
	}
	if example := exampleOf(field, s.Description); example != nil && s.Ref == "" {
		s.Examples = []any{example}
	}
}

// shaped returns the schema of a field's type; inner returns those of messages.
func shaped(field protoreflect.FieldDescriptor, inner func(protoreflect.MessageDescriptor) *schema) *schema {
	switch {
	case field.IsMap():
		return &schema{Type: "object", AdditionalProperties: single(field.MapValue(), inner)}
	case field.IsList():
		return &schema{Type: "array", Items: single(field, inner)}
	}
	return single(field, inner)
}

func single(field protoreflect.FieldDescriptor, inner func(protoreflect.MessageDescriptor) *schema) *schema {
	switch field.Kind() {
	case protoreflect.BoolKind:
		return &schema{Type: "boolean"}
	case protoreflect.StringKind:
		return &schema{Type: "string"}
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return &schema{Type: "integer", Format: "int32"}
	case protoreflect.DoubleKind, protoreflect.FloatKind:
		return &schema{Type: "number"}
	case protoreflect.MessageKind:
		return inner(field.Message())
	}
	panic("unsupported kind of field " + string(field.FullName()))
}

// wellKnown returns the schema of a type with a special JSON form, or nil.
func wellKnown(message protoreflect.MessageDescriptor) *schema {
	switch message.FullName() {
	case "google.protobuf.Timestamp":
		return &schema{Type: "string", Format: "date-time"}
	case "google.protobuf.Struct":
		return &schema{Type: "object", AdditionalProperties: true}
	case "google.protobuf.Value":
		return &schema{}
	}
	if strings.HasPrefix(string(message.FullName()), "google.") {
		panic("unsupported type " + string(message.FullName()))
	}
	return nil
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
