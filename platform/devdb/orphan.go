package devdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// pidName is the pid file of PostgreSQL; its first line is the process id.
const pidName = "postmaster.pid"

// stopOrphan stops a server that a crashed program left running in folder, according to its pid file. The caller holds
// the lock, so no running program uses that server.
func stopOrphan(ctx context.Context, log *slog.Logger, folder, pidFile string) error {
	pid, err := readPid(pidFile)
	if err != nil || pid == 0 {
		return err
	}
	if !runsIn(pid, folder) {
		return removeStalePid(pid, pidFile)
	}
	log.WarnContext(ctx, "stopping an orphaned database server", "pid", pid)
	for _, step := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGINT, 15 * time.Second}, {syscall.SIGQUIT, 5 * time.Second}, {syscall.SIGKILL, 5 * time.Second}} {
		_ = syscall.Kill(pid, step.signal) // fails if it has just exited
		if waitGone(ctx, pid, folder, step.wait) {
			return nil
		}
	}
	return errors.Join(ctx.Err(), fmt.Errorf("the database server in %[2]s (process %[1]d) does not exit", pid, folder))
}

// removeStalePid removes the pid file if its process id now belongs to another process: PostgreSQL would consider that
// a running server and refuse to start. If the process does not exist, PostgreSQL handles that itself.
func removeStalePid(pid int, pidFile string) error {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return os.Remove(pidFile)
}

// readPid returns the process id in the file at path; or 0 if the file does not exist or holds no number.
func readPid(path string) (int, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 1 {
		return 0, nil //nolint:nilerr // PostgreSQL reports an invalid file if necessary
	}
	return pid, nil
}

// runsIn reports whether the process has folder as its working directory. This distinguishes a database server from an
// unrelated process with the same id; zombies have no working directory.
func runsIn(pid int, folder string) bool {
	want, err := os.Stat(folder)
	if err != nil {
		return false
	}
	if got, err := os.Stat(fmt.Sprintf("/proc/%d/cwd", pid)); err == nil {
		return os.SameFile(want, got)
	}
	if _, err := os.Stat("/proc/self/cwd"); err == nil {
		return false
	}
	out, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output() // systems without /proc
	return err == nil && strings.Contains(string(out), folder)
}

func waitGone(ctx context.Context, pid int, folder string, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for runsIn(pid, folder) {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
	return true
}
