package main

import (
	"cmp"
	"fmt"
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
	template string // as in the proto file: /api/v3/polls/{poll_id}
	hasBody  bool
	answer   string // field that is the response body; empty for the whole message
}

func bindingsOf(method protoreflect.MethodDescriptor) ([]binding, error) {
	rule, _ := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
	if rule == nil {
		return nil, fmt.Errorf("%s has no REST path", method.FullName())
	}
	var all []binding
	for _, r := range append([]*annotations.HttpRule{rule}, rule.GetAdditionalBindings()...) {
		b := binding{method: method, hasBody: r.GetBody() != "", answer: r.GetResponseBody()}
		for verb, template := range map[string]string{
			http.MethodGet: r.GetGet(), http.MethodPost: r.GetPost(), http.MethodPut: r.GetPut(),
			http.MethodDelete: r.GetDelete(), http.MethodPatch: r.GetPatch(),
		} {
			if template != "" {
				b.verb, b.template = verb, template
			}
		}
		if b.verb == "" || (b.hasBody && r.GetBody() != "*") {
			return nil, fmt.Errorf("%s: unsupported binding %v", method.FullName(), r)
		}
		all = append(all, b)
	}
	return all, nil
}

var placeholder = regexp.MustCompile(`\{([^}]+)\}`)

// inPath returns the fields that the path contains.
func (b binding) inPath() ([]protoreflect.FieldDescriptor, error) {
	var fields []protoreflect.FieldDescriptor
	for _, found := range placeholder.FindAllStringSubmatch(b.template, -1) {
		field := b.method.Input().Fields().ByName(protoreflect.Name(found[1]))
		if field == nil {
			return nil, fmt.Errorf("%s contains a placeholder that is not a field of %s", b.template, b.method.Input().FullName())
		}
		fields = append(fields, field)
	}
	return fields, nil
}

// path returns the template with JSON names.
func (b binding) path(fields []protoreflect.FieldDescriptor) string {
	i := 0
	return placeholder.ReplaceAllStringFunc(b.template, func(string) string {
		i++
		return "{" + fields[i-1].JSONName() + "}"
	})
}

// operation describes one path of an operation.
func (g *generator) operation(b binding) (string, *operation, error) {
	fields, err := b.inPath()
	if err != nil {
		return "", nil, err
	}
	path, named := b.path(fields), namesOf(fields)
	name := string(b.method.Name())
	op := &operation{
		Tags:        []string{tagOf(b.method.Parent())},
		OperationID: g.operationID(name, b),
		Summary:     cmp.Or(g.hand.Summaries[name], inWords(name)),
		Security:    securityOf(b.method),
		RPC:         procedureOf(b.method),
	}
	deprecation := deprecationOf(b)
	op.Deprecated = deprecation != nil
	op.Description = sentences(withoutName(commentOf(b.method), name), callersOf(b.method), deprecationNote(deprecation))
	for _, field := range fields {
		p := parameterOf(field.JSONName(), "path", g.schemas.askedField(field))
		p.Required = true
		op.Parameters = append(op.Parameters, p)
	}
	if err := g.addInput(op, b, named); err != nil {
		return "", nil, err
	}
	op.Responses = g.responses(b, deprecation)
	return path, op, nil
}

// addInput adds the request body or the query parameters.
func (g *generator) addInput(op *operation, b binding, inPath []string) error {
	if !b.hasBody {
		parameters, err := g.queryParameters(b.method.Input(), "", inPath)
		op.Parameters = append(op.Parameters, parameters...)
		return err
	}
	if len(inPath) == b.method.Input().Fields().Len() {
		return nil // the path contains all fields
	}
	body, err := g.schemas.request(b.method.Input(), inPath)
	if err != nil {
		return err
	}
	component, _ := g.schemas.byName[body.Ref[strings.LastIndex(body.Ref, "/")+1:]].(*schema)
	op.RequestBody = &requestBody{
		Required: len(component.Required) > 0,
		Content:  map[string]mediaType{"application/json": {Schema: body, Example: g.bodyExample(b.method, component, inPath)}},
	}
	return nil
}

// bodyExample returns the handwritten example, or one of the required fields.
func (g *generator) bodyExample(method protoreflect.MethodDescriptor, component *schema, inPath []string) any {
	if written, ok := g.hand.Examples[string(method.Name())]; ok {
		g.used[string(method.Name())] = true
		example := map[string]any{}
		for name, value := range written {
			if !slices.Contains(inPath, name) {
				example[name] = value
			}
		}
		return example
	}
	example := map[string]any{}
	for _, p := range component.Properties {
		switch {
		case !slices.Contains(component.Required, p.name):
		case len(p.schema.Enum) > 0:
			example[p.name] = p.schema.Enum[0]
		case len(p.schema.Examples) > 0:
			example[p.name] = p.schema.Examples[0]
		default:
			g.missing = append(g.missing, string(method.Name())+"."+p.name)
		}
	}
	return example
}

