package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/statusz"
)

// backupDestinations are flags with a bucket for each home.
func backupDestinations() []string {
	return []string{"--destination", "us=s3://b-us/plaza", "--destination", "eu=s3://b-eu", "--destination", "sg=gs://b-sg"}
}

func TestMigrateBackupsOnPostgreSQL(t *testing.T) {
	if testdb.Cockroach(t) {
		t.Skip("the database is CockroachDB")
	}
	path, last := terminationLog(t)
	args := append([]string{"migrate", "backups", "--database-url", testdb.New(t), "--schedule", "0 3 * * *", "--termination-log", path},
		backupDestinations()...)
	code, stdout, stderr := plaza(t, args...)
	require.Zero(t, code, stderr)
	require.Equal(t, "the database is PostgreSQL: back it up by its own means\n", stdout)
	report, text := statusz.ReadBackups(last())
	require.Equal(t, statusz.Backups{State: statusz.BackupsUnsupported}, report)
	require.Empty(t, text)
}

func TestMigrateBackupsRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		args    []string
		problem string
	}{
		"a home without bucket": {
			[]string{"--schedule", "@daily", "--destination", "us=s3://backups"},
			"--destination lacks eu: its rows would be stored with those of another home",
		},
		"a schedule that is not one": {append(backupDestinations(), "--schedule", "at night"), "--schedule: "},
		"another kind of address":    {[]string{"--schedule", "@daily", "--destination", "us=/backups"}, "must begin with s3:// or gs://"},
		"credentials that do not exist": {
			append(backupDestinations(), "--schedule", "@daily", "--credentials", "us="+t.TempDir()),
			"the credentials of the backups of us lack AWS_ACCESS_KEY_ID",
		},
		"a negative time of keeping": {
			append(backupDestinations(), "--schedule", "@daily", "--retention", "-1h"),
			"--retention must not be negative",
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, last := terminationLog(t)
			args := append([]string{"migrate", "backups", "--database-url", "postgresql://plaza@127.0.0.1:1/plaza", "--termination-log", path},
				c.args...)
			code, _, stderr := plaza(t, args...)
			require.Equal(t, exitUsage, code)
			require.Contains(t, stderr, c.problem)
			report, text := statusz.ReadBackups(last())
			require.Equal(t, statusz.BackupsFailed, report.State)
			require.Contains(t, text, c.problem)
		})
	}
}

