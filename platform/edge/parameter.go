package edge

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/fail"
)

// setter sets fields of a request message from parameters. A parameter's name is the path of a field, in JSON or proto
// names, in any of the forms that public clients use:
//
//	options.limit=3
//	options[limit]=3
//	dataTypes[values][0]=text        a list, like dataTypes.values=text
//	userIds[]=a&userIds[]=b          a list, like userIds=a&userIds=b
//	hasFlag=null                     ignored
//
// Parameters that are not fields of the message, or that the path of the route sets, are ignored.
type setter struct {
	message     protoreflect.Message
	route       *route
	invalidText bool // a value was not valid UTF-8
}

// setFromQuery sets the parameters of a raw query.
func (s *setter) setFromQuery(raw string) *fail.Error {
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		rawName, rawValue, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil {
			return fail.BadRequest().Because(err)
		}
		value, err := url.QueryUnescape(rawValue)
		if err != nil {
			return fail.BadRequest().Because(err)
		}
		if failed := s.set(name, value); failed != nil {
			return failed
		}
	}
	return nil
}

// setFromBody sets the fields of a JSON object like parameters: some clients send the parameters of DELETE in a body.
func (s *setter) setFromBody(body []byte) *fail.Error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil || decoder.More() {
		return fail.BadRequest()
	}
	object, ok := value.(map[string]any)
	if !ok {
		return fail.Validation("body: must be an object")
	}
	return s.setFromJSON("", object)
}

func (s *setter) setFromJSON(path string, value any) *fail.Error {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			if err := s.setFromJSON(joinPath(path, name), inner); err != nil {
				return err
			}
		}
	case []any:
		for _, inner := range v {
			if err := s.setFromJSON(path, inner); err != nil {
				return err
			}
		}
	case string:
		return s.set(path, v)
	case json.Number:
		return s.set(path, v.String())
	case bool:
		return s.set(path, strconv.FormatBool(v))
	}
	return nil
}

// set sets one parameter.
func (s *setter) set(name, value string) *fail.Error {
	path, ok := fieldPath(name)
	if !ok || value == "null" {
		return nil
	}
	var buffer [4]protoreflect.FieldDescriptor
	fields, err := resolve(buffer[:0], s.message.Descriptor(), path)
	if fields == nil || err != nil {
		return err
	}
	if s.route.inPath(fields[0]) {
		return nil
	}
	if slices.Contains(s.route.input.encodedTwice, fields[len(fields)-1]) {
		value = decodeAgain(value)
	}
	return s.setField(fields, value)
}

// setField sets the field at the end of fields, or appends to it if it is a list.
func (s *setter) setField(fields []protoreflect.FieldDescriptor, text string) *fail.Error {
	last := len(fields) - 1
	parent, field := s.message, fields[last]
	for _, f := range fields[:last] {
		parent = parent.Mutable(f).Message()
	}
	value, ok := s.parse(parent, field, text)
	switch {
	case !ok:
		return fail.Validation(jsonPath(fields) + ": must be " + valueInWords(field))
	case field.IsList():
		parent.Mutable(field).List().Append(value)
	default:
		parent.Set(field, value)
	}
	return nil
}

// resolve appends the fields along a dotted path to fields. It returns nil for a path that is not known, and an error
// for one that continues below a field that has no fields.
func resolve(
	fields []protoreflect.FieldDescriptor, message protoreflect.MessageDescriptor, path string,
) ([]protoreflect.FieldDescriptor, *fail.Error) {
	for {
		name, rest, more := strings.Cut(path, ".")
		field := fieldByName(message, name)
		if field == nil {
			return nil, nil
		}
		fields = append(fields, field)
		if !more {
			return fields, nil
		}
		if field.Message() == nil || field.IsList() || field.IsMap() {
			below, _, _ := strings.Cut(rest, ".")
			if below == "" {
				return nil, nil
			}
			return nil, fail.Validation(joinPath(jsonPath(fields), below) + ": is not a parameter")
		}
		message, path = field.Message(), rest
	}
}

