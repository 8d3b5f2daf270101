package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// longestSocket is the kernel's limit for the length of a socket's path.
const longestSocket = 107

// needs are the required system programs and the Debian packages that contain them.
var needs = []struct{ program, packages string }{
	{"containerd", "containerd"},
	{"ctr", "containerd"},
	{"runc", "runc"},
	{"iptables", "iptables"},
	{"conntrack", "conntrack"},
	{"socat", "socat"},
	{"ethtool", "ethtool"},
	{"ip", "iproute2"},
	{"nsenter", "util-linux"},
	{"sysctl", "procps"},
}

// preflight checks whether this machine supports the cluster before anything is built. It installs missing packages if
// it can do so unattended. Other requirements are tested by using them.
func (c cluster) preflight(ctx context.Context) error {
	if runtime.GOOS != "linux" {
		return unsupported("it requires Linux network namespaces, which %s does not have; use kind", runtime.GOOS)
	}
	if os.Geteuid() != 0 {
		return unsupported("creating network namespaces requires root; use sudo, or kind with Docker")
	}
	if path := c.clusters()[0].socket(nodes[0]) + ".ttrpc"; len(path) > longestSocket {
		return unsupported("the path %s is too long for a socket; choose a shorter directory with -dir", path)
	}
	if err := errors.Join(c.checkOwner(ctx), c.install(ctx)); err != nil {
		return err
	}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	for _, try := range []func(context.Context) error{tryNamespace, c.tryOverlay, tryCgroup} {
		if err := try(ctx); err != nil {
			_ = os.Remove(c.dir) // removes it if it is empty
			return err
		}
	}
	return nil
}

// install installs missing packages with hack/apt.sh if this is Debian and the user is root.
func (c cluster) install(ctx context.Context) error {
	if packages := missing(); len(packages) > 0 {
		script := `source "$0/hack/apt.sh" && can_apt && apt_install "$@"`
		cmd := exec.CommandContext(ctx, "bash", append([]string{"-c", script, c.repo}, packages...)...)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil || len(missing()) > 0 {
			return unsupported("%s missing and could not be installed", strings.Join(packages, ", "))
		}
	}
	if _, err := findPostgres(); err == nil {
		return nil
	}
	if _, err := sh(ctx, filepath.Join(c.repo, "hack", "ensure-postgres.sh")); err != nil {
		return unsupported("%w", err)
	}
	return nil
}

// missing returns the packages of missing programs.
func missing() []string {
	var packages []string
	for _, need := range needs {
		if _, err := exec.LookPath(need.program); err != nil && !slices.Contains(packages, need.packages) {
			packages = append(packages, need.packages)
		}
	}
	if cniFolder() == "" {
		packages = append(packages, "containernetworking-plugins")
	}
	return packages
}

// tryNamespace tests creating a network namespace with a bridge, a link and packet filter rules.
func tryNamespace(ctx context.Context) error {
	const name = "plaza-try"
	_, _ = sh(ctx, "ip", "netns", "del", name) // removes the remains of an interrupted test
	if err := shAll(ctx, "ip netns add "+name); err != nil {
		return unsupported("cannot create a network namespace: %w", err)
	}
	defer func() { _, _ = sh(context.WithoutCancel(ctx), "ip", "netns", "del", name) }()
	in := "nsenter --net=/run/netns/" + name + " "
	for _, try := range []struct{ what, line string }{
		{"a bridge", "ip -n " + name + " link add try0 type bridge"},
		{"a pair of links", "ip -n " + name + " link add try1 type veth peer name try2"},
		{"packet filter rules", in + "iptables -t nat -A POSTROUTING -m comment --comment try -m statistic --mode random " +
			"--probability 0.5 -m conntrack --ctstate INVALID -j MARK --or-mark 0x4000"},
	} {
		if err := shAll(ctx, try.line); err != nil {
			return unsupported("cannot create %s: %w", try.what, err)
		}
	}
	return nil
}

// tryOverlay tests mounting an overlay, which containers use as root file system.
func (c cluster) tryOverlay(ctx context.Context) error {
	folder, err := os.MkdirTemp(c.dir, "try-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a remaining empty directory is harmless
	for _, name := range []string{"lower", "upper", "work", "merged"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o755); err != nil {
			return err
		}
	}
	options := fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", folder)
	if _, err := sh(ctx, "mount", "-t", "overlay", "overlay", "-o", options, folder+"/merged"); err != nil {
		return unsupported("cannot mount an overlay in %s; choose a directory on a regular file system with -dir: %w", c.dir, err)
	}
	_, err = sh(context.WithoutCancel(ctx), "umount", folder+"/merged")
	return err
}

// tryCgroup tests creating a cgroup like a container's, in version 1 or 2.
func tryCgroup(context.Context) error {
	root := "/sys/fs/cgroup"
	if !exists(root + "/cgroup.controllers") {
		root += "/memory"
	}
	folder := filepath.Join(root, "plaza-try")
	if err := os.Mkdir(folder, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return unsupported("cannot create a cgroup: %w", err)
	}
	return os.Remove(folder)
}
