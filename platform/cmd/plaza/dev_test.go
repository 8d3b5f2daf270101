package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
)

// devProcess is a plaza dev in a separate process.
type devProcess struct {
	cmd    *exec.Cmd
	dir    string
	output *bufio.Reader
	errors *strings.Builder
}

// startDev starts plaza dev on dir and free ports, and returns when it is ready, with its output until then.
func startDev(t *testing.T, dir string, args ...string) (*devProcess, string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	args = append([]string{"dev", "--data-dir", dir, "--port", "0"}, args...)
	p := &devProcess{cmd: exec.CommandContext(within(t), self, args...), dir: dir, errors: &strings.Builder{}}
	p.cmd.Env = append(os.Environ(), "PLAZA_TEST_BE_PLAZA=1")
	p.cmd.Stderr = p.errors
	output, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	p.output = bufio.NewReader(output)
	var printed strings.Builder
	for {
		line, err := p.output.ReadString('\n')
		if err != nil {
			_ = p.cmd.Wait()
			require.Fail(t, "plaza dev ended", p.errors.String())
		}
		printed.WriteString(line)
		if line == "plaza: ready\n" {
			return p, printed.String()
		}
	}
}

// stop sends a signal and expects a clean exit.
func (p *devProcess) stop(t *testing.T, signal os.Signal) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(signal))
	rest, err := io.ReadAll(p.output)
	require.NoError(t, err)
	require.Empty(t, string(rest))
	require.NoError(t, p.cmd.Wait(), p.errors.String())
	require.Empty(t, p.errors.String())
}

func (p *devProcess) facts(t *testing.T) devFacts {
	t.Helper()
	var f devFacts
	text, err := os.ReadFile(filepath.Join(p.dir, devFileName))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &f))
	return f
}

func statusOf(t *testing.T, url string) int {
	t.Helper()
	resp, err := http.Get(url)
	require.NoError(t, err)
	_, _ = io.Copy(io.Discard, resp.Body)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

func onDatabase(t *testing.T, url, sql string) error {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	_, err = conn.Exec(t.Context(), sql)
	return err
}

func TestDev(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	p, printed := startDev(t, dir)
	first := p.facts(t)
	for _, home := range region.All() {
		require.Regexp(t, `^http://127\.0\.0\.1:[1-9]\d*$`, first.Regions[home].BaseURL)
		require.Regexp(t, `^http://127\.0\.0\.1:[1-9]\d*$`, first.Regions[home].OpsURL)
		require.Equal(t, http.StatusOK, statusOf(t, first.Regions[home].OpsURL+"/readyz"))
		require.Equal(t, http.StatusNotFound, statusOf(t, first.Regions[home].BaseURL+"/no/such/route"))
		require.Contains(t, printed, first.Regions[home].BaseURL)
	}
	for _, text := range []string{first.NetworkID, first.ServerKey, first.APIKey, first.MediaKey, first.AdminToken, first.DatabaseURL} {
		require.NotEmpty(t, text)
		require.Contains(t, printed, text)
	}
	require.Contains(t, printed, "curl -s "+first.Regions[region.EU].BaseURL+"/api/v5/sessions")
	require.NoError(t, onDatabase(t, first.DatabaseURL, "CREATE TABLE kept (i INT)"))
	p.stop(t, syscall.SIGTERM)
	require.Error(t, onDatabase(t, first.DatabaseURL, "SELECT 1"), "the database is stopped")
	requirePrivate(t, dir)

	p, _ = startDev(t, dir)
	second := p.facts(t)
	require.Equal(t, first.NetworkID, second.NetworkID)
	require.Equal(t, first.ServerKey, second.ServerKey)
	require.Equal(t, first.APIKey, second.APIKey)
	require.Equal(t, first.MediaKey, second.MediaKey)
	require.NoError(t, onDatabase(t, second.DatabaseURL, "SELECT * FROM kept"))
	p.stop(t, os.Interrupt)
}

// requirePrivate checks that other users cannot read anything directly in dir.
func requirePrivate(t *testing.T, dir string) {
	t.Helper()
	found, err := os.ReadDir(dir)
	require.NoError(t, err)
	names := map[string]bool{}
	for _, e := range found {
		names[e.Name()] = true
		if !e.IsDir() {
			info, err := e.Info()
			require.NoError(t, err)
			require.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), e.Name())
		}
	}
	for _, name := range []string{devFileName, "network-id", "directory-key", "server-keys.json", "api-keys.json", "signing-keys.json"} {
		require.True(t, names[name], name)
	}
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o700), info.Mode().Perm())
}

func TestDevEphemeralLeavesThePersistentNetworkAlone(t *testing.T) {
	dir := t.TempDir()
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	keys, err := ensureDevKeys(dir)
	require.NoError(t, err)
	p, printed := startDev(t, dir, "--ephemeral")
	require.NotEqual(t, keys.networkID, p.facts(t).NetworkID)
	require.Contains(t, printed, "a temporary directory that is removed at exit")
	p.stop(t, syscall.SIGTERM)
	require.NoFileExists(t, filepath.Join(dir, devFileName))
	require.NoDirExists(t, filepath.Join(dir, "postgres"))
	again, err := ensureDevKeys(dir)
	require.NoError(t, err)
	require.Equal(t, keys, again)
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestDevPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", local(0))
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	_, taken, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	code, stdout, stderr := plaza(t, "dev", "--data-dir", t.TempDir(), "--port", taken)
	require.Equal(t, 1, code)
	require.Empty(t, stdout)
	require.Equal(t, "plaza: port "+taken+" is in use: stop the program that uses it or choose other ports with --port\n", stderr)
}

// TestPortOf checks the ports of the regions, which follow each other.
func TestPortOf(t *testing.T) {
	for i, home := range region.All() {
		require.Equal(t, 8081+i, portOf(8081, home))
	}
}

func TestDevFolderInUse(t *testing.T) {
	dir := t.TempDir()
	p, _ := startDev(t, dir, "--ephemeral")
	code, _, stderr := plaza(t, "dev", "--data-dir", dir, "--port", "0")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "plaza: flag --data-dir: "+dir+" is in use by another program, process "+strconv.Itoa(p.cmd.Process.Pid))
	require.FileExists(t, filepath.Join(dir, devFileName))
	p.stop(t, syscall.SIGTERM)
}

// TestDevDatabaseExits kills the database server of a running network.
func TestDevDatabaseExits(t *testing.T) {
	dir := t.TempDir()
	p, _ := startDev(t, dir)
	text, err := os.ReadFile(filepath.Join(dir, "postgres", "data", "postmaster.pid"))
	if err != nil {
		p.stop(t, syscall.SIGTERM) // CockroachDB, whose nodes have no such file
		return
	}
	pid, err := strconv.Atoi(strings.Split(string(text), "\n")[0])
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	err = p.cmd.Wait()
	require.Error(t, err)
	require.Equal(t, 1, p.cmd.ProcessState.ExitCode())
	require.Contains(t, p.errors.String(), "plaza: the database server exited unexpectedly")
}
