package main

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// schemas collects the components that operations refer to. What is answered and what is asked for differ: an answer has
// all its fields, and a request has limits.
type schemas struct {
	byName   map[string]any
	answered map[protoreflect.FullName]bool // the messages that are in answers
	asked    map[string]string              // component of a request: the fields that it leaves out
}

func newSchemas() *schemas {
	return &schemas{byName: map[string]any{}, answered: map[protoreflect.FullName]bool{}, asked: map[string]string{}}
}

// markAnswered notes a message and what is in it.
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

// answer is a reference to the schema of a message in an answer.
func (s *schemas) answer(message protoreflect.MessageDescriptor) *schema {
	if known := wellKnown(message); known != nil {
		return known
	}
	name := string(message.Name())
	if s.byName[name] == nil {
		out := &schema{Type: "object", Description: commentOf(message)}
		s.byName[name] = out // before its fields: messages may contain themselves
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
		out = &schema{AnyOf: []*schema{out, {Type: "null"}}} // unset: timestamps, objects
	}
	describe(out, field)
	return out
}

// request is a reference to the schema of a body: the message without the fields that the path names.
func (s *schemas) request(message protoreflect.MessageDescriptor, without []string) (*schema, error) {
	name := s.requestName(message)
	left := strings.Join(without, ",")
	if known, ok := s.asked[name]; ok && known != left {
		name += "Without" + strings.ToUpper(left[:min(1, len(left))]) + left[min(1, len(left)):]
	}
	if known, ok := s.asked[name]; ok && known != left {
		return nil, fmt.Errorf("%s: two bodies of one name", name)
	}
	if s.byName[name] == nil {
		s.asked[name] = left
		out := &schema{Type: "object", Description: commentOf(message)}
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

// ask is a reference to the schema of a message within a request.
func (s *schemas) ask(message protoreflect.MessageDescriptor) *schema {
	if known := wellKnown(message); known != nil {
		return known
	}
	name := s.requestName(message)
	if s.asked[name] != "" {
		panic(name + " is a body that leaves out fields, and part of another one")
	}
	if s.byName[name] == nil {
		out := &schema{Type: "object", Description: commentOf(message)}
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

// describe adds what stands at the field.
func describe(s *schema, field protoreflect.FieldDescriptor) {
	s.Description = commentOf(field)
	if options, ok := field.Options().(*descriptorpb.FieldOptions); ok {
		s.Deprecated = options.GetDeprecated()
	}
	if example := exampleOf(field, s.Description); example != nil && s.Ref == "" {
		s.Examples = []any{example}
	}
}

// shaped is the type of a field; inner refers to messages.
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
	panic("no schema for the kind of " + string(field.FullName()))
}

// wellKnown is the schema of a type whose JSON is an art of its own; nil for every other.
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
		panic("no schema for " + string(message.FullName()))
	}
	return nil
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
