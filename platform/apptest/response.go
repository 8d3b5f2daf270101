package apptest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Response is a complete response.
type Response struct {
	// Status is the HTTP status.
	Status int
	// Header is the response's header.
	Header http.Header
	// Body is the response's body.
	Body []byte

	request string
}

// shown is the number of bytes of a body in the message of a failed test.
const shown = 2000

// Short returns the beginning of the body for messages.
func (r *Response) Short() string {
	if len(r.Body) <= shown {
		return string(r.Body)
	}
	return string(r.Body[:shown]) + "…"
}

// OK fails the test and shows the body unless the status is 200. It returns r.
func (r *Response) OK(t testing.TB) *Response {
	t.Helper()
	require.Equal(t, http.StatusOK, r.Status, "%s: %s", r.request, r.Short())
	return r
}

// Error returns the code and message of an error response, after checking its shape.
func (r *Response) Error(t testing.TB) (code int, message string) {
	t.Helper()
	require.GreaterOrEqual(t, r.Status, 400, "%s: %s", r.request, r.Short())
	require.Equal(t, "error", r.String(t, "status"), "%s: %s", r.request, r.Short())
	return r.Int(t, "code"), r.String(t, "message")
}

// JSON returns the body decoded by encoding/json.
func (r *Response) JSON(t testing.TB) any {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(r.Body, &v), "%s: %s", r.request, r.Short())
	return v
}

// Get returns the value at a path like posts.0.postId. It fails the test if there is none; null is nil.
func (r *Response) Get(t testing.TB, path string) any {
	t.Helper()
	v := r.JSON(t)
	for name := range strings.SplitSeq(path, ".") {
		next, ok := step(v, name)
		require.True(t, ok, "%s has no %s at %q: %s", r.request, path, name, r.Short())
		v = next
	}
	return v
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

// String returns the string at a path.
func (r *Response) String(t testing.TB, path string) string {
	t.Helper()
	v, ok := r.Get(t, path).(string)
	require.True(t, ok, "%s: %s is not a string: %s", r.request, path, r.Short())
	return v
}

// Int returns the integer at a path.
func (r *Response) Int(t testing.TB, path string) int {
	t.Helper()
	v, ok := r.Get(t, path).(float64)
	require.True(t, ok, "%s: %s is not a number: %s", r.request, path, r.Short())
	require.InDelta(t, float64(int(v)), v, 0, "%s: %s is not an integer", r.request, path)
	return int(v)
}

// Bool returns the boolean at a path.
func (r *Response) Bool(t testing.TB, path string) bool {
	t.Helper()
	v, ok := r.Get(t, path).(bool)
	require.True(t, ok, "%s: %s is not a boolean: %s", r.request, path, r.Short())
	return v
}

// List returns the array at a path.
func (r *Response) List(t testing.TB, path string) []any {
	t.Helper()
	v, ok := r.Get(t, path).([]any)
	require.True(t, ok, "%s: %s is not an array: %s", r.request, path, r.Short())
	return v
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

// Has reports whether the path exists, even if its value is null.
func (r *Response) Has(t testing.TB, path string) bool {
	t.Helper()
	v := r.JSON(t)
	for name := range strings.SplitSeq(path, ".") {
		next, ok := step(v, name)
		if !ok {
			return false
		}
		v = next
	}
	return true
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
