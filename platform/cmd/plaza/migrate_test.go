package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/dburl"
	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/statusz"
	"github.com/plaza-social/plaza/platform/store/db"
)

func terminationLog(t *testing.T) (path string, read func() string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "termination-log")
	require.NoError(t, os.WriteFile(path, []byte("of an earlier run"), 0o600))
	return path, func() string {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(content)
	}
}

func TestMigrateJob(t *testing.T) {
	url := testdb.New(t)
	path, last := terminationLog(t)
	code, stdout, stderr := plaza(t, "migrate", "status", "--json", "--database-url", url)
	require.Zero(t, code, stderr)
	var status schemaStatus
	require.NoError(t, json.Unmarshal([]byte(stdout), &status))
	require.Equal(t, schemaStatus{Target: db.TargetVersion(), State: schemaBehind}, status)

	code, stdout, stderr = plaza(t, "migrate", "up", "--json", "--termination-log", path, "--database-url", url)
	require.Zero(t, code, stderr)
	require.JSONEq(t, fmt.Sprintf(`{"current": %[1]d, "target": %[1]d}`, db.TargetVersion()), last())
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Len(t, lines, len(db.RenderedMigrations(db.PostgreSQL))+1)
	for i, text := range lines {
		var line progressLine
		require.NoError(t, json.Unmarshal([]byte(text), &line), text)
		require.False(t, line.Time.IsZero())
		if i < len(lines)-1 {
			require.Equal(t, "step", line.Event)
			require.Equal(t, i+1, line.Done)
			continue
		}
		require.Equal(t, "done", line.Event)
		require.Equal(t, db.TargetVersion(), line.Current)
		require.Equal(t, db.TargetVersion(), line.Target)
	}
	_, stdout, _ = plaza(t, "migrate", "status", "--json", "--database-url", url)
	require.NoError(t, json.Unmarshal([]byte(stdout), &status))
	require.Equal(t, schemaStatus{Current: db.TargetVersion(), Target: db.TargetVersion(), State: schemaUpToDate}, status)
}

func TestMigrateJobFailure(t *testing.T) {
	blocked := testdb.New(t)
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: blocked}))
	for name, c := range map[string]struct {
		url       string
		code      int
		transient bool
	}{
		"connection refused": {"postgresql://plaza:hunter2@127.0.0.1:1/plaza", exitTransient, true},
		"not a URL":          {"postgresql://plaza:hunter2@db:port/plaza", exitUsage, false},
		"no such database":   {strings.Replace(testdb.New(t), "/plaza", "/no_such_plaza", 1), exitError, false},
	} {
		t.Run(name, func(t *testing.T) {
			path, last := terminationLog(t)
			t.Setenv("PLAZA_DATABASE_URL", c.url)
			code, stdout, stderr := plaza(t, "migrate", "up", "--json", "--termination-log", path)
			require.Equal(t, c.code, code, stderr)
			schema, text := statusz.ReadMigration(last())
			require.Equal(t, statusz.Migration{Target: db.TargetVersion()}, schema)
			require.NotEmpty(t, text)
			require.NotContains(t, text, "\n")
			require.NotContains(t, last()+stdout+stderr, "hunter2")
			require.Equal(t, "plaza: "+text+"\n", stderr)
			var line progressLine
			require.NoError(t, json.Unmarshal([]byte(stdout), &line), stdout)
			require.Equal(t, "failed", line.Event)
			require.Equal(t, text, line.Error)
			require.NotNil(t, line.Transient)
			require.Equal(t, c.transient, *line.Transient)
			code, _, stderr = plaza(t, "migrate", "status", "--json")
			require.Equal(t, c.code, code, stderr)
		})
	}
	path, last := terminationLog(t)
	code, _, stderr := plaza(t, "migrate", "up", "--termination-log", path)
	require.Equal(t, exitUsage, code)
	require.Contains(t, last(), "database-url: not set")
	require.Contains(t, stderr, "database-url: not set")
}

