package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// connect creates the network: a bridge on the host, and for each node a network namespace with a link to the bridge.
// Nodes route pod traffic to each other directly, so the host's forwarding and packet filter settings are not changed.
func (c cluster) connect(ctx context.Context) error {
	if err := c.claimBridge(ctx); err != nil {
		return err
	}
	for _, n := range nodes {
		if err := c.connectNode(ctx, n); err != nil {
			return err
		}
	}
	return c.routeServices(ctx)
}

// claimBridge creates the bridge. Its alias identifies the cluster, because two clusters cannot share the addresses.
func (c cluster) claimBridge(ctx context.Context) error {
	if err := c.checkOwner(ctx); err != nil {
		return err
	}
	if !exists("/sys/class/net/" + bridge) {
		if taken, err := sh(ctx, "ip", "route", "show", "root", nodeNetwork); err != nil || taken != "" {
			return errors.Join(err, fmt.Errorf("a route on this machine conflicts with the cluster's network %s: %s", nodeNetwork, taken))
		}
		if err := shAll(ctx, "ip link add "+bridge+" type bridge"); err != nil {
			return err
		}
	}
	if _, err := sh(ctx, "ip", "link", "set", bridge, "alias", c.dir); err != nil {
		return err
	}
	return shAll(ctx, "ip addr replace "+hostAddress+"/24 dev "+bridge, "ip link set "+bridge+" up")
}

// bridgeOwner returns the state directory of the cluster that owns the bridge, or "".
func bridgeOwner() string {
	alias, _ := os.ReadFile("/sys/class/net/" + bridge + "/ifalias") // fails if there is no bridge
	return strings.TrimSpace(string(alias))
}

// checkOwner returns an error if a cluster with another state directory is running.
func (c cluster) checkOwner(context.Context) error {
	if owner := bridgeOwner(); owner != "" && owner != c.dir {
		return fmt.Errorf("the cluster in %s is running on this machine: stop it first (-dir %s down)", owner, owner)
	}
	return nil
}

// connectNode creates a node's namespace and link, unless they are complete.
func (c cluster) connectNode(ctx context.Context, n node) error {
	done := c.path("run", n.region, "network")
	if exists(done) && exists("/run/netns/"+n.namespace()) {
		return nil
	}
	if err := n.disconnect(ctx); err != nil { // removes the remains of an interrupted start
		return err
	}
	inside := "ip -n " + n.namespace() + " "
	lines := []string{
		"ip netns add " + n.namespace(),
		fmt.Sprintf("ip link add %s type veth peer name eth0 netns %s", n.link(), n.namespace()),
		fmt.Sprintf("ip link set %s master %s up", n.link(), bridge),
		inside + "addr add " + n.address() + "/24 dev eth0",
		inside + "link set lo up",
		inside + "link set eth0 up",
		inside + "route add default via " + hostAddress,
		strings.Join(n.enter("sysctl", "-qw", "net.ipv4.ip_forward=1"), " "),
		"ip route replace " + n.pods() + " via " + n.address(),
	}
	for _, other := range nodes {
		if other != n {
			lines = append(lines, inside+"route add "+other.pods()+" via "+other.address())
		}
	}
	if err := shAll(ctx, lines...); err != nil {
		return err
	}
	return write(done, "")
}

// enter returns a command line that runs a program in the node's network namespace. `ip netns exec` would also hide the
// cgroups.
func (n node) enter(args ...string) []string {
	return append([]string{"nsenter", "--net=/run/netns/" + n.namespace()}, args...)
}

// routeServices routes the Services' addresses of each cluster from the host through its first connected node.
func (c cluster) routeServices(ctx context.Context) error {
	for _, one := range c.clusters() {
		if err := one.routeOwnServices(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c cluster) routeOwnServices(ctx context.Context) error {
	for _, n := range c.nodes() {
		if up, err := n.linked(); err != nil || !up {
			continue
		}
		return shAll(ctx, fmt.Sprintf("ip route replace %s via %s", c.services(), n.address()))
	}
	return nil // all regions are disconnected, as requested
}

// linked reports whether the node is connected.
func (n node) linked() (bool, error) {
	flags, err := os.ReadFile("/sys/class/net/" + n.link() + "/operstate")
	return strings.TrimSpace(string(flags)) == "up", err
}

// cut disconnects a region: its programs keep running but cannot reach the others.
func cut(ctx context.Context, c cluster, args []string, out io.Writer) error {
	return c.setLink(ctx, args, "down", func(n node) error {
		_, err := fmt.Fprintf(out, "%s is disconnected; Kubernetes notices after %s. To reconnect it: heal %s\n",
			n.name(), graceOfNodes, n.region)
		return err
	})
}

// heal reconnects a region.
func heal(ctx context.Context, c cluster, args []string, out io.Writer) error {
	return c.setLink(ctx, args, "up", func(n node) error {
		err := within(ctx, 10*time.Second, "waiting for the link of "+n.name(), func(context.Context) error {
			if up, err := n.linked(); err != nil || !up {
				return errors.Join(err, errors.New("the link is not up"))
			}
			return nil
		})
		fmt.Fprintf(out, "%s is connected again\n", n.name())
		return err
	})
}

func (c cluster) setLink(ctx context.Context, args []string, state string, done func(node) error) error {
	for _, region := range args {
		n, err := nodeOf(region)
		if err != nil {
			return err
		}
		if err := shAll(ctx, fmt.Sprintf("ip link set %s %s", n.link(), state)); err != nil {
			return fmt.Errorf("is the cluster running? %w", err)
		}
		if err := done(n); err != nil {
			return err
		}
	}
	return c.routeServices(ctx)
}

// disconnect removes the network. Removing the bridge also removes its routes.
func (c cluster) disconnect(ctx context.Context) error {
	leaveOutside(ctx)
	var errs []error
	for _, n := range nodes {
		errs = append(errs, n.disconnect(ctx))
	}
	if exists("/sys/class/net/" + bridge) {
		errs = append(errs, shAll(ctx, "ip link del "+bridge))
	}
	return errors.Join(errs...)
}

func (n node) disconnect(ctx context.Context) error {
	var errs []error
	if exists("/sys/class/net/" + n.link()) {
		errs = append(errs, shAll(ctx, "ip link del "+n.link()))
	}
	if exists("/run/netns/" + n.namespace()) {
		errs = append(errs, shAll(ctx, "ip netns del "+n.namespace()))
	}
	return errors.Join(errs...)
}
