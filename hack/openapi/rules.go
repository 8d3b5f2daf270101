package main

import (
	"slices"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

func rulesOf(field protoreflect.FieldDescriptor) *validate.FieldRules {
	rules, _ := proto.GetExtension(field.Options(), validate.E_Field).(*validate.FieldRules)
	return rules
}

// limit puts the rules of a field into its schema.
func (s *schema) limit(rules *validate.FieldRules) {
	if rules == nil {
		return
	}
	for _, rule := range rules.GetCel() {
		s.Description = sentences(s.Description, upperFirst(rule.GetMessage())+".")
	}
	rules.ProtoReflect().Range(func(kind protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if kind.ContainingOneof() != nil && kind.Message() != nil {
			s.limitBy(value.Message())
		}
		return true
	})
}

// limitBy applies the rules of one type: their names say what they are.
func (s *schema) limitBy(rules protoreflect.Message) {
	rules.Range(func(rule protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch rule.Name() {
		case "min_len":
			s.MinLength = value.Interface()
		case "max_len":
			s.MaxLength = value.Interface()
		case "len":
			s.MinLength, s.MaxLength = value.Interface(), value.Interface()
		case "pattern":
			s.Pattern = value.String()
		case "in":
			s.Enum = valuesOf(value.List())
		case "const":
			s.Enum = []any{value.Interface()}
		case "gte":
			s.Minimum = value.Interface()
		case "gt":
			s.ExclusiveMinimum = value.Interface()
		case "lte":
			s.Maximum = value.Interface()
		case "lt":
			s.ExclusiveMaximum = value.Interface()
		case "min_items":
			s.MinItems = value.Interface()
		case "max_items":
			s.MaxItems = value.Interface()
		case "unique":
			s.UniqueItems = value.Bool()
		case "items":
			if items, ok := value.Message().Interface().(*validate.FieldRules); ok {
				s.Items.limit(items)
			}
		default:
			panic("no keyword for the rule " + string(rule.FullName()))
		}
		return true
	})
}

// valuesOf are the values that a field may have; the empty string, which stands for absent, is none that one would send.
func valuesOf(list protoreflect.List) []any {
	var values []any
	for i := range list.Len() {
		if value := list.Get(i).Interface(); value != "" {
			values = append(values, value)
		}
	}
	return values
}

// mustBeThere reports whether a request without the field is refused.
func mustBeThere(field protoreflect.FieldDescriptor) bool {
	rules := rulesOf(field)
	switch {
	case rules == nil:
		return false
	case rules.GetRequired():
		return true
	case field.HasPresence(), rules.GetIgnore() != validate.Ignore_IGNORE_UNSPECIFIED:
		return false
	case field.IsList():
		return rules.GetRepeated().GetMinItems() > 0
	}
	text := rules.GetString()
	return text.GetMinLen() > 0 || text.GetLen() > 0 || (len(text.GetIn()) > 0 && !slices.Contains(text.GetIn(), ""))
}
