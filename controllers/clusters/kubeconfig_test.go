package clusters

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

func TestParseKubeconfig(t *testing.T) {
	for want, change := range map[string]func(user *clientcmdapi.AuthInfo, server *clientcmdapi.Cluster){
		"": func(*clientcmdapi.AuthInfo, *clientcmdapi.Cluster) {},
		"user hub has an exec plugin": func(user *clientcmdapi.AuthInfo, _ *clientcmdapi.Cluster) {
			user.Exec = &clientcmdapi.ExecConfig{APIVersion: "client.authentication.k8s.io/v1", Command: "sh", InteractiveMode: "Never"}
		},
		"user hub has an auth provider": func(user *clientcmdapi.AuthInfo, _ *clientcmdapi.Cluster) {
			user.AuthProvider = &clientcmdapi.AuthProviderConfig{Name: "oidc"}
		},
		"tokenFile":                  func(user *clientcmdapi.AuthInfo, _ *clientcmdapi.Cluster) { user.TokenFile = "/var/run/secrets/token" },
		"file path client-cert":      func(user *clientcmdapi.AuthInfo, _ *clientcmdapi.Cluster) { user.ClientCertificate = "tls.crt" },
		"file path client-key":       func(user *clientcmdapi.AuthInfo, _ *clientcmdapi.Cluster) { user.ClientKey = "tls.key" },
		"file path certificate-auth": func(_ *clientcmdapi.AuthInfo, server *clientcmdapi.Cluster) { server.CertificateAuthority = "ca.crt" },
		"insecure-skip-tls-verify":   func(_ *clientcmdapi.AuthInfo, server *clientcmdapi.Cluster) { server.InsecureSkipTLSVerify = true },
		"https://":                   func(_ *clientcmdapi.AuthInfo, server *clientcmdapi.Cluster) { server.Server = "http://eu.example" },
		"starts with https://":       func(_ *clientcmdapi.AuthInfo, server *clientcmdapi.Cluster) { server.Server = "unix:///run/eu" },
	} {
		t.Run(want, func(t *testing.T) {
			given := clientcmdapi.NewConfig()
			given.AuthInfos["hub"] = &clientcmdapi.AuthInfo{Token: "hush-hush"}
			given.Clusters["eu"] = &clientcmdapi.Cluster{Server: "https://eu.example"}
			given.Contexts["eu"] = &clientcmdapi.Context{Cluster: "eu", AuthInfo: "hub"}
			given.CurrentContext = "eu"
			change(given.AuthInfos["hub"], given.Clusters["eu"])
			content, err := clientcmd.Write(*given)
			require.NoError(t, err)
			config, err := parseKubeconfig(content)
			if want == "" {
				require.NoError(t, err)
				require.Equal(t, "https://eu.example", config.Host)
				require.Equal(t, "hush-hush", config.BearerToken)
				return
			}
			require.ErrorContains(t, err, want)
			require.NotContains(t, err.Error(), "hush-hush")
		})
	}
}

func TestParseKubeconfigOfOtherContent(t *testing.T) {
	for content, want := range map[string]string{
		"":                             "has no key kubeconfig",
		"token: [hush":                 "not a valid kubeconfig",
		"apiVersion: v1\nkind: Config": "current-context",
		"apiVersion: v1\nkind: Pod":    "not a valid kubeconfig",
		"apiVersion: v1\nkind: Config\nusers: hush": "not a valid kubeconfig",
	} {
		_, err := parseKubeconfig([]byte(content))
		require.ErrorContains(t, err, want, content)
		require.NotContains(t, err.Error(), "hush")
	}
}

func TestAllowedNamespaces(t *testing.T) {
	for _, c := range []struct {
		annotation, from, namespace string
		want                        bool
		namespaces                  []string
	}{
		{"", "a", "a", false, nil},
		{"a", "a", "a", true, []string{"a"}},
		{"a", "a", "b", false, []string{"a"}},
		{"a", "b", "a", false, []string{"a"}},
		{"a=b", "a", "b", true, []string{"b"}},
		{"a=b", "a", "a", false, []string{"b"}},
		{"a=b, a, c=b", "a", "a", true, []string{"a", "b"}},
		{"*", "a", "a", true, nil},
		{"*", "a", "b", false, nil},
		{"*,a=b", "a", "b", true, nil},
	} {
		annotations := map[string]string{v1alpha1.AnnotationAllowedNamespaces: c.annotation}
		r := register(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}})
		require.Equal(t, c.want, r.allows(c.from, c.namespace), "%+v", c)
		require.Equal(t, c.namespaces, r.namespaces(), "%+v", c)
	}
}
