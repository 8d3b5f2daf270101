package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// step is a step of up, shown while it runs.
type step struct {
	what string
	do   func(context.Context) error
}

// up starts everything that is not running. It is idempotent.
func up(ctx context.Context, c cluster, out io.Writer) error {
	for _, s := range []step{
		{"checking this machine", c.preflight},
		{"building the programs (takes minutes the first time)", c.build},
		{"keys and certificates", func(context.Context) error { return errors.Join(c.writePKI(), c.writeResolvConf()) }},
		{"network", c.connect},
		{"PostgreSQL", c.startPostgres},
		{"control plane", c.startControlPlane},
		{"nodes", c.startNodes},
	} {
		began := time.Now()
		fmt.Fprintf(out, "%s …\n", s.what)
		if err := s.do(ctx); err != nil {
			return err
		}
		if took := time.Since(began); took > 2*time.Second {
			fmt.Fprintf(out, "  took %s\n", took.Round(time.Second))
		}
	}
	nodes, err := c.kubectl(ctx, "get", "nodes", "-L", "topology.kubernetes.io/region,topology.kubernetes.io/zone")
	fmt.Fprintf(out, "\n%s\n%s", nodes, c.nextSteps())
	return err
}

func (c cluster) nextSteps() string {
	run := "go -C hack/cluster run ."
	if c.dir != c.defaultDir() {
		run += " -dir " + c.dir
	}
	return fmt.Sprintf(`The cluster is running.
  export KUBECONFIG=%s
  database URL, for pods and this machine: cat %s
  load images:   %[3]s load bin/plaza-image.tar
  test:          %[3]s smoke
  simulate loss: %[3]s cut eu, and then heal eu
  stop:          %[3]s down
`, c.kubeconfig(), c.databaseURL(), run)
}

// writeResolvConf writes a resolv.conf without name servers: pods cannot reach those of the host.
func (c cluster) writeResolvConf() error {
	if err := write(c.resolvConf(), "# no name server: the cluster has no Internet access\n"); err != nil {
		return err
	}
	return os.Chmod(c.resolvConf(), 0o644)
}

func (c cluster) startNodes(ctx context.Context) error {
	for _, n := range nodes {
		if err := c.startNode(ctx, n); err != nil {
			return err
		}
	}
	for _, n := range nodes {
		if err := c.waitForNode(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// down stops everything by process id, removes the network and the state directory. It continues after errors, so that
// as little as possible is left.
func down(ctx context.Context, c cluster, out io.Writer) error {
	if !exists(c.path("run")) && bridgeOwner() != c.dir {
		fmt.Fprintf(out, "no cluster in %s\n", c.dir)
		return nil
	}
	fmt.Fprintln(out, "stopping the nodes …")
	ofNodes := make([]error, len(nodes))
	var work sync.WaitGroup
	for i, n := range nodes {
		work.Go(func() { ofNodes[i] = c.stopNode(ctx, n) })
	}
	work.Wait()
	errs := []error{errors.Join(ofNodes...)}
	fmt.Fprintln(out, "stopping the control plane and the database …")
	for _, d := range slices.Backward(c.controlPlane()) {
		errs = append(errs, c.stop(ctx, d.name, syscall.SIGTERM, briefly))
	}
	errs = append(errs, c.stop(ctx, "postgres", syscall.SIGINT, 10*time.Second),
		c.endStrays(ctx), c.unmount(), c.disconnect(ctx))
	removeCgroups()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("some programs could not be stopped, so %s is kept: %w", c.dir, err)
	}
	return c.remove(out)
}

// remove removes the directories if no process runs and nothing is mounted in them.
func (c cluster) remove(out io.Writer) error {
	var errs []error
	if data, err := os.ReadFile(c.path("run", "postgres-folder")); err == nil {
		errs = append(errs, os.RemoveAll(string(data)))
	}
	errs = append(errs, c.removeLogLinks(), os.RemoveAll(c.dir))
	fmt.Fprintf(out, "removed %s; the programs in %s are kept\n", c.dir, c.bin)
	return errors.Join(errs...)
}

// unmount unmounts everything below the state directory, in reverse order.
func (c cluster) unmount() error {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	var errs []error
	for _, folder := range mountsBelow(string(table), c.dir) {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			errs = append(errs, fmt.Errorf("unmounting %s: %w", folder, err))
		}
	}
	return errors.Join(errs...)
}

// mountsBelow parses the kernel's mount table, in which a space is written as \040, and returns the newest mount first.
func mountsBelow(table, folder string) []string {
	var found []string
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		if path := strings.ReplaceAll(fields[4], `\040`, " "); strings.HasPrefix(path, folder+"/") {
			found = append([]string{path}, found...)
		}
	}
	return found
}

// removeCgroups removes the cgroups that containerd created, except for those in use, which the kernel does not remove.
func removeCgroups() {
	for _, pattern := range []string{
		"/sys/fs/cgroup/k8s.io/*", "/sys/fs/cgroup/k8s.io", "/sys/fs/cgroup/*/k8s.io/*", "/sys/fs/cgroup/*/k8s.io",
	} {
		folders, _ := filepath.Glob(pattern) // the patterns are valid
		for _, folder := range folders {
			_ = syscall.Rmdir(folder)
		}
	}
}

// removeLogLinks removes the links to logs that kubelets create in a fixed directory.
func (c cluster) removeLogLinks() error {
	const folder = "/var/log/containers"
	entries, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, entry := range entries {
		path := folder + "/" + entry.Name()
		if target, err := os.Readlink(path); err == nil && strings.HasPrefix(target, c.dir+"/") {
			errs = append(errs, os.Remove(path))
		}
	}
	return errors.Join(errs...)
}

// status prints the state of the programs and of the nodes.
func status(ctx context.Context, c cluster, out io.Writer) error {
	daemons := append([]daemon{{name: "postgres"}}, c.controlPlane()...)
	for _, n := range nodes {
		daemons = append(daemons, c.nodeDaemons(n)...)
	}
	ended := 0
	for _, d := range daemons {
		state := "ended"
		if pid := c.pid(d.name); pid != 0 {
			state = fmt.Sprintf("running, process %d", pid)
		} else {
			ended++
		}
		fmt.Fprintf(out, "%-26s %s\n", d.name, state)
	}
	for _, n := range nodes {
		if linked, err := n.linked(); err == nil && !linked {
			fmt.Fprintf(out, "%s is disconnected\n", n.name())
		}
	}
	if ended == len(daemons) {
		return fmt.Errorf("no cluster is running in %s", c.dir)
	}
	words, err := c.kubectl(ctx, "get", "nodes", "-o", "wide", "-L", "topology.kubernetes.io/region")
	fmt.Fprintf(out, "\n%s", words)
	if ended > 0 {
		err = errors.Join(err, fmt.Errorf("%d of %d programs have exited; see %s", ended, len(daemons), c.path("log")))
	}
	return err
}
