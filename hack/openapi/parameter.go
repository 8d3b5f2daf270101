package main

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// parameterOf returns a parameter with the description of s.
func parameterOf(name, in string, s *schema) parameter {
	own := *s
	own.Description = ""
	return parameter{Name: name, In: in, Description: s.Description, Schema: &own}
}

// queryParameters returns the fields of a request as parameters, with nested fields in brackets.
func (g *generator) queryParameters(message protoreflect.MessageDescriptor, prefix string, without []string) ([]parameter, error) {
	var all []parameter
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		name := field.JSONName()
		if slices.Contains(without, name) {
			continue
		}
		if prefix != "" {
			name = prefix + "[" + name + "]"
		}
		inner := field.Message()
		switch {
		case inner == nil, !field.IsList() && !field.IsMap() && wellKnown(inner) != nil && wellKnown(inner).Type == "string":
			p := parameterOf(name, "query", g.schemas.askedField(field))
			p.Required = isRequired(field, p.Schema) && prefix == ""
			all = append(all, p)
		case field.IsList(), field.IsMap(), strings.HasPrefix(string(inner.FullName()), "google."):
			return nil, fmt.Errorf("%s cannot be a parameter", field.FullName())
		default:
			below, err := g.queryParameters(inner, name, nil)
			if err != nil {
				return nil, err
			}
			all = append(all, below...)
		}
	}
	return all, nil
}
