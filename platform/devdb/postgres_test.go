package devdb

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func startPersistent(t *testing.T, dir string) *DB {
	t.Helper()
	db, err := start(t.Context(), Options{Dir: dir}, postgresOnly())
	require.NoError(t, err)
	t.Cleanup(func() { stopDB(t, db) })
	return db
}

func stopDB(t *testing.T, db *DB) {
	t.Helper()
	require.NoError(t, db.Stop(context.WithoutCancel(t.Context())))
}

func TestSecondStartFindsTheData(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	db := startPersistent(t, dir)
	require.Equal(t, PostgreSQL, db.Engine())
	execute(t, db.URL(), "CREATE TABLE kept AS SELECT 42 AS answer")
	stopDB(t, db)
	<-db.Died()
	require.Error(t, execOn(t.Context(), db.URL(), "SELECT 1"), "the server has exited")

	db = startPersistent(t, dir)
	require.Equal(t, 42, query[int](t, db.URL(), "SELECT answer FROM kept"))
}

// t.TempDir creates directories with mode 0700 for this user. If the tests run as root, PostgreSQL's user cannot access
// them.
func TestInaccessibleDataDirectory(t *testing.T) {
	t.Parallel()
	locked := filepath.Join(t.TempDir(), "locked")
	require.NoError(t, os.Mkdir(locked, 0o700))
	dir := filepath.Join(locked, "data")
	for _, want := range []int{0, 1} {
		db := startPersistent(t, dir)
		execute(t, db.URL(), "CREATE TABLE IF NOT EXISTS kept (i INT)")
		require.Equal(t, want, query[int](t, db.URL(), "SELECT count(*) FROM kept"))
		execute(t, db.URL(), "INSERT INTO kept VALUES (1)")
		stopDB(t, db)
	}
}

func TestDataIsPrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	startPersistent(t, dir)
	for name, want := range map[string]fs.FileMode{
		"":                  0o700,
		"postgres/data":     0o700,
		"postgres/password": 0o600,
		"postgres/log":      0o600,
		lockName:            0o600,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, want, info.Mode().Perm(), name)
	}
}

func TestServerSettings(t *testing.T) {
	t.Parallel()
	durable := startPersistent(t, t.TempDir())
	quick, err := start(t.Context(), Options{Ephemeral: true}, postgresOnly())
	require.NoError(t, err)
	defer stopDB(t, quick)
	for setting, want := range map[string][2]string{
		"fsync":              {"on", "off"},
		"synchronous_commit": {"on", "off"},
		"full_page_writes":   {"on", "off"},
		"listen_addresses":   {"127.0.0.1", "127.0.0.1"},
		"max_connections":    {"300", "800"},
		"server_encoding":    {"UTF8", "UTF8"},
		"lc_collate":         {"C.UTF-8", "C.UTF-8"},
		"TimeZone":           {"UTC", "UTC"},
	} {
		require.Equal(t, want[0], query[string](t, durable.URL(), "SHOW "+setting), setting)
		require.Equal(t, want[1], query[string](t, quick.URL(), "SHOW "+setting), setting)
	}
}

func TestPasswordIsRequired(t *testing.T) {
	t.Parallel()
	db := startPersistent(t, t.TempDir())
	_, password, _ := cutPassword(t, db.URL())
	require.Len(t, password, 48)
	wrong, _, _ := cutPassword(t, db.URL())
	require.ErrorContains(t, execOn(t.Context(), wrong, "SELECT 1"), "28P01")
}

func TestEphemeralLeavesNothing(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	db, err := start(t.Context(), Options{Ephemeral: true}, postgresOnly())
	require.NoError(t, err)
	require.Equal(t, 1, query[int](t, db.URL(), "SELECT 1"))
	require.NotEmpty(t, entries(t, tmp))
	stopDB(t, db)
	require.Empty(t, entries(t, tmp))
	stopDB(t, db) // idempotent
}

