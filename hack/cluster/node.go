package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// A node's daemons, in the order of their start. Each has its own folder, so that three of them share one machine.
func (c cluster) nodeDaemons(n node) []daemon {
	return []daemon{
		{name: n.region + "/containerd", args: n.enter("containerd", "--config", c.node(n, "containerd.toml"))},
		{name: n.region + "/coredns", args: n.enter(c.program("coredns"), "-conf", c.node(n, "Corefile"))},
		{name: n.region + "/kubelet", args: n.enter(
			c.program("kubelet"), "--config="+c.node(n, "kubelet.yaml"), "--kubeconfig="+c.node(n, "kubeconfig"),
			"--hostname-override="+n.name(), "--node-ip="+n.address(),
			"--node-labels=topology.kubernetes.io/region="+n.locality+",topology.kubernetes.io/zone="+n.zone(),
			"--root-dir="+c.node(n, "kubelet"),
		)},
		{name: n.region + "/kube-proxy", args: n.enter(
			c.program("kube-proxy"), "--kubeconfig="+c.kubeconfigOf("system:kube-proxy"), "--hostname-override="+n.name(),
			"--proxy-mode=iptables", "--cluster-cidr="+podNetwork,
			"--conntrack-max-per-core=0", // the limit is the whole machine's
		)},
	}
}

func (c cluster) socket(n node) string { return c.node(n, "containerd.sock") }

// writeNode writes the configuration of a node's daemons.
func (c cluster) writeNode(n node) error {
	return errors.Join(
		write(c.node(n, "cni/10-plaza.conflist"), c.cniConfig(n)),
		write(c.node(n, "containerd.toml"), c.containerdConfig(n)),
		write(c.node(n, "kubelet.yaml"), c.kubeletConfig(n)),
		write(c.node(n, "Corefile"), c.corefile(n)),
	)
}

// cniConfig gives each pod a link of its own to the node, not a place on a bridge: what goes from a pod to a Service and
// from there to a pod of the same node passes the node both ways, as kube-proxy needs it.
func (c cluster) cniConfig(n node) string {
	return fmt.Sprintf(`{
  "cniVersion": "1.0.0",
  "name": "plaza",
  "plugins": [
    {"type": "ptp", "ipMasq": false, "ipam": {
      "type": "host-local", "dataDir": %q, "ranges": [[{"subnet": %q}]], "routes": [{"dst": "0.0.0.0/0"}]}},
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
`, c.node(n, "addresses"), n.pods())
}

// containerdConfig: restrict_oom_score_adj is for machines without CAP_SYS_RESOURCE, where no pod would start without it;
// the pods' networks are mounted below our folder, where the end finds them.
func (c cluster) containerdConfig(n node) string {
	return fmt.Sprintf(`version = 2
root = %q
state = %q
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs"]
[grpc]
  address = %q
[ttrpc]
  address = %q
[plugins."io.containerd.internal.v1.opt"]
  path = %q
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %q
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = %q
    conf_dir = %q
`, c.node(n, "containerd"), c.node(n, "containerd-state"), c.socket(n), c.socket(n)+".ttrpc", c.node(n, "opt"), pauseImage,
		cniFolder(), c.node(n, "cni"))
}

// cniFolder is where the network plugins are: Debian's place, or everybody else's.
func cniFolder() string {
	for _, folder := range []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"} {
		if exists(folder + "/ptp") {
			return folder
		}
	}
	return ""
}

