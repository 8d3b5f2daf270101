package control_test

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/control"
)

var (
	acme  = strings.Repeat("a", 24)
	other = strings.Repeat("b", 24)
	start = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
)

const year = 365 * 24 * time.Hour

func authority(t *testing.T, network string) *control.Authority {
	t.Helper()
	a, err := control.NewAuthority(rand.Reader, network, start, year)
	require.NoError(t, err)
	return a
}

// credentials issues a certificate for a name.
func credentials(t *testing.T, a *control.Authority, name string, usage control.Usage, trusted ...*control.Authority) *control.Credentials {
	t.Helper()
	certificate, key, err := a.Issue(rand.Reader, name, usage, start, 90*24*time.Hour)
	require.NoError(t, err)
	c, err := control.ParseCredentials(certificate, key, control.Bundle(trusted))
	require.NoError(t, err)
	return c
}

// handshake returns the errors of both sides of a connection.
func handshake(t *testing.T, server, client *tls.Config) (atServer, atClient error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	done := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			secured := tls.Server(conn, server)
			err = secured.HandshakeContext(t.Context())
			_, _ = secured.Write([]byte("x"))
			_ = conn.Close()
		}
		done <- err
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	secured := tls.Client(conn, client)
	if atClient = secured.HandshakeContext(t.Context()); atClient == nil {
		_, atClient = secured.Read(make([]byte, 1)) // the server verifies the client after the client's handshake
	} else {
		_ = conn.Close()
	}
	return <-done, atClient
}

// TestHandshake connects an operator to a server, and those that must be refused.
func TestHandshake(t *testing.T) {
	t.Parallel()
	first, second, foreign := authority(t, acme), authority(t, acme), authority(t, other)
	server := func(a *control.Authority, trusted ...*control.Authority) *control.Credentials {
		return credentials(t, a, control.ServerName("eu", acme), control.Server, trusted...)
	}
	operator := func(a *control.Authority, trusted ...*control.Authority) *control.Credentials {
		return credentials(t, a, control.OperatorName(acme), control.Operator, trusted...)
	}
	for name, c := range map[string]struct {
		server, operator *control.Credentials
		at               time.Time
		wants            string // the server's name that the operator wants
		atServer         string
		atClient         string
	}{
		"both of one authority":    {server: server(first, first), operator: operator(first, first)},
		"old server, new operator": {server: server(first, second, first), operator: operator(second, second, first)},
		"new server, old operator": {server: server(second, second, first), operator: operator(first, second, first)},
		"the server trusts the new": {
			server: server(second, second), operator: operator(first, second, first), atServer: "unknown authority",
			atClient: "tls: ",
		},
		"another authority": {
			server: server(first, first), operator: operator(foreign, first), atServer: "provide a certificate",
			atClient: "tls: ",
		},
		"a server of another": {
			server: server(foreign, first), operator: operator(first, first), atServer: "tls: ",
			atClient: "unknown authority",
		},
		"a server as operator": {
			server: server(first, first), operator: server(first, first), atServer: "incompatible key usage",
			atClient: "tls: ",
		},
		"an operator as server": {
			server: operator(first, first), operator: operator(first, first), atServer: "",
			atClient: "is valid for operator.",
		},
		"another region": {
			server: server(first, first), operator: operator(first, first), wants: control.ServerName("us", acme),
			atClient: "not " + control.ServerName("us", acme),
		},
		"another network's name": {
			server: server(first, first), operator: operator(first, first), wants: control.ServerName("eu", other),
			atClient: "not " + control.ServerName("eu", other),
		},
		"expired": {server: server(first, first), operator: operator(first, first), at: start.Add(91 * 24 * time.Hour), atClient: "expired"},
		"an operator of another network with a trusted authority": {
			server: server(first, first, foreign), operator: credentials(t, foreign, control.OperatorName(other), control.Operator, first),
			atServer: "the client is not the operator of this network", atClient: "tls: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := func() time.Time {
				if c.at.IsZero() {
					return start
				}
				return c.at
			}
			wants := c.wants
			if wants == "" {
				wants = control.ServerName("eu", acme)
			}
			atServer, atClient := handshake(t, c.server.ServerConfig(acme, now), c.operator.ClientConfig(wants, now))
			if c.atClient == "" {
				require.NoError(t, atServer)
				require.NoError(t, atClient)
				return
			}
			require.ErrorContains(t, atClient, c.atClient)
			require.Error(t, atServer)
			require.ErrorContains(t, atServer, c.atServer)
		})
	}
}

