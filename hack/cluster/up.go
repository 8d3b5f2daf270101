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

// upThree starts three clusters, one for each region, instead of one.
func upThree(ctx context.Context, c cluster, out io.Writer) error {
	if exists(c.kubeconfig()) {
		return fmt.Errorf("one cluster of all regions is in %s: stop it first", c.dir)
	}
	if err := write(c.path(marker), ""); err != nil {
		return err
	}
	return up(ctx, c, out)
}

// up starts everything that is not running. It is idempotent.
func up(ctx context.Context, c cluster, out io.Writer) error {
	each := func(do func(cluster, context.Context) error) func(context.Context) error {
		return func(ctx context.Context) error {
			for _, one := range c.clusters() {
				if err := do(one, ctx); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for _, s := range []step{
		{"checking this machine", c.preflight},
		{"building the programs (takes minutes the first time)", c.build},
		{"keys and certificates", each(func(one cluster, _ context.Context) error { return errors.Join(one.writePKI(), one.writeResolvConf()) })},
		{"network", c.connect},
		{"PostgreSQL", c.startPostgres},
		{"control plane", each(cluster.startControlPlane)},
		{"nodes", each(cluster.startNodes)},
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
	var errs []error
	for _, one := range c.clusters() {
		nodes, err := one.kubectl(ctx, "get", "nodes", "-L", "topology.kubernetes.io/region,topology.kubernetes.io/zone")
		fmt.Fprintf(out, "\n%s", nodes)
		errs = append(errs, err)
	}
	fmt.Fprintf(out, "\n%s", c.nextSteps())
	return errors.Join(errs...)
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
`, c.clusters()[0].kubeconfig(), c.databaseURL(), run)
}

// writeResolvConf writes a resolv.conf without name servers: pods cannot reach those of the host.
func (c cluster) writeResolvConf() error {
	if err := write(c.resolvConf(), "# no name server: the cluster has no Internet access\n"); err != nil {
		return err
	}
	return os.Chmod(c.resolvConf(), 0o644)
}

func (c cluster) startNodes(ctx context.Context) error {
	for _, n := range c.nodes() {
		if err := c.startNode(ctx, n); err != nil {
			return err
		}
	}
	for _, n := range c.nodes() {
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
	for _, one := range c.clusters() {
		for _, n := range one.nodes() {
			work.Go(func() { ofNodes[n.number-1] = one.stopNode(ctx, n) })
		}
	}
	work.Wait()
	errs := []error{errors.Join(ofNodes...)}
	fmt.Fprintln(out, "stopping the control plane and the database …")
	for _, one := range c.clusters() {
		for _, d := range slices.Backward(one.controlPlane()) {
			errs = append(errs, one.stop(ctx, d.name, syscall.SIGTERM, briefly))
		}
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
	ended, total := c.printState(out, []daemon{{name: "postgres"}})
	for _, one := range c.clusters() {
		daemons := one.controlPlane()
		for _, n := range one.nodes() {
			daemons = append(daemons, one.nodeDaemons(n)...)
		}
		e, n := one.printState(out, daemons)
		ended, total = ended+e, total+n
	}
	for _, n := range nodes {
		if linked, err := n.linked(); err == nil && !linked {
			fmt.Fprintf(out, "%s is disconnected\n", n.name())
		}
	}
	if ended == total {
		return fmt.Errorf("no cluster is running in %s", c.dir)
	}
	var errs []error
	for _, one := range c.clusters() {
		words, err := one.kubectl(ctx, "get", "nodes", "-o", "wide", "-L", "topology.kubernetes.io/region")
		fmt.Fprintf(out, "\n%s", words)
		errs = append(errs, err)
	}
	if ended > 0 {
		errs = append(errs, fmt.Errorf("%d of %d programs have exited; see %s", ended, total, c.path("log")))
	}
	return errors.Join(errs...)
}

// printState prints which daemons run, and returns how many have ended, and their number.
func (c cluster) printState(out io.Writer, daemons []daemon) (ended, total int) {
	for _, d := range daemons {
		state, name := "ended", d.name
		if c.region != "" {
			name = "cluster " + c.region + " " + name
		}
		if pid := c.pid(d.name); pid != 0 {
			state = fmt.Sprintf("running, process %d", pid)
		} else {
			ended++
		}
		fmt.Fprintf(out, "%-26s %s\n", name, state)
	}
	return ended, len(daemons)
}
