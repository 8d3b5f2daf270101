package devdb

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// patience is how long tests wait for what must happen. Only a test that fails waits that long.
const patience = 2 * time.Minute

// TestMain lets the test binary act as other programs: a holder of a database in a separate process, and a CockroachDB.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv("DEVDB_TEST_HOLD") != "":
		os.Exit(hold())
	case os.Getenv("DEVDB_TEST_COCKROACH") != "":
		os.Exit(playCockroach(os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// hold starts a database according to the environment, prints its URL and its server's process id, and stops it cleanly
// at the end of its input.
func hold() int {
	signal.Ignore(syscall.SIGINT) // like a program that is finishing its requests
	ctx := context.Background()
	db, err := start(ctx, Options{Dir: os.Getenv("DEVDB_TEST_HOLD"), Ephemeral: os.Getenv("DEVDB_TEST_EPHEMERAL") != ""}, postgresOnly())
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	fmt.Println(db.URL())
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := db.Stop(ctx); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	return 0
}

// postgresOnly returns a finder that finds this machine's PostgreSQL and no other engine.
func postgresOnly() finder {
	f := systemFinder()
	look := f.lookPath
	f.getenv = func(string) string { return "" }
	f.lookPath = func(name string) (string, error) {
		if name == "cockroach" {
			return "", exec.ErrNotFound
		}
		return look(name)
	}
	return f
}

// holder is a process that runs hold.
type holder struct {
	cmd   *exec.Cmd
	input io.Closer
	url   string
}

// startHolder runs hold on dir as the user who, or as this user if nil, with additional environment variables.
func startHolder(t *testing.T, dir string, who *owner, env ...string) *holder {
	t.Helper()
	cmd := exec.Command(program(t, who))
	cmd.Env = append(os.Environ(), append(env, "DEVDB_TEST_HOLD="+dir)...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's foreground group
	if who != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: who.uid, Gid: who.gid}
	}
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(output).ReadString('\n')
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(line, "postgresql://"), line)
	return &holder{cmd: cmd, input: input, url: strings.TrimSpace(line)}
}

// program returns a copy of the test binary that who can run: the Go tool builds it in a private directory.
func program(t *testing.T, who *owner) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	if who == nil {
		return self
	}
	dir := openFolderFor(t, who)
	code, err := os.ReadFile(self)
	require.NoError(t, err)
	path := filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(path, code, 0o755))
	return path
}

// openFolderFor returns a directory that who owns and can access, unlike that of t.TempDir.
func openFolderFor(t *testing.T, who *owner) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "devdb-test-") //nolint:usetesting // see above
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, who.chown(dir))
	return dir
}

// finish stops the holder cleanly.
func (h *holder) finish(t *testing.T) {
	t.Helper()
	require.NoError(t, h.input.Close())
	require.NoError(t, h.cmd.Wait())
}

// kill stops the holder like a crash.
func (h *holder) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, h.cmd.Process.Kill())
	_ = h.cmd.Wait()
}

// guardOf returns the process id of the guard started by the process parent.
func guardOf(t *testing.T, parent int) int {
	t.Helper()
	out, err := exec.Command("ps", "-o", "pid=,args=", "--ppid", strconv.Itoa(parent)).Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "plaza-database-guard") {
			pid, err := strconv.Atoi(strings.Fields(line)[0])
			require.NoError(t, err)
			return pid
		}
	}
	require.Fail(t, "no guard found")
	return 0
}

func query[T any](t *testing.T, url, sql string) T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	var v T
	require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&v))
	return v
}

func execute(t *testing.T, url, sql string) {
	t.Helper()
	require.NoError(t, execOn(t.Context(), url, sql))
}

// eventually waits for a condition that depends on another process.
func eventually(t *testing.T, condition func() bool, what string) {
	t.Helper()
	require.Eventually(t, condition, patience, 20*time.Millisecond, what)
}
