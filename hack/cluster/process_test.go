package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is how long a test waits for an expected change. It costs time only when the test fails.
const patience = 2 * time.Minute

// testCluster returns a cluster with an empty state directory.
func testCluster(t *testing.T) cluster {
	t.Helper()
	dir := t.TempDir()
	return cluster{repo: dir, dir: dir + "/state", bin: dir + "/bin"}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t *testing.T, want, got T) {
	t.Helper()
	if want != got {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func TestDaemonStartsAndStops(t *testing.T) {
	c := testCluster(t)
	d := daemon{name: "us/sleep", args: []string{"sleep", "600"}}
	must(t, c.start(d))
	pid := c.pid(d.name)
	if pid == 0 {
		t.Fatal("the daemon is not running")
	}
	must(t, c.start(d))
	equal(t, pid, c.pid(d.name)) // a second start keeps it

	must(t, c.stop(t.Context(), d.name, syscall.SIGTERM, patience))
	equal(t, 0, c.pid(d.name))
	must(t, c.stop(t.Context(), d.name, syscall.SIGTERM, patience))
}

func TestDaemonIgnoresSignal(t *testing.T) {
	c := testCluster(t)
	d := daemon{name: "deaf", args: []string{"sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"}}
	must(t, c.start(d))
	must(t, within(t.Context(), patience, "starting", func(context.Context) error {
		if c.lastWords(d.name) != "ready" {
			return fmt.Errorf("output is %q", c.lastWords(d.name))
		}
		return nil
	}))
	must(t, c.stop(t.Context(), d.name, syscall.SIGTERM, 300*time.Millisecond))
	equal(t, 0, c.pid(d.name))
}

func TestReusedProcessID(t *testing.T) {
	c := testCluster(t)
	other := exec.CommandContext(t.Context(), "sleep", "600")
	must(t, other.Start())
	t.Cleanup(func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	})
	for _, content := range []string{strconv.Itoa(other.Process.Pid) + " 1\n", "1 1\n", "0 0\n", "-5 3\n", "words\n", ""} {
		must(t, write(c.pidFile("ours"), content))
		equal(t, 0, c.pid("ours"))
		must(t, c.stop(t.Context(), "ours", syscall.SIGKILL, patience))
	}
	_, err := startTime(other.Process.Pid)
	must(t, err) // it was not stopped
}

func TestExitedProcess(t *testing.T) {
	zombie := exec.CommandContext(t.Context(), "true")
	must(t, zombie.Start())
	must(t, within(t.Context(), patience, "ending", func(context.Context) error {
		if _, err := startTime(zombie.Process.Pid); err == nil {
			return fmt.Errorf("process %d is reported as running", zombie.Process.Pid)
		}
		return nil
	}))
	must(t, zombie.Wait())
}

func TestMissingProgram(t *testing.T) {
	err := testCluster(t).start(daemon{name: "x", args: []string{"/does/not/exist"}})
	if err == nil || !strings.Contains(err.Error(), "/does/not/exist") {
		t.Fatalf("got %v", err)
	}
}

func TestOurProcesses(t *testing.T) {
	const folder = "/src/.plaza-cluster"
	for line, want := range map[string]bool{
		"/usr/bin/containerd-shim-runc-v2 -id a -address /src/.plaza-cluster/us/containerd.sock": true,
		"/usr/bin/containerd-shim-runc-v2 -id a -address /run/containerd/containerd.sock":        false,
		"/src/bin/cluster/kubelet --config=/src/.plaza-cluster/us/kubelet.yaml":                  true,
		"/src/bin/cluster/kubelet --config=/src/.plaza-cluster2/us/kubelet.yaml":                 false,
		"containerd --config /src/.plaza-cluster/us/containerd.toml":                             true,
		"/usr/lib/postgresql/15/bin/postgres -D /src/.plaza-cluster/postgres/data -p 15432":      true,
		"/usr/lib/postgresql/15/bin/postgres -D /var/lib/postgresql/15/main":                     false,
		"vim /src/.plaza-cluster/us/kubelet.yaml":                                                false,
		"kubectl --kubeconfig /src/.plaza-cluster/kubeconfig get nodes":                          false,
		"etcd": false,
		"":     false,
	} {
		equal(t, want, isOurs(strings.ReplaceAll(line, " ", "\x00"), folder))
	}
}

func TestChildren(t *testing.T) {
	child := exec.CommandContext(t.Context(), "sleep", "600")
	must(t, child.Start())
	equal(t, true, slices.Contains(childrenOf(os.Getpid()), child.Process.Pid))
	must(t, end(t.Context(), child.Process.Pid, syscall.SIGKILL, patience))
	_ = child.Wait() // fails because it was killed
	equal(t, false, slices.Contains(childrenOf(os.Getpid()), child.Process.Pid))
}

func TestMountsBelow(t *testing.T) {
	table := `22 1 254:0 / / rw shared:1 - ext4 /dev/vda rw
30 22 0:30 / /src/.plaza-cluster/us/a rw - overlay none rw
31 30 0:31 / /src/.plaza-cluster/us/a/b rw - tmpfs none rw
32 22 0:32 / /src/.plaza-cluster2/us rw - tmpfs none rw
33 22 0:33 / /src/.plaza-cluster/with\040blank rw - tmpfs none rw
`
	got := strings.Join(mountsBelow(table, "/src/.plaza-cluster"), ",")
	equal(t, "/src/.plaza-cluster/with blank,/src/.plaza-cluster/us/a/b,/src/.plaza-cluster/us/a", got)
}

func TestOpenToAll(t *testing.T) {
	closed := t.TempDir()
	must(t, os.Chmod(closed, 0o700))
	must(t, os.Mkdir(closed+"/open", 0o755))
	equal(t, false, openToAll(closed+"/open"))
	equal(t, false, openToAll(closed+"/absent"))
	equal(t, true, openToAll("/usr/bin"))
}
