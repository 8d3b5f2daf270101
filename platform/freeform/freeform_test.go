package freeform

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// request returns the JSON of a request with an object.
func request(object string) []byte {
	return []byte(`{"targetId":"wall","metadata":` + object + `,"data":{"text":"a"},"tags":["b"]}`)
}

// decoded returns the request with the JSON.
func decoded(t *testing.T, raw []byte) *plazav1.CreatePostRequest {
	t.Helper()
	m := &plazav1.CreatePostRequest{}
	require.NoError(t, UnmarshalJSON(raw, m))
	return m
}

// brackets are more than the levels that objects may have.
var brackets = strings.Repeat(`[{`, MaxDepth)

// TestObjects takes objects through each form that they have: JSON, bytes and binary messages.
func TestObjects(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ given, stored string }{
		"empty":                    {`{ }`, `{}`},
		"spaces":                   {"{ \"a\" : [ 1 ,\n 2 ] }", `{"a":[1,2]}`},
		"the order of names stays": {`{"b":1,"a":2,"":3}`, `{"b":1,"a":2,"":3}`},
		"every kind": {
			`{"t":"x","n":1,"y":true,"f":false,"z":null,"l":[[],{}],"o":{"p":{}}}`,
			`{"t":"x","n":1,"y":true,"f":false,"z":null,"l":[[],{}],"o":{"p":{}}}`,
		},
		"escapes":            {`{"a\u0062":"\u00e9\ud83d\ude00\/\""}`, `{"ab":"é😀/\""}`},
		"looks like a place": {`{"#":0,"t":"{\"#\":1}"}`, `{"#":0,"t":"{\"#\":1}"}`},
		"digits":             {`{"a":9007199254740993,"b":0.10,"c":-1.50}`, `{"a":9007199254740993,"b":0.10,"c":-1.50}`},
		"exponents":          {`{"a":[1e2,1.25E1,1.5e-3,-2e+0,12e-1,0e9999]}`, `{"a":[100,12.5,0.0015,-2,1.2,0]}`},
		"zeros":              {`{"a":[-0,-0.0,0e-2]}`, `{"a":[0,0.0,0.00]}`},
		"brackets in texts":  {`{"a":"` + brackets + `\\\"` + brackets + `"}`, `{"a":"` + brackets + `\\\"` + brackets + `"}`},
		"a long text":        {`{"a":"` + strings.Repeat("x", 200) + `"}`, `{"a":"` + strings.Repeat("x", 200) + `"}`},
		"a longer text":      {`{"a":"` + strings.Repeat("x", 20_000) + `"}`, `{"a":"` + strings.Repeat("x", 20_000) + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := decoded(t, request(test.given))
			require.Equal(t, test.stored, string(Of(m.GetMetadata()).Row()))
			require.Equal(t, []string{"wall", "b", "a"}, []string{m.GetTargetId(), m.GetTags()[0], Of(m.GetData()).Text("text")})

			raw, err := MarshalJSON(m)
			require.NoError(t, err)
			require.True(t, proto.Equal(m, decoded(t, raw)), "%s", raw)

			binary, err := MarshalBinary(nil, m)
			require.NoError(t, err)
			require.True(t, proto.Equal(m, decoded(t, raw)), "encoding does not change a message")
			want, got := &plazav1.CreatePostRequest{}, &plazav1.CreatePostRequest{}
			require.NoError(t, protojson.Unmarshal(request(test.given), want))
			require.NoError(t, proto.Unmarshal(binary, got))
			require.True(t, proto.Equal(want, got), "the fields of a Struct: %v", got)

			again := &plazav1.CreatePostRequest{}
			require.NoError(t, UnmarshalBinary(binary, again))
			require.JSONEq(t, test.stored, string(Of(again.GetMetadata()).Row()))
		})
	}
}

func TestObjectsInside(t *testing.T) {
	t.Parallel()
	m := &plazav1.CreateStoryRequest{}
	require.NoError(t, UnmarshalJSON([]byte(`{"items":[{"placement":{"x":1}},{},{"placement":{"x":2}}],"data":null}`), m))
	require.Nil(t, m.GetData(), "null is absent")
	require.Equal(t, `{"x":1}`, string(Of(m.GetItems()[0].GetPlacement())))
	require.Nil(t, m.GetItems()[1].GetPlacement())
	require.Equal(t, `{"x":2}`, string(Of(m.GetItems()[2].GetPlacement())))
	for _, raw := range []string{`{"data":[]}`, `{"data":"x"}`, `{"items":{}}`, `{"items":[null]}`, `{"items":[{"placement":1}]}`} {
		require.Error(t, UnmarshalJSON([]byte(raw), m), raw)
	}
}

