package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// endStrays stops remaining processes of the cluster: container shims that outlived their runtime, and everything if
// the state directory with the pid files was removed before down.
func (c cluster) endStrays(ctx context.Context) error {
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range lines {
		line, err := os.ReadFile(path)
		if err != nil || !isOurs(string(line), c.dir) {
			continue
		}
		pid, err := strconv.Atoi(strings.Split(path, "/")[2])
		if err != nil || pid <= 1 {
			continue
		}
		// The container's process would keep running without its shim.
		if strings.Contains(string(line), shim) {
			for _, child := range childrenOf(pid) {
				errs = append(errs, end(ctx, child, syscall.SIGKILL, briefly))
			}
		}
		errs = append(errs, end(ctx, pid, syscall.SIGTERM, 3*time.Second))
	}
	return errors.Join(errs...)
}

const shim = "containerd-shim-runc-v2"

// ours are the programs that the cluster starts, directly or indirectly.
var ours = []string{
	"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "coredns", "containerd",
	"postgres", shim,
}

// isOurs reports whether a process, given its command line, is one of our programs working in folder.
func isOurs(line, folder string) bool {
	args := strings.Split(line, "\x00")
	return slices.Contains(ours, filepath.Base(args[0])) &&
		slices.ContainsFunc(args[1:], func(arg string) bool { return strings.Contains(arg, folder+"/") })
}

// childrenOf returns the child processes of a process, which the kernel lists per thread.
func childrenOf(pid int) []int {
	lists, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	if err != nil {
		return nil
	}
	var children []int
	for _, path := range lists {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has exited
		}
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil && child > 1 {
				children = append(children, child)
			}
		}
	}
	return children
}
