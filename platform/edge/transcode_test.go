package edge

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/plaza-social/plaza/platform/fail"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// everyKind describes a message with a field of every kind that a parameter may have.
const everyKind = `
name: "every_kind.proto" package: "test" syntax: "proto3"
dependency: ["google/protobuf/timestamp.proto", "google/protobuf/duration.proto", "google/protobuf/struct.proto", "google/protobuf/wrappers.proto"]
enum_type { name: "Color" value { name: "NONE" number: 0 } value { name: "RED" number: 1 } }
message_type {
  name: "Every"
  field { name: "text" number: 1 type: TYPE_STRING }
  field { name: "small" number: 2 type: TYPE_INT32 }
  field { name: "big_number" number: 3 type: TYPE_INT64 }
  field { name: "unsigned" number: 4 type: TYPE_UINT32 }
  field { name: "ratio" number: 5 type: TYPE_DOUBLE }
  field { name: "flag" number: 6 type: TYPE_BOOL }
  field { name: "raw" number: 7 type: TYPE_BYTES }
  field { name: "color" number: 8 type: TYPE_ENUM type_name: ".test.Color" }
  field { name: "names" number: 9 type: TYPE_STRING label: LABEL_REPEATED }
  field { name: "numbers" number: 10 type: TYPE_INT32 label: LABEL_REPEATED }
  field { name: "colors" number: 11 type: TYPE_ENUM type_name: ".test.Color" label: LABEL_REPEATED }
  field { name: "labels" number: 12 type: TYPE_MESSAGE type_name: ".test.Every.LabelsEntry" label: LABEL_REPEATED }
  field { name: "at" number: 13 type: TYPE_MESSAGE type_name: ".google.protobuf.Timestamp" }
  field { name: "ttl" number: 14 type: TYPE_MESSAGE type_name: ".google.protobuf.Duration" }
  field { name: "object" number: 15 type: TYPE_MESSAGE type_name: ".google.protobuf.Struct" }
  field { name: "wrapped" number: 16 type: TYPE_MESSAGE type_name: ".google.protobuf.BoolValue" }
  field { name: "inner" number: 17 type: TYPE_MESSAGE type_name: ".test.Every" }
  field { name: "inners" number: 18 type: TYPE_MESSAGE type_name: ".test.Every" label: LABEL_REPEATED }
  field { name: "id" number: 19 type: TYPE_STRING }
  field { name: "segment" number: 20 type: TYPE_INT32 }
  field { name: "ids" number: 21 type: TYPE_STRING label: LABEL_REPEATED }
  nested_type {
    name: "LabelsEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_STRING } field { name: "value" number: 2 type: TYPE_STRING }
  }
}`

// everyRoute returns a route whose request is the message of everyKind.
func everyRoute(tb testing.TB, template string) *route {
	tb.Helper()
	var file descriptorpb.FileDescriptorProto
	require.NoError(tb, prototext.Unmarshal([]byte(everyKind), &file))
	for _, message := range file.GetMessageType() {
		for _, field := range message.GetField() {
			if field.Label == nil {
				field.Label = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()
			}
		}
	}
	built, err := protodesc.NewFile(&file, protoregistry.GlobalFiles)
	require.NoError(tb, err)
	message := built.Messages().ByName("Every")
	return newTestRoute(tb, message, template, message.Fields().ByName("ids"))
}

func newTestRoute(tb testing.TB, message protoreflect.MessageDescriptor, template string,
	encodedTwice ...protoreflect.FieldDescriptor,
) *route {
	tb.Helper()
	variables, err := parseTemplate(template)
	require.NoError(tb, err)
	for i := range variables {
		variables[i].field = message.Fields().ByName(protoreflect.Name(variables[i].name))
	}
	return &route{template: template, variables: variables, input: &inputPlan{message: message, encodedTwice: encodedTwice}}
}

