package main

import (
	"maps"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

func rulesOf(field protoreflect.FieldDescriptor) *validate.FieldRules {
	rules, _ := proto.GetExtension(field.Options(), validate.E_Field).(*validate.FieldRules)
	return rules
}

// limit adds the rules of a field to its schema.
func limit(out object, rules *validate.FieldRules) {
	for _, rule := range rules.GetCel() {
		before, _ := out["description"].(string)
		out["description"] = sentences(before, upperFirst(rule.GetMessage())+".")
	}
	rules.ProtoReflect().Range(func(kind protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if kind.ContainingOneof() != nil && kind.Message() != nil {
			value.Message().Range(func(rule protoreflect.FieldDescriptor, value protoreflect.Value) bool {
				limitBy(out, rule, value)
				return true
			})
		}
		return true
	})
}

// keywords maps rules with one value to keywords of JSON Schema.
var keywords = map[protoreflect.Name]string{
	"min_len": "minLength", "max_len": "maxLength", "pattern": "pattern", "gte": "minimum", "lte": "maximum",
	"min_items": "minItems", "max_items": "maxItems", "max_pairs": "maxProperties",
}

// shared maps the rules of rules.proto to schemas.
var shared = map[protoreflect.Name]object{
	"id":               {"minLength": 1, "maxLength": 900},
	"short_id":         {"minLength": 1, "maxLength": 50},
	"object_id":        {"minLength": 24, "pattern": "^[0-9a-f]{24}$"},
	"label":            {"minLength": 1, "maxLength": 100},
	"page_token":       {"maxLength": 1000},
	"page_type":        {"enum": []any{"pagination", "scrollable"}},
	"page_size":        {"minimum": 1, "maximum": 100},
	"sort_direction":   {"enum": []any{"asc", "desc"}},
	"sort_by_creation": {"enum": []any{"lastCreated", "firstCreated"}},
	"sort_by_change":   {"enum": []any{"lastCreated", "firstCreated", "lastUpdated", "firstUpdated"}},
	"web_url":          {"format": "uri"},
}

// limitBy adds one rule.
func limitBy(out object, rule protoreflect.FieldDescriptor, value protoreflect.Value) {
	name := rule.Name()
	switch {
	case rule.IsExtension() && shared[name] != nil:
		maps.Copy(out, shared[name])
	case keywords[name] != "":
		out[keywords[name]] = value.Interface()
	case name == "in":
		var values []any
		for each := range all(value.List()) {
			values = append(values, each.Interface())
		}
		out["enum"] = values
	case name == "const":
		out["enum"] = []any{value.Interface()}
	case name == "keys":
		names := object{}
		limit(names, value.Message().Interface().(*validate.FieldRules))
		out["propertyNames"] = names
	case name == "values":
		limit(out["additionalProperties"].(object), value.Message().Interface().(*validate.FieldRules))
	case name == "items":
		limit(out["items"].(object), value.Message().Interface().(*validate.FieldRules))
	default:
		panic("no JSON Schema keyword for the rule " + string(rule.FullName()))
	}
}

// isRequired reports whether a request without the field is rejected: its schema does not allow the zero value.
func isRequired(field protoreflect.FieldDescriptor, out object) bool {
	rules := rulesOf(field)
	if rules.GetRequired() {
		return true
	}
	if field.HasPresence() || rules.GetIgnore() != validate.Ignore_IGNORE_UNSPECIFIED {
		return false
	}
	return out["minLength"] != nil || out["minItems"] != nil || (field.Kind() == protoreflect.StringKind && out["enum"] != nil)
}
