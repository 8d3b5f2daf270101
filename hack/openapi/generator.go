package main

import (
	"fmt"
	"maps"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// openAPIVersion is the version of OpenAPI.
const openAPIVersion = "3.1.0"

// generator builds the document.
type generator struct {
	hand    *byHand
	schemas *schemas
	paths   map[string]map[string]any
	shapes  map[string]string // paths by their form without placeholder names
	ids     map[string]bool
	used    map[string]bool // examples of byHand
	missing []string        // required fields of bodies without an example
}

func build(services []protoreflect.ServiceDescriptor, files *protoregistry.Files, hand *byHand) (*document, error) {
	g := &generator{
		hand: hand, schemas: newSchemas(), paths: map[string]map[string]any{}, shapes: map[string]string{},
		ids: map[string]bool{}, used: map[string]bool{},
	}
	messages, err := hand.messages(files)
	if err != nil {
		return nil, err
	}
	for _, message := range messages {
		g.schemas.markAnswered(message)
	}
	methods := methodsOf(services)
	for _, method := range methods {
		g.schemas.markAnswered(method.Output())
	}
	for _, method := range methods {
		if err := g.addMethod(method); err != nil {
			return nil, err
		}
	}
	if err := g.addByHand(messages); err != nil {
		return nil, err
	}
	return g.document(services), nil
}

func methodsOf(services []protoreflect.ServiceDescriptor) []protoreflect.MethodDescriptor {
	var methods []protoreflect.MethodDescriptor
	for _, service := range services {
		for i := range service.Methods().Len() {
			methods = append(methods, service.Methods().Get(i))
		}
	}
	return methods
}

func (g *generator) addMethod(method protoreflect.MethodDescriptor) error {
	bindings, err := bindingsOf(method)
	if err != nil {
		return err
	}
	for _, b := range bindings {
		path, op, err := g.operation(b)
		if err != nil {
			return err
		}
		if err := g.add(path, strings.ToLower(b.verb), op); err != nil {
			return err
		}
	}
	return nil
}

// add adds an operation. It rejects paths that OpenAPI considers identical because they differ only in placeholder names.
func (g *generator) add(path, verb string, op any) error {
	shape := placeholder.ReplaceAllString(path, "{}")
	if known := g.shapes[shape]; known != "" && known != path {
		return fmt.Errorf("%s and %s differ only in placeholder names", known, path)
	}
	g.shapes[shape] = path
	if g.paths[path] == nil {
		g.paths[path] = map[string]any{}
	}
	if g.paths[path][verb] != nil {
		return fmt.Errorf("%s %s is defined twice", verb, path)
	}
	g.paths[path][verb] = op
	return nil
}

func (g *generator) addByHand(messages []protoreflect.MessageDescriptor) error {
	for _, message := range messages {
		g.schemas.answer(message)
	}
	maps.Copy(g.schemas.byName, g.hand.Schemas)
	g.schemas.byName["Error"] = errorSchema()
	for _, path := range sortedKeys(g.hand.Paths) {
		for _, verb := range sortedKeys(g.hand.Paths[path]) {
			if err := g.add(path, verb, g.hand.Paths[path][verb]); err != nil {
				return err
			}
		}
	}
	for name := range g.hand.Summaries {
		if !g.ids[lowerFirst(name)] {
			return fmt.Errorf("there is a summary for %s, but no such operation", name)
		}
	}
	for name := range g.hand.Examples {
		if !g.used[name] {
			return fmt.Errorf("there is an example for %s, but no such operation with a body", name)
		}
	}
	if len(g.missing) > 0 {
		return fmt.Errorf("required fields without an example: %v; add one to byhand.yaml", g.missing)
	}
	return nil
}

func (g *generator) document(services []protoreflect.ServiceDescriptor) *document {
	var tags []tag
	for _, service := range services {
		tags = append(tags, tag{tagOf(service), withoutName(commentOf(service), string(service.Name()))})
	}
	description, _ := g.hand.Info["description"].(string)
	g.hand.Info["description"] = strings.Replace(description, "{{errors}}", errorTable(), 1)
	return &document{
		OpenAPI: openAPIVersion, Info: g.hand.Info, Servers: g.hand.Servers, Tags: append(tags, g.hand.Tags...), Paths: g.paths,
		Components: components{
			SecuritySchemes: g.hand.SecuritySchemes, Headers: g.hand.Headers, Responses: failureComponents(), Schemas: g.schemas.byName,
		},
	}
}
