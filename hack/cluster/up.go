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

// step is one part of the way up, shown while it goes on.
type step struct {
	what string
	do   func(context.Context) error
}

// up starts what is not running. It may be called again at any time.
func up(ctx context.Context, c cluster, out io.Writer) error {
	for _, s := range []step{
		{"looking at this machine", c.preflight},
		{"building the programs (minutes the first time)", c.build},
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
	return fmt.Sprintf(`The cluster is up.
  export KUBECONFIG=%s
  database, for pods and from here: cat %s
  images:     %[3]s load bin/plaza-image.tar
  a test:     %[3]s smoke
  a failure:  %[3]s cut eu, and then heal eu
  the end:    %[3]s down
`, c.kubeconfig(), c.databaseURL(), run)
}

// writeResolvConf: pods may not inherit the host's name server, which they could not reach.
func (c cluster) writeResolvConf() error {
	if err := write(c.resolvConf(), "# no name server: the cluster has no way out\n"); err != nil {
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

// down ends everything by the numbers of its processes, takes the network away and removes the state folder. It goes on
// after what fails: the more is gone, the less is left to do by hand.
func down(ctx context.Context, c cluster, out io.Writer) error {
	if !exists(c.path("run")) && bridgeOwner() != c.dir {
		fmt.Fprintf(out, "no cluster in %s\n", c.dir)
		return nil
	}
	fmt.Fprintln(out, "ending the nodes …")
	ofNodes := make([]error, len(nodes))
	var work sync.WaitGroup
	for i, n := range nodes {
		work.Go(func() { ofNodes[i] = c.stopNode(ctx, n) })
	}
	work.Wait()
	errs := []error{errors.Join(ofNodes...)}
	fmt.Fprintln(out, "ending the control plane and the database …")
	for _, d := range slices.Backward(c.controlPlane()) {
		errs = append(errs, c.stop(ctx, d.name, syscall.SIGTERM, briefly))
	}
	errs = append(errs, c.stop(ctx, "postgres", syscall.SIGINT, 10*time.Second),
		c.endStrays(ctx), c.unmount(), c.disconnect(ctx))
	removeCgroups()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("not all of it could be ended, so %s stays: %w", c.dir, err)
	}
	return c.remove(out)
}

// remove removes the folders, when nothing runs or is mounted in them any more.
func (c cluster) remove(out io.Writer) error {
	var errs []error
	if data, err := os.ReadFile(c.path("run", "postgres-folder")); err == nil {
		errs = append(errs, os.RemoveAll(string(data)))
	}
	errs = append(errs, c.removeLogLinks(), os.RemoveAll(c.dir))
	fmt.Fprintf(out, "%s is gone; programs stay in %s\n", c.dir, c.bin)
	return errors.Join(errs...)
}

// unmount takes away the mounts below the state folder, the last one first.
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

// mountsBelow reads the kernel's table, in which a blank is written as \040, and returns the newest mount first.
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

// removeCgroups removes the groups that containerd keeps containers in, but for those in use: the kernel refuses these.
func removeCgroups() {
	for _, pattern := range []string{
		"/sys/fs/cgroup/k8s.io/*", "/sys/fs/cgroup/k8s.io", "/sys/fs/cgroup/*/k8s.io/*", "/sys/fs/cgroup/*/k8s.io",
	} {
		folders, _ := filepath.Glob(pattern) // the patterns are well-formed
		for _, folder := range folders {
			_ = syscall.Rmdir(folder)
		}
	}
}

// removeLogLinks removes the links to our logs that kubelets make at a fixed place.
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

// status tells what runs, and what the nodes say.
func status(ctx context.Context, c cluster, out io.Writer) error {
	daemons := append([]daemon{{name: "postgres"}}, c.controlPlane()...)
	for _, n := range nodes {
		daemons = append(daemons, c.nodeDaemons(n)...)
	}
	ended := 0
	for _, d := range daemons {
		state := "ended"
		if pid := c.pid(d.name); pid != 0 {
			state = fmt.Sprintf("runs as %d", pid)
		} else {
			ended++
		}
		fmt.Fprintf(out, "%-26s %s\n", d.name, state)
	}
	for _, n := range nodes {
		if linked, err := n.linked(); err == nil && !linked {
			fmt.Fprintf(out, "%s is cut off\n", n.name())
		}
	}
	if ended == len(daemons) {
		return fmt.Errorf("no cluster runs in %s", c.dir)
	}
	words, err := c.kubectl(ctx, "get", "nodes", "-o", "wide", "-L", "topology.kubernetes.io/region")
	fmt.Fprintf(out, "\n%s", words)
	if ended > 0 {
		err = errors.Join(err, fmt.Errorf("%d of %d programs have ended; see %s", ended, len(daemons), c.path("log")))
	}
	return err
}