// TestNoCommandShowsPartsOfPasswords runs commands with passwords that contain each special character, as it is and percent-encoded, at an
// address where no database is.
func TestNoCommandShowsPartsOfPasswords(t *testing.T) {
	for _, special := range "@#/?:%&=+ !\"$'()*,-.;<>[\\]^_`{|}~" {
		for _, one := range []string{string(special), fmt.Sprintf("%%%02X", special)} {
			t.Run(one, func(t *testing.T) {
				path, last := terminationLog(t)
				t.Setenv("PLAZA_DATABASE_URL", "postgresql://plaza:QZX"+one+"ZQJ"+one+"XJQ@127.0.0.1:1/plaza\n")
				var all strings.Builder
				for _, args := range [][]string{
					{"migrate", "up", "--termination-log", path},
					{"migrate", "up", "--json"},
					{"migrate", "status"},
					{"config"},
					{"serve"},
					{"migrate", "backups"},
					{"import", "--region", "eu", "--network-id", strings.Repeat("a", 24), "--directory-key", strings.Repeat("k1", 16)},
				} {
					code, stdout, stderr := plaza(t, args...)
					require.NotZero(t, code)
					all.WriteString(stdout + stderr)
				}
				for _, part := range []string{"QZX", "ZQJ", "XJQ"} {
					require.NotContains(t, all.String()+last(), part)
				}
				if len(one) > 1 {
					require.Contains(t, last(), "failed to connect", "a percent-encoded password is accepted, and the newline trimmed")
				}
			})
		}
	}
}

// TestArgumentsAreNotShown checks that what can be the end of a password with a space is not shown.
func TestArgumentsAreNotShown(t *testing.T) {
	for _, args := range [][]string{
		{"migrate", "up", "--database-url", "postgresql://plaza:hunter", "swordfish", "2@db/plaza"},
		{"migrate", "up", "postgresql://plaza:swordfish@db/plaza"},
	} {
		code, _, stderr := plaza(t, args...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, stderr, "unknown argument which is not shown")
		require.NotContains(t, stderr, "swordfish")
	}
}

func TestScrub(t *testing.T) {
	cfg := config.Config{
		DatabaseURL:   dburl.MustParse("postgresql://plaza:hunter%2F2@db/plaza?password=swordfish"),
		DatabaseURLEU: dburl.MustParse("postgresql://plaza@eu/plaza"),
	}
	text := scrub("at "+cfg.DatabaseURL.Reveal()+": hunter/2, hunter%2F2 and swordfish are wrong at eu", cfg)
	for _, secret := range []string{"hunter", "swordfish"} {
		require.NotContains(t, text, secret)
	}
	require.Contains(t, text, "are wrong at eu")
}

func TestTerminationLogNeedsDirectory(t *testing.T) {
	path, _ := terminationLog(t)
	require.Error(t, writeTerminationLog(filepath.Join(path, "no", "folder"), "x"))
}

func TestVersionJSON(t *testing.T) {
	code, stdout, _ := plaza(t, "version", "--json")
	require.Zero(t, code)
	var v map[string]any
	require.NoError(t, json.Unmarshal([]byte(stdout), &v))
	require.InDelta(t, float64(db.TargetVersion()), v["schema"], 0)
	for _, field := range []string{"version", "revision", "goVersion"} {
		require.NotEmpty(t, v[field], field)
	}
}

// TestMigrateDatabaseOfAnotherNetwork checks that the first migration decides to which network a database belongs, and that the
// migration of another one changes no row. A migration without the network's id and key is not refused: it knows no better.
func TestMigrateDatabaseOfAnotherNetwork(t *testing.T) {
	url := testdb.New(t)
	up := func(network, key string) (code int, log string) {
		path, last := terminationLog(t)
		code, _, _ = plaza(t, "migrate", "up", "--database-url", url, "--network-id", strings.Repeat(network, 24), "--directory-key",
			strings.Repeat(key, 32), "--termination-log", path)
		return code, last()
	}
	for range 2 {
		code, log := up("a", "k")
		require.Zero(t, code, log)
	}
	before := settingsOf(t, url)
	require.Len(t, before, 3, "one of each home")
	for _, other := range [][2]string{{"b", "k"}, {"a", "l"}} {
		code, log := up(other[0], other[1])
		require.Equal(t, exitError, code)
		_, text := statusz.ReadMigration(log)
		require.Equal(t, statusz.OtherNetwork+": each network needs a database of its own", text)
		require.Equal(t, before, settingsOf(t, url))
	}
	code, _, stderr := plaza(t, "migrate", "up", "--database-url", url)
	require.Zero(t, code, stderr)
}

// settingsOf returns the rows of the settings with their times.
func settingsOf(t *testing.T, url string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	rows, err := conn.Query(t.Context(), `SELECT home || name || value::text || changed_at::text FROM settings ORDER BY 1`)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return all
}
