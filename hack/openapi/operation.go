package main

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/plaza-social/plaza/platform/auth"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

// binding is one REST path of an operation.
type binding struct {
	method   protoreflect.MethodDescriptor
	verb     string
	template string                         // as in the proto file: /api/v3/polls/{poll_id}
	path     string                         // with JSON names: /api/v3/polls/{pollId}
	inPath   []protoreflect.FieldDescriptor // the fields that the path contains
	hasBody  bool
	answer   string // field that is the response body; empty for the whole message
}

func (g *generator) bindings(method protoreflect.MethodDescriptor) []binding {
	rule, _ := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
	if rule == nil {
		g.problemf("%s has no REST path", method.FullName())
		return nil
	}
	var bindings []binding
	for _, r := range append([]*annotations.HttpRule{rule}, rule.GetAdditionalBindings()...) {
		message := r.ProtoReflect()
		pattern := message.WhichOneof(message.Descriptor().Oneofs().ByName("pattern"))
		if pattern == nil || pattern.Kind() != protoreflect.StringKind || (r.GetBody() != "" && r.GetBody() != "*") {
			g.problemf("%s: unsupported binding %v", method.FullName(), r)
			continue
		}
		b := binding{
			method: method, verb: strings.ToUpper(string(pattern.Name())), template: message.Get(pattern).String(),
			hasBody: r.GetBody() != "", answer: r.GetResponseBody(),
		}
		g.resolvePath(&b)
		bindings = append(bindings, b)
	}
	return bindings
}

var placeholder = regexp.MustCompile(`\{([^}]+)\}`)

func (g *generator) resolvePath(b *binding) {
	b.path = placeholder.ReplaceAllStringFunc(b.template, func(found string) string {
		field := b.method.Input().Fields().ByName(protoreflect.Name(strings.Trim(found, "{}")))
		if field == nil {
			g.problemf("%s contains a placeholder that is not a field of %s", b.template, b.method.Input().FullName())
			return found
		}
		b.inPath = append(b.inPath, field)
		return "{" + field.JSONName() + "}"
	})
}

// operation describes one path of an operation.
func (g *generator) operation(b binding) object {
	name, input := string(b.method.Name()), b.method.Input()
	deprecation, note := deprecationOf(b), ""
	if deprecation != nil {
		note = fmt.Sprintf("Deprecated since %s. Can be removed from %s.", deprecation.GetSince(), deprecation.GetSunset())
	}
	var parameters []object
	var inPath []string
	for _, field := range b.inPath {
		parameters = append(parameters, parameterOf(field.JSONName(), "path", g.askedField(field), true))
		inPath = append(inPath, field.JSONName())
	}
	var body object
	if !b.hasBody {
		parameters = append(parameters, g.queryParameters(input, "", inPath)...)
	} else if len(inPath) < input.Fields().Len() { // otherwise the path contains all fields
		body = g.requestBody(b.method, inPath)
	}
	return setOnly(object{
		"tags":        []string{tagOf(b.method.Parent())},
		"operationId": g.operationID(name, b),
		"summary":     cmp.Or(g.hand.Summaries[name], inWords(name)),
		"description": sentences(descriptionOf(b.method), callersOf(b.method), note),
		"deprecated":  deprecation != nil,
		"security":    securityOf(b.method),
		"parameters":  parameters,
		"requestBody": body,
		"responses":   g.responses(b, deprecation != nil),
		"x-rpc":       procedureOf(b.method), // name of the operation over Connect, gRPC and gRPC-Web
	})
}

// parameterOf returns a parameter with the description of its schema.
func parameterOf(name, in string, schema object, required bool) object {
	description, _ := schema["description"].(string)
	delete(schema, "description")
	return setOnly(object{"name": name, "in": in, "schema": schema, "required": required, "description": description})
}

