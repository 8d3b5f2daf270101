package edge

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// inputOf returns the plan of a request message.
func inputOf(tb testing.TB, m proto.Message) *inputPlan {
	tb.Helper()
	plan, err := inputPlans{}.add(m.ProtoReflect().Descriptor())
	require.NoError(tb, err)
	return plan
}

func TestFieldPath(t *testing.T) {
	for name, want := range map[string]string{
		"limit": "limit", "options[limit]": "options.limit", "dataTypes[values][0]": "dataTypes.values",
		"userIds[]": "userIds", "tags[0]": "tags", "a[b][c][]": "a.b.c", "options.limit": "options.limit",
		"a[é]": "a.é", "targets[0][targetId]": "targets.targetId", "[]": "", "[x]": ".x", "a.": "a.", "[0]": "",
	} {
		got, ok := fieldPath(name)
		require.True(t, ok, name)
		require.Equal(t, want, got)
	}
	for _, name := range []string{
		"[", "]x[", "a[", "a[b", "a[b]c", "a[[b]]", "a[b.c]", "a[].",
	} {
		_, ok := fieldPath(name)
		require.False(t, ok, name)
	}
}

func TestDecodeAgain(t *testing.T) {
	for value, want := range map[string]string{
		"a": "a", "a%40b": "a@b", "50%": "50%", "%zz": "%zz", "a%2Fb%2f": "a/b/", "a+b%20c": "a+b c",
	} {
		require.Equal(t, want, decodeAgain(value))
	}
}

// TestEncoderAgreesWithProtojson fills every message of the interface with random values.
func TestEncoderAgreesWithProtojson(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	protoregistry.GlobalTypes.RangeMessages(func(kind protoreflect.MessageType) bool {
		if kind.Descriptor().ParentFile().Package() != "plaza.v1" {
			return true
		}
		t.Run(string(kind.Descriptor().Name()), func(t *testing.T) {
			for range 20 {
				m := kind.New()
				fillMessage(random, m, 3)
				requireSameJSON(t, m.Interface())
			}
		})
		return true
	})
}

func requireSameJSON(t *testing.T, m proto.Message) {
	t.Helper()
	want, err := protojson.MarshalOptions{EmitUnpopulated: true}.Marshal(m)
	require.NoError(t, err)
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, want))
	got, err := appendMessage(nil, m)
	require.NoError(t, err)
	require.Equal(t, compact.String(), string(got))
}

func fillMessage(random *rand.Rand, m protoreflect.Message, depth int) {
	switch m := m.Interface().(type) {
	case *timestamppb.Timestamp:
		m.Seconds = random.Int64N(1 << 32)
		m.Nanos = []int32{1_000_000, 999_000_000, 1_000, 999_999_999}[random.IntN(4)] // whole seconds are encoded differently
		return
	case *structpb.Struct:
		m.Fields = map[string]*structpb.Value{"s": structpb.NewStringValue(someText(random)), "n": structpb.NewNumberValue(random.NormFloat64())}
		if depth > 0 {
			inner := &structpb.Struct{}
			fillMessage(random, inner.ProtoReflect(), depth-1)
			m.Fields["o"] = structpb.NewStructValue(inner)
			m.Fields["l"] = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{
				structpb.NewBoolValue(true),
				structpb.NewNullValue(),
			}})
		}
		return
	}
	for i := range m.Descriptor().Fields().Len() {
		field := m.Descriptor().Fields().Get(i)
		if random.IntN(3) == 0 || depth == 0 && field.Message() != nil {
			continue
		}
		fillField(random, m, field, depth)
	}
}

func fillField(random *rand.Rand, m protoreflect.Message, field protoreflect.FieldDescriptor, depth int) {
	switch {
	case field.IsMap():
		for range random.IntN(4) {
			m.Mutable(field).Map().Set(protoreflect.ValueOfString(someText(random)).MapKey(), someScalar(random, field.MapValue()))
		}
	case field.IsList() && field.Message() != nil:
		for range random.IntN(3) {
			fillMessage(random, m.Mutable(field).List().AppendMutable().Message(), depth-1)
		}
	case field.IsList():
		for range random.IntN(3) {
			m.Mutable(field).List().Append(someScalar(random, field))
		}
	case field.Message() != nil:
		fillMessage(random, m.Mutable(field).Message(), depth-1)
	default:
		m.Set(field, someScalar(random, field))
	}
}

func someScalar(random *rand.Rand, field protoreflect.FieldDescriptor) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(random.IntN(2) == 0)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(random.Int32() - 1<<30)
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(random.Int64() - 1<<62)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(random.NormFloat64() * math.Pow(10, float64(random.IntN(60)-30)))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(random.IntN(7)))
	case protoreflect.StringKind:
	}
	return protoreflect.ValueOfString(someText(random))
}

func someText(random *rand.Rand) string {
	pieces := []string{"a", "é", "\"", "\\", "\n", "\x01", "\u2028", "<&>", "\U0001f600", "\x7f", "\t", ""}
	var b strings.Builder
	for range random.IntN(6) {
		b.WriteString(pieces[random.IntN(len(pieces))])
	}
	return b.String()
}

func TestTimestampsHaveMilliseconds(t *testing.T) {
	got, err := appendMessage(nil, (&timestamppb.Timestamp{Seconds: 1}))
	require.NoError(t, err)
	require.Equal(t, `"1970-01-01T00:00:01.000Z"`, string(got))
	_, err = appendMessage(nil, (&timestamppb.Timestamp{Nanos: -1}))
	require.Error(t, err)
}

func TestEncoderErrors(t *testing.T) {
	_, err := appendMessage(nil, (&plazav1.User{UserId: "\xff"}))
	require.ErrorIs(t, err, errText)
}

func TestFloatFormat(t *testing.T) {
	for value, want := range map[float64]string{
		0: "0", 1: "1", -1.5: "-1.5", 1e20: "100000000000000000000", 1e21: "1e+21", 1e-6: "0.000001", 1e-7: "1e-7", 1.5e-9: "1.5e-9",
		1e-10: "1e-10",
	} {
		got, err := appendFloat(nil, value)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := appendFloat(nil, value)
		require.Error(t, err)
	}
}

// FuzzText checks that decoding a quoted string returns the string.
func FuzzText(f *testing.F) {
	f.Add("a\"\\\x00\u2028é")
	f.Add("\xff")
	f.Fuzz(func(t *testing.T, s string) {
		quoted, err := appendText(nil, s)
		if !utf8.ValidString(s) {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		var back string
		require.NoError(t, json.Unmarshal(quoted, &back))
		require.Equal(t, s, back)
	})
}

// FuzzDecodeJSON checks that no body panics, and that a request is either decoded or marked.
func FuzzDecodeJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, ``, `null`, `{"data":{"a":[1,null]}}`, `{"tags":5}`, `{"tags":["a",1]}`, `{"mentionees":[{"userIds":1}]}`,
		`{"createdAt":"x"}`, "\xff", "{\"text\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &plazav1.CreatePostRequest{}
		inputOf(t, m).decodeJSON(data, m)
		failed := decodeErrorOf(m)
		require.Equal(t, failed != nil, len(m.ProtoReflect().GetUnknown()) > 0)
		if failed == nil {
			require.True(t, json.Valid(data))
		}
	})
}
