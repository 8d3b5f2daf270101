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

// endStrays ends what is left of the cluster: the processes that hold containers and outlive their runtime, and all of it
// when somebody removed the state folder, and the numbers in it, before the end.
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
		// The process that a container is would go on without the one that holds it.
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

// ours are the programs that the cluster starts, directly or not.
var ours = []string{
	"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "coredns", "containerd",
	"postgres", shim,
}

// isOurs tells from a process's command line, as the kernel has it, whether it is one of our programs at work in folder.
func isOurs(line, folder string) bool {
	args := strings.Split(line, "\x00")
	return slices.Contains(ours, filepath.Base(args[0])) &&
		slices.ContainsFunc(args[1:], func(arg string) bool { return strings.Contains(arg, folder+"/") })
}

// childrenOf returns the processes below one: the kernel lists them by the thread that they came from.
func childrenOf(pid int) []int {
	lists, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	if err != nil {
		return nil
	}
	var children []int
	for _, path := range lists {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // a thread that has ended
		}
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil && child > 1 {
				children = append(children, child)
			}
		}
	}
	return children
}
