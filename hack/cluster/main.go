// Program cluster runs a real Kubernetes cluster of three nodes on one Linux machine, one node in each of Plaza's
// regions, using only Go modules and Debian packages: no Docker, registry or virtual machine. A node is a network
// namespace with its own containerd, kubelet, kube-proxy and DNS; the control plane and a PostgreSQL server run on the
// host. It requires root. On machines with Docker, kind can be used instead.
//
//	go -C hack/cluster run . up             start everything that is not running, and wait until it is ready
//	go -C hack/cluster run . up-three       the same with three clusters, one for each region
//	go -C hack/cluster run . load A.tar …   import image archives on the three nodes
//	go -C hack/cluster run . status         print the state of programs and nodes
//	go -C hack/cluster run . cut eu         disconnect a region from the network
//	go -C hack/cluster run . heal eu        reconnect it
//	go -C hack/cluster run . capture F      record the packets of all nodes in a file until it is interrupted
//	go -C hack/cluster run . outside COMMAND … run a program that reaches only the API server
//	go -C hack/cluster run . smoke          test pods, logs, Services, DNS, the database, and a lost region
//	go -C hack/cluster run . down           stop everything and remove its directory
//
// It exits with 3, and a one-line reason, if this machine does not support the cluster.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// exitUnsupported is the exit code on machines that do not support the cluster.
const exitUnsupported = 3

// errUnsupported is wrapped by all reasons why a machine does not support the cluster.
var errUnsupported = errors.New("this machine does not support the cluster")

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errUnsupported, fmt.Errorf(format, args...))
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	cancel()
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintln(os.Stderr, "cluster:", err)
	if errors.Is(err, errUnsupported) {
		os.Exit(exitUnsupported)
	}
	os.Exit(1)
}

// command is a subcommand.
type command struct {
	args string // its arguments, for the usage message
	do   func(ctx context.Context, c cluster, args []string, out io.Writer) error
}

var commands = map[string]command{
	"up":       {"", func(ctx context.Context, c cluster, _ []string, out io.Writer) error { return up(ctx, c, out) }},
	"up-three": {"", func(ctx context.Context, c cluster, _ []string, out io.Writer) error { return upThree(ctx, c, out) }},
	"down":     {"", func(ctx context.Context, c cluster, _ []string, out io.Writer) error { return down(ctx, c, out) }},
	"load":     {"ARCHIVE.tar …", load},
	"status":   {"", func(ctx context.Context, c cluster, _ []string, out io.Writer) error { return status(ctx, c, out) }},
	"cut":      {"REGION", cut},
	"heal":     {"REGION", heal},
	"capture":  {"FILE", capture},
	"outside":  {"COMMAND …", outside},
	"smoke":    {"", func(ctx context.Context, c cluster, _ []string, out io.Writer) error { return smoke(ctx, c, out) }},
}

const usage = `usage: cluster [-dir DIR] up | up-three | load ARCHIVE.tar … | status | cut REGION | heal REGION | capture FILE | outside COMMAND … | smoke | down`

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("cluster", flag.ContinueOnError)
	dir := flags.String("dir", "", "directory for the state of the cluster (default .plaza-cluster in the repository)")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), usage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, known := commands[flags.Arg(0)]
	if !known {
		return errors.New(usage)
	}
	rest := flags.Args()[1:]
	if (chosen.args == "") != (len(rest) == 0) {
		return errors.New(strings.TrimSpace("usage: cluster " + flags.Arg(0) + " " + chosen.args))
	}
	// Root's PATH may lack the directories of system programs.
	if err := os.Setenv("PATH", os.Getenv("PATH")+":/usr/local/sbin:/usr/sbin:/sbin"); err != nil {
		return err
	}
	c, err := openCluster(*dir)
	if err != nil {
		return err
	}
	return chosen.do(ctx, c, rest, out)
}
