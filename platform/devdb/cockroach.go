package devdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// nodeRegions are the localities of the three nodes: one per region, as in the default configuration of the server.
var nodeRegions = []string{"us-east1", "europe-west1", "asia-southeast1"}

// Time limits of a CockroachDB cluster, which suit three nodes on a small machine.
const (
	cockroachReadyTimeout = 2 * time.Minute
	cockroachStopTimeout  = 10 * time.Second // killing a node loses nothing: it syncs before it acknowledges
)

// singleNode is the directory of the node of a cluster without regions.
const singleNode = "single"

// memoryOfNodes is the memory in bytes that three nodes and the program need.
const memoryOfNodes = 4 << 30

// cockroachCluster is a cluster of three nodes, or of one without a region, on this machine, started with the flags of cockroach-go's
// testserver. The testserver itself keeps no data across starts and leaves its nodes running when its program is killed.
type cockroachCluster struct {
	binary string
	folder string
	names  []string // of the nodes' directories; the regions, or singleNode
	log    *slog.Logger
	addrs  []string
	nodes  []*process
	guard  *guard
}

func startCockroach(ctx context.Context, opts Options, dir string, find finder) (*DB, error) {
	c := &cockroachCluster{binary: find.cockroach(), folder: filepath.Join(dir, "cockroach"), log: opts.Log}
	c.names = find.cockroachNodes(c.folder)
	if err := c.startNodes(ctx); err != nil {
		return nil, errors.Join(err, c.stop(ctx))
	}
	leftovers := ""
	if opts.Ephemeral {
		leftovers = dir
	}
	var err error
	if c.guard, err = startGuard(leftovers, c.pids()...); err != nil {
		return nil, errors.Join(err, c.stop(ctx))
	}
	own, err := c.ready(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting CockroachDB: %w: %s", err, logTail(filepath.Join(c.folder, c.names[0]))), c.stop(ctx))
	}
	opts.Log.InfoContext(ctx, "database is ready", "engine", CockroachDB, "nodes", c.addrs)
	return &DB{engine: CockroachDB, url: own, stop: c.stop, died: c.nodes[0].done}, nil
}

func (c *cockroachCluster) startNodes(ctx context.Context) error {
	for range c.names {
		port, err := freePort()
		if err != nil {
			return err
		}
		c.addrs = append(c.addrs, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	}
	for i := range c.names {
		if err := c.startNode(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// startNode starts one node in its directory, which is also its working directory: this identifies orphans.
func (c *cockroachCluster) startNode(ctx context.Context, i int) error {
	folder := filepath.Join(c.folder, c.names[i])
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	pidFile := filepath.Join(folder, "pid")
	if err := stopOrphan(ctx, c.log, folder, pidFile); err != nil {
		return err
	}
	out, err := openLog(folder)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	cmd := exec.Command(c.binary, append(c.startFlags(i), "--insecure", // on 127.0.0.1 only
		"--store="+filepath.Join(folder, dataName), "--listen-addr="+c.addrs[i], "--http-addr=127.0.0.1:0",
		"--pid-file="+pidFile, "--cache=128MiB", "--max-sql-memory=128MiB")...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, out, out
	node, err := spawn(cmd)
	if err != nil {
		return err
	}
	c.nodes = append(c.nodes, node)
	return nil
}

// startFlags are the command that starts a node and the flags that depend on the number of nodes.
func (c *cockroachCluster) startFlags(i int) []string {
	if c.names[i] == singleNode {
		return []string{"start-single-node"}
	}
	return []string{"start", "--join=" + strings.Join(c.addrs, ","), "--locality=region=" + c.names[i]}
}

func (c *cockroachCluster) pids() []int {
	pids := make([]int, len(c.nodes))
	for i, node := range c.nodes {
		pids[i] = node.pid()
	}
	return pids
}

// ready initializes the cluster if necessary and returns the URL of its database.
func (c *cockroachCluster) ready(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, cockroachReadyTimeout)
	defer cancel()
	if err := c.initialise(ctx); err != nil {
		return "", err
	}
	server := "postgresql://root@" + c.addrs[0] + "/defaultdb?sslmode=disable"
	if err := waitFor(ctx, server, c.nodes[0].done); err != nil {
		return "", err
	}
	return CreateDatabase(ctx, server, DatabaseName)
}

// initialise retries until a node responds. A cluster that was already initialized is fine.
func (c *cockroachCluster) initialise(ctx context.Context) error {
	for {
		cmd := exec.CommandContext(ctx, c.binary, "init", "--insecure", "--host="+c.addrs[0])
		cmd.Dir = c.folder
		output, err := cmd.CombinedOutput()
		if err == nil || bytes.Contains(output, []byte("already been initialized")) {
			return nil
		}
		select {
		case <-c.nodes[0].done:
			return errors.New("the node exited during startup")
		case <-ctx.Done():
			return fmt.Errorf("cockroach init: %w: %s", ctx.Err(), lastLines(string(output), 3))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// stop stops all nodes concurrently: one after the other, each would try to transfer its leases to the next.
func (c *cockroachCluster) stop(ctx context.Context) error {
	defer c.guard.release()
	ctx, cancel := context.WithTimeout(ctx, cockroachStopTimeout)
	defer cancel()
	ended := make(chan error, len(c.nodes))
	for _, node := range c.nodes {
		go func() { ended <- node.stop(ctx, syscall.SIGTERM, os.Kill) }()
	}
	var errs []error
	for range c.nodes {
		if err := <-ended; !errors.Is(err, errKilled) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
