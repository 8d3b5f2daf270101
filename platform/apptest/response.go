package apptest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Response is an answer that has been read completely.
type Response struct {
	// Status is the HTTP status.
	Status int
	// Header is the answer's header.
	Header http.Header
	// Body is the answer's body.
	Body []byte

	request string
	decode  sync.Once // sets decoded and err
	decoded any
	err     error
}

// shown limits how much of a body a failed test prints.
const shown = 2000

// Short returns the beginning of the body for test output.
func (r *Response) Short() string {
	if len(r.Body) <= shown {
		return string(r.Body)
	}
	return string(r.Body[:shown]) + "…"
}

// OK fails the test and prints the body unless the status is 200. It returns r.
func (r *Response) OK(t testing.TB) *Response {
	t.Helper()
	require.Equal(t, http.StatusOK, r.Status, "%s: %s", r.request, r.Short())
	return r
}

// Error checks the shape of an error answer (status "error", a code and a message) and returns its code and message.
func (r *Response) Error(t testing.TB) (code int, message string) {
	t.Helper()
	require.GreaterOrEqual(t, r.Status, 400, "%s: %s", r.request, r.Short())
	require.Equal(t, "error", r.String(t, "status"), "%s: %s", r.request, r.Short())
	return r.Int(t, "code"), r.String(t, "message")
}

// JSON decodes the body into an any.
func (r *Response) JSON(t testing.TB) any {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(r.Body, &v), "%s: %s", r.request, r.Short())
	return v
}

// value returns the decoded body. It is decoded once; callers must not change it.
func (r *Response) value(t testing.TB) any {
	t.Helper()
	r.decode.Do(func() { r.err = json.Unmarshal(r.Body, &r.decoded) })
	require.NoError(t, r.err, "%s: %s", r.request, r.Short())
	return r.decoded
}

// Get returns the value at a path like posts.0.postId, which the test must not change. It fails the test if the path does
// not exist; null is nil.
func (r *Response) Get(t testing.TB, path string) any {
	t.Helper()
	v, ok := r.find(t, path)
	require.True(t, ok, "%s has no %s: %s", r.request, path, r.Short())
	return v
}

// Has reports whether a path exists, also where its value is null.
func (r *Response) Has(t testing.TB, path string) bool {
	t.Helper()
	_, ok := r.find(t, path)
	return ok
}

func (r *Response) find(t testing.TB, path string) (v any, ok bool) {
	t.Helper()
	v, ok = r.value(t), true
	for name := range strings.SplitSeq(path, ".") {
		if v, ok = step(v, name); !ok {
			break
		}
	}
	return v, ok
}

func step(v any, name string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		next, ok := v[name]
		return next, ok
	case []any:
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= len(v) {
			return nil, false
		}
		return v[i], true
	default:
		return nil, false
	}
}

// valueAt returns the value at a path, which must have the type T of decoded JSON.
func valueAt[T any](t testing.TB, r *Response, path string) T {
	t.Helper()
	v, ok := r.Get(t, path).(T)
	require.True(t, ok, "%s: %s is not a %T: %s", r.request, path, v, r.Short())
	return v
}

// String returns the string at a path.
func (r *Response) String(t testing.TB, path string) string {
	t.Helper()
	return valueAt[string](t, r, path)
}

// Int returns the whole number at a path.
func (r *Response) Int(t testing.TB, path string) int {
	t.Helper()
	v := valueAt[float64](t, r, path)
	require.InDelta(t, float64(int(v)), v, 0, "%s: %s is not an integer", r.request, path)
	return int(v)
}

// Bool returns the boolean at a path.
func (r *Response) Bool(t testing.TB, path string) bool {
	t.Helper()
	return valueAt[bool](t, r, path)
}

// List returns the array at a path.
func (r *Response) List(t testing.TB, path string) []any {
	t.Helper()
	return valueAt[[]any](t, r, path)
}

// Strings returns one field of each object of the array at a path: Strings(t, "posts", "postId").
func (r *Response) Strings(t testing.TB, path, field string) []string {
	t.Helper()
	values := []string{}
	for i := range r.List(t, path) {
		values = append(values, r.String(t, path+"."+strconv.Itoa(i)+"."+field))
	}
	return values
}
