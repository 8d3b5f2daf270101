package main

import (
	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

func rulesOf(field protoreflect.FieldDescriptor) *validate.FieldRules {
	rules, _ := proto.GetExtension(field.Options(), validate.E_Field).(*validate.FieldRules)
	return rules
}

// limit adds the rules of a field to its schema.
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

// limitBy adds the rules of one type.
func (s *schema) limitBy(rules protoreflect.Message) {
	rules.Range(func(rule protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch rule.Name() {
		case "min_len":
			s.MinLength = value.Interface()
		case "max_len":
			s.MaxLength = value.Interface()
		case "pattern":
			s.Pattern = value.String()
		case "in":
			s.Enum = valuesOf(value.List())
		case "const":
			s.Enum = []any{value.Interface()}
		case "gte":
			s.Minimum = value.Interface()
		case "lte":
			s.Maximum = value.Interface()
		case "min_items":
			s.MinItems = value.Interface()
		case "max_items":
			s.MaxItems = value.Interface()
		case "items":
			if items, ok := value.Message().Interface().(*validate.FieldRules); ok {
				s.Items.limit(items)
			}
		default:
			s.limitByShared(rule)
		}
		return true
	})
}

func valuesOf(list protoreflect.List) []any {
	values := make([]any, list.Len())
	for i := range values {
		values[i] = list.Get(i).Interface()
	}
	return values
}

// shared maps the rules of rules.proto to keywords.
var shared = map[protoreflect.Name]schema{
	"id":               {MinLength: 1, MaxLength: 900},
	"short_id":         {MinLength: 1, MaxLength: 50},
	"object_id":        {MinLength: 24, Pattern: "^[0-9a-f]{24}$"},
	"label":            {MinLength: 1, MaxLength: 100},
	"page_token":       {MaxLength: 1000},
	"page_type":        {Enum: []any{"pagination", "scrollable"}},
	"page_size":        {Minimum: 1, Maximum: 100},
	"sort_direction":   {Enum: []any{"asc", "desc"}},
	"sort_by_creation": {Enum: []any{"lastCreated", "firstCreated"}},
	"sort_by_change":   {Enum: []any{"lastCreated", "firstCreated", "lastUpdated", "firstUpdated"}},
}

func (s *schema) limitByShared(rule protoreflect.FieldDescriptor) {
	limits, ok := shared[rule.Name()]
	if !ok || !rule.IsExtension() {
		panic("no JSON Schema keyword for the rule " + string(rule.FullName()))
	}
	s.MinLength, s.MaxLength, s.Pattern, s.Enum = limits.MinLength, limits.MaxLength, limits.Pattern, limits.Enum
	s.Minimum, s.Maximum = limits.Minimum, limits.Maximum
}

// isRequired reports whether a request without the field is rejected: its schema s does not allow the zero value.
func isRequired(field protoreflect.FieldDescriptor, s *schema) bool {
	rules := rulesOf(field)
	if rules.GetRequired() {
		return true
	}
	if field.HasPresence() || rules.GetIgnore() != validate.Ignore_IGNORE_UNSPECIFIED {
		return false
	}
	return s.MinLength != nil || s.MinItems != nil || (field.Kind() == protoreflect.StringKind && len(s.Enum) > 0)
}