// queryParameters returns the fields of a request as parameters, with nested fields in brackets.
func (g *generator) queryParameters(message protoreflect.MessageDescriptor, prefix string, without []string) []object {
	var parameters []object
	for field := range all(message.Fields()) {
		name := field.JSONName()
		if slices.Contains(without, name) {
			continue
		}
		if prefix != "" {
			name = prefix + "[" + name + "]"
		}
		inner := field.Message()
		switch {
		case inner == nil, !field.IsList() && wellKnown[inner.FullName()]["type"] == "string":
			schema := g.askedField(field)
			parameters = append(parameters, parameterOf(name, "query", schema, isRequired(field, schema) && prefix == ""))
		case field.IsList(), field.IsMap(), wellKnown[inner.FullName()] != nil:
			g.problemf("%s cannot be a parameter", field.FullName())
		default:
			parameters = append(parameters, g.queryParameters(inner, name, nil)...)
		}
	}
	return parameters
}

func (g *generator) requestBody(method protoreflect.MethodDescriptor, inPath []string) object {
	schema := g.ask(method.Input(), inPath...)
	component, _ := g.schemas[strings.TrimPrefix(schema["$ref"].(string), schemaPath)].(object)
	required, _ := component["required"].([]string)
	example := g.handExample(method, inPath)
	if example == nil {
		example = g.requiredExample(method, component, required)
	}
	return setOnly(object{
		"content": object{"application/json": object{"schema": schema, "example": example}}, "required": len(required) > 0,
	})
}

// handExample returns the handwritten example without the fields in the path, or nil.
func (g *generator) handExample(method protoreflect.MethodDescriptor, inPath []string) object {
	written, ok := g.hand.Examples[string(method.Name())]
	if !ok {
		return nil
	}
	g.used[string(method.Name())] = true
	example := maps.Clone(written)
	for _, name := range inPath {
		delete(example, name)
	}
	return example
}

// requiredExample returns an example of the required fields.
func (g *generator) requiredExample(method protoreflect.MethodDescriptor, component object, required []string) object {
	example := object{}
	fields, _ := component["properties"].(properties)
	for _, p := range fields {
		if !slices.Contains(required, p.name) {
			continue
		}
		values, _ := cmp.Or(p.schema["enum"], p.schema["examples"]).([]any)
		if len(values) == 0 {
			g.problemf("the required field %s.%s has no example; add one to byhand.yaml", method.Name(), p.name)
			continue
		}
		example[p.name] = values[0]
	}
	return example
}

// operationID returns the method's name, with the version and verb for additional paths.
func (g *generator) operationID(name string, b binding) string {
	first := lowerFirst(name)
	later := first + upperFirst(strings.Split(b.template+"//", "/")[2])
	for _, id := range []string{first, later, later + upperFirst(strings.ToLower(b.verb))} {
		if !g.ids[id] {
			g.ids[id] = true
			return id
		}
	}
	panic("no unique operationId for " + b.verb + " " + b.template)
}

func procedureOf(method protoreflect.MethodDescriptor) string {
	return "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
}

func tagOf(service protoreflect.Descriptor) string {
	return inWords(strings.TrimSuffix(string(service.Name()), "Service"))
}

func accessOf(method protoreflect.MethodDescriptor) auth.Access {
	access, _ := auth.AccessOf(procedureOf(method)) // a test of package auth requires it for every operation
	return access
}

// schemes maps callers to security schemes.
var schemes = map[plazav1.Access_Caller]string{
	plazav1.Access_CALLER_SERVER_KEY:   "serverKey",
	plazav1.Access_CALLER_API_KEY:      "apiKey",
	plazav1.Access_CALLER_USER:         "bearer",
	plazav1.Access_CALLER_ADMIN:        "bearer",
	plazav1.Access_CALLER_MEDIA_SERVER: "mediaKey",
}

func securityOf(method protoreflect.MethodDescriptor) []object {
	scheme := schemes[accessOf(method).Caller]
	if scheme == "" {
		return []object{}
	}
	return []object{{scheme: []string{}}}
}

