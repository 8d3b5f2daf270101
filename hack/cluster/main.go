// Program cluster runs a real Kubernetes cluster of three nodes on one Linux machine, one node in each of Plaza's
// regions, from Go modules and Debian packages alone: no Docker, no registry, no virtual machine. A node is a network
// namespace with its own containerd, kubelet, kube-proxy and DNS; the control plane and a PostgreSQL server are on the
// host. It needs root. Where a person has Docker, kind does the same job.
//
//	go -C hack/cluster run . up             start what is not running, and wait until it is ready
//	go -C hack/cluster run . load A.tar …   bring image archives to the three nodes
//	go -C hack/cluster run . status         what runs, and what the nodes say
//	go -C hack/cluster run . cut eu         take the region off the network
//	go -C hack/cluster run . heal eu        and put it back
//	go -C hack/cluster run . smoke          try it: pods, logs, Services, DNS, database, a region lost and found
//	go -C hack/cluster run . down           end everything, and remove its folder
//
// It exits with 3 when this machine cannot carry the cluster, after saying why in one sentence.
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

// exitUnsupported tells a script that the cluster was not tried: the machine cannot carry it.
const exitUnsupported = 3

// errUnsupported is the kind of every such reason.
var errUnsupported = errors.New("this machine cannot carry the cluster")

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

// command is what one word on the command line does.
type command struct {
	args string // what it takes, for people
	do   func(ctx context.Context, c cluster, args []string, out io.Writer) error
}

var commands = map[string]command{
	"up":     {"", func(ctx context.Context, c cluster, _ []string, out io.Writer) error { return up(ctx, c, out) }},
	"down":   {"", func(ctx context.Context, c cluster, _ []string, out io.Writer) error { return down(ctx, c, out) }},
	"load":   {"ARCHIVE.tar …", load},
	"status": {"", func(ctx context.Context, c cluster, _ []string, out io.Writer) error { return status(ctx, c, out) }},
	"cut":    {"REGION", cut},
	"heal":   {"REGION", heal},
	"smoke":  {"", func(ctx context.Context, c cluster, _ []string, out io.Writer) error { return smoke(ctx, c, out) }},
}

const usage = `usage: cluster [-dir FOLDER] up | load ARCHIVE.tar … | status | cut REGION | heal REGION | smoke | down`

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("cluster", flag.ContinueOnError)
	dir := flags.String("dir", "", "folder for all that the cluster writes (.plaza-cluster in the repository)")
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
	// Root's PATH may lack the folders of the system's programs.
	if err := os.Setenv("PATH", os.Getenv("PATH")+":/usr/local/sbin:/usr/sbin:/sbin"); err != nil {
		return err
	}
	c, err := openCluster(*dir)
	if err != nil {
		return err
	}
	return chosen.do(ctx, c, rest, out)
}
