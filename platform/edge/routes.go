package edge

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

// route is one REST binding of an operation, as the google.api.http option says.
//
// vanguard has a table of its own; ours knows what has to be decided before vanguard: whether a body is welcome, and
// which parameters the path already names.
type route struct {
	procedure string // "/plaza.v1.PostService/GetPost"
	hasBody   bool
	isToken   bool // the token endpoint, whose errors look different
	isList    bool // a list by ids, which public clients encode twice
	success   int  // the HTTP status of a success; 0 stands for 200
	input     protoreflect.MessageDescriptor
	outdated  *deprecation // nil for most
	inPath    []string     // names, proto and JSON, of the fields that the path carries

	template string                                         // of a stream
	stream   func(http.ResponseWriter, *http.Request) error // nil for an operation
}

// routes finds a route by method and path.
type routes struct {
	literals map[string]*routes
	variable *routes
	methods  map[string]*route
}

// newRoutes reads the bindings of every method of services.
func newRoutes(services []protoreflect.ServiceDescriptor) (*routes, error) {
	root := &routes{}
	for _, service := range services {
		for i := range service.Methods().Len() {
			if err := root.addMethod(service.Methods().Get(i)); err != nil {
				return nil, err
			}
		}
	}
	return root, nil
}

func (t *routes) addMethod(method protoreflect.MethodDescriptor) error {
	rule, ok := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
	if !ok || rule == nil {
		return nil
	}
	outdated, err := deprecationOf(method)
	if err != nil {
		return err
	}
	for _, binding := range append([]*annotations.HttpRule{rule}, rule.GetAdditionalBindings()...) {
		if err := t.addBinding(method, binding, outdated); err != nil {
			return fmt.Errorf("%s: %w", method.FullName(), err)
		}
	}
	return nil
}

func (t *routes) addBinding(method protoreflect.MethodDescriptor, rule *annotations.HttpRule, outdated *deprecation) error {
	verb, template := verbAndTemplate(rule)
	if verb == "" || !strings.HasPrefix(template, "/") || strings.ContainsAny(template, "=*:") {
		return fmt.Errorf("unknown kind of binding %v", rule)
	}
	procedure := procedureOf(method)
	added := &route{
		procedure: procedure,
		input:     method.Input(),
		hasBody:   rule.GetBody() != "",
		isToken:   procedure == plazav1connect.AuthenticationServiceCreateTokenProcedure,
		isList:    strings.HasSuffix(template, "/list") || strings.HasSuffix(template, "/join/requests"),
		success:   successOf(method),
		outdated:  outdated.of(verb, template),
	}
	node := t
	for segment := range strings.SplitSeq(template[1:], "/") {
		name, isVariable := strings.CutPrefix(segment, "{")
		if !isVariable {
			node = node.literal(segment)
			continue
		}
		name = strings.TrimSuffix(name, "}")
		field := method.Input().Fields().ByName(protoreflect.Name(name))
		if field == nil {
			return fmt.Errorf("%s names no field %q", template, name)
		}
		added.inPath = append(added.inPath, name, field.JSONName())
		node = node.any()
	}
	if node.methods == nil {
		node.methods = map[string]*route{}
	}
	node.methods[verb] = added
	return nil
}

// successOf is the HTTP status that the method's rest_status option names; 0 without one.
func successOf(method protoreflect.MethodDescriptor) int {
	status, _ := proto.GetExtension(method.Options(), plazav1.E_RestStatus).(int32)
	return int(status)
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

func procedureOf(method protoreflect.MethodDescriptor) string {
	return "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
}

func (t *routes) literal(segment string) *routes {
	if t.literals == nil {
		t.literals = map[string]*routes{}
	}
	if t.literals[segment] == nil {
		t.literals[segment] = &routes{}
	}
	return t.literals[segment]
}

func (t *routes) any() *routes {
	if t.variable == nil {
		t.variable = &routes{}
	}
	return t.variable
}

// match finds the route of an escaped path. Where the path is known and the method is not, it returns the methods that
// are, sorted; where the path is unknown, neither.
//
// A literal segment wins over a placeholder, as in vanguard: a percent-encoded segment is never a literal, so an id that
// spells like one ("list") can still be reached.
func (t *routes) match(method, path string) (found *route, allowed []string) {
	node := t.walk(strings.TrimPrefix(path, "/"))
	if node == nil {
		return nil, nil
	}
	found = node.methods[method]
	if found != nil {
		return found, nil
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
	for _, next := range []*routes{t.literals[segment], t.variable} {
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