func TestEphemeralLeavesNothingWhenItsProgramIsKilled(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	h := startHolder(t, "none", nil, "DEVDB_TEST_EPHEMERAL=1", "TMPDIR="+tmp)
	require.NotEmpty(t, entries(t, tmp))
	h.kill(t)
	eventually(t, func() bool { return len(entries(t, tmp)) == 0 }, "the guard removes the data")
	require.Error(t, execOn(t.Context(), h.url, "SELECT 1"))
}

func TestInterruptDoesNotReachTheServer(t *testing.T) {
	t.Parallel()
	h := startHolder(t, t.TempDir(), nil)
	require.NoError(t, syscall.Kill(-h.cmd.Process.Pid, syscall.SIGINT))
	execute(t, h.url, "SELECT pg_sleep(0.2)") // fails if the server received the signal
	h.finish(t)
}

func TestKilledProgramLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := startHolder(t, dir, nil)
	execute(t, h.url, "CREATE TABLE kept AS SELECT 42 AS answer")
	h.kill(t)
	db := startPersistent(t, dir) // without delay: the guard may still be stopping the old server
	require.Equal(t, 42, query[int](t, db.URL(), "SELECT answer FROM kept"))
}

func TestOrphanIsStopped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := startHolder(t, dir, nil)
	execute(t, h.url, "CREATE TABLE kept AS SELECT 42 AS answer")
	require.NoError(t, syscall.Kill(guardOf(t, h.cmd.Process.Pid), syscall.SIGKILL))
	h.kill(t)
	require.NoError(t, execOn(t.Context(), h.url, "SELECT 1"), "still running")

	db := startPersistent(t, dir)
	require.Equal(t, 42, query[int](t, db.URL(), "SELECT answer FROM kept"))
	require.Error(t, execOn(t.Context(), h.url, "SELECT 1"), "the orphan was stopped")
}

func TestKilledServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := startHolder(t, dir, nil)
	execute(t, h.url, "CREATE TABLE kept AS SELECT 42 AS answer")
	pid, err := readPid(filepath.Join(dir, "postgres", dataName, pidName))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	h.finish(t)
	db := startPersistent(t, dir)
	require.Equal(t, 42, query[int](t, db.URL(), "SELECT answer FROM kept"))
}

func TestPidFileOfAnotherProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stopDB(t, startPersistent(t, dir))
	other := exec.Command("sleep", "600")
	require.NoError(t, other.Start())
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	pidFile := filepath.Join(dir, "postgres", dataName, pidName)
	require.NoError(t, os.WriteFile(pidFile, []byte(strconv.Itoa(other.Process.Pid)+"\n"), 0o600))
	startPersistent(t, dir)
	require.NoError(t, other.Process.Signal(syscall.Signal(0)), "not stopped")
}

func TestInterruptedFirstStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fresh := filepath.Join(dir, "postgres", freshName)
	require.NoError(t, os.MkdirAll(filepath.Join(fresh, "base"), 0o700))
	require.NoError(t, os.Chmod(filepath.Dir(fresh), 0o711))
	startPersistent(t, dir)
	require.NoDirExists(t, fresh)
}

func TestFolderInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	startPersistent(t, dir)
	_, err := start(t.Context(), Options{Dir: dir}, postgresOnly())
	require.ErrorIs(t, err, ErrInUse)
	require.ErrorContains(t, err, "process "+strconv.Itoa(os.Getpid()))
}

func TestDataOfAnotherVersion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "postgres", dataName)
	require.NoError(t, os.MkdirAll(data, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte("9\n"), 0o600))
	_, err := start(t.Context(), Options{Dir: dir}, postgresOnly())
	require.ErrorContains(t, err, "was created by PostgreSQL 9")
}

func TestCancelledStartLeavesNothing(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := start(ctx, Options{Ephemeral: true}, postgresOnly())
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, entries(t, tmp))
}