// operationID returns the method's name, with the version and verb for additional paths.
func (g *generator) operationID(name string, b binding) string {
	version := ""
	if parts := strings.Split(b.template, "/"); len(parts) > 2 {
		version = parts[2]
	}
	first := lowerFirst(name)
	later := first + upperFirst(version)
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

func namesOf(fields []protoreflect.FieldDescriptor) []string {
	names := make([]string, 0, len(fields))
	for _, field := range fields {
		names = append(names, field.JSONName())
	}
	return names
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

func securityOf(method protoreflect.MethodDescriptor) []map[string][]string {
	scheme := schemes[accessOf(method).Caller]
	if scheme == "" {
		return []map[string][]string{}
	}
	return []map[string][]string{{scheme: {}}}
}

func callersOf(method protoreflect.MethodDescriptor) string {
	access := accessOf(method)
	permission := string(access.Permission)
	switch access.Caller {
	case plazav1.Access_CALLER_ADMIN:
		if permission == "" {
			return "Requires an administrator."
		}
		return "Requires an administrator, or a user with a network role that grants the permission `" + permission + "`."
	case plazav1.Access_CALLER_USER:
		if permission != "" {
			return "Requires the permission `" + permission + "`."
		}
	}
	return ""
}

// deprecationOf returns the deprecation of a path, or nil.
func deprecationOf(b binding) *plazav1.Deprecation {
	options, _ := b.method.Options().(*descriptorpb.MethodOptions)
	option, _ := proto.GetExtension(options, plazav1.E_Deprecation).(*plazav1.Deprecation)
	if option == nil || options.GetDeprecated() || slices.Contains(option.GetPaths(), b.verb+" "+b.template) {
		return option
	}
	return nil
}

func deprecationNote(d *plazav1.Deprecation) string {
	if d == nil {
		return ""
	}
	return fmt.Sprintf("Deprecated since %s. Can be removed from %s.", d.GetSince(), d.GetSunset())
}

// responses returns the responses of an operation by status.
func (g *generator) responses(b binding, deprecated *plazav1.Deprecation) map[string]any {
	status, _ := proto.GetExtension(b.method.Options(), plazav1.E_RestStatus).(int32)
	if status == 0 {
		status = http.StatusOK
	}
	success := response{Description: "Success.", Content: map[string]mediaType{"application/json": {Schema: g.answered(b)}}}
	if deprecated != nil {
		success.Headers = map[string]any{
			"Deprecation": map[string]string{"$ref": "#/components/headers/Deprecation"},
			"Sunset":      map[string]string{"$ref": "#/components/headers/Sunset"},
		}
	}
	all := map[string]any{strconv.Itoa(int(status)): success}
	for _, status := range failsWith(b) {
		all[strconv.Itoa(status)] = failureOf(status)
	}
	if procedureOf(b.method) == plazav1connect.AuthenticationServiceCreateTokenProcedure {
		all[strconv.Itoa(http.StatusUnauthorized)] = bareUnauthorized()
	}
	return all
}

func (g *generator) answered(b binding) *schema {
	if b.answer == "" {
		return g.schemas.answer(b.method.Output())
	}
	return g.schemas.answeredField(b.method.Output().Fields().ByName(protoreflect.Name(b.answer)))
}

// failsWith returns the error statuses of an operation.
func failsWith(b binding) []int {
	all := []int{http.StatusBadRequest, http.StatusForbidden, http.StatusInternalServerError, http.StatusServiceUnavailable}
	if accessOf(b.method).Caller != plazav1.Access_CALLER_PUBLIC {
		all = append(all, http.StatusUnauthorized)
	}
	if procedureOf(b.method) != plazav1connect.NetworkSettingServiceUpdateModerationProcedure { // the contract has no validation errors there
		all = append(all, http.StatusUnprocessableEntity)
	}
	if b.hasBody {
		all = append(all, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge)
	}
	if b.verb != http.MethodGet {
		all = append(all, http.StatusConflict)
	}
	if hasID(b.method.Input()) {
		all = append(all, http.StatusNotFound)
	}
	return all
}

// hasID reports whether a request contains the id of an object, which may not exist.
func hasID(message protoreflect.MessageDescriptor) bool {
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
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

// bareUnauthorized returns the error response of the token endpoint, a JSON string.
func bareUnauthorized() any {
	return response{Description: "The server key is missing or invalid.", Content: map[string]mediaType{
		"application/json": {Schema: &schema{Type: "string", Enum: []any{"Unauthorized"}}, Example: "Unauthorized"},
	}}
}
