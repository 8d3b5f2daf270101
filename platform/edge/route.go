package edge

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// route is one REST binding of an operation, as declared by its google.api.http option, or a Stream.
type route struct {
	procedure  string         // "/plaza.v1.PostService/GetPost"
	template   string         // "/api/v3/posts/{post_id}"
	variables  []pathVariable // in the order of the template
	deprecated *deprecation   // nil unless deprecated

	input   *inputPlan
	hasBody bool
	status  int                          // the HTTP status of a success
	body    protoreflect.FieldDescriptor // the field that is the whole response body; nil for the message itself
	errors  plazav1.RestErrors
	url     *url.URL     // of the procedure; shared by all requests, read-only
	handler http.Handler // of the service

	stream func(http.ResponseWriter, *http.Request) error // nil for an operation
}

// pathVariable is a path segment in braces.
type pathVariable struct {
	segment int    // its position in the path
	name    string // as in the template
	field   protoreflect.FieldDescriptor
}

// routes is a node of the routing tree, whose edges are path segments.
type routes struct {
	literals map[string]*routes
	variable *routes
	methods  map[string]*route
}

// newRoutes returns the routes of all methods. handlers are the connect handlers by service name.
func newRoutes(s *schema, handlers map[string]http.Handler) (*routes, error) {
	root := &routes{}
	for _, method := range s.methods {
		handler := handlers[string(method.descriptor.Parent().FullName())]
		if err := root.addMethod(method, handler); err != nil {
			return nil, fmt.Errorf("%s: %w", method.descriptor.FullName(), err)
		}
	}
	return root, nil
}

func (t *routes) addMethod(method *method, handler http.Handler) error {
	rule, ok := proto.GetExtension(method.descriptor.Options(), annotations.E_Http).(*annotations.HttpRule)
	if !ok || rule == nil {
		return nil
	}
	for _, binding := range append([]*annotations.HttpRule{rule}, rule.GetAdditionalBindings()...) {
		verb, added, err := newRoute(method, binding)
		if err != nil {
			return err
		}
		added.handler = handler
		if err := t.add(verb, added); err != nil {
			return err
		}
	}
	return nil
}

func newRoute(method *method, rule *annotations.HttpRule) (verb string, r *route, err error) {
	verb, template := verbAndTemplate(rule)
	if verb == "" || rule.GetBody() != "" && rule.GetBody() != "*" {
		return "", nil, fmt.Errorf("unsupported binding %v", rule)
	}
	r = &route{
		procedure: method.procedure, template: template, deprecated: method.deprecated.of(verb, template),
		input: method.input, hasBody: rule.GetBody() != "", status: successStatus(method.descriptor),
		errors: method.errors, url: &url.URL{Path: method.procedure},
	}
	if r.variables, err = parseTemplate(template); err != nil {
		return "", nil, err
	}
	for i := range r.variables {
		v := &r.variables[i]
		v.field = method.descriptor.Input().Fields().ByName(protoreflect.Name(v.name))
		if v.field == nil || v.field.Message() != nil || v.field.IsList() {
			return "", nil, fmt.Errorf("%s: %s is not a scalar field of the request", template, v.name)
		}
	}
	if name := rule.GetResponseBody(); name != "" {
		if r.body = method.descriptor.Output().Fields().ByName(protoreflect.Name(name)); r.body == nil {
			return "", nil, fmt.Errorf("%s: response_body %s is not a field of the response", template, name)
		}
	}
	return verb, r, nil
}

var errTemplate = errors.New("a path template consists of literal segments and {field} segments")

// parseTemplate returns the variables of a path template. Of the template language of google.api.http it supports
// literals and single-segment variables; in particular there are no verbs, so that ids may contain colons.
func parseTemplate(template string) ([]pathVariable, error) {
	if !strings.HasPrefix(template, "/") || strings.ContainsAny(template, "=*:") {
		return nil, fmt.Errorf("%w: %q", errTemplate, template)
	}
	var variables []pathVariable
	for i, segment := range strings.Split(template[1:], "/") {
		name, isVariable := strings.CutPrefix(segment, "{")
		name, closed := strings.CutSuffix(name, "}")
		if isVariable != closed || name == "" || strings.ContainsAny(name, "{}") {
			return nil, fmt.Errorf("%w: %q", errTemplate, template)
		}
		if isVariable {
			variables = append(variables, pathVariable{segment: i, name: name})
		}
	}
	return variables, nil
}

