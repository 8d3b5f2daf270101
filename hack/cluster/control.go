package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// graceOfNodes is how long a silent node counts as ready. Kubernetes' default of 50 s would slow down tests of a lost
// region.
const graceOfNodes = 20 * time.Second

// controlPlane returns the daemons of the control plane in start order: etcd, API server, controller manager and
// scheduler. They listen on the bridge only, to avoid port conflicts on this machine. Pods can reach the bridge, so
// etcd requires client certificates.
func (c cluster) controlPlane() []daemon {
	pki := func(file string) string { return c.path("pki", file) }
	etcdAddress, etcdPeer := "https://"+c.host()+":2379", "https://"+c.host()+":2380"
	daemons := []daemon{
		{name: "etcd", args: []string{
			c.program("etcd"), "--data-dir=" + c.path("etcd"), "--unsafe-no-fsync",
			"--listen-client-urls=" + etcdAddress, "--advertise-client-urls=" + etcdAddress,
			"--listen-peer-urls=" + etcdPeer, "--initial-advertise-peer-urls=" + etcdPeer, "--initial-cluster=default=" + etcdPeer,
			"--client-cert-auth", "--trusted-ca-file=" + pki("ca.crt"), "--cert-file=" + pki("etcd.crt"), "--key-file=" + pki("etcd.key"),
			"--peer-client-cert-auth", "--peer-trusted-ca-file=" + pki("ca.crt"),
			"--peer-cert-file=" + pki("etcd.crt"), "--peer-key-file=" + pki("etcd.key"),
		}},
		{name: "kube-apiserver", args: []string{
			c.program("kube-apiserver"), "--etcd-servers=" + etcdAddress,
			"--etcd-cafile=" + pki("ca.crt"), "--etcd-certfile=" + pki("etcd.crt"), "--etcd-keyfile=" + pki("etcd.key"),
			"--bind-address=" + c.host(), "--advertise-address=" + c.host(), "--secure-port=" + apiPort,
			"--client-ca-file=" + pki("ca.crt"),
			"--tls-cert-file=" + pki("apiserver.crt"), "--tls-private-key-file=" + pki("apiserver.key"),
			"--kubelet-client-certificate=" + pki("apiserver.crt"), "--kubelet-client-key=" + pki("apiserver.key"),
			"--kubelet-certificate-authority=" + pki("ca.crt"), "--kubelet-preferred-address-types=InternalIP",
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file=" + pki("accounts.pub"), "--service-account-signing-key-file=" + pki("accounts.key"),
			"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
			"--service-cluster-ip-range=" + c.services(), "--allow-privileged=true",
			// A policy of the tests chooses the users of pods, as OpenShift does.
			"--feature-gates=MutatingAdmissionPolicy=true", "--runtime-config=admissionregistration.k8s.io/v1beta1=true",
		}},
		{name: "kube-controller-manager", args: []string{
			c.program("kube-controller-manager"), "--kubeconfig=" + c.kubeconfigOf("system:kube-controller-manager"),
			"--service-account-private-key-file=" + pki("accounts.key"), "--use-service-account-credentials=true",
			"--root-ca-file=" + pki("ca.crt"), "--cluster-cidr=" + podNetwork,
			"--node-monitor-grace-period=" + graceOfNodes.String(), "--leader-elect=false", "--secure-port=0",
		}},
		{name: "kube-scheduler", args: []string{
			c.program("kube-scheduler"), "--kubeconfig=" + c.kubeconfigOf("system:kube-scheduler"),
			"--leader-elect=false", "--secure-port=0",
		}},
	}
	if c.region != "" { // a lost region loses its control plane
		for i := range daemons {
			daemons[i].args = c.nodes()[0].enter(daemons[i].args...)
		}
	}
	return daemons
}

// startControlPlane starts the control plane and returns when the API server is ready.
func (c cluster) startControlPlane(ctx context.Context) error {
	for _, d := range c.controlPlane() {
		if err := c.start(d); err != nil {
			return err
		}
		if d.name != "kube-apiserver" {
			continue
		}
		err := within(ctx, 2*time.Minute, "waiting for the API server", func(ctx context.Context) error {
			if !c.running(d.name) {
				return errors.New("it exited: " + c.lastWords(d.name))
			}
			_, err := c.kubectl(ctx, "get", "--raw", "/readyz")
			return err
		})
		if err != nil {
			return fmt.Errorf("%w (its log: %s)", err, c.logFile(d.name))
		}
	}
	_, err := c.apply(ctx, access)
	return err
}

// access grants CoreDNS, which does not run in a pod here, read access.
const access = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "system:coredns"}
rules:
- {apiGroups: [""], resources: [services, pods, namespaces], verbs: [list, watch]}
- {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "system:coredns"}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "system:coredns"}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: "system:coredns"}
`

func (c cluster) kubectl(ctx context.Context, args ...string) (string, error) {
	return pipe(ctx, "", c.kubectlProgram(), append([]string{"--kubeconfig", c.kubeconfig()}, args...)...)
}

func (c cluster) apply(ctx context.Context, manifest string) (string, error) {
	return pipe(ctx, manifest, c.kubectlProgram(), "--kubeconfig", c.kubeconfig(), "apply", "-f", "-")
}

// kubectlProgram returns the path of kubectl: the one in PATH, or else the one built here.
func (c cluster) kubectlProgram() string {
	if path, err := exec.LookPath("kubectl"); err == nil {
		return path
	}
	return c.program("kubectl")
}

// programs returns the programs that have to be built.
func (c cluster) programs() []string {
	list := []string{
		"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "coredns", "pause", "echo",
	}
	if _, err := exec.LookPath("kubectl"); err != nil {
		list = append(list, "kubectl")
	}
	return list
}

// build builds the programs and the images. It shows its progress, because the first build takes minutes.
func (c cluster) build(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, c.repo+"/hack/cluster/build.sh", append([]string{c.bin}, c.programs()...)...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building the programs: %w", err)
	}
	for name, tag := range map[string]string{"pause": pauseImage, "echo": echoImage} {
		if err := c.pack(ctx, name, tag); err != nil {
			return err
		}
	}
	return nil
}
