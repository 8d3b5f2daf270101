package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// lifetime is the validity of all certificates; clusters for development are short-lived.
const lifetime = 365 * 24 * time.Hour

// authority is a certificate authority for the cluster's programs.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pem  []byte
}

// identity is the subject of a certificate. groups are Kubernetes groups; hosts are a server's names and addresses.
type identity struct {
	name   string
	groups []string
	hosts  []string
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := blank(identity{name: "plaza-cluster"})
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &authority{key: key, cert: cert, pem: block("CERTIFICATE", der)}, err
}

// issue issues a certificate for both server and client authentication, and its key.
func (a *authority) issue(who identity) (cert, key []byte, err error) {
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template, err := blank(who)
	if err != nil {
		return nil, nil, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, own.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	key, err = private(own)
	return block("CERTIFICATE", der), key, err
}

func blank(who identity) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: who.name, Organization: who.groups},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(lifetime),
	}
	for _, host := range who.hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return template, nil
}

func private(key crypto.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return block("PRIVATE KEY", der), err
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// The clients of the API server. Their names and groups are those of the default role bindings of Kubernetes.
var clients = []identity{
	{name: "kubernetes-admin", groups: []string{"system:masters"}},
	{name: "system:kube-controller-manager"},
	{name: "system:kube-scheduler"},
	{name: "system:kube-proxy"},
	{name: "system:coredns"},
}

// writePKI creates all keys, certificates and kubeconfigs, unless they exist.
func (c cluster) writePKI() error {
	if exists(c.kubeconfig()) {
		return nil
	}
	ca, err := newAuthority()
	if err != nil {
		return err
	}
	server := identity{name: "kube-apiserver", groups: []string{"system:masters"}, hosts: []string{
		c.host(), c.firstService(), "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
		"kubernetes.default.svc." + clusterDomain,
	}}
	storage := identity{name: "etcd", hosts: []string{c.host()}}
	err = errors.Join(write(c.path("pki", "ca.crt"), string(ca.pem)), c.writeAccountKeys(),
		c.writePair(ca, server, "apiserver"), c.writePair(ca, storage, "etcd"))
	if err != nil {
		return err
	}
	for _, n := range c.nodes() {
		who := identity{name: "system:node:" + n.name(), groups: []string{"system:nodes"}, hosts: []string{n.name(), n.address()}}
		if err := errors.Join(c.writePair(ca, who, n.name()), c.writeKubeconfig(ca, who, c.node(n, "kubeconfig"))); err != nil {
			return err
		}
	}
	for _, who := range clients[1:] {
		if err := c.writeKubeconfig(ca, who, c.kubeconfigOf(who.name)); err != nil {
			return err
		}
	}
	// The administrator's kubeconfig is written last: its existence means that all other files exist.
	return c.writeKubeconfig(ca, clients[0], c.kubeconfig())
}

// writeAccountKeys writes the keys of service account tokens. The API server requires RSA keys.
func (c cluster) writeAccountKeys() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	secret, err := private(key)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	return errors.Join(write(c.path("pki", "accounts.key"), string(secret)),
		write(c.path("pki", "accounts.pub"), string(block("PUBLIC KEY", public))))
}

func (c cluster) writePair(ca *authority, who identity, file string) error {
	cert, key, err := ca.issue(who)
	if err != nil {
		return err
	}
	return errors.Join(write(c.path("pki", file+".crt"), string(cert)), write(c.path("pki", file+".key"), string(key)))
}

func (c cluster) writeKubeconfig(ca *authority, who identity, path string) error {
	cert, key, err := ca.issue(who)
	if err != nil {
		return err
	}
	encode := base64.StdEncoding.EncodeToString
	return write(path, fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: plaza
  cluster:
    server: https://%s:%s
    certificate-authority-data: %s
users:
- name: %s
  user:
    client-certificate-data: %s
    client-key-data: %s
contexts:
- name: plaza
  context: {cluster: plaza, user: "%[4]s"}
current-context: plaza
`, c.host(), apiPort, encode(ca.pem), who.name, encode(cert), encode(key)))
}

// kubeconfigOf returns the kubeconfig of one of the clients.
func (c cluster) kubeconfigOf(name string) string { return c.path("pki", name+".kubeconfig") }