func callersOf(method protoreflect.MethodDescriptor) string {
	access := accessOf(method)
	permission := string(access.Permission)
	switch {
	case access.Caller == plazav1.Access_CALLER_ADMIN && permission == "":
		return "Requires an administrator."
	case access.Caller == plazav1.Access_CALLER_ADMIN:
		return "Requires an administrator, or a user with a network role that grants the permission `" + permission + "`."
	case access.Caller == plazav1.Access_CALLER_USER && permission != "":
		return "Requires the permission `" + permission + "`."
	}
	return ""
}

// deprecationOf returns the deprecation of a path, or nil.
func deprecationOf(b binding) *plazav1.Deprecation {
	options, _ := b.method.Options().(*descriptorpb.MethodOptions)
	option, _ := proto.GetExtension(options, plazav1.E_Deprecation).(*plazav1.Deprecation)
	if options.GetDeprecated() || slices.Contains(option.GetPaths(), b.verb+" "+b.template) {
		return option
	}
	return nil
}

// responses returns the responses of an operation by status.
func (g *generator) responses(b binding, deprecated bool) object {
	status, _ := proto.GetExtension(b.method.Options(), plazav1.E_RestStatus).(int32)
	body := object{}
	if b.answer == "" {
		body["schema"] = g.answer(b.method.Output())
	} else {
		body["schema"] = g.answeredField(b.method.Output().Fields().ByName(protoreflect.Name(b.answer)))
	}
	success := object{"description": "Success.", "content": object{"application/json": body}}
	if deprecated {
		success["headers"] = object{
			"Deprecation": object{"$ref": "#/components/headers/Deprecation"},
			"Sunset":      object{"$ref": "#/components/headers/Sunset"},
		}
	}
	responses := object{strconv.Itoa(cmp.Or(int(status), http.StatusOK)): success}
	if b.verb == http.MethodGet {
		responses[strconv.Itoa(http.StatusNotModified)] = object{"description": "The response still has the `ETag` given in `If-None-Match`."}
	}
	for _, status := range failsWith(b) {
		responses[strconv.Itoa(status)] = failureOf(status)
	}
	if procedureOf(b.method) == plazav1connect.AuthenticationServiceCreateTokenProcedure {
		responses[strconv.Itoa(http.StatusUnauthorized)] = bareUnauthorized
	}
	return responses
}

// bareUnauthorized is the error response of the token endpoint, a JSON string.
var bareUnauthorized = object{
	"description": "The server key is missing or invalid.",
	"content": object{"application/json": object{
		"schema": object{"type": "string", "enum": []string{"Unauthorized"}}, "example": "Unauthorized",
	}},
}

// failsWith returns the error statuses of an operation.
func failsWith(b binding) []int {
	statuses := []int{http.StatusBadRequest, http.StatusForbidden, http.StatusInternalServerError, http.StatusServiceUnavailable}
	addIf := func(fails bool, more ...int) {
		if fails {
			statuses = append(statuses, more...)
		}
	}
	addIf(accessOf(b.method).Caller != plazav1.Access_CALLER_PUBLIC, http.StatusUnauthorized, http.StatusTooManyRequests)
	// The contract has no validation errors there.
	addIf(procedureOf(b.method) != plazav1connect.NetworkSettingServiceUpdateModerationProcedure, http.StatusUnprocessableEntity)
	addIf(b.hasBody, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge)
	addIf(b.verb != http.MethodGet, http.StatusConflict)
	addIf(hasID(b.method.Input()), http.StatusNotFound)
	return statuses
}

// hasID reports whether a request contains the id of an object, which may not exist.
func hasID(message protoreflect.MessageDescriptor) bool {
	for field := range all(message.Fields()) {
		name := strings.ToLower(field.JSONName())
		if strings.HasSuffix(name, "id") || strings.HasSuffix(name, "ids") {
			return true
		}
		if inner := field.Message(); inner != nil && !field.IsMap() && hasID(inner) {
			return true
		}
	}
	return false
}
