package delivery

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

// TestPrehookEvents checks that the options of the operations name events of their own and fields of their requests.
func TestPrehookEvents(t *testing.T) {
	t.Parallel()
	require.Len(t, prehookEvents(), 28)
	auth.RangeMethods(func(procedure string, method protoreflect.MethodDescriptor) {
		event := prehookEvents()[procedure]
		require.True(t, event == nil || strings.Contains(event.GetEvent(), ".should"), procedure)
		for _, name := range slices.Concat(event.GetChanges(), event.GetHidden()) {
			require.NotNil(t, method.Input().Fields().ByName(protoreflect.Name(name)), "%s has no field %s", procedure, name)
		}
	})
	require.Empty(t, UnknownPrehookEvent([]string{"post.shouldCreate", "user.shouldSignIn"}))
	require.Equal(t, "post.shouldSing", UnknownPrehookEvent([]string{"post.shouldFlag", "post.shouldSing"}))
}

// TestPrehookBreaker checks that failures stop the questions to the address that failed, and not those to a new one.
func TestPrehookBreaker(t *testing.T) {
	t.Parallel()
	p := &Prehook{}
	use := func(url string) {
		t.Helper()
		require.NoError(t, p.Use(network.PrehookSettings{URL: url}))
	}
	ask := func(err error) error {
		_, err = p.breaker.Execute(func() (answer, error) { return answer{}, err })
		return err
	}
	use("https://old.example.com")
	for range breakAfter {
		require.ErrorAs(t, ask(failure{"status"}), new(failure))
	}
	require.ErrorIs(t, ask(nil), gobreaker.ErrOpenState)
	use("https://old.example.com")
	require.ErrorIs(t, ask(nil), gobreaker.ErrOpenState, "the settings are read every few seconds")
	use("https://new.example.com")
	require.NoError(t, ask(nil))
}

// TestAnswersOfPrehook checks the question and what counts as an answer.
func TestAnswersOfPrehook(t *testing.T) {
	t.Parallel()
	var status int
	var text string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("X-Signature") != hexMAC("secret", body) || string(body) != "question" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	p := &Prehook{client: server.Client(), free: make(chan struct{}, 1)}
	c := prehookState{settings: network.PrehookSettings{URL: server.URL, TimeoutMS: 60_000}, secret: "secret"}
	for name, tc := range map[string]struct {
		status     int
		text, want string
	}{
		"allow":          {200, `{"action": "allow"}`, ""},
		"deny":           {201, `{"action": "deny"}`, ""},
		"no action":      {200, `{}`, "the pre-hook failed: the answer has no action"},
		"another action": {200, `{"action": "ask"}`, "the pre-hook failed: the answer has no action"},
		"no JSON":        {200, `allow`, "the pre-hook failed: the answer has no action"},
		"longer than it may be": {
			200, `{"action": "allow", "message": "` + strings.Repeat("x", maxResponse) + `"}`,
			"the pre-hook failed: the answer has no action",
		},
		"another status": {300, `{"action": "allow"}`, "the pre-hook failed: status"},
	} {
		status, text = tc.status, tc.text
		a, err := p.post(t.Context(), c, []byte("question"))
		if tc.want != "" {
			require.EqualError(t, err, tc.want, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, name, a.Action)
	}
	p.free <- struct{}{}
	_, err := p.post(t.Context(), c, []byte("question"))
	require.ErrorIs(t, err, errBusy)
}

// TestDecisionsOfPrehook follows answers: it denies with a message, changes what may be changed, and refuses values that do not fit.
func TestDecisionsOfPrehook(t *testing.T) {
	t.Parallel()
	p := &Prehook{asked: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "asked_total", Help: "Questions by result."},
		[]string{"result"})}
	event := prehookEvents()[plazav1connect.PostServiceCreatePostProcedure]
	for name, tc := range map[string]struct {
		answer string
		result string
		text   string // of the post
		tags   []string
		err    error
	}{
		"allowed":           {`{"action": "allow"}`, "allow", "as sent", []string{"a"}, nil},
		"changed":           {`{"action": "allow", "data": {"text": "better", "tags": null, "targetId": "x"}}`, "change", "better", nil, nil},
		"nothing to change": {`{"action": "allow", "data": {"targetId": "x"}}`, "allow", "as sent", []string{"a"}, nil},
		"wrong values":      {`{"action": "allow", "data": {"tags": 5}}`, "failed", "as sent", []string{"a"}, fail.Unavailable("", nil)},
		"denied":            {`{"action": "deny", "message": "no"}`, "deny", "as sent", []string{"a"}, fail.Forbidden("no")},
		"without a message": {`{"action": "deny"}`, "deny", "as sent", []string{"a"}, fail.NotAllowed()},
		"a long message": {
			`{"action": "deny", "message": "` + strings.Repeat("é", maxMessage+1) + `"}`, "deny", "as sent",
			[]string{"a"},
			fail.Forbidden(strings.Repeat("é", maxMessage)),
		},
	} {
		p.asked.Reset()
		request := &plazav1.CreatePostRequest{TargetId: "c", Text: "as sent", Tags: []string{"a"}}
		var a answer
		require.NoError(t, json.Unmarshal([]byte(tc.answer), &a))
		changed, err := p.follow(event, request, a)
		require.ErrorIs(t, err, tc.err, name)
		require.Equal(t, tc.result == "change", changed, name)
		require.Equal(t, []any{"c", tc.text, tc.tags}, []any{request.GetTargetId(), request.GetText(), request.GetTags()}, name)
		require.InDelta(t, 1, testutil.ToFloat64(p.asked.WithLabelValues(tc.result)), 0, name)
		require.Equal(t, 1, testutil.CollectAndCount(p.asked), name)
	}
}
