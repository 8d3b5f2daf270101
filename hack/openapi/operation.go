package main

import (
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

// binding is one path of an operation.
type binding struct {
	method   protoreflect.MethodDescriptor
	verb     string
	template string // as in the proto file: /api/v3/polls/{poll_id}
	hasBody  bool
	answer   string // the field that is the answer; empty for all of it
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
			return nil, fmt.Errorf("%s: unknown kind of binding %v", method.FullName(), r)
		}
		all = append(all, b)
	}
	return all, nil
}

var placeholder = regexp.MustCompile(`\{([^}]+)\}`)

// inPath are the fields that the path names.
func (b binding) inPath() ([]protoreflect.FieldDescriptor, error) {
	var fields []protoreflect.FieldDescriptor
	for _, found := range placeholder.FindAllStringSubmatch(b.template, -1) {
		field := b.method.Input().Fields().ByName(protoreflect.Name(found[1]))
		if field == nil {
			return nil, fmt.Errorf("%s names no field of %s", b.template, b.method.Input().FullName())
		}
		fields = append(fields, field)
	}
	return fields, nil
}

// path is the template with JSON names.
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
		Tags:        []string{tagOf(serviceOf(b.method))},
		OperationID: g.operationID(name, b),
		Summary:     inWords(name),
		Security:    securityOf(b.method),
		RPC:         procedureOf(b.method),
	}
	deprecation := deprecationOf(b)
	op.Deprecated = deprecation != nil
	op.Description = sentences(withoutName(commentOf(b.method), name), callersOf(b.method), outdated(deprecation))
	for _, field := range fields {
		op.Parameters = append(op.Parameters, pathParameter(g.schemas.askedField(field), field))
	}
	if err := g.addInput(op, b, named); err != nil {
		return "", nil, err
	}
	op.Responses = g.responses(b, deprecation)
	return path, op, nil
}

// addInput describes what is neither in the path nor in a header: a body, or parameters.
func (g *generator) addInput(op *operation, b binding, inPath []string) error {
	if !b.hasBody {
		parameters, err := g.queryParameters(b.method.Input(), "", inPath)
		op.Parameters = append(op.Parameters, parameters...)
		return err
	}
	if len(inPath) == b.method.Input().Fields().Len() {
		return nil // nothing is left for a body
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

// bodyExample is the example that is written by hand, or what a request has to have.
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
			g.wanting = append(g.wanting, string(method.Name())+"."+p.name)
		}
	}
	return example
}

// operationID is the method's name, and for its other paths that with what tells them apart.
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
	panic("no operationId is left for " + b.verb + " " + b.template)
}

func procedureOf(method protoreflect.MethodDescriptor) string {
	return "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
}

func serviceOf(method protoreflect.MethodDescriptor) protoreflect.ServiceDescriptor {
	service, _ := method.Parent().(protoreflect.ServiceDescriptor)
	return service
}

func tagOf(service protoreflect.ServiceDescriptor) string {
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
	access, ok := auth.AccessOf(procedureOf(method))
	if !ok {
		panic(procedureOf(method) + " has no valid access option")
	}
	return access
}

// schemes are the names of the security schemes by who calls.
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
			return "For administrators."
		}
		return "For administrators, and users whose network role has the permission `" + permission + "`."
	case plazav1.Access_CALLER_USER:
		if permission != "" {
			return "For users with the permission `" + permission + "`, and administrators."
		}
	}
	return ""
}

// deprecationOf is the option of a path that is deprecated; nil for others.
func deprecationOf(b binding) *plazav1.Deprecation {
	options, _ := b.method.Options().(*descriptorpb.MethodOptions)
	option, _ := proto.GetExtension(options, plazav1.E_Deprecation).(*plazav1.Deprecation)
	if option == nil || options.GetDeprecated() || slices.Contains(option.GetPaths(), b.verb+" "+b.template) {
		return option
	}
	return nil
}

func outdated(d *plazav1.Deprecation) string {
	if d == nil {
		return ""
	}
	return fmt.Sprintf("Deprecated since %s; may be gone from %s on.", d.GetSince(), d.GetSunset())
}

// responses are the success and the failures of an operation.
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
	if isToken(b.method) {
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

// failsWith are the statuses of an operation's failures.
func failsWith(b binding) []int {
	all := []int{http.StatusBadRequest, http.StatusForbidden, http.StatusInternalServerError, http.StatusServiceUnavailable}
	if accessOf(b.method).Caller != plazav1.Access_CALLER_PUBLIC {
		all = append(all, http.StatusUnauthorized)
	}
	if procedureOf(b.method) != plazav1connect.NetworkSettingServiceUpdateModerationProcedure { // the contract knows no validation error there
		all = append(all, http.StatusUnprocessableEntity)
	}
	if b.hasBody {
		all = append(all, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge)
	}
	if b.verb != http.MethodGet {
		all = append(all, http.StatusConflict)
	}
	if namesSomething(b.method.Input()) {
		all = append(all, http.StatusNotFound)
	}
	return all
}

// namesSomething reports whether a request names what may not be there.
func namesSomething(message protoreflect.MessageDescriptor) bool {
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		name := strings.ToLower(field.JSONName())
		if strings.HasSuffix(name, "id") || strings.HasSuffix(name, "ids") {
			return true
		}
		if inner := field.Message(); inner != nil && !field.IsMap() && namesSomething(inner) {
			return true
		}
	}
	return false
}

func isToken(method protoreflect.MethodDescriptor) bool {
	return procedureOf(method) == plazav1connect.AuthenticationServiceCreateTokenProcedure
}

// bareUnauthorized is how the token endpoint refuses keys: with a JSON string.
func bareUnauthorized() any {
	return response{Description: "No server key, or one that does not hold.", Content: map[string]mediaType{
		"application/json": {Schema: &schema{Type: "string", Enum: []any{"Unauthorized"}}, Example: "Unauthorized"},
	}}
}
