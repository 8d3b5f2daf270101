package edge

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// badText returns the path of the first text in m that no database takes: with a NUL byte, or not UTF-8. Keys of maps and
// of structs are text too. It returns the empty string where all is well.
func badText(m protoreflect.Message) string {
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
			found = name // the key itself is what nobody should print
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

func goodText(s string) bool { return strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) }
