package edge

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/plaza-social/plaza/platform/fail"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// TestEmptyLists checks which lists of a JSON body count as emptied: null is as good as absent.
func TestEmptyLists(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body string
		want []string
	}{
		"nothing":            {`{}`, nil},
		"an empty list":      {`{"tags": []}`, []string{"tags"}},
		"several":            {`{"tags": [], "hashtags": [ ], "mentionees": [{"type": "user"}]}`, []string{"tags", "hashtags"}},
		"null":               {`{"tags": null, "attachments": null}`, nil},
		"elements":           {`{"tags": ["a"], "mentionees": [{"type": "user"}]}`, nil},
		"no list":            {`{"text": "", "data": {}}`, nil},
		"an unknown field":   {`{"other": []}`, nil},
		"the field of names": {`{"clear": []}`, nil},
		"named and empty":    {`{"clear": ["hashtags"], "tags": []}`, []string{"hashtags", "tags"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &plazav1.UpdatePostRequest{}
			inputOf(t, m).decodeJSON([]byte(test.body), m)
			require.Nil(t, decodeErrorOf(m))
			require.ElementsMatch(t, test.want, m.GetClear())
		})
	}
	m := &plazav1.CreatePostRequest{}
	inputOf(t, m).decodeJSON([]byte(`{"tags": []}`), m)
	require.True(t, proto.Equal(&plazav1.CreatePostRequest{}, m), "a request without such a field")
}

// TestObjectSizesInside sends objects at their limit and one byte past it, in fields of other fields and in lists.
func TestObjectSizesInside(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		request proto.Message
		body    string // $ is the object
		limit   int
		field   string
	}{
		"a field":            {&plazav1.CreateStoryRequest{}, `{"metadata": $}`, 5 << 10, "metadata"},
		"a field of a field": {&plazav1.SchedulePostRequest{}, `{"postData": {"metadata": $}}`, 10 << 10, "postData.metadata"},
		"a list":             {&plazav1.ReportActivitiesRequest{}, `{"activities": [{"metadata": $}]}`, 10 << 10, "activities[0].metadata"},
		"not the first": {
			&plazav1.CreateStoryRequest{}, `{"items": [{"placement": {}}, {}, {"placement": $}]}`, 1 << 10,
			"items[2].placement",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fields, err := sizedFields(test.request.ProtoReflect().Descriptor())
			require.NoError(t, err)
			check := func(size int) error {
				m := proto.Clone(test.request)
				object := `{"k":"` + strings.Repeat("x", size-len(`{"k":""}`)) + `"}`
				inputOf(t, m).decodeJSON([]byte(strings.Replace(test.body, "$", object, 1)), m)
				require.Nil(t, decodeErrorOf(m))
				return requireSizes(fields, m.ProtoReflect(), "")
			}
			require.NoError(t, check(test.limit))
			failed, ok := errors.AsType[*fail.Error](check(test.limit + 1))
			require.True(t, ok)
			require.Len(t, failed.Details, 1)
			require.True(t, strings.HasPrefix(failed.Details[0], test.field+": must be at most "), failed.Details[0])
		})
	}
	_, err := sizedFields(everyRoute(t, "/things/{id}").input.message)
	require.EqualError(t, err, "test.Every.object needs the option object_size")
}

// TestResponseIsReservedOnce writes a response in several parts, of which the first large one counts. A part that had to wait would be
// refused: the time of the request has expired.
func TestResponseIsReservedOnce(t *testing.T) {
	t.Parallel()
	memory := newResponseMemory(3*largeResponse, time.Minute)
	w := &responseWriter{ResponseWriter: httptest.NewRecorder(), ctx: t.Context(), start: time.Now().Add(-time.Hour), memory: memory}
	for _, size := range []int{5, largeResponse - 1, 2 * largeResponse, 2 * largeResponse} {
		_, err := w.Write(make([]byte, size))
		require.NoError(t, err)
	}
	require.EqualValues(t, 2*largeResponse, w.reserved)
	require.EqualValues(t, 5*largeResponse+4, w.written)
	w.release()
	require.Zero(t, w.reserved)
	require.True(t, memory.writing.TryAcquire(memory.size), "all is free")
}

// TestDeprecations compares the headers of every operation with its options, by each path.
func TestDeprecations(t *testing.T) {
	t.Parallel()
	whole, paths := 0, 0
	protoregistry.GlobalFiles.RangeFilesByPackage("plaza.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				option, _ := proto.GetExtension(methods.Get(j).Options(), plazav1.E_Deprecation).(*plazav1.Deprecation)
				d, err := newDeprecation(methods.Get(j))
				require.NoError(t, err)
				if option == nil {
					require.Nil(t, d)
					continue
				}
				require.Equal(t, option.GetPaths(), d.paths)
				require.Regexp(t, "^@[0-9]+$", d.since)
				require.Contains(t, d.sunset, " GMT")
				if len(option.GetPaths()) == 0 {
					whole++
				}
				for _, path := range option.GetPaths() {
					paths++
					verb, template, _ := strings.Cut(path, " ")
					require.Same(t, d, d.of(verb, template))
					require.Nil(t, d.of(verb, template+"/other"))
					require.Nil(t, d.of("PATCH", template))
					require.Nil(t, d.of("", ""), "over RPC")
				}
			}
		}
		return true
	})
	require.Positive(t, whole)
	require.Positive(t, paths)

	d := &deprecation{since: "@1", sunset: "later"}
	require.Same(t, d, d.of("GET", "/any"), "a deprecated operation")
	require.Nil(t, (*deprecation)(nil).of("GET", "/any"))
	header := http.Header{}
	d.setHeaders(header)
	require.Equal(t, http.Header{"Deprecation": {"@1"}, "Sunset": {"later"}}, header)
}
