package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// nodeDaemons returns a node's daemons in start order. Each has separate directories, so that three nodes can share a
// machine.
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
			"--conntrack-max-per-core=0", // the limit applies to the whole machine
		)},
	}
}

func (c cluster) socket(n node) string { return c.node(n, "containerd.sock") }

// writeNode writes the configuration files of a node's daemons.
func (c cluster) writeNode(n node) error {
	return errors.Join(
		write(c.node(n, "cni/10-plaza.conflist"), c.cniConfig(n)),
		write(c.node(n, "containerd.toml"), c.containerdConfig(n)),
		write(c.node(n, "kubelet.yaml"), c.kubeletConfig(n)),
		write(c.node(n, "Corefile"), c.corefile(n)),
	)
}

// cniConfig returns a configuration that connects each pod to the node by a separate link instead of a bridge: traffic
// from a pod through a Service to a pod of the same node must pass the node in both directions for kube-proxy.
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

// containerdConfig returns containerd's configuration. Without restrict_oom_score_adj no pod starts on machines without
// CAP_SYS_RESOURCE. Pod networks are mounted below the state directory, where down finds them.
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

// cniFolder returns the directory of the CNI plugins: Debian's or the default.
func cniFolder() string {
	for _, folder := range []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"} {
		if exists(folder + "/ptp") {
			return folder
		}
	}
	return ""
}

// kubeletConfig returns the kubelet's configuration. Three kubelets that share a cgroup tree must not manage it, and
// loaded images must not be garbage collected, because they cannot be pulled again.
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

// resolvConf is the resolv.conf of pods with the node's DNS policy. The cluster has no Internet access.
func (c cluster) resolvConf() string { return c.path("resolv.conf") }

// corefile returns the configuration of a node's DNS server. There is one per node, so that a disconnected region can
// still resolve known names.
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

// startNode starts the container runtime, imports the pause image, and starts the other daemons.
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
				return errors.New("it exited: " + c.lastWords(d.name))
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

// waitForNode returns when the node and its DNS server are ready.
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

// briefly is the grace period of programs whose data is removed anyway.
const briefly = time.Second

// stopNode stops a node: the kubelet first, because it restarts containers, then the containers, then their runtime.
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

// endContainers stops and removes the containers of a node.
func (c cluster) endContainers(ctx context.Context, n node) error {
	list, err := c.ctr(ctx, n, "tasks", "ls", "-q")
	if err != nil {
		return err
	}
	for id := range strings.FieldsSeq(list) {
		// ctr fails for containers that have already exited; endStrays checks whether any is left.
		_, _ = c.ctr(ctx, n, "tasks", "delete", "--force", id)
	}
	return nil
}
