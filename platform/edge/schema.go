package edge

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// schema holds what the proto files declare about the served operations. It is read once, by New.
type schema struct {
	services []protoreflect.ServiceDescriptor
	methods  map[string]*method // by procedure
	inputs   inputPlans
}

// method is one operation.
type method struct {
	descriptor protoreflect.MethodDescriptor
	procedure  string // "/plaza.v1.PostService/GetPost"
	input      *inputPlan
	errors     plazav1.RestErrors
	deprecated *deprecation // nil unless deprecated
	get        bool         // Connect may call it by GET
}

// inputPlan is the request_rules option of a request message.
type inputPlan struct {
	message      protoreflect.MessageDescriptor
	encodedTwice []protoreflect.FieldDescriptor
	emptyLists   protoreflect.FieldDescriptor // nil for most
}

// inputPlans are the plans of all request messages.
type inputPlans map[protoreflect.FullName]*inputPlan

// newSchema reads the descriptors of the services that handlers serve.
func newSchema(handlers map[string]http.Handler) (*schema, error) {
	s := &schema{methods: map[string]*method{}, inputs: inputPlans{}}
	for _, name := range serviceNames(handlers) {
		found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
		if err != nil {
			return nil, fmt.Errorf("service %s: %w", name, err)
		}
		service, ok := found.(protoreflect.ServiceDescriptor)
		if !ok {
			return nil, fmt.Errorf("%s is not a service", name)
		}
		s.services = append(s.services, service)
		for i := range service.Methods().Len() {
			if err := s.addMethod(service.Methods().Get(i)); err != nil {
				return nil, fmt.Errorf("%s: %w", service.Methods().Get(i).FullName(), err)
			}
		}
	}
	return s, nil
}

func (s *schema) addMethod(descriptor protoreflect.MethodDescriptor) error {
	if descriptor.IsStreamingClient() || descriptor.IsStreamingServer() {
		return errors.New("interceptors and limits do not support streams of messages")
	}
	deprecated, err := newDeprecation(descriptor)
	if err != nil {
		return err
	}
	input, err := s.inputs.add(descriptor.Input())
	if err != nil {
		return err
	}
	options, _ := descriptor.Options().(*descriptorpb.MethodOptions)
	restErrors, _ := proto.GetExtension(options, plazav1.E_RestErrors).(plazav1.RestErrors)
	procedure := "/" + string(descriptor.Parent().FullName()) + "/" + string(descriptor.Name())
	s.methods[procedure] = &method{
		descriptor: descriptor, procedure: procedure, input: input, errors: restErrors, deprecated: deprecated,
		get: options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS,
	}
	return nil
}

// add returns the plan of message, after reading it on the first call.
func (p inputPlans) add(message protoreflect.MessageDescriptor) (*inputPlan, error) {
	if known := p[message.FullName()]; known != nil {
		return known, nil
	}
	rules, _ := proto.GetExtension(message.Options(), plazav1.E_RequestRules).(*plazav1.RequestRules)
	plan := &inputPlan{message: message}
	for _, name := range rules.GetEncodedTwice() {
		field := message.Fields().ByName(protoreflect.Name(name))
		if field == nil || field.Kind() != protoreflect.StringKind {
			return nil, fmt.Errorf("%s: encoded_twice: %q is not a text field", message.FullName(), name)
		}
		plan.encodedTwice = append(plan.encodedTwice, field)
	}
	if name := rules.GetEmptyLists(); name != "" {
		plan.emptyLists = message.Fields().ByName(protoreflect.Name(name))
		if f := plan.emptyLists; f == nil || f.Kind() != protoreflect.StringKind || !f.IsList() {
			return nil, fmt.Errorf("%s: empty_lists: %q is not a list of strings", message.FullName(), name)
		}
	}
	p[message.FullName()] = plan
	return plan, nil
}

// requests returns the descriptors of all request messages.
func (s *schema) requests() []protoreflect.MessageDescriptor {
	requests := make([]protoreflect.MessageDescriptor, 0, len(s.inputs))
	for _, plan := range s.inputs {
		requests = append(requests, plan.message)
	}
	return requests
}

func serviceNames(handlers map[string]http.Handler) []string {
	return slices.Sorted(maps.Keys(handlers))
}