// fieldByName returns the field of message with a JSON or proto name, nil if there is none or message is nil.
func fieldByName(message protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	if message == nil {
		return nil
	}
	if field := message.Fields().ByJSONName(name); field != nil {
		return field
	}
	return message.Fields().ByName(protoreflect.Name(name))
}

func jsonPath(fields []protoreflect.FieldDescriptor) string {
	path := ""
	for _, field := range fields {
		path = joinPath(path, field.JSONName())
	}
	return path
}

// parse returns the value of a parameter, or of one element of it, if it fits the field.
func (s *setter) parse(parent protoreflect.Message, field protoreflect.FieldDescriptor, text string) (protoreflect.Value, bool) {
	switch {
	case field.IsMap():
		return protoreflect.Value{}, false
	case field.Kind() == protoreflect.StringKind:
		return s.text(text), true
	case field.Kind() == protoreflect.BoolKind:
		value, ok := parseJSON[bool](text)
		return protoreflect.ValueOfBool(value), ok
	case field.Kind() == protoreflect.Int32Kind:
		value, ok := parseJSON[int32](text)
		return protoreflect.ValueOfInt32(value), ok
	}
	return parseByProtojson(parent, field, text)
}

// text returns a text value, and records whether it is invalid.
func (s *setter) text(value string) protoreflect.Value {
	s.invalidText = s.invalidText || !utf8.ValidString(value)
	return protoreflect.ValueOfString(value)
}

func parseJSON[T any](text string) (value T, ok bool) {
	err := json.Unmarshal([]byte(text), &value)
	return value, err == nil
}

// parseByProtojson parses a value as protojson does, quoted or not.
func parseByProtojson(parent protoreflect.Message, field protoreflect.FieldDescriptor, text string) (protoreflect.Value, bool) {
	if field.Message() != nil && !isScalar(field.Message()) {
		return protoreflect.Value{}, false
	}
	literals := [][]byte{appendQuoted(nil, text)}
	if json.Valid([]byte(text)) {
		literals = append(literals, []byte(text))
	}
	for _, literal := range literals {
		if field.IsList() {
			literal = slices.Concat([]byte{'['}, literal, []byte{']'})
		}
		object := append(append(appendQuoted([]byte{'{'}, field.JSONName()), ':'), literal...)
		into := parent.New()
		if protojson.Unmarshal(append(object, '}'), into.Interface()) != nil {
			continue
		}
		if !field.IsList() {
			return into.Get(field), true
		}
		return into.Get(field).List().Get(0), true
	}
	return protoreflect.Value{}, false
}

// isScalar reports whether a message is a well-known type whose JSON is a scalar.
func isScalar(message protoreflect.MessageDescriptor) bool {
	switch message.FullName() {
	case "google.protobuf.Any", "google.protobuf.Empty",
		"google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue":
		return false
	}
	return message.ParentFile().Package() == "google.protobuf"
}

// fieldPath turns a parameter name with brackets into a dotted path: empty brackets and indices mark lists and are
// dropped. It reports false for a name with malformed brackets.
func fieldPath(name string) (string, bool) {
	path, _, bracketed := strings.Cut(name, "[")
	if !bracketed {
		return name, true
	}
	rest := name[len(path):]
	var suffix strings.Builder
	for rest != "" {
		inner, after, closed := strings.Cut(rest[1:], "]")
		if rest[0] != '[' || !closed || strings.ContainsAny(inner, ".[") {
			return "", false
		}
		if !isIndex(inner) {
			suffix.WriteString("." + inner)
		}
		rest = after
	}
	return path + suffix.String(), true
}

// isIndex reports whether s consists of digits. The empty string does.
func isIndex(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// decodeAgain undoes a second percent-encoding, if there is one.
func decodeAgain(value string) string {
	decoded, err := url.PathUnescape(value)
	if err != nil { // the percent sign belongs to the id
		return value
	}
	return decoded
}
