package edge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/fail"
)

// validation is the interceptor that lets only requests through that a handler can work with.
type validation struct{ validator protovalidate.Validator }

// rules is the validator of all servers of the process. The rules depend on the proto files alone, and compiling them takes
// longer than the rest of a server's start.
var rules struct {
	once      sync.Once
	validator protovalidate.Validator
	err       error
}

// newValidation compiles the rules of all requests before the first request, so that none waits for it or fails because
// of it.
func newValidation(requests []protoreflect.MessageDescriptor) (*validation, error) {
	rules.once.Do(func() {
		rules.validator, rules.err = protovalidate.New(
			protovalidate.WithMessageDescriptors(requests...),
			protovalidate.WithDisableLazy(),
		)
	})
	if rules.err != nil {
		return nil, fmt.Errorf("compile the validation rules: %w", rules.err)
	}
	return &validation{validator: rules.validator}, nil
}

// WrapUnary checks the request of a handler; clients pass.
func (v *validation) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		if !request.Spec().IsClient {
			if err := v.check(request.Any()); err != nil {
				return nil, err
			}
		}
		return next(ctx, request)
	}
}

// WrapStreamingClient leaves clients alone.
func (v *validation) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

// WrapStreamingHandler checks every message that a handler receives.
func (v *validation) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		return next(ctx, &checkedConn{StreamingHandlerConn: conn, check: v.check})
	}
}

type checkedConn struct {
	connect.StreamingHandlerConn
	check func(message any) error
}

func (c *checkedConn) Receive(message any) error {
	if err := c.StreamingHandlerConn.Receive(message); err != nil {
		return err
	}
	return c.check(message)
}

func (v *validation) check(message any) error {
	m, err := asProto(message)
	if err != nil {
		return fail.Unexpected(err)
	}
	if flawed := flawOf(m); flawed != nil {
		return flawed
	}
	if path := badText(m.ProtoReflect()); path != "" {
		return fail.Validation(path + ": must be valid UTF-8 without NUL characters")
	}
	return v.rules(m)
}

func (v *validation) rules(m proto.Message) error {
	err := v.validator.Validate(m)
	if err == nil {
		return nil
	}
	var violated *protovalidate.ValidationError
	if !errors.As(err, &violated) {
		return fail.Unexpected(err)
	}
	details := make([]string, 0, len(violated.Violations))
	for _, violation := range violated.Violations {
		details = append(details, detailOf(m.ProtoReflect().Descriptor(), violation.Proto))
	}
	return fail.Validation(details...)
}

// detailOf is "userId: must be at most 50 characters".
func detailOf(message protoreflect.MessageDescriptor, violation *validate.Violation) string {
	words := violation.GetMessage()
	if words == "" {
		words = "breaks the rule " + violation.GetRuleId()
	}
	path := jsonFieldPath(message, violation.GetField().GetElements())
	if path == "" {
		path = "body"
	}
	return path + ": " + words
}

// jsonFieldPath spells a path of protovalidate with JSON names.
func jsonFieldPath(message protoreflect.MessageDescriptor, elements []*validate.FieldPathElement) string {
	var b strings.Builder
	for i, element := range elements {
		if i > 0 {
			b.WriteByte('.')
		}
		field := fieldByName(message, element.GetFieldName())
		if field == nil { // a violation of a rule that is not about a field of ours
			b.WriteString(element.GetFieldName())
			message = nil
			continue
		}
		b.WriteString(field.JSONName())
		message = field.Message()
		if field.IsMap() {
			message = field.MapValue().Message()
		}
		switch element.WhichSubscript() {
		case validate.FieldPathElement_Index_case:
			fmt.Fprintf(&b, "[%d]", element.GetIndex())
		case validate.FieldPathElement_StringKey_case:
			fmt.Fprintf(&b, "[%q]", element.GetStringKey())
		}
	}
	return b.String()
}