// add adds a route that parseTemplate has accepted.
func (t *routes) add(verb string, r *route) error {
	node := t
	for segment := range strings.SplitSeq(r.template[1:], "/") {
		node = node.child(segment)
	}
	if node.methods == nil {
		node.methods = map[string]*route{}
	}
	if other := node.methods[verb]; other != nil {
		return fmt.Errorf("%s %s already belongs to %s", verb, r.template, other.procedure)
	}
	node.methods[verb] = r
	return nil
}

func (t *routes) child(segment string) *routes {
	if strings.HasPrefix(segment, "{") {
		if t.variable == nil {
			t.variable = &routes{}
		}
		return t.variable
	}
	if t.literals == nil {
		t.literals = map[string]*routes{}
	}
	if t.literals[segment] == nil {
		t.literals[segment] = &routes{}
	}
	return t.literals[segment]
}

// successStatus returns the HTTP status named by the method's rest_status option, 200 without one.
func successStatus(method protoreflect.MethodDescriptor) int {
	if status, _ := proto.GetExtension(method.Options(), plazav1.E_RestStatus).(int32); status != 0 {
		return int(status)
	}
	return http.StatusOK
}

func verbAndTemplate(rule *annotations.HttpRule) (verb, template string) {
	switch pattern := rule.GetPattern().(type) {
	case *annotations.HttpRule_Get:
		return http.MethodGet, pattern.Get
	case *annotations.HttpRule_Put:
		return http.MethodPut, pattern.Put
	case *annotations.HttpRule_Post:
		return http.MethodPost, pattern.Post
	case *annotations.HttpRule_Delete:
		return http.MethodDelete, pattern.Delete
	case *annotations.HttpRule_Patch:
		return http.MethodPatch, pattern.Patch
	}
	return "", ""
}

// restPath returns the path that routes match: still percent-encoded, so that an id with %2F stays one segment and is
// decoded once, and without a trailing slash.
func restPath(u *url.URL) string {
	path := u.EscapedPath()
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return path
}

// match returns the route of an escaped path. If the path exists but not with this method, it returns the allowed
// methods, sorted; if the path does not exist, it returns neither.
//
// A literal segment wins over a variable. A percent-encoded segment never matches a literal, so that an id spelled like
// one ("list") can still be reached.
func (t *routes) match(method, path string) (found *route, allowed []string) {
	node := t.walk(strings.TrimPrefix(path, "/"))
	if node == nil {
		return nil, nil
	}
	if r := node.methods[method]; r != nil {
		return r, nil
	}
	for name := range node.methods {
		allowed = append(allowed, name)
	}
	if slices.Contains(allowed, http.MethodGet) {
		allowed = append(allowed, http.MethodHead)
	}
	slices.Sort(allowed)
	return nil, allowed
}

func (t *routes) walk(path string) *routes {
	segment, rest, more := strings.Cut(path, "/")
	for _, next := range [...]*routes{t.literals[segment], t.variable} {
		if next == nil {
			continue
		}
		if more {
			next = next.walk(rest)
		}
		if next != nil && (more || next.methods != nil) {
			return next
		}
	}
	return nil
}

// value returns the variable's decoded segment of path. A segment that does not decode is returned as it is.
func (v *pathVariable) value(path string) string {
	path = strings.TrimPrefix(path, "/")
	for range v.segment {
		_, path, _ = strings.Cut(path, "/")
	}
	segment, _, _ := strings.Cut(path, "/")
	if decoded, err := url.PathUnescape(segment); err == nil {
		return decoded
	}
	return segment
}

// setPathValues makes the variables of a stream's path available as the request's path values.
func (r *route) setPathValues(request *http.Request, path string) {
	for i := range r.variables {
		request.SetPathValue(r.variables[i].name, r.variables[i].value(path))
	}
}

// inPath reports whether the path sets field.
func (r *route) inPath(field protoreflect.FieldDescriptor) bool {
	for i := range r.variables {
		if r.variables[i].field == field {
			return true
		}
	}
	return false
}