func TestRefusedObjects(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`[`, MaxDepth-2) + strings.Repeat(`]`, MaxDepth-2)
	require.NotNil(t, Of(decoded(t, request(`{"a":`+deep+`}`)).GetMetadata()), "at the limit: the request and the object are levels too")
	digits := strings.Repeat("9", MaxDigits)
	require.Equal(t, digits, string(Of(decoded(t, request(`{"a":`+digits+`}`)).GetMetadata()).Member("a")))
	for raw, want := range map[string]string{
		`{"a":[` + deep + `]}`:         "body: must not be nested more than 100 levels deep",
		`{"a":1,"b":2,"\u0061":3}`:     "metadata.a: must not occur twice",
		`{"a":[0,{"x":1,"x":1}]}`:      "metadata.a[1].x: must not occur twice",
		`{"a":[{"b":"\ud800"}]}`:       "metadata.a[0].b: must be valid UTF-8, without halves of surrogate pairs",
		"{\"a\":\"\xff\"}":             "metadata.a: must be valid UTF-8, without halves of surrogate pairs",
		`{"a":[0,{"b":"x\u0000"}]}`:    "metadata.a[1].b: must be valid UTF-8 without NUL characters",
		`{"x\u0000":1}`:                "metadata.(a name): must be valid UTF-8 without NUL characters",
		`{"a":[0,1` + digits + `]}`:    "metadata.a[1]: must have at most 400 digits",
		`{"a":1e400}`:                  "metadata.a: must have at most 400 digits",
		`{"a":1e99999999999999999999}`: "metadata.a: must have at most 400 digits",
		`{"a":{"b":1e-400}}`:           "metadata.a.b: must have at most 400 digits",
	} {
		err := UnmarshalJSON(request(raw), &plazav1.CreatePostRequest{})
		require.EqualError(t, err, want, raw)
		invalid := &InvalidError{}
		require.ErrorAs(t, err, &invalid)
	}
	for _, longest := range []string{`1e399`, `-1e398`, `1e-398`} {
		require.Len(t, string(Of(decoded(t, request(`{"a":`+longest+`}`)).GetMetadata()).Member("a")), MaxDigits, longest)
	}
	for _, longer := range []string{`-1e399`, `1e-399`, `-1e-398`} {
		require.EqualError(t, UnmarshalJSON(request(`{"a":`+longer+`}`), &plazav1.CreatePostRequest{}),
			"metadata.a: must have at most 400 digits", longer)
	}
	inList := []byte(`{"items":[{},{"placement":{}},{"placement":{"a":1,"a":2}}]}`)
	require.EqualError(t, UnmarshalJSON(inList, &plazav1.CreateStoryRequest{}), "items[2].placement.a: must not occur twice")
	require.NotContains(t, string(Of(decoded(t, request(`{"a":"\\u0000"}`)).GetMetadata()).Row()), "\x00", "an escaped backslash is none")
}

func TestRefusedBinaryObjects(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	deep := structpb.NewNullValue()
	for range MaxDepth {
		deep = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{deep}})
	}
	list := structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{structpb.NewNullValue(), structpb.NewNumberValue(inf)}})
	for want, value := range map[string]*structpb.Value{
		"metadata.a: must have a value":                             {},
		"metadata.a[1]: must be a number, not NaN and not infinite": list,
		"metadata.a: must be valid UTF-8 without NUL characters":    structpb.NewStringValue("\x00"),
		"must not be nested more than 100 levels deep":              deep,
	} {
		binary, err := proto.Marshal(&plazav1.CreatePostRequest{Metadata: &structpb.Struct{Fields: map[string]*structpb.Value{"a": value}}})
		require.NoError(t, err)
		require.ErrorContains(t, UnmarshalBinary(binary, &plazav1.CreatePostRequest{}), want)
	}
	require.Error(t, UnmarshalBinary([]byte{0xff}, &plazav1.CreatePostRequest{}))
	once, err := proto.Marshal(&plazav1.CreatePostRequest{Metadata: &structpb.Struct{}})
	require.NoError(t, err)
	require.EqualError(t, UnmarshalBinary(append(once, once...), &plazav1.CreatePostRequest{}), "metadata: must not occur twice")
	one, err := proto.Marshal(structpb.NewBoolValue(true))
	require.NoError(t, err)
	_, err = jsonOfValue(nil, append(one, one...), 1)
	require.ErrorContains(t, err, "must have only one value")
	unknown := protowire.AppendVarint(protowire.AppendTag(one, 99, protowire.VarintType), 1)
	text, err := jsonOfValue(nil, unknown, 1)
	require.NoError(t, err)
	require.Equal(t, "true", string(text), "unknown fields are ignored")
	list = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{{}}})
	binary,
		err := proto.Marshal(&plazav1.CreateStoryRequest{Items: []*plazav1.StoryItem{
		{},
		{Placement: &structpb.Struct{Fields: map[string]*structpb.Value{"a": list}}},
	}})
	require.NoError(t, err)
	require.EqualError(t, UnmarshalBinary(binary, &plazav1.CreateStoryRequest{}), "items[1].placement.a[0]: must have a value")
}

// binaryRequest returns a request with a binary Struct as its metadata.
func binaryRequest(content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil,
		(&plazav1.CreatePostRequest{}).ProtoReflect().Descriptor().Fields().ByName("metadata").Number(), protowire.BytesType), content)
}

