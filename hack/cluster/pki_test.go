package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"strings"
	"testing"
)

func TestCertificatesHaveOneAuthority(t *testing.T) {
	c := testCluster(t)
	must(t, c.writePKI())
	authority, err := os.ReadFile(c.path("pki", "ca.crt"))
	must(t, err)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		t.Fatal("no certificate in ca.crt")
	}
	for file, host := range map[string]string{"apiserver": hostAddress, "node-us": "10.200.0.11", "node-sg": "node-sg"} {
		pair, err := tls.LoadX509KeyPair(c.path("pki", file+".crt"), c.path("pki", file+".key"))
		must(t, err)
		for _, use := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
			_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, KeyUsages: []x509.ExtKeyUsage{use}})
			must(t, err)
		}
	}
	node, err := tls.LoadX509KeyPair(c.path("pki", "node-eu.crt"), c.path("pki", "node-eu.key"))
	must(t, err)
	equal(t, "system:node:node-eu", node.Leaf.Subject.CommonName) // required by Kubernetes' node authorizer
	equal(t, "system:nodes", strings.Join(node.Leaf.Subject.Organization, ","))
}

func TestKeysArePrivateAndKept(t *testing.T) {
	c := testCluster(t)
	must(t, c.writePKI())
	before, err := os.ReadFile(c.kubeconfig())
	must(t, err)
	must(t, c.writePKI())
	after, err := os.ReadFile(c.kubeconfig())
	must(t, err)
	equal(t, string(before), string(after))

	for _, file := range []string{
		c.kubeconfig(), c.path("pki", "accounts.key"), c.kubeconfigOf("system:coredns"),
		c.node(nodes[0], "kubeconfig"),
	} {
		info, err := os.Stat(file)
		must(t, err)
		equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	public, err := os.ReadFile(c.path("pki", "accounts.pub"))
	must(t, err)
	decoded, _ := pem.Decode(public)
	if decoded == nil {
		t.Fatal("accounts.pub is not PEM")
	}
	_, err = x509.ParsePKIXPublicKey(decoded.Bytes)
	must(t, err)
}