func TestMigrateBackupsHidesCredentials(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{"AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "swordfish"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	}
	path, last := terminationLog(t)
	args := append([]string{
		"migrate", "backups", "--schedule", "@daily", "--credentials", "us=" + folder, "--termination-log", path,
		"--database-url", "postgresql://plaza:hunter2@127.0.0.1:1/plaza",
	}, backupDestinations()...)
	code, stdout, stderr := plaza(t, args...)
	require.Equal(t, exitTransient, code)
	for _, secret := range []string{"swordfish", "hunter2"} {
		require.NotContains(t, stdout+stderr+last(), secret)
	}
	run := backupRunOf(t, "us="+folder)
	require.Equal(t, "refused with [redacted] and [redacted]", run.scrub("refused with AKIA and swordfish"))
}

func backupRunOf(t *testing.T, credentials ...string) *backupRun {
	t.Helper()
	run, err := newBackupRun(config.Config{PrimaryRegion: region.EU}, backupFlags{
		schedule: "@daily", credentials: credentials, destinations: []string{"us=s3://b-us", "eu=s3://b-eu", "sg=gs://b-sg"},
	})
	require.NoError(t, err)
	return run
}

// TestBackupURIs checks that rows go to the bucket of their home, and the rest to that of the primary region.
func TestBackupURIs(t *testing.T) {
	run := backupRunOf(t)
	run.cfg.LocalityUS, run.cfg.LocalityEU, run.cfg.LocalitySG = "us-east1", "europe-west1", "asia-southeast1"
	require.Equal(t, []string{
		"s3://b-us?AUTH=implicit&COCKROACH_LOCALITY=region%3Dus-east1",
		"s3://b-eu?AUTH=implicit&COCKROACH_LOCALITY=default",
		"gs://b-sg?AUTH=implicit&COCKROACH_LOCALITY=region%3Dasia-southeast1",
	}, run.uris())

	one, err := newBackupRun(config.Config{},
		backupFlags{schedule: "@daily", destinations: []string{"us=s3://one", "eu=s3://one", "sg=s3://one"}})
	require.NoError(t, err)
	require.Equal(t, []string{"s3://one?AUTH=implicit"}, one.uris())

	endpoints, err := newBackupRun(config.Config{}, backupFlags{schedule: "@daily", destinations: []string{
		"us=s3://one?endpoint=https://us.example.com", "eu=s3://one?endpoint=https://eu.example.com",
		"sg=s3://one?endpoint=https://us.example.com",
	}})
	require.NoError(t, err)
	require.Len(t, endpoints.uris(), 3, "buckets of one name at different endpoints")
	require.Len(t, endpoints.distinct(), 2)
}

func TestDescribeBackups(t *testing.T) {
	at := time.Date(2026, 11, 2, 3, 4, 5, 0, time.UTC)
	for want, b := range map[string]statusz.Backups{
		"backups are scheduled; none has succeeded yet": {State: statusz.BackupsScheduled},
		"backups are scheduled; the last one failed: no bucket": {
			State: statusz.BackupsScheduled, LastError: "no bucket",
			LastSuccess: at,
		},
		"backups are scheduled; the last one succeeded at 2026-11-02T03:04:05Z": {State: statusz.BackupsScheduled, LastSuccess: at},
		"the database has no backup schedule of Plaza":                          {State: statusz.BackupsRemoved},
	} {
		require.Equal(t, want, describeBackups(b))
	}
}

// TestBackupsToKeep checks that the newest successful backup is never deleted, however old it is.
func TestBackupsToKeep(t *testing.T) {
	now := time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)
	week := 7 * 24 * time.Hour
	require.Equal(t, now.Add(-week), oldestKept(now.Add(-time.Hour), now, week))
	require.Equal(t, now.Add(-week-12*time.Hour), oldestKept(now.Add(-week+12*time.Hour), now, week), "it may have begun a day before its end")
	require.Equal(t, now.Add(-3*week-24*time.Hour), oldestKept(now.Add(-3*week), now, week))
}

// TestPruneBackups deletes old backups in the buckets of all homes, once in a bucket that homes share.
func TestPruneBackups(t *testing.T) {
	var deleted []string
	refused := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case refused:
			w.WriteHeader(http.StatusForbidden)
		case r.Method == http.MethodDelete:
			deleted = append(deleted, r.URL.Path)
			w.WriteHeader(http.StatusNoContent)
		case r.Method == http.MethodHead:
			w.Header().Set("Last-Modified", "Wed, 01 Jan 2025 00:00:00 GMT")
			w.Header().Set("Etag", `"0123456789abcdef0123456789abcdef"`)
		default:
			content := `<LastModified>2025-01-01T00:00:00Z</LastModified><ETag>"0123456789abcdef0123456789abcdef"</ETag><Size>1</Size></Contents>`
			_, _ = io.WriteString(w, `<ListBucketResult><IsTruncated>false</IsTruncated>`+
				`<Contents><Key>2026/11/22-000000.00/x</Key>`+content+`<Contents><Key>2026/11/24-000000.00/x</Key>`+content+`</ListBucketResult>`)
		}
	}))
	t.Cleanup(server.Close)
	folder := t.TempDir()
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("x"), 0o600))
	}
	at := "?region=us-east-1&endpoint=" + server.URL
	f := backupFlags{schedule: "@daily", credentials: []string{"us=" + folder, "eu=" + folder, "sg=" + folder}}
	f.destinations = []string{"us=s3://one" + at, "eu=s3://two" + at, "sg=s3://one" + at}
	run, err := newBackupRun(config.Config{}, f)
	require.NoError(t, err)
	now := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

	require.NoError(t, run.prune(t.Context(), now, now))
	require.Empty(t, deleted, "all are kept")
	run.flags.retention = 7 * 24 * time.Hour
	require.NoError(t, run.prune(t.Context(), time.Time{}, now))
	require.Empty(t, deleted, "no backup has succeeded yet")
	require.NoError(t, run.prune(t.Context(), now, now))
	require.Equal(t, []string{"/one/2026/11/22-000000.00/x", "/two/2026/11/22-000000.00/x"}, deleted)
	refused = true
	require.ErrorContains(t, run.prune(t.Context(), now, now), "the retention of the backups of us: list the backups")
}
