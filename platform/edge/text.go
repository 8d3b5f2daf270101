package edge

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// invalidText returns the path of the first text in m, including keys of maps, that a database would reject: one that is not UTF-8 or
// contains a NUL. It returns the empty string if there is none. Free-form objects were checked when they were decoded.
func invalidText(m protoreflect.Message) string {
	found := ""
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		found = invalidTextInField(field, value)
		return found == ""
	})
	return found
}

func invalidTextInField(field protoreflect.FieldDescriptor, value protoreflect.Value) string {
	name := field.JSONName()
	switch {
	case field.IsMap():
		return invalidTextInMap(name, field.MapValue(), value.Map())
	case field.IsList():
		if field.Kind() != protoreflect.StringKind && field.Message() == nil {
			return ""
		}
		for i := range value.List().Len() {
			if found := invalidTextInValue(name+"["+strconv.Itoa(i)+"]", field, value.List().Get(i)); found != "" {
				return found
			}
		}
		return ""
	}
	return invalidTextInValue(name, field, value)
}

func invalidTextInMap(name string, field protoreflect.FieldDescriptor, entries protoreflect.Map) string {
	found := ""
	entries.Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
		if !validText(key.String()) {
			found = joinPath(name, "(a name)") // the name itself cannot be printed
			return false
		}
		found = invalidTextInValue(joinPath(name, key.String()), field, value)
		return found == ""
	})
	return found
}

func invalidTextInValue(path string, field protoreflect.FieldDescriptor, value protoreflect.Value) string {
	switch {
	case field.Message() != nil:
		if found := invalidText(value.Message()); found != "" {
			return joinPath(path, found)
		}
	case field.Kind() == protoreflect.StringKind && !validText(value.String()):
		return path
	}
	return ""
}

func validText(s string) bool { return strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) }