// TestPlainUser runs hold as a user without privileges. If the tests run as one, all other tests do that as well.
func TestPlainUser(t *testing.T) {
	t.Parallel()
	var who *owner
	dir := t.TempDir()
	if os.Geteuid() == 0 {
		var err error
		who, err = lookupOwner("nobody")
		require.NoError(t, err)
		dir = openFolderFor(t, who)
	}
	for _, want := range []int{0, 1} {
		h := startHolder(t, filepath.Join(dir, "data"), who)
		execute(t, h.url, "CREATE TABLE IF NOT EXISTS kept (i INT)")
		require.Equal(t, want, query[int](t, h.url, "SELECT count(*) FROM kept"))
		execute(t, h.url, "INSERT INTO kept VALUES (1)")
		h.finish(t)
	}
}

// TestRootContinuesAsTheOwner starts as root on data created by a plain user, as after an accidental sudo, and vice
// versa.
func TestRootContinuesAsTheOwner(t *testing.T) {
	t.Parallel()
	var who *owner
	dir := t.TempDir()
	if os.Geteuid() == 0 {
		var err error
		who, err = lookupOwner("nobody")
		require.NoError(t, err)
		dir = openFolderFor(t, who)
	}
	for i, user := range []*owner{who, nil, who} {
		h := startHolder(t, filepath.Join(dir, "data"), user)
		execute(t, h.url, "CREATE TABLE IF NOT EXISTS kept (i INT)")
		require.Equal(t, i, query[int](t, h.url, "SELECT count(*) FROM kept"))
		execute(t, h.url, "INSERT INTO kept VALUES (1)")
		h.finish(t)
	}
}

func TestCreateDatabase(t *testing.T) {
	t.Parallel()
	db := startPersistent(t, t.TempDir())
	other, err := CreateDatabase(t.Context(), db.URL(), `od"d name`)
	require.NoError(t, err)
	require.Equal(t, `od"d name`, query[string](t, other, "SELECT current_database()"))
	again, err := CreateDatabase(t.Context(), db.URL(), `od"d name`)
	require.NoError(t, err)
	require.Equal(t, other, again)
	require.NoError(t, DropDatabase(t.Context(), db.URL(), `od"d name`))
	require.Error(t, execOn(t.Context(), other, "SELECT 1"))
}

func TestExternal(t *testing.T) {
	t.Parallel()
	server := startPersistent(t, t.TempDir())
	find := finder{getenv: func(name string) string { return map[string]string{"PLAZA_DATABASE_URL": server.URL() + "\n"}[name] }}

	db, err := start(t.Context(), Options{}, find)
	require.NoError(t, err)
	require.Equal(t, External, db.Engine())
	require.Equal(t, server.URL(), db.URL())
	stopDB(t, db)
	execute(t, server.URL(), "SELECT 1") // still running

	db, err = start(t.Context(), Options{Ephemeral: true}, find)
	require.NoError(t, err)
	require.NotEqual(t, server.URL(), db.URL())
	execute(t, db.URL(), "CREATE TABLE t (i INT)")
	stopDB(t, db)
	require.Error(t, execOn(t.Context(), db.URL(), "SELECT 1"), "dropped")
}

func TestExternalIsInvalid(t *testing.T) {
	t.Parallel()
	find := finder{getenv: func(string) string { return "postgresql://plaza:p@hunter#2@127.0.0.1:1/plaza" }}
	_, err := start(t.Context(), Options{}, find)
	require.ErrorContains(t, err, "PLAZA_DATABASE_URL: the database URL has an @, /, ? or # in an unexpected place")
	require.NotContains(t, err.Error(), "hunter")
}

func TestExternalDoesNotRespond(t *testing.T) {
	t.Parallel()
	find := finder{getenv: func(string) string { return "postgresql://plaza:hunter2@127.0.0.1:1/plaza" }}
	_, err := start(t.Context(), Options{}, find)
	require.ErrorContains(t, err, "PLAZA_DATABASE_URL")
	require.NotContains(t, err.Error(), "hunter2")
}
