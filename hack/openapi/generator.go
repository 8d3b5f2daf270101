package main

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// openAPIVersion is the version of OpenAPI.
const openAPIVersion = "3.1.0"

// object is a JSON object of the document.
type object = map[string]any

// generator builds the document.
type generator struct {
	hand     *byHand
	paths    map[string]object // operations by path and lowercase verb
	shapes   map[string]string // paths by their form without placeholder names
	ids      map[string]bool
	used     map[string]bool // examples of byHand
	schemas  map[string]any
	answered map[protoreflect.FullName]bool // messages that occur in responses
	omitted  map[string]string              // fields that the schema of a request omits, by its name
	problems []error
}

func newGenerator(hand *byHand) *generator {
	return &generator{
		hand: hand, paths: map[string]object{}, shapes: map[string]string{}, ids: map[string]bool{}, used: map[string]bool{},
		schemas: map[string]any{}, answered: map[protoreflect.FullName]bool{}, omitted: map[string]string{},
	}
}

func (g *generator) problemf(format string, args ...any) {
	g.problems = append(g.problems, fmt.Errorf(format, args...))
}

// build returns the document. The error joins all problems.
func build(services []protoreflect.ServiceDescriptor, files *protoregistry.Files, hand *byHand) (object, error) {
	g := newGenerator(hand)
	var methods []protoreflect.MethodDescriptor
	answers := g.handMessages(files)
	for _, service := range services {
		methods = slices.AppendSeq(methods, all(service.Methods()))
	}
	for _, method := range methods {
		g.markAnswered(method.Output())
	}
	for _, message := range answers {
		g.markAnswered(message)
	}
	for _, method := range methods {
		for _, b := range g.bindings(method) {
			g.add(b.path, strings.ToLower(b.verb), g.operation(b))
		}
	}
	for _, message := range answers {
		g.answer(message)
	}
	g.addHand()
	return g.document(services), errors.Join(g.problems...)
}

// handMessages returns the messages that byHand names.
func (g *generator) handMessages(files *protoregistry.Files) []protoreflect.MessageDescriptor {
	var messages []protoreflect.MessageDescriptor
	for _, name := range g.hand.Messages {
		found, _ := files.FindDescriptorByName(protoreflect.FullName("plaza.v1." + name))
		if message, ok := found.(protoreflect.MessageDescriptor); ok {
			messages = append(messages, message)
		} else {
			g.problemf("%s is not a message", name)
		}
	}
	return messages
}

// add adds an operation. It rejects paths that OpenAPI considers identical because they differ only in placeholder names.
func (g *generator) add(path, verb string, operation any) {
	shape := placeholder.ReplaceAllString(path, "{}")
	if known := g.shapes[shape]; known != "" && known != path {
		g.problemf("%s and %s differ only in placeholder names", known, path)
		return
	}
	g.shapes[shape] = path
	if g.paths[path] == nil {
		g.paths[path] = object{}
	}
	if g.paths[path][verb] != nil {
		g.problemf("%s %s is defined twice", verb, path)
	}
	g.paths[path][verb] = operation
}

// addHand adds the handwritten schemas and operations, and checks that the rest of byHand has been used.
func (g *generator) addHand() {
	maps.Copy(g.schemas, g.hand.Schemas)
	g.schemas["Error"] = errorSchema()
	for path, operations := range g.hand.Paths {
		for verb, operation := range operations {
			g.add(path, verb, operation)
		}
	}
	for name := range g.hand.Summaries {
		if !g.ids[lowerFirst(name)] {
			g.problemf("there is a summary for %s, but no such operation", name)
		}
	}
	for name := range g.hand.Examples {
		if !g.used[name] {
			g.problemf("there is an example for %s, but no such operation with a body", name)
		}
	}
}

func (g *generator) document(services []protoreflect.ServiceDescriptor) object {
	var tags []any
	for _, service := range services {
		tags = append(tags, object{"name": tagOf(service), "description": descriptionOf(service)})
	}
	description, _ := g.hand.Info["description"].(string)
	g.hand.Info["description"] = strings.Replace(description, "{{errors}}", errorTable(), 1)
	return object{
		"openapi": openAPIVersion, "info": g.hand.Info, "servers": g.hand.Servers, "tags": append(tags, g.hand.Tags...), "paths": g.paths,
		"components": object{
			"securitySchemes": g.hand.SecuritySchemes, "headers": g.hand.Headers, "responses": failureResponses(), "schemas": g.schemas,
		},
	}
}

// setOnly removes the fields without a value.
func setOnly(o object) object {
	maps.DeleteFunc(o, func(_ string, value any) bool { return reflect.ValueOf(value).IsZero() })
	return o
}

// list is a list of descriptors, or of values.
type list[T any] interface {
	Len() int
	Get(i int) T
}

// all yields the elements of a list.
func all[T any](elements list[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := range elements.Len() {
			if !yield(elements.Get(i)) {
				return
			}
		}
	}
}
