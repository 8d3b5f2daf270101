package edge

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// mismatch describes why valid JSON does not fit a message, such as "options.limit: must be a whole number". The
// errors of protojson are deliberately unstable.
func mismatch(data []byte, message protoreflect.MessageDescriptor) string {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return mismatchUnspecific
	}
	if _, ok := value.(map[string]any); !ok {
		return "body: must be an object"
	}
	if found := inMessage("", value, message); found != "" {
		return found
	}
	return mismatchUnspecific
}

const mismatchUnspecific = "body: does not fit the operation"

// inMessage, inField and inSingular return the first mismatch at or below path, the empty string if there is none.
func inMessage(path string, value any, message protoreflect.MessageDescriptor) string {
	if words := wellKnownMismatch(value, message); words != "" {
		return path + ": must be " + words
	}
	if strings.HasPrefix(string(message.FullName()), "google.protobuf.") {
		return ""
	}
	object, ok := value.(map[string]any)
	if !ok {
		return path + ": must be an object"
	}
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		inner, ok := object[field.JSONName()]
		if !ok {
			inner = object[string(field.Name())]
		}
		if inner == nil { // absent or null, which mean the same
			continue
		}
		if found := inField(joinPath(path, field.JSONName()), inner, field); found != "" {
			return found
		}
	}
	return ""
}

func inField(path string, value any, field protoreflect.FieldDescriptor) string {
	switch {
	case field.IsMap():
		object, ok := value.(map[string]any)
		if !ok {
			return path + ": must be an object"
		}
		for key, inner := range object {
			if found := inSingular(joinPath(path, key), inner, field.MapValue()); found != "" {
				return found
			}
		}
		return ""
	case field.IsList():
		list, ok := value.([]any)
		if !ok {
			return path + ": must be a list"
		}
		for i, inner := range list {
			if found := inSingular(path+"["+strconv.Itoa(i)+"]", inner, field); found != "" {
				return found
			}
		}
		return ""
	}
	return inSingular(path, value, field)
}

func inSingular(path string, value any, field protoreflect.FieldDescriptor) string {
	if message := field.Message(); message != nil {
		return inMessage(path, value, message)
	}
	if fits(value, field.Kind()) {
		return ""
	}
	return path + ": must be " + valueInWords(field)
}

func fits(value any, kind protoreflect.Kind) bool {
	text, isText := value.(string)
	if number, ok := value.(json.Number); ok {
		text = number.String()
	} else if !isText {
		text = "not a number"
	}
	var err error
	switch kind {
	case protoreflect.BoolKind:
		_, ok := value.(bool)
		return ok
	case protoreflect.StringKind:
		return isText
	case protoreflect.BytesKind:
		_, err = base64.StdEncoding.DecodeString(text)
	case protoreflect.EnumKind:
		return isText
	case protoreflect.DoubleKind, protoreflect.FloatKind:
		_, err = strconv.ParseFloat(text, 64)
	default:
		_, err = strconv.ParseInt(text, 10, 32)
	}
	return err == nil
}

// wellKnownMismatch returns what the value of a well-known type must be, the empty string if it is.
func wellKnownMismatch(value any, message protoreflect.MessageDescriptor) string {
	switch message.FullName() {
	case "google.protobuf.Struct":
		if _, ok := value.(map[string]any); !ok {
			return "an object"
		}
	case "google.protobuf.Timestamp":
		text, _ := value.(string)
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			return "a date-time"
		}
	}
	return ""
}

// joinPath appends a name to a dotted path.
func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// valueInWords completes the sentence "must be" for a value of field.
func valueInWords(field protoreflect.FieldDescriptor) string {
	switch field.Kind() {
	case protoreflect.BoolKind:
		return "true or false"
	case protoreflect.StringKind:
		return "a string"
	case protoreflect.BytesKind:
		return "base64"
	case protoreflect.EnumKind:
		return "one of its values"
	case protoreflect.DoubleKind, protoreflect.FloatKind:
		return "a number"
	case protoreflect.MessageKind, protoreflect.GroupKind:
		if field.Message().FullName() == "google.protobuf.Timestamp" {
			return "a date-time"
		}
		return "an object"
	}
	return "a whole number within its bounds"
}
