package conformance

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

const (
	longestText = 200_000 // characters, more than any text may have
	mostItems   = 2_000   // more than any list may have
)

// requestField is a text, a list or a map in the request of an operation, or a text in a list.
type requestField struct {
	method protoreflect.MethodDescriptor
	path   []protoreflect.FieldDescriptor // from the request to the field
	inList bool                           // the text in a list, not the list
}

func (f requestField) last() protoreflect.FieldDescriptor { return f.path[len(f.path)-1] }

// procedure returns the address of the operation on the Connect protocol.
func (f requestField) procedure() string {
	return fmt.Sprintf("/%s/%s", f.method.Parent().FullName(), f.method.Name())
}

// jsonPath returns the path of the field as details name it, without the indexes of lists.
func (f requestField) jsonPath() string {
	names := make([]string, len(f.path))
	for i, field := range f.path {
		names[i] = field.JSONName()
	}
	return strings.Join(names, ".")
}

func (f requestField) String() string {
	text := fmt.Sprintf("%s.%s %s", f.method.Parent().Name(), f.method.Name(), f.jsonPath())
	if f.inList {
		text += "[]"
	}
	return text
}

// requestFields returns the texts, lists and maps of every request.
func requestFields() []requestField {
	var fields []requestField
	protoregistry.GlobalFiles.RangeFilesByPackage("plaza.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				fields = append(fields, requestFieldsIn(methods.Get(j), methods.Get(j).Input(), nil)...)
			}
		}
		return true
	})
	return fields
}

func requestFieldsIn(method protoreflect.MethodDescriptor, message protoreflect.MessageDescriptor,
	above []protoreflect.FieldDescriptor,
) []requestField {
	var fields []requestField
	for i := range message.Fields().Len() {
		field := message.Fields().Get(i)
		path := slices.Concat(above, []protoreflect.FieldDescriptor{field})
		isText := field.Kind() == protoreflect.StringKind || field.Kind() == protoreflect.BytesKind
		if field.IsList() || field.IsMap() || isText {
			fields = append(fields, requestField{method, path, false})
		}
		if field.IsList() && isText {
			fields = append(fields, requestField{method, path, true})
		}
		if nested := field.Message(); nested != nil && !field.IsMap() && nested.ParentFile().Package() == "plaza.v1" && len(path) < 6 {
			fields = append(fields, requestFieldsIn(method, nested, path)...)
		}
	}
	return fields
}

// request returns a request whose field has a size, characters or items, and whose other fields are absent.
func (f requestField) request(size int) proto.Message {
	root := dynamicpb.NewMessage(f.method.Input())
	var m protoreflect.Message = root
	for _, field := range f.path[:len(f.path)-1] {
		if !field.IsList() {
			m = m.Mutable(field).Message()
			continue
		}
		list := m.Mutable(field).List()
		list.Append(list.NewElement())
		m = list.Get(0).Message()
	}
	f.fill(m, size)
	return root
}

func (f requestField) fill(m protoreflect.Message, size int) {
	field := f.last()
	switch {
	case f.inList:
		m.Mutable(field).List().Append(protoreflect.ValueOfString(strings.Repeat("a", size)))
	case field.IsList():
		list := m.Mutable(field).List()
		for i := range size {
			list.Append(item(list.NewElement(), field, i))
		}
	case field.IsMap():
		entries := m.Mutable(field).Map()
		for i := range size {
			entries.Set(item(protoreflect.Value{}, field.MapKey(), i).MapKey(), entries.NewValue())
		}
	case field.Kind() == protoreflect.BytesKind:
		m.Set(field, protoreflect.ValueOfBytes(make([]byte, size)))
	default:
		m.Set(field, protoreflect.ValueOfString(strings.Repeat("a", size)))
	}
}

// item returns the ith of different items where the kind allows that, or else the empty one.
func item(empty protoreflect.Value, field protoreflect.FieldDescriptor, i int) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(fmt.Sprintf("%024x", i))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(i))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(int64(i))
	default:
		return empty
	}
}

// refuses reports whether the rules refuse the field of a request with a size.
func (f requestField) refuses(t *testing.T, rules protovalidate.Validator, size int) bool {
	t.Helper()
	err := rules.Validate(f.request(size))
	var violated *protovalidate.ValidationError
	if err == nil || !errors.As(err, &violated) {
		require.NoError(t, err, "%s", f)
		return false
	}
	for _, violation := range violated.Violations {
		elements := violation.Proto.GetField().GetElements()
		if len(elements) == len(f.path) && elements[len(elements)-1].GetFieldName() == string(f.last().Name()) &&
			(elements[len(elements)-1].WhichSubscript() != 0) == f.inList {
			return true
		}
	}
	return false
}

// limit returns the largest size that the rules accept, at most one less than most. ok is false if they accept none: then the values
// themselves are listed, or have a form of a fixed length.
func (f requestField) limit(t *testing.T, rules protovalidate.Validator, most int) (limit int, ok bool) {
	t.Helper()
	low, high := 0, most // high is refused
	for size := 1; size < most; size *= 2 {
		if !f.refuses(t, rules, size) {
			low, ok = size, true
		}
	}
	for ok && high-low > 1 {
		if middle := (low + high) / 2; f.refuses(t, rules, middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return low, ok
}

// TestEveryFieldIsBounded finds the limit of every text, list and map of every request, and sends one past it. A value at the
// limit is not sent, because it may be valid; the rules accept it. Objects of the app's own are in TestFreeFormObjects.
func TestEveryFieldIsBounded(t *testing.T) {
	t.Parallel()
	rules, err := protovalidate.New()
	require.NoError(t, err)
	n, sent := mediaNetwork(t), 0
	by := n.Admin(region.EU).With("X-Server-Key", n.ServerKey, "X-Api-Key", n.APIKey)
	for _, f := range requestFields() {
		most := longestText
		if (f.last().IsList() || f.last().IsMap()) && !f.inList {
			most = mostItems
		}
		if !f.refuses(t, rules, most) {
			t.Errorf("%s: has no limit below %d", f, most)
			continue
		}
		limit, ok := f.limit(t, rules, most)
		if !ok {
			continue
		}
		sent++
		if f.method.Name() == "ReportVideoStreaming" || f.method.Name() == "ReportRoom" {
			f.requireRefused(t, mediaServer(n), limit)
		} else {
			f.requireRefused(t, by, limit)
		}
	}
	require.Greater(t, sent, 500)
}

// requireRefused sends a request whose field is one past its limit, and requires an answer that names the field.
func (f requestField) requireRefused(t *testing.T, by *apptest.Client, limit int) {
	t.Helper()
	body, err := protojson.Marshal(f.request(limit + 1))
	require.NoError(t, err)
	answer := by.Do(t, http.MethodPost, f.procedure(), body)
	require.Equal(t, http.StatusBadRequest, answer.Status, "%s of %d: %s", f, limit+1, answer.Short())
	require.Equal(t, "invalid_argument", answer.String(t, "code"), "%s of %d: %s", f, limit+1, answer.Short())
	var info plazav1.ErrorInfo
	encoded, err := base64.RawStdEncoding.DecodeString(answer.String(t, "details.0.value"))
	require.NoError(t, err)
	require.NoError(t, proto.Unmarshal(encoded, &info))
	named := slices.ContainsFunc(info.GetDetail(), func(detail string) bool {
		path, _, _ := strings.Cut(detail, ": ")
		return strings.HasSuffix("."+strings.TrimSuffix(path, "[0]"), "."+f.last().JSONName()) // a list's token is named by where REST has it
	})
	require.True(t, named, "%s of %d: %q", f, limit+1, info.GetDetail())
}