// TestMalformedStructs sends binary objects that package proto would not make.
func TestMalformedStructs(t *testing.T) {
	t.Parallel()
	field := func(number protowire.Number, content string) string {
		return string(protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), content))
	}
	const name, value = keyOfEntry, valueOfEntry
	yes := string(protowire.AppendVarint(protowire.AppendTag(nil, boolValue, protowire.VarintType), 1))
	number := func(f float64) string {
		return string(protowire.AppendFixed64(protowire.AppendTag(nil, numberValue, protowire.Fixed64Type), math.Float64bits(f)))
	}
	nested := func(depth int) string {
		inner := yes
		for range depth - 1 {
			inner = field(structValue, field(fieldsOfStruct, field(name, "a")+field(value, inner)))
		}
		return field(name, "a") + field(value, inner)
	}
	for what, tc := range map[string]struct{ entry, stored, err string }{
		"an entry":           {field(name, "a") + field(value, yes), `{"a":true}`, ""},
		"in the other order": {field(value, yes) + field(name, "a"), `{"a":true}`, ""},
		"without a name":     {field(value, yes), `{"":true}`, ""},
		"without a value":    {field(name, "a"), "", "metadata.a: must have a value"},
		"two names": {
			field(name, "a") + field(name, "b") + field(value, yes), "",
			"metadata: must have one name and one value in each entry",
		},
		"two values": {
			field(name, "a") + field(value, yes) + field(value, yes), "",
			"metadata: must have one name and one value in each entry",
		},
		"a name that is no text": {field(name, "\xff") + field(value, yes), "", "metadata: must be valid UTF-8 without NUL characters"},
		"a text that is not UTF-8": {
			field(name, "a") + field(value, field(stringValue, "\xff")), "",
			"metadata.a: must be valid UTF-8 without NUL characters",
		},
		"not a number": {
			field(name, "a") + field(value, number(math.NaN())), "",
			"metadata.a: must be a number, not NaN and not infinite",
		},
		"less than all numbers": {
			field(name, "a") + field(value, number(math.Inf(-1))), "",
			"metadata.a: must be a number, not NaN and not infinite",
		},
		"deep":     {nested(MaxDepth), strings.Repeat(`{"a":`, MaxDepth) + "true" + strings.Repeat("}", MaxDepth), ""},
		"too deep": {nested(MaxDepth + 1), "", "metadata" + strings.Repeat(".a", MaxDepth) + ": must not be nested more than 100 levels deep"},
	} {
		m := &plazav1.CreatePostRequest{}
		err := UnmarshalBinary(binaryRequest([]byte(field(fieldsOfStruct, tc.entry))), m)
		if tc.err != "" {
			require.EqualError(t, err, tc.err, what)
			continue
		}
		require.NoError(t, err, what)
		require.Equal(t, tc.stored, string(Of(m.GetMetadata())), what)
	}
	for _, cut := range []string{"\x0a", "\x0a\x05a", "\x07"} {
		require.Error(t, UnmarshalBinary(binaryRequest([]byte(cut)), &plazav1.CreatePostRequest{}))
	}
}

// TestClientsCannotCarry sends the unknown field with which messages carry objects inside of the program.
func TestClientsCannotCarry(t *testing.T) {
	t.Parallel()
	forged, err := proto.Marshal(&plazav1.CreatePostRequest{Metadata: Message(Object(`{"a":1}`))})
	require.NoError(t, err)
	m := &plazav1.CreatePostRequest{}
	require.NoError(t, UnmarshalBinary(forged, m))
	require.Empty(t, Of(m.GetMetadata()))
}

func TestObject(t *testing.T) {
	t.Parallel()
	o := Object(`{"a": "x", "b.c": {"d": "y"}, "n": 1, "l": ["p", 2]}`)
	require.Equal(t, []string{"x", "y", "", "", ""},
		[]string{o.Text("a"), o.Text("b.c", "d"), o.Text("n"), o.Text("missing"), o.Text("a", "b")})
	require.Equal(t, []string{"x", "y", "p"}, o.Texts())
	require.Nil(t, o.Member("c"))
	require.JSONEq(t, `{"a":"z","b.c":{"d":"y"},"n":1,"l":["p",2]}`, string(o.With("a", Quote("z"))))
	require.JSONEq(t, `{"k\"":"v"}`, string(Object(nil).With(`k"`, Quote("v"))))
	require.JSONEq(t, `{"b.c":{"d":"y"},"n":1,"l":["p",2]}`, string(o.Without("a")))
	require.Equal(t, o, o.Without("missing"))
	require.Equal(t, `{}`, string(Object(`{"a":1}`).Without("a")))
	require.Equal(t, []json.RawMessage{json.RawMessage(`"p"`), json.RawMessage(`2`)}, ListOf(o.Member("l")))
	require.Nil(t, ListOf(o.Member("a")))
	require.Equal(t, len(`{"n":1}`), Object(`{"t":"long","n":1}`).Size("t", "n", "missing"))
	for _, malformed := range []string{``, `{`, `[1]`, `"x"`, `{"a":}`} {
		require.Nil(t, Of(Message(Object(malformed))), malformed)
	}
	require.Equal(t, `{"a":1}`, string(Of(&structpb.Struct{Fields: map[string]*structpb.Value{"a": structpb.NewNumberValue(1)}})),
		"of Go values")
}
