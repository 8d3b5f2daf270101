package push_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/push"
)

// TestLocal checks that the latest messages are kept, the last one first, and that the log has neither texts nor tokens.
func TestLocal(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	local := push.NewLocal(now, slog.New(slog.NewTextHandler(&log, nil)))
	senders, err := push.Senders(push.Options{Local: local})
	require.NoError(t, err)
	require.Equal(t, push.Providers, push.Names(senders))
	for i := range 150 {
		require.NoError(t, senders[push.APNs].Send(t.Context(), "secret-token", push.Message{ID: strconv.Itoa(i), Title: "Alice", Body: "Hello"}))
	}
	answer := httptest.NewRecorder()
	local.ServeHTTP(answer, httptest.NewRequest("GET", "/pushes", nil))
	require.Equal(t, "application/json", answer.Header().Get("Content-Type"))
	require.Equal(t, "no-store", answer.Header().Get("Cache-Control"))
	var shown struct{ Pushes []push.LocalMessage }
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &shown))
	require.Len(t, shown.Pushes, 100)
	require.Equal(t, push.LocalMessage{
		Message: push.Message{ID: "149", Title: "Alice", Body: "Hello"}, Provider: push.APNs,
		Token: "secret-token", At: now(),
	}, shown.Pushes[0])
	require.Equal(t, "50", shown.Pushes[99].ID)
	require.Contains(t, log.String(), "id=149")
	for _, hidden := range []string{"secret-token", "Alice", "Hello"} {
		require.NotContains(t, log.String(), hidden)
	}
}