func TestTranscode(t *testing.T) {
	r := everyRoute(t, "/things/{id}/segments/{segment}")
	withBody := *r
	withBody.hasBody = true
	const path = "/things/x/segments/7"
	for _, tc := range []struct {
		name, method, path, query, body string
		hasBody                         bool
		want                            string // the message as text, without id and segment
		details                         []string
		badRequest                      bool
	}{
		{name: "nothing"},
		{name: "text", query: "text=a+b%26c", want: `text: "a b&c"`},
		{name: "empty text", query: "text=", want: ``},
		{name: "number", query: "small=-5", want: `small: -5`},
		{name: "JSON name", query: "bigNumber=9007199254740993", want: `big_number: 9007199254740993`},
		{name: "proto name", query: "big_number=1", want: `big_number: 1`},
		{name: "unsigned", query: "unsigned=4294967295", want: `unsigned: 4294967295`},
		{name: "double", query: "ratio=1.5e3", want: `ratio: 1500`},
		{name: "infinity", query: "ratio=-Infinity", want: `ratio: -inf`},
		{name: "bool", query: "flag=true", want: `flag: true`},
		{name: "bytes", query: "raw=-_8", want: `raw: "\xfb\xff"`},
		{name: "enum by name", query: "color=RED", want: `color: RED`},
		{name: "enum by number", query: "color=1", want: `color: RED`},
		{name: "repeated", query: "names=b&names=a", want: `names: "b" names: "a"`},
		{name: "repeated, brackets", query: "names[]=b&names%5B1%5D=a", want: `names: "b" names: "a"`},
		{name: "repeated numbers", query: "numbers=2&numbers=1", want: `numbers: 2 numbers: 1`},
		{name: "repeated enums", query: "colors=RED&colors=NONE", want: `colors: RED colors: NONE`},
		{name: "the last one wins", query: "text=a&text=b", want: `text: "b"`},
		{name: "nested, dots", query: "inner.inner.text=a", want: `inner { inner { text: "a" } }`},
		{name: "nested, brackets", query: "inner[names][0]=a&inner[flag]=true", want: `inner { names: "a" flag: true }`},
		{name: "timestamp", query: "at=2026-01-02T03:04:05Z", want: `at { seconds: 1767323045 }`},
		{name: "duration", query: "ttl=1.5s", want: `ttl { seconds: 1 nanos: 500000000 }`},
		{name: "wrapper", query: "wrapped=true", want: `wrapped { value: true }`},
		{name: "encoded twice", query: "ids=a%2540b&ids=50%25&text=a%2540b", want: `text: "a%40b" ids: "a@b" ids: "50%"`},
		{name: "null", query: "small=null&text=null&inner[text]=null", want: ``},
		{name: "unknown", query: "nothing=1&inner.nothing=1&inner[x][y]=1&=1&&a[=1&text.=1&.text=1", want: ``},
		{name: "fields of the path", query: "id=other&segment=8", want: ``},
		{name: "nested fields are not those of the path", query: "inner.id=a", want: `inner { id: "a" }`},

		{name: "bad number", query: "small=1.5", details: []string{"small: must be a whole number within its bounds"}},
		{name: "number out of bounds", query: "numbers=2147483648", details: []string{"numbers: must be a whole number within its bounds"}},
		{name: "empty number", query: "small=", details: []string{"small: must be a whole number within its bounds"}},
		{name: "bad double", query: "ratio=x", details: []string{"ratio: must be a number"}},
		{name: "bad bool", query: "inner.flag=yes", details: []string{"inner.flag: must be true or false"}},
		{name: "bad bytes", query: "raw=!", details: []string{"raw: must be base64"}},
		{name: "bad enum", query: "colors=BLUE", details: []string{"colors: must be one of its values"}},
		{name: "bad timestamp", query: "at=noon", details: []string{"at: must be a date-time"}},
		{name: "message", query: "inner=1", details: []string{"inner: must be an object"}},
		{name: "struct", query: `object={"a":1}`, details: []string{"object: must be an object"}},
		{name: "map", query: "labels=1", details: []string{"labels: must be an object"}},
		{name: "below a scalar", query: "inner.text.x=1", details: []string{"inner.text.x: is not a parameter"}},
		{name: "below a list", query: "inners[0][text]=1", details: []string{"inners.text: is not a parameter"}},
		{name: "below a map", query: "labels.a=1", details: []string{"labels.a: is not a parameter"}},
		{name: "bad number in the path", path: "/things/x/segments/y", details: []string{"segment: must be a whole number within its bounds"}},
		{name: "bad encoding of a name", query: "%zz=1", badRequest: true},
		{name: "bad encoding of a value", query: "a=%zz", badRequest: true},

		{name: "body", hasBody: true, body: `{"text":"a","id":"other","inner":{"flag":true}}`, want: `text: "a" inner { flag: true }`},
		{
			name: "body and query", hasBody: true, body: `{"text":"a","names":["a"]}`, query: "text=b&names=b",
			want: `text: "b" names: "a" names: "b"`,
		},
		{name: "body of GET", method: "GET", body: `{"text":"a"}`, want: ``},
		{
			name: "body of DELETE", method: "DELETE", body: `{"text":"a","small":3,"flag":true,"names":["a","b"],"inner":{"text":null,"small":1}}`,
			query: "names=c", want: `text: "a" small: 3 flag: true names: "a" names: "b" names: "c" inner { small: 1 }`,
		},
		{name: "bad body of DELETE", method: "DELETE", body: `{"text":`, badRequest: true},
		{name: "list as body of DELETE", method: "DELETE", body: `[]`, details: []string{"body: must be an object"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			used := r
			if tc.hasBody {
				used = &withBody
			}
			call := &restCall{route: used, method: tc.method, path: tc.path, query: tc.query, body: []byte(tc.body)}
			if tc.path == "" {
				call.path = path
			}
			m := dynamicpb.NewMessage(r.input.message)
			failed := call.fill(t.Context(), m)
			if tc.badRequest || tc.details != nil {
				require.NotNil(t, failed)
				require.Equal(t, tc.badRequest, failed.Code == fail.CodeBadRequest)
				require.Equal(t, tc.details, failed.Details)
				return
			}
			require.Nil(t, failed)
			want := dynamicpb.NewMessage(r.input.message)
			require.NoError(t, prototext.Unmarshal([]byte(tc.want+` id: "x" segment: 7`), want))
			require.True(t, proto.Equal(want, m), "want %v\ngot  %v", want, m)
		})
	}
}

