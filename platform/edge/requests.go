package edge

import (
	"fmt"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Requests decodes and checks requests that do not arrive over the network, as if they did.
type Requests struct {
	inputs inputPlans
	checks *validation
}

// NewRequests returns a decoder of requests of the types of the given messages.
func NewRequests(requests ...proto.Message) (*Requests, error) {
	r := &Requests{inputs: inputPlans{}}
	messages := make([]protoreflect.MessageDescriptor, 0, len(requests))
	for _, request := range requests {
		message := request.ProtoReflect().Descriptor()
		if _, err := r.inputs.add(message); err != nil {
			return nil, err
		}
		messages = append(messages, message)
	}
	validator, err := protovalidate.New(protovalidate.WithMessageDescriptors(messages...), protovalidate.WithDisableLazy())
	if err != nil {
		return nil, fmt.Errorf("compile the validation rules: %w", err)
	}
	r.checks, err = newChecks(validator, messages)
	return r, err
}

// Decode decodes the JSON body of a request into m and checks it. Its errors are those that a client would get.
func (r *Requests) Decode(body []byte, m proto.Message) error {
	r.inputs[m.ProtoReflect().Descriptor().FullName()].decodeJSON(body, m)
	return r.checks.check(m)
}
