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

// validation rejects invalid requests.
type validation struct {
	validator protovalidate.Validator
	sizes     map[protoreflect.FullName][]sizedField // by request
}

// compiledRules is the validator of every server of the process. The rules depend only on the proto files, and compiling them takes
// longer than the rest of a server's start.
var compiledRules struct {
	once      sync.Once
	validator protovalidate.Validator
	err       error
}

// newValidation compiles the rules of all requests, so that errors in rules are found at start-up.
func newValidation(requests []protoreflect.MessageDescriptor) (*validation, error) {
	compiledRules.once.Do(func() {
		compiledRules.validator, compiledRules.err = protovalidate.New(
			protovalidate.WithMessageDescriptors(requests...),
			protovalidate.WithDisableLazy(),
		)
	})
	if compiledRules.err != nil {
		return nil, fmt.Errorf("compile the validation rules: %w", compiledRules.err)
	}
	return newChecks(compiledRules.validator, requests)
}

// newChecks returns the checks of requests whose rules are compiled.
func newChecks(validator protovalidate.Validator, requests []protoreflect.MessageDescriptor) (*validation, error) {
	v := &validation{validator: validator, sizes: map[protoreflect.FullName][]sizedField{}}
	for _, request := range requests {
		sized, err := sizedFields(request)
		if err != nil {
			return nil, err
		}
		v.sizes[request.FullName()] = sized
	}
	return v, nil
}

// intercept is the interceptor.
func (v *validation) intercept(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		if err := v.check(request.Any()); err != nil {
			return nil, err
		}
		return next(ctx, request)
	}
}

func (v *validation) check(message any) error {
	m, err := asProto(message)
	if err != nil {
		return fail.Unexpected(err)
	}
	if failed := decodeErrorOf(m); failed != nil {
		return failed
	}
	if path := invalidText(m.ProtoReflect()); path != "" {
		return fail.Validation(path + ": must be valid UTF-8 without NUL characters")
	}
	if err := v.rules(m); err != nil {
		return err
	}
	reflected := m.ProtoReflect()
	return requireSizes(v.sizes[reflected.Descriptor().FullName()], reflected, "")
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
	details := make([]string, len(violated.Violations))
	for i, violation := range violated.Violations {
		details[i] = detailOf(m.ProtoReflect().Descriptor(), violation.Proto)
	}
	return fail.Validation(details...)
}

// detailOf returns a detail such as "userId: must be at most 50 characters".
func detailOf(message protoreflect.MessageDescriptor, violation *validate.Violation) string {
	words := violation.GetMessage()
	if words == "" {
		words = "does not satisfy the rule " + violation.GetRuleId()
	}
	path := jsonFieldPath(message, violation.GetField().GetElements())
	if path == "" {
		path = "body"
	}
	return path + ": " + words
}

// jsonFieldPath returns a field path of protovalidate in JSON names.
func jsonFieldPath(message protoreflect.MessageDescriptor, elements []*validate.FieldPathElement) string {
	var b strings.Builder
	for i, element := range elements {
		if i > 0 {
			b.WriteByte('.')
		}
		field := fieldByName(message, element.GetFieldName())
		if field == nil { // a rule of a message, not of a field
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
