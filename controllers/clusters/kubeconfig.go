package clusters

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// registration is the content of a cluster's Secret.
type registration struct {
	config *rest.Config
	// allowed are the namespaces of the cluster that networks may use, by the namespace of the network.
	allowed map[string][]string
	// everyone reports whether the networks of each namespace may use the namespace with the same name.
	everyone bool
	// refused is why the kubeconfig must not be used, or nil.
	refused error
}

func register(secret *corev1.Secret) registration {
	r := registration{allowed: map[string][]string{}}
	for entry := range strings.FieldsFuncSeq(secret.Annotations[v1alpha1.AnnotationAllowedNamespaces],
		func(c rune) bool { return c == ',' || c == ' ' }) {
		from, to, renamed := strings.Cut(entry, "=")
		switch {
		case entry == "*":
			r.everyone = true
		case renamed:
			r.allowed[from] = append(r.allowed[from], to)
		default:
			r.allowed[from] = append(r.allowed[from], from)
		}
	}
	r.config, r.refused = parseKubeconfig(secret.Data[v1alpha1.KubeconfigKey])
	return r
}

// allows reports whether networks of a namespace may use a namespace of the cluster.
func (r registration) allows(from, namespace string) bool {
	return slices.Contains(r.allowed[from], namespace) || r.everyone && from == namespace
}

// namespaces returns the namespaces of the cluster that networks may use; nil means all.
func (r registration) namespaces() []string {
	if r.everyone {
		return nil
	}
	var all []string
	for _, namespaces := range r.allowed {
		all = append(all, namespaces...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// parseKubeconfig returns the client configuration of a kubeconfig. It refuses one that would run programs, read files of the
// operator, or connect without verifying the API server.
func parseKubeconfig(content []byte) (*rest.Config, error) {
	if len(content) == 0 {
		return nil, fmt.Errorf("the Secret has no key %s", v1alpha1.KubeconfigKey)
	}
	parsed, err := clientcmd.Load(content)
	if err != nil {
		return nil, errors.New("it is not a valid kubeconfig") // the decoder's error may quote the content
	}
	for name, user := range parsed.AuthInfos {
		if err := checkUser(user); err != nil {
			return nil, fmt.Errorf("user %s %w", name, err)
		}
	}
	for name, server := range parsed.Clusters {
		if err := checkServer(server); err != nil {
			return nil, fmt.Errorf("cluster %s %w", name, err)
		}
	}
	config, err := clientcmd.NewNonInteractiveClientConfig(*parsed, parsed.CurrentContext, &clientcmd.ConfigOverrides{}, nil).ClientConfig()
	if err != nil {
		return nil, errors.New("its current-context must name a context with a cluster and a user")
	}
	return config, nil
}

func checkUser(user *clientcmdapi.AuthInfo) error {
	switch {
	case user.Exec != nil:
		return errors.New("has an exec plugin; use a token or a client certificate")
	case user.AuthProvider != nil:
		return errors.New("has an auth provider; use a token or a client certificate")
	case user.TokenFile != "":
		return errors.New("has the file path tokenFile; use token")
	case user.ClientCertificate != "":
		return errors.New("has the file path client-certificate; use client-certificate-data")
	case user.ClientKey != "":
		return errors.New("has the file path client-key; use client-key-data")
	}
	return nil
}

func checkServer(server *clientcmdapi.Cluster) error {
	address, err := url.Parse(server.Server)
	switch {
	case server.CertificateAuthority != "":
		return errors.New("has the file path certificate-authority; use certificate-authority-data")
	case server.InsecureSkipTLSVerify:
		return errors.New("has insecure-skip-tls-verify; use certificate-authority-data")
	case err != nil || address.Scheme != "https" || address.Host == "":
		return errors.New("must have a server whose URL starts with https://")
	}
	return nil
}