// TestNoClientCertificate checks that a client without a certificate is refused.
func TestNoClientCertificate(t *testing.T) {
	t.Parallel()
	a := authority(t, acme)
	server := credentials(t, a, control.ServerName("eu", acme), control.Server, a)
	now := func() time.Time { return start }
	atServer, atClient := handshake(t, server.ServerConfig(acme, now), &tls.Config{InsecureSkipVerify: true})
	require.ErrorContains(t, atServer, "didn't provide a certificate")
	require.Error(t, atClient)
}

// TestConstraints checks that an authority cannot issue certificates for another network that others accept.
func TestConstraints(t *testing.T) {
	t.Parallel()
	a := authority(t, acme)
	foreign := credentials(t, a, control.OperatorName(other), control.Operator, a)
	pool := x509.NewCertPool()
	pool.AddCert(a.Certificate)
	_,
		err := foreign.Certificate.Leaf.Verify(x509.VerifyOptions{
		Roots: pool, CurrentTime: start,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	require.ErrorContains(t, err, "not permitted")
}

func TestParse(t *testing.T) {
	t.Parallel()
	first, second := authority(t, acme), authority(t, acme)
	text, err := control.EncodeAuthorities([]*control.Authority{first, second})
	require.NoError(t, err)
	parsed, err := control.ParseAuthorities(text)
	require.NoError(t, err)
	require.Equal(t, []*control.Authority{first, second}, parsed)
	half := text[:len(text)/2-10]
	swapped := append(control.Bundle(parsed[:1]), text[bytes.LastIndex(text, []byte("-----BEGIN PRIVATE")):]...)
	for name, wrong := range map[string][]byte{"text": []byte("x"), "half": half, "no key": control.Bundle(parsed), "another key": swapped} {
		_, err := control.ParseAuthorities(wrong)
		require.EqualError(t, err, "it is not a list of certificates of authorities, each with its private key, in PEM", name)
	}
	certificate, key, err := first.Issue(rand.Reader, "x", control.Server, start, 10*year)
	require.NoError(t, err)
	bundle := control.Bundle(parsed)
	c, err := control.ParseCredentials(certificate, key, bundle)
	require.NoError(t, err)
	require.Len(t, c.Authorities, 2)
	require.Equal(t, first.Certificate.NotAfter, c.Certificate.Leaf.NotAfter, "no longer than the authority")
	require.True(t, first.Issued(c.Certificate.Leaf))
	require.False(t, second.Issued(c.Certificate.Leaf))
	for name, files := range map[string][3][]byte{
		"no certificate": {nil, key, bundle}, "no key": {certificate, nil, bundle}, "no authorities": {certificate, key, nil},
		"a key among them": {certificate, key, text}, "text": {certificate, key, []byte("x")},
	} {
		_, err := control.ParseCredentials(files[0], files[1], files[2])
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), string(key))
	}
}

// TestCertificates checks what the certificates of an authority allow, and that servers whose clocks are behind accept them.
func TestCertificates(t *testing.T) {
	t.Parallel()
	a := authority(t, acme)
	issued := credentials(t, a, control.OperatorName(acme), control.Operator, a).Certificate.Leaf
	for name, certificate := range map[string]*x509.Certificate{"authority": a.Certificate, "issued": issued} {
		require.Len(t, control.ID(certificate), 31, name)
		require.True(t, certificate.NotBefore.Before(start), name)
		require.True(t, certificate.BasicConstraintsValid, name)
	}
	require.True(t, a.Certificate.IsCA)
	require.True(t, a.Certificate.MaxPathLenZero)
	require.Equal(t, x509.KeyUsageCertSign, a.Certificate.KeyUsage)
	require.True(t, a.Certificate.PermittedDNSDomainsCritical)
	require.False(t, issued.IsCA)
	require.Equal(t, x509.KeyUsageDigitalSignature, issued.KeyUsage)
	require.Equal(t, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, issued.ExtKeyUsage)
	require.NotEqual(t, a.ID(), authority(t, acme).ID())
	certificate, key, err := a.Issue(rand.Reader, control.OperatorName(acme), control.Operator, start, year)
	require.NoError(t, err)
	_, err = control.ParseAuthorities(append(certificate, key...))
	require.Error(t, err, "a certificate that is not that of an authority")
}