func TestTranscodeMarksInvalidText(t *testing.T) {
	r := everyRoute(t, "/things/{id}")
	for _, call := range []*restCall{
		{route: r, path: "/things/%ff"},
		{route: r, path: "/things/x", query: "names=%ff"},
		{route: r, path: "/things/x", query: "inner.text=%ff"},
	} {
		m := dynamicpb.NewMessage(r.input.message)
		require.Nil(t, call.fill(t.Context(), m))
		require.Equal(t, []string{"body: must be valid UTF-8 throughout"}, decodeErrorOf(m).Details)
	}
}

func TestParseTemplate(t *testing.T) {
	for template, want := range map[string][]pathVariable{
		"/a/b":                nil,
		"/a/{b}":              {{segment: 1, name: "b"}},
		"/{a}/b/{c_d}/e":      {{segment: 0, name: "a"}, {segment: 2, name: "c_d"}},
		"/a/{b}/flag/{other}": {{segment: 1, name: "b"}, {segment: 3, name: "other"}},
	} {
		got, err := parseTemplate(template)
		require.NoError(t, err, template)
		require.Equal(t, want, got)
	}
	for _, template := range []string{
		"", "a", "/", "/a/", "//a", "/a/{}", "/a/{b", "/a/b}", "/a/{{b}}", "/a/x{b}", "/a/{b}:flag", "/a:flag", "/a/*", "/a/**", "/a/{b=**}",
	} {
		_, err := parseTemplate(template)
		require.ErrorIs(t, err, errTemplate, template)
	}
}

func TestRoutes(t *testing.T) {
	root := &routes{}
	for _, binding := range [][2]string{
		{"GET", "/users/{id}"},
		{"GET", "/users/list"},
		{"PUT", "/users"},
		{"POST", "/users/{id}/flag"},
		{"DELETE", "/users/{id}/flag"},
		{"GET", "/users/list/{kind}"},
		{"GET", "/{a}/{b}/{c}/end"},
	} {
		require.NoError(t, root.add(binding[0], newTestRoute(t, (&plazav1.GetUserRequest{}).ProtoReflect().Descriptor(), binding[1])))
	}
	require.Error(t, root.add("GET", &route{template: "/users/{other}"}), "the route exists")
	for _, tc := range []struct {
		method, url, template string
		allowed               []string
		values                []string
	}{
		{method: "GET", url: "/users/a", template: "/users/{id}", values: []string{"a"}},
		{method: "GET", url: "/users/a/", template: "/users/{id}", values: []string{"a"}},
		{method: "GET", url: "/users/a:flag", template: "/users/{id}", values: []string{"a:flag"}},
		{method: "GET", url: "/users/a%2Fb%20c%25", template: "/users/{id}", values: []string{"a/b c%"}},
		{method: "GET", url: "/users/list", template: "/users/list"},
		{method: "GET", url: "/users/%6Cist", template: "/users/{id}", values: []string{"list"}},
		{method: "POST", url: "/users/%6Cist/flag", template: "/users/{id}/flag", values: []string{"list"}},
		{method: "POST", url: "/users/list/flag", allowed: []string{"GET", "HEAD"}},
		{method: "GET", url: "/users/list/flag", template: "/users/list/{kind}", values: []string{"flag"}},
		{method: "GET", url: "/x/y/z/end", template: "/{a}/{b}/{c}/end", values: []string{"x", "y", "z"}},
		{method: "PATCH", url: "/users/a/flag", allowed: []string{"DELETE", "POST"}},
		{method: "POST", url: "/users/a", allowed: []string{"GET", "HEAD"}},
		{method: "GET", url: "/"},
		{method: "GET", url: "/user"},
		{method: "GET", url: "/users/a/flag/b"},
		{method: "GET", url: "//users/a"},
	} {
		t.Run(tc.method+" "+tc.url, func(t *testing.T) {
			u, err := url.Parse("http://host" + tc.url)
			require.NoError(t, err)
			path := restPath(u)
			found, allowed := root.match(tc.method, path)
			require.Equal(t, tc.allowed, allowed)
			if tc.template == "" {
				require.Nil(t, found)
				return
			}
			require.Equal(t, tc.template, found.template)
			var values []string
			for i := range found.variables {
				values = append(values, found.variables[i].value(path))
			}
			require.Equal(t, tc.values, values)
		})
	}
}

