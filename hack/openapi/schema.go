package main

import (
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// The schema of a message depends on its use: responses contain all fields, requests have limits.

// properties are encoded in the order of the proto file.
type properties []property

type property struct {
	name   string
	schema object
}

// MarshalJSON encodes p as an object.
func (p properties) MarshalJSON() ([]byte, error) {
	fields := make([]string, len(p))
	for i, each := range p {
		text, err := render(each.schema)
		if err != nil {
			return nil, err
		}
		fields[i] = `"` + each.name + `":` + string(text)
	}
	return []byte("{" + strings.Join(fields, ",") + "}"), nil
}

const schemaPath = "#/components/schemas/"

func ref(name string) object { return object{"$ref": schemaPath + name} }

// markAnswered records that a message and the messages it contains occur in responses.
func (g *generator) markAnswered(message protoreflect.MessageDescriptor) {
	if g.answered[message.FullName()] {
		return
	}
	g.answered[message.FullName()] = true
	for field := range all(message.Fields()) {
		if inner := field.Message(); inner != nil {
			g.markAnswered(inner)
		}
	}
}

// answer returns a reference to the schema of a message in a response.
func (g *generator) answer(message protoreflect.MessageDescriptor) object {
	return g.component(string(message.Name()), message, nil, g.answeredField, func(field protoreflect.FieldDescriptor, _ object) bool {
		return field.ContainingOneof() == nil
	})
}

func (g *generator) answeredField(field protoreflect.FieldDescriptor) object {
	out := shaped(field, g.answer)
	if field.Message() != nil && !field.IsList() && !field.IsMap() && field.ContainingOneof() == nil {
		out = object{"anyOf": []object{out, {"type": "null"}}} // unset timestamps and objects
	}
	describe(out, field)
	return out
}

// ask returns a reference to the schema of a message in a request, without some fields: those of a body that are in the path.
func (g *generator) ask(message protoreflect.MessageDescriptor, without ...string) object {
	name, omitted := string(message.Name()), strings.Join(without, ",")
	if g.answered[message.FullName()] {
		name += "Input"
	}
	if known, ok := g.omitted[name]; ok && known != omitted {
		name += "Without" + upperFirst(omitted)
		if known, ok := g.omitted[name]; omitted == "" || ok && known != omitted {
			g.problemf("%s: two different requests with one name", name)
		}
	}
	g.omitted[name] = omitted
	return g.component(name, message, without, g.askedField, isRequired)
}

func (g *generator) askedField(field protoreflect.FieldDescriptor) object {
	out := shaped(field, func(message protoreflect.MessageDescriptor) object { return g.ask(message) })
	describe(out, field)
	limit(out, rulesOf(field))
	if out["enum"] != nil {
		delete(out, "examples")
	}
	return out
}

// component returns a reference to the schema of a message, which it adds if there is none of that name.
func (g *generator) component(
	name string, message protoreflect.MessageDescriptor, without []string,
	schemaOf func(protoreflect.FieldDescriptor) object, required func(protoreflect.FieldDescriptor, object) bool,
) object {
	if strings.HasPrefix(string(message.FullName()), "google.") {
		panic("unsupported type " + string(message.FullName()))
	}
	if g.schemas[name] != nil {
		return ref(name)
	}
	out := object{"type": "object"}
	g.schemas[name] = out // set before the fields, because messages can be recursive
	var fields properties
	var names []string
	for field := range all(message.Fields()) {
		if slices.Contains(without, field.JSONName()) {
			continue
		}
		schema := schemaOf(field)
		fields = append(fields, property{field.JSONName(), schema})
		if required(field, schema) {
			names = append(names, field.JSONName())
		}
	}
	maps.Copy(out, setOnly(object{"description": descriptionOf(message), "properties": fields, "required": names}))
	return ref(name)
}

// describe adds the comment, deprecation and example of a field.
func describe(out object, field protoreflect.FieldDescriptor) {
	options, _ := field.Options().(*descriptorpb.FieldOptions)
	comment := commentOf(field)
	maps.Copy(out, setOnly(object{"description": comment, "deprecated": options.GetDeprecated()}))
	if example := exampleOf(field, comment); example != nil && out["$ref"] == nil {
		out["examples"] = []any{example}
	}
}

// shaped returns the schema of a field's type; inner returns those of messages.
func shaped(field protoreflect.FieldDescriptor, inner func(protoreflect.MessageDescriptor) object) object {
	switch {
	case field.IsMap():
		return object{"type": "object", "additionalProperties": single(field.MapValue(), inner)}
	case field.IsList():
		return object{"type": "array", "items": single(field, inner)}
	}
	return single(field, inner)
}

// scalars are the schemas of the scalar types that the protos use, wellKnown those of messages with a special JSON form.
var (
	scalars = map[protoreflect.Kind]object{
		protoreflect.BoolKind:   {"type": "boolean"},
		protoreflect.StringKind: {"type": "string"},
		protoreflect.Int32Kind:  {"type": "integer", "format": "int32"},
		protoreflect.DoubleKind: {"type": "number"},
	}
	wellKnown = map[protoreflect.FullName]object{
		"google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
		"google.protobuf.Struct":    {"type": "object", "additionalProperties": true},
		"google.protobuf.Value":     {},
	}
)

func single(field protoreflect.FieldDescriptor, inner func(protoreflect.MessageDescriptor) object) object {
	schema, ok := scalars[field.Kind()]
	if message := field.Message(); message != nil {
		if schema, ok = wellKnown[message.FullName()]; !ok {
			return inner(message)
		}
	}
	if !ok {
		panic("unsupported kind of field " + string(field.FullName()))
	}
	return maps.Clone(schema)
}
