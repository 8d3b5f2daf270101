package app_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/app"
	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/statusz"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// take returns the text since the last call.
func (l *lines) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.b.Reset()
	return l.b.String()
}

// TestLogLevel changes the level of the log on the control port while the server runs.
func TestLogLevel(t *testing.T) {
	a := newAuthority(t)
	dir := controlFolder(t.TempDir())
	dir.issue(t, a, a)
	url := testdb.New(t)
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url}))
	cfg := fullConfig(t, url)
	dir.configure(&cfg)
	log, level := &lines{}, new(slog.LevelVar)
	r := runWithLog(t, cfg, telemetry.NewLogger(log, telemetry.LogJSON, level), app.WithLogLevel(level))
	operator, base := operatorClient(t, a, a), "https://"+r.ControlAddr()
	put := func(body string) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, base+statusz.LogLevelPath, strings.NewReader(body))
		require.NoError(t, err)
		response, err := operator.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode
	}
	debugs := func() bool { // the line of a request is written after its response
		get(t, http.DefaultClient, "http://"+r.APIAddr()+"/no/such/path")
		return strings.Contains(log.take(), `"level":"DEBUG"`)
	}
	current := func() statusz.LogLevel {
		_, body := get(t, operator, base+statusz.Path)
		var status statusz.Status
		require.NoError(t, json.Unmarshal([]byte(body), &status))
		return *status.LogLevel
	}

	require.Eventually(t, func() bool { return r.Ready(t.Context()).Ready }, patience, 10*time.Millisecond)
	require.False(t, debugs())
	require.False(t, debugs())
	require.Equal(t, http.StatusOK, put(`{"level": "debug"}`))
	require.Contains(t, log.take(), `"msg":"the log level changed"`)
	require.Equal(t, statusz.LogLevel{Current: "debug", Configured: "info"}, current())
	require.Eventually(t, debugs, patience, 10*time.Millisecond)
	for _, wrong := range []string{`{"level": "loud"}`, `debug`, ``} {
		require.Equal(t, http.StatusBadRequest, put(wrong))
	}
	require.Equal(t, http.StatusOK, put(`{"level": "error"}`))
	require.Contains(t, log.take(), `"from":"debug","to":"error"`)
	log.take()
	require.False(t, debugs())
	require.False(t, debugs())
	require.Equal(t, http.StatusOK, put(`{}`))
	require.Equal(t, statusz.LogLevel{Current: "info", Configured: "info"}, current())
	code, _ := send(t, http.MethodPut, "http://"+r.OpsAddr()+statusz.LogLevelPath, `{"level": "debug"}`)
	require.Equal(t, http.StatusNotFound, code, "on the control port only")
}
