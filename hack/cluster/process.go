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

// daemon is a program that keeps running when this one exits. Its name is also that of its log file and pid file.
type daemon struct {
	name string
	args []string // program first
	user *syscall.Credential
}

// start starts a daemon unless it is already running.
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
	defer func() { _ = log.Close() }() // the daemon has its own descriptor
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer func() { _ = null.Close() }()
	// A new session: signals of the terminal do not reach it.
	process, err := os.StartProcess(program, d.args, &os.ProcAttr{
		Dir: "/", Env: os.Environ(), Files: []*os.File{null, log, log},
		Sys: &syscall.SysProcAttr{Setsid: true, Credential: d.user},
	})
	if err != nil {
		return fmt.Errorf("starting %s: %w", d.name, err)
	}
	go func() { _, _ = process.Wait() }() // reaps the process if it exits immediately
	began, err := startTime(process.Pid)
	if err != nil {
		return fmt.Errorf("%s exited immediately: %s", d.name, c.lastWords(d.name))
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

// running reports whether the daemon is running.
func (c cluster) running(name string) bool { return c.pid(name) != 0 }

// pid returns the daemon's process id, or 0 if it is not running. The pid file also contains the process's start time,
// to detect reused process ids.
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

// startTime returns the start time of a process as recorded by the kernel, or an error if it has exited.
func startTime(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// The name in parentheses can contain anything; state and start time are the 1st and 20th field after it.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return "", errors.New("the process has exited")
	}
	return fields[19], nil
}

// stop stops a daemon with the signal polite and, after the grace period, with SIGKILL.
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

// end stops one process.
func end(ctx context.Context, pid int, polite syscall.Signal, grace time.Duration) error {
	began, err := startTime(pid)
	if err != nil {
		return nil //nolint:nilerr // it has already exited
	}
	gone := func(context.Context) error {
		if now, err := startTime(pid); err == nil && now == began {
			return fmt.Errorf("process %d is still running", pid)
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
