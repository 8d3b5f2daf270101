//go:build install

package install

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/plaza-social/plaza/controllers/scheme"
	"github.com/plaza-social/plaza/controllers/testenv"
)

// The operator's namespace and its ServiceAccount.
const (
	system  = "plaza-system"
	account = "plaza-operator"
)

// memberAccount is the account of config/member, and its namespace.
const memberAccount = "plaza-member"

// auditPolicy logs every request of the operator.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: ["system:serviceaccount:` + system + `:` + account + `", "system:serviceaccount:` + memberAccount + `:` + memberAccount + `"]
- level: None
`

// cluster is a control plane of one test, because cluster roles must not affect other tests, and because a namespace that was installed
// is never removed: no controller runs that would. Nothing is installed.
type cluster struct {
	t      *testing.T
	env    *envtest.Environment
	client client.Client
	folder string
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, env: &envtest.Environment{}, folder: t.TempDir()}
	testenv.Configure(c.env)
	policy := filepath.Join(c.folder, "audit.yaml")
	require.NoError(t, os.WriteFile(policy, []byte(auditPolicy), 0o600))
	// The plugin is enabled in clusters that check owner references strictly, such as OpenShift.
	c.env.ControlPlane.GetAPIServer().Configure().
		Append("audit-policy-file", policy).Append("audit-log-path", c.auditLog()).
		Append("enable-admission-plugins", "OwnerReferencesPermissionEnforcement")
	config, err := c.env.Start()
	require.NoError(t, err, "starting kube-apiserver and etcd: run `make envtest` first")
	t.Cleanup(func() { require.NoError(t, c.env.Stop()) })
	c.client, err = client.New(config, client.Options{Scheme: scheme.New()})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(c.kubeconfig(), c.env.KubeConfig, 0o600))
	return c
}

func (c *cluster) auditLog() string   { return filepath.Join(c.folder, "audit.log") }
func (c *cluster) kubeconfig() string { return filepath.Join(c.folder, "admin.kubeconfig") }

// kubectl runs kubectl as cluster admin. It must not print warnings, for example about pods that the namespace would
// reject.
func (c *cluster) kubectl(stdin string, args ...string) string {
	c.t.Helper()
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = c.env.BinaryAssetsDirectory
	}
	cmd := exec.CommandContext(c.t.Context(), filepath.Join(assets, "kubectl"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig())
	cmd.Stdin = bytes.NewBufferString(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(c.t, cmd.Run(), "kubectl %v: %s", args, &errs)
	require.NotContains(c.t, errs.String(), "Warning")
	return out.String()
}

// install applies a folder of config/ with the command of the README.
func (c *cluster) install(folder string) string {
	c.t.Helper()
	text := c.kubectl("", "kustomize", filepath.Join(testenv.Root(), "config", folder))
	c.kubectl(text, "apply", "--server-side", "-f", "-")
	return text
}

// namespace creates a namespace with the strictest pod security standard.
func (c *cluster) namespace(name string) {
	c.t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:   name,
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	require.NoError(c.t, c.client.Create(context.Background(), ns))
}

// optionalKinds are the optional kinds, without schemas.
const optionalKinds = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[3]s.%[1]s
  annotations: {api-approved.kubernetes.io: "unapproved, for a test"}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: %[2]s, plural: %[3]s}
  versions:
  - name: %[4]s
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
`

func (c *cluster) installOptionalKinds() {
	c.t.Helper()
	text := fmt.Sprintf(optionalKinds, "monitoring.coreos.com", "ServiceMonitor", "servicemonitors", "v1") +
		fmt.Sprintf(optionalKinds, "monitoring.coreos.com", "PrometheusRule", "prometheusrules", "v1") +
		fmt.Sprintf(optionalKinds, "monitoring.coreos.com", "Probe", "probes", "v1") +
		fmt.Sprintf(optionalKinds, "grafana.integreatly.org", "GrafanaDashboard", "grafanadashboards", "v1beta1") +
		fmt.Sprintf(optionalKinds, "gateway.networking.k8s.io", "HTTPRoute", "httproutes", "v1")
	c.kubectl(text, "apply", "--server-side", "-f", "-")
	c.kubectl("", "wait", "crd", "--all", "--for=condition=Established", "--timeout=30s")
}

// operatorKubeconfig returns the configuration of a pod of the operator.
func (c *cluster) operatorKubeconfig() string { return c.accountKubeconfig(system, account) }

// accountKubeconfig returns the path of a kubeconfig with the token of a ServiceAccount.
func (c *cluster) accountKubeconfig(namespace, name string) string {
	c.t.Helper()
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
	request := &authenticationv1.TokenRequest{}
	require.NoError(c.t, c.client.SubResource("token").Create(context.Background(), sa, request))
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: c.server(), CertificateAuthorityData: c.env.Config.CAData}
	config.AuthInfos["operator"] = &clientcmdapi.AuthInfo{Token: request.Status.Token}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "operator"}
	config.CurrentContext = "test"
	path := filepath.Join(c.folder, "operator.kubeconfig")
	require.NoError(c.t, clientcmd.WriteToFile(*config, path))
	return path
}

// server returns the URL of the API server.
func (c *cluster) server() string {
	if strings.HasPrefix(c.env.Config.Host, "https://") {
		return c.env.Config.Host
	}
	return "https://" + c.env.Config.Host
}

// eventually waits until wrong returns "", and otherwise fails with its last result.
func (c *cluster) eventually(what string, wrong func() string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), testenv.Patience)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		last := wrong()
		if last == "" {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			c.t.Fatalf("%s: %s", what, last)
		}
	}
}
