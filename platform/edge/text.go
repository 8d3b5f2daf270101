package edge

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
)

// badText returns the path of the first text in m that no database takes: with a NUL byte, or not UTF-8. Keys of maps and
// of structs are text too. It returns the empty string where all is well.
func badText(m protoreflect.Message) string {
	if object, ok := m.Interface().(*structpb.Struct); ok {
		return badTextInStruct(object)
	}
	found := ""
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		found = badTextInField(field, value)
		return found == ""
	})
	return found
}

func badTextInField(field protoreflect.FieldDescriptor, value protoreflect.Value) string {
	name := field.JSONName()
	switch {
	case field.IsMap():
		return badTextInMap(name, field.MapValue(), value.Map())
	case field.IsList():
		if field.Kind() != protoreflect.StringKind && field.Message() == nil {
			return ""
		}
		for i := range value.List().Len() {
			if found := badTextInValue(name+"["+strconv.Itoa(i)+"]", field, value.List().Get(i)); found != "" {
				return found
			}
		}
		return ""
	}
	return badTextInValue(name, field, value)
}

func badTextInMap(name string, field protoreflect.FieldDescriptor, entries protoreflect.Map) string {
	found := ""
	entries.Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
		if !goodText(key.String()) {
			found = joined(name, "(a name)") // which nobody should print
			return false
		}
		found = badTextInValue(joined(name, key.String()), field, value)
		return found == ""
	})
	return found
}

func badTextInValue(path string, field protoreflect.FieldDescriptor, value protoreflect.Value) string {
	switch {
	case field.Message() != nil:
		if found := badText(value.Message()); found != "" {
			return joined(path, found)
		}
	case field.Kind() == protoreflect.StringKind && !goodText(value.String()):
		return path
	}
	return ""
}

// badTextInStruct spells paths as in the JSON of the client: "a[0].b".
func badTextInStruct(object *structpb.Struct) string {
	for key, value := range object.GetFields() {
		if !goodText(key) {
			return "(a name)"
		}
		if found, bad := badTextInJSON(key, value); bad {
			return found
		}
	}
	return ""
}

func badTextInJSON(path string, value *structpb.Value) (string, bool) {
	switch kind := value.GetKind().(type) {
	case *structpb.Value_StringValue:
		return path, !goodText(kind.StringValue)
	case *structpb.Value_StructValue:
		found := badTextInStruct(kind.StructValue)
		return joined(path, found), found != ""
	case *structpb.Value_ListValue:
		for i, inner := range kind.ListValue.GetValues() {
			if found, bad := badTextInJSON(path+"["+strconv.Itoa(i)+"]", inner); bad {
				return found, true
			}
		}
	}
	return "", false
}

func goodText(s string) bool { return strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) }