// FuzzRESTQuery checks that a query is either rejected or sets fields in the same way every time, and never those of
// the path.
func FuzzRESTQuery(f *testing.F) {
	for _, seed := range []string{
		"options%5Blimit%5D=5", "options[limit]=3&options[token]=x%3D", "dataTypes%5Bvalues%5D%5B0%5D=text", "userIds[]=a&userIds[]=b",
		"tags[0]=x", "a[[b]]=1", "a.=1", "=1&&=", "hasFlag=null", "userIds[]=%2541", "a;b=c", "a=%zz", "%5b%5D=1", "+[+]=+", "a=b=c",
		"connect=v1",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	list := newTestRoute(f, (&plazav1.BatchGetUsersRequest{}).ProtoReflect().Descriptor(), "/users/list")
	list.input = inputOf(f, &plazav1.BatchGetUsersRequest{})
	feed := newTestRoute(f, (&plazav1.ListUserFeedRequest{}).ProtoReflect().Descriptor(), "/feeds/{user_id}")
	f.Fuzz(func(t *testing.T, raw string, isList bool) {
		call := &restCall{route: feed, method: "GET", path: "/feeds/u", query: raw}
		first, second := proto.Message(&plazav1.ListUserFeedRequest{}), proto.Message(&plazav1.ListUserFeedRequest{})
		if isList {
			call.route, first, second = list, &plazav1.BatchGetUsersRequest{}, &plazav1.BatchGetUsersRequest{}
		}
		failed := call.fill(t.Context(), first.ProtoReflect())
		require.Equal(t, failed, call.fill(t.Context(), second.ProtoReflect()))
		require.True(t, proto.Equal(first, second))
		if got, ok := first.(*plazav1.ListUserFeedRequest); ok && failed == nil && decodeErrorOf(first) == nil {
			require.Equal(t, "u", got.GetUserId())
		}
	})
}

// FuzzTranscode checks that paths, queries and bodies never panic, and leave a message that can be encoded.
func FuzzTranscode(f *testing.F) {
	r := everyRoute(f, "/things/{id}/segments/{segment}")
	for _, query := range []string{
		"text=a&inner[names][0]=b", "at=2026-01-02T03:04:05Z&ttl=1s&color=RED", "raw=-_8&ratio=NaN&wrapped=true",
		"labels[a]=b&inners[0][text]=c", "text=%ff",
	} {
		f.Add("/things/a%2Fb/segments/7", query, `{"text":"a","inner":{"flag":true}}`, true)
		f.Add("/things/%ff/segments/1", query, `{"names":["a"],"labels":{"a":"b"}}`, false)
	}
	f.Fuzz(func(t *testing.T, path, query, body string, hasBody bool) {
		used := *r
		used.hasBody = hasBody
		m := dynamicpb.NewMessage(r.input.message)
		if (&restCall{route: &used, method: "DELETE", path: path, query: query, body: []byte(body)}).fill(t.Context(), m) != nil {
			return
		}
		_, err := proto.Marshal(m)
		require.NoError(t, err)
	})
}

// BenchmarkTranscode fills the request of a list.
func BenchmarkTranscode(b *testing.B) {
	r := newTestRoute(b, (&plazav1.ListUserFeedRequest{}).ProtoReflect().Descriptor(), "/feeds/{user_id}")
	call := &restCall{route: r, method: "GET", path: "/feeds/u", query: "options%5Blimit%5D=20&hasFlag=null&isDeleted=false"}
	b.ReportAllocs()
	for b.Loop() {
		m := &plazav1.ListUserFeedRequest{}
		if call.fill(b.Context(), m.ProtoReflect()) != nil {
			b.Fatal("the call is invalid")
		}
	}
}
