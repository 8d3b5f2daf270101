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

// longestSocket is how long the kernel lets the path of a socket be.
const longestSocket = 107

// needs are the programs that come with the system, and Debian's packages that have them.
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

// preflight finds out whether this machine can carry the cluster before anything is built for it. What is missing is
// installed where that asks nobody; each other reason is tried out, not guessed.
func (c cluster) preflight(ctx context.Context) error {
	if runtime.GOOS != "linux" {
		return unsupported("its nodes are network namespaces, which %s does not have; use kind", runtime.GOOS)
	}
	if os.Geteuid() != 0 {
		return unsupported("making network namespaces needs root; use sudo, or kind with Docker")
	}
	if path := c.socket(nodes[0]) + ".ttrpc"; len(path) > longestSocket {
		return unsupported("%s is too long for a socket; choose a shorter folder with -dir", path)
	}
	if err := errors.Join(c.checkOwner(ctx), c.install(ctx)); err != nil {
		return err
	}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	for _, try := range []func(context.Context) error{tryNamespace, c.tryOverlay, tryCgroup} {
		if err := try(ctx); err != nil {
			_ = os.Remove(c.dir) // when it is empty: nothing was begun
			return err
		}
	}
	return nil
}

// install brings what is missing, by hack/apt.sh, where root may install Debian packages.
func (c cluster) install(ctx context.Context) error {
	if packages := missing(); len(packages) > 0 {
		script := `source "$0/hack/apt.sh" && can_apt && apt_install "$@"`
		cmd := exec.CommandContext(ctx, "bash", append([]string{"-c", script, c.repo}, packages...)...)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil || len(missing()) > 0 {
			return unsupported("it lacks %s, which could not be installed", strings.Join(packages, ", "))
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

// missing returns the packages of the programs that are not there.
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

// tryNamespace makes a network namespace with a bridge, a link and a rule of the packet filter in it.
func tryNamespace(ctx context.Context) error {
	const name = "plaza-try"
	_, _ = sh(ctx, "ip", "netns", "del", name) // of a try that was interrupted
	if err := shAll(ctx, "ip netns add "+name); err != nil {
		return unsupported("it does not let us make a network namespace: %w", err)
	}
	defer func() { _, _ = sh(context.WithoutCancel(ctx), "ip", "netns", "del", name) }()
	in := "nsenter --net=/run/netns/" + name + " "
	for _, try := range []struct{ what, line string }{
		{"a bridge", "ip -n " + name + " link add try0 type bridge"},
		{"a pair of links", "ip -n " + name + " link add try1 type veth peer name try2"},
		{"the rules of Services", in + "iptables -t nat -A POSTROUTING -m comment --comment try -m statistic --mode random " +
			"--probability 0.5 -m conntrack --ctstate INVALID -j MARK --or-mark 0x4000"},
	} {
		if err := shAll(ctx, try.line); err != nil {
			return unsupported("it does not let us make %s: %w", try.what, err)
		}
	}
	return nil
}

// tryOverlay mounts what every container's files are.
func (c cluster) tryOverlay(ctx context.Context) error {
	folder, err := os.MkdirTemp(c.dir, "try-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // an empty folder that stays harms nobody
	for _, name := range []string{"lower", "upper", "work", "merged"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o755); err != nil {
			return err
		}
	}
	options := fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", folder)
	if _, err := sh(ctx, "mount", "-t", "overlay", "overlay", "-o", options, folder+"/merged"); err != nil {
		return unsupported("it cannot mount an overlay in %s; choose a folder on a plain disk with -dir: %w", c.dir, err)
	}
	_, err = sh(context.WithoutCancel(ctx), "umount", folder+"/merged")
	return err
}

// tryCgroup makes a group as containers have one, in whichever version of cgroups there is.
func tryCgroup(context.Context) error {
	root := "/sys/fs/cgroup"
	if !exists(root + "/cgroup.controllers") {
		root += "/memory"
	}
	folder := filepath.Join(root, "plaza-try")
	if err := os.Mkdir(folder, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return unsupported("it does not let us make a cgroup: %w", err)
	}
	return os.Remove(folder)
}
