package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	outsideNamespace = "plaza-outside"
	outsideAddress   = "10.200.0.20"
	databaseService  = "database.plaza-database.svc.cluster.local:5432"
)

//go:embed outside.yaml
var outsideManifest string

// outside runs a program where only the API server can be reached, as from a machine whose containers run in a virtual machine. The
// database has a Service, because port-forwards lead to pods only.
func outside(ctx context.Context, c cluster, args []string, out io.Writer) error {
	if c.isThree() {
		return errors.New("outside is for a cluster of all regions")
	}
	database, err := c.relayDatabase(ctx)
	if err != nil {
		return err
	}
	defer leaveOutside(context.WithoutCancel(ctx))
	line, err := enterOutside(ctx, args)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig(), "CLUSTER_ROUTE=port-forward", "CLUSTER_DATABASE_URL="+database)
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(os.Interrupt) }, time.Minute // tests clean up
	return cmd.Run()
}

// enterOutside creates a network namespace with a route to the host only, of which it reaches only the API server, and returns a
// command line that runs a program in it.
func enterOutside(ctx context.Context, args []string) ([]string, error) {
	leaveOutside(ctx) // removes the remains of an interrupted run
	inside := "ip -n " + outsideNamespace + " "
	enter := []string{"nsenter", "--net=/run/netns/" + outsideNamespace}
	err := shAll(ctx,
		"ip netns add "+outsideNamespace,
		fmt.Sprintf("ip link add %s type veth peer name eth0 netns %[1]s", outsideNamespace),
		fmt.Sprintf("ip link set %s master %s up", outsideNamespace, bridge),
		inside+"addr add "+outsideAddress+"/32 dev eth0",
		inside+"link set lo up",
		inside+"link set eth0 up",
		inside+"route add "+hostAddress+" dev eth0",
		strings.Join(enter, " ")+" iptables -A OUTPUT -o eth0 -p tcp ! --dport "+apiPort+" -j REJECT",
	)
	return append(enter, args...), err
}

// leaveOutside removes the namespace, if it exists, and with it the link.
func leaveOutside(ctx context.Context) {
	_, _ = sh(ctx, "ip", "link", "del", outsideNamespace)
	_, _ = sh(ctx, "ip", "netns", "del", outsideNamespace)
}

// relayDatabase creates the Service of the database and returns its URL for pods.
func (c cluster) relayDatabase(ctx context.Context) (string, error) {
	if err := load(ctx, c, []string{c.archive("echo")}, io.Discard); err != nil {
		return "", err
	}
	fill := strings.NewReplacer("ADDRESS", net.JoinHostPort(hostAddress, postgresPort), "IMAGE", echoImage)
	if _, err := c.apply(ctx, fill.Replace(outsideManifest)); err != nil {
		return "", err
	}
	if _, err := c.kubectl(ctx, "-n", "plaza-database", "rollout", "status", "deployment/database", "--timeout=1m"); err != nil {
		return "", err
	}
	text, err := os.ReadFile(c.databaseURL())
	if err != nil {
		return "", err
	}
	address, err := url.Parse(strings.TrimSpace(string(text)))
	if err != nil {
		return "", errors.New("the URL in " + c.databaseURL() + " is invalid") // the error has the password
	}
	address.Host = databaseService
	return address.String(), nil
}
