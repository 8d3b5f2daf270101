package app_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/app"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/statusz"
	"github.com/plaza-social/plaza/platform/store/db"
)

// lines is a log that can be read while it is written.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

// execute runs SQL on the database of a configuration.
func execute(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	_, err = conn.Exec(t.Context(), sql)
	require.NoError(t, err)
}

// TestSecureModeOfANewNetwork checks that a network starts in secure mode: the API key alone does not sign a user in.
func TestSecureModeOfANewNetwork(t *testing.T) {
	r, cfg := serving(t)
	s := r.status(t).SecureMode
	require.True(t, s.Enabled)
	require.False(t, s.AsOf.IsZero())
	require.Empty(t, s.Warning)
	key, err := auth.EnsureKeySet(cfg.APIKeysFile, "k1")
	require.NoError(t, err)
	code, body := send(t, http.MethodPost, "http://"+r.APIAddr()+"/api/v5/sessions", `{"userId":"alice","deviceId":"d"}`, "X-API-Key", key)
	require.Equal(t, http.StatusUnauthorized, code)
	require.Contains(t, body, "authToken: required in secure mode")
}

// TestInsecureModeIsReported checks the warnings of a network that is not in secure mode, in the log and on /statusz.
func TestInsecureModeIsReported(t *testing.T) {
	url := testdb.New(t)
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url}))
	require.NoError(t, app.StartInsecure(t.Context(), url))
	log := &lines{}
	server := runWithLog(t, fullConfig(t, url), slog.New(slog.NewTextHandler(log, nil)))
	const warning = `msg="secure mode is off"`
	require.Eventually(t, func() bool { return log.count(warning) == 1 }, patience, 10*time.Millisecond)
	s := server.status(t).SecureMode
	require.False(t, s.Enabled)
	require.Equal(t, statusz.WarningInsecure, s.Warning)
	require.Equal(t, 1, log.count(warning), "the warning is not repeated with every read")

	execute(t, url, `UPDATE settings SET value = 'true' WHERE name = 'isSecureModeEnabled'`)
	require.True(t, server.status(t).SecureMode.Enabled)
	execute(t, url, `UPDATE settings SET value = 'false' WHERE name = 'isSecureModeEnabled'`)
	require.False(t, server.status(t).SecureMode.Enabled)
	require.Equal(t, 2, log.count(warning))
}

// TestStartInsecureKeepsTheMode checks that secure mode is only turned off in a new network.
func TestStartInsecureKeepsTheMode(t *testing.T) {
	for name, c := range map[string]struct {
		before string
		want   bool
	}{
		"new network": {``, false},
		"chosen": {`INSERT INTO settings (home, name, value, changed_at, origin)
			SELECT home, 'isSecureModeEnabled', 'true', now(), home FROM (VALUES ('us'), ('eu'), ('sg')) AS h (home)`, true},
		"users in another region": {`INSERT INTO users (home, id, public_id, display_name, name_key, created_at, updated_at)
			VALUES ('us', '01aaaaaaaaaaaaaaaaaaaaaa', 'a', 'a', 'a', now(), now())`, true},
	} {
		t.Run(name, func(t *testing.T) {
			url := testdb.New(t)
			require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url}))
			if c.before != "" {
				execute(t, url, c.before)
			}
			require.NoError(t, app.StartInsecure(t.Context(), url))
			r := run(t, fullConfig(t, url))
			require.Eventually(t, func() bool { return !r.status(t).SecureMode.AsOf.IsZero() }, patience, 10*time.Millisecond)
			require.Equal(t, c.want, r.status(t).SecureMode.Enabled)
		})
	}
}
