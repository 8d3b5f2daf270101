package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// daemon is a program that runs on when this one has ended. Its name is that of its log and of the file with its number.
type daemon struct {
	name string
	args []string // program first
	user *syscall.Credential
}

// start starts a daemon unless it runs already.
func (c cluster) start(d daemon) error {
	if c.running(d.name) {
		return nil
	}
	program, err := exec.LookPath(d.args[0])
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.logFile(d.name)), 0o755); err != nil {
		return err
	}
	log, err := os.OpenFile(c.logFile(d.name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the daemon has its own copy
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer func() { _ = null.Close() }()
	// A session of its own: neither Ctrl-C nor the end of the terminal reaches it.
	process, err := os.StartProcess(program, d.args, &os.ProcAttr{
		Dir: "/", Env: os.Environ(), Files: []*os.File{null, log, log},
		Sys: &syscall.SysProcAttr{Setsid: true, Credential: d.user},
	})
	if err != nil {
		return fmt.Errorf("starting %s: %w", d.name, err)
	}
	go func() { _, _ = process.Wait() }() // so that one that ends at once is seen to have ended
	began, err := startTime(process.Pid)
	if err != nil {
		return fmt.Errorf("%s ended at once: %s", d.name, c.lastWords(d.name))
	}
	return write(c.pidFile(d.name), fmt.Sprintf("%d %s\n", process.Pid, began))
}

func (c cluster) pidFile(name string) string { return c.path("run", name+".pid") }
func (c cluster) logFile(name string) string { return c.path("log", name+".log") }

func (c cluster) lastWords(name string) string {
	text, err := os.ReadFile(c.logFile(name))
	if err != nil {
		return err.Error()
	}
	return lastLines(string(text), 8)
}

// running tells whether the daemon lives.
func (c cluster) running(name string) bool { return c.pid(name) != 0 }

// pid returns the number of the daemon's process, or 0. A number that was given to another process since does not count:
// the file also has the time at which the process began.
func (c cluster) pid(name string) int {
	text, err := os.ReadFile(c.pidFile(name))
	if err != nil {
		return 0
	}
	number, began, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	pid, err := strconv.Atoi(number)
	if err != nil || pid <= 1 {
		return 0
	}
	if now, err := startTime(pid); err != nil || now != began {
		return 0
	}
	return pid
}

// startTime returns when a process began, as the kernel counts, or an error when it has ended.
func startTime(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// The name in parentheses may hold anything; the state and the time are the 1st and 20th field after it.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return "", errors.New("it has ended")
	}
	return fields[19], nil
}

// stop ends a daemon: politely, then, after grace, at once.
func (c cluster) stop(ctx context.Context, name string, polite syscall.Signal, grace time.Duration) error {
	pid := c.pid(name)
	if pid == 0 {
		return os.RemoveAll(c.pidFile(name))
	}
	if err := end(ctx, pid, polite, grace); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.Remove(c.pidFile(name))
}

// end ends one process.
func end(ctx context.Context, pid int, polite syscall.Signal, grace time.Duration) error {
	began, err := startTime(pid)
	if err != nil {
		return nil //nolint:nilerr // it has ended already
	}
	gone := func(context.Context) error {
		if now, err := startTime(pid); err == nil && now == began {
			return fmt.Errorf("process %d still runs", pid)
		}
		return nil
	}
	_ = syscall.Kill(pid, polite)
	if within(ctx, grace, "waiting", gone) == nil {
		return nil
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	return within(ctx, 10*time.Second, "ending", gone)
}
