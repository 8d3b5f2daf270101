package conformance

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
)

// failure is how a request is refused: HTTP status, code and message of the error body. An empty message is not
// compared because the contract does not fix it.
type failure struct {
	status  int
	code    int
	message string
	// field is the field that a validation error must name.
	field string
}

// The failures of the contract and of the table of codes.
var (
	badRequest   = failure{status: 400, code: 400000, message: "Bad Request."}
	unauthorized = failure{status: 401, code: 400100}
	notAllowed   = failure{status: 403, code: 400300, message: "You are not allowed to do this"}
	forbidden    = failure{status: 403, code: 400300}
	flagLimit    = failure{status: 403, code: 400300, message: "Number of flag already exceed."}
	notMember    = failure{status: 403, code: 400301}
	banned       = failure{status: 403, code: 400304}
	globalBan    = failure{status: 403, code: 400312}
	exists       = failure{status: 403, code: 400315}
	notFound     = failure{status: 404, code: 400400, message: "Resource Not Found."}
	tooLarge     = failure{status: 413, code: 500000}
)

// invalid is the validation error that names field.
func invalid(field string) failure {
	return failure{status: 422, code: 500000, message: "Parameters validation error!", field: field}
}

// requireFailure checks that an answer is a failure and that its error body has the right shape.
func requireFailure(t *testing.T, want failure, r *apptest.Response) {
	t.Helper()
	require.Equal(t, want.status, r.Status, "%s", r.Short())
	require.Contains(t, r.Header.Get("Content-Type"), "application/json")
	code, message := r.Error(t)
	require.Equal(t, want.code, code, "%s", r.Short())
	if want.message != "" {
		require.Equal(t, want.message, message)
	}
	require.NotEmpty(t, message)
	body, ok := r.JSON(t).(map[string]any)
	require.True(t, ok)
	for name := range body {
		require.Contains(t, []string{"status", "code", "message", "data"}, name)
	}
	if want.field == "" {
		return
	}
	var named bool
	for i, line := range r.List(t, "data.detail") {
		text, ok := line.(string)
		require.True(t, ok, "data.detail.%d is no string", i)
		named = named || strings.HasPrefix(text, want.field)
	}
	require.True(t, named, "no line of the detail names %s: %s", want.field, r.Short())
}

// attempt is a request and its expected result.
type attempt struct {
	name   string
	by     *apptest.Client
	method string
	path   string
	body   any
	want   failure // zero for success
}

// requireAttempts sends the requests one after another and checks their results.
func requireAttempts(t *testing.T, attempts []attempt) {
	t.Helper()
	for _, a := range attempts {
		t.Run(a.name, func(t *testing.T) {
			answer := a.by.Do(t, a.method, a.path, a.body)
			if a.want == (failure{}) {
				answer.OK(t)
				return
			}
			requireFailure(t, a.want, answer)
		})
	}
}