// kubeletConfig: three kubelets in one tree of cgroups must not manage it; images that were loaded must not be collected,
// for nothing could pull them again.
func (c cluster) kubeletConfig(n node) string {
	return fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: %[1]s
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: %[2]q}
authorization: {mode: Webhook}
tlsCertFile: %[3]q
tlsPrivateKeyFile: %[4]q
cgroupDriver: cgroupfs
cgroupRoot: /
cgroupsPerQOS: false
enforceNodeAllocatable: []
failSwapOn: false
failCgroupV1: false
containerRuntimeEndpoint: unix://%[5]s
clusterDomain: %[6]s
clusterDNS: [%[1]s]
resolvConf: %[7]q
podLogsDir: %[8]q
volumePluginDir: %[9]q
nodeStatusUpdateFrequency: 5s
nodeLeaseDurationSeconds: 12
imageGCHighThresholdPercent: 100
evictionHard: {imagefs.available: "1%%", nodefs.available: "1%%", memory.available: "100Mi"}
`, n.address(), c.path("pki", "ca.crt"), c.path("pki", n.name()+".crt"), c.path("pki", n.name()+".key"), c.socket(n),
		clusterDomain, c.resolvConf(), c.node(n, "logs"), c.node(n, "plugins"))
}

// resolvConf is what pods that use the node's DNS get: the cluster has no way out, so they ask CoreDNS, which says so.
func (c cluster) resolvConf() string { return c.path("resolv.conf") }

// corefile is of a DNS server per node: a region that is cut off still knows the names that it knew.
func (c cluster) corefile(n node) string {
	return fmt.Sprintf(`.:53 {
    bind %s
    errors
    ready 127.0.0.1:8181
    kubernetes %s in-addr.arpa {
        kubeconfig %s
    }
    cache 5
}
`, n.address(), clusterDomain, c.kubeconfigOf("system:coredns"))
}

// startNode starts the runtime, gives it the pause image, and starts the rest.
func (c cluster) startNode(ctx context.Context, n node) error {
	if err := c.writeNode(n); err != nil {
		return err
	}
	for _, d := range c.nodeDaemons(n) {
		if err := c.start(d); err != nil {
			return err
		}
		if !strings.HasSuffix(d.name, "/containerd") {
			continue
		}
		err := within(ctx, time.Minute, "waiting for containerd of "+n.name(), func(ctx context.Context) error {
			if !c.running(d.name) {
				return errors.New("it ended: " + c.lastWords(d.name))
			}
			_, err := c.ctr(ctx, n, "version")
			return err
		})
		if err != nil {
			return err
		}
		if _, err := c.ctr(ctx, n, "images", "import", c.archive("pause")); err != nil {
			return err
		}
	}
	return nil
}

// waitForNode returns when the node is ready for pods, and its DNS for questions.
func (c cluster) waitForNode(ctx context.Context, n node) error {
	return within(ctx, 2*time.Minute, "waiting for "+n.name(), func(ctx context.Context) error {
		for _, d := range c.nodeDaemons(n) {
			if !c.running(d.name) {
				return fmt.Errorf("%s ended: %s", d.name, c.lastWords(d.name))
			}
		}
		ready, err := c.kubectl(ctx, "get", "node", n.name(), "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
		if err != nil || ready != "True" {
			return errors.Join(err, fmt.Errorf("it is not ready (its log: %s)", c.logFile(n.region+"/kubelet")))
		}
		line := n.enter(c.program("echo"), "get", "http://127.0.0.1:8181/ready")
		_, err = sh(ctx, line[0], line[1:]...)
		return err
	})
}

// briefly is the grace of a program whose data goes with it.
const briefly = time.Second

// stopNode ends a node: the kubelet first, which would start the containers again, then these, then their runtime.
func (c cluster) stopNode(ctx context.Context, n node) error {
	var errs []error
	for _, name := range []string{"kubelet", "kube-proxy", "coredns"} {
		errs = append(errs, c.stop(ctx, n.region+"/"+name, syscall.SIGTERM, briefly))
	}
	if c.running(n.region + "/containerd") {
		errs = append(errs, c.endContainers(ctx, n))
	}
	errs = append(errs, c.stop(ctx, n.region+"/containerd", syscall.SIGTERM, 10*time.Second))
	return errors.Join(errs...)
}

// endContainers ends and removes what runs on a node.
func (c cluster) endContainers(ctx context.Context, n node) error {
	list, err := c.ctr(ctx, n, "tasks", "ls", "-q")
	if err != nil {
		return err
	}
	for id := range strings.FieldsSeq(list) {
		// One that has ended meanwhile is an error to ctr; endStrays sees whether any is left.
		_, _ = c.ctr(ctx, n, "tasks", "delete", "--force", id)
	}
	return nil
}
