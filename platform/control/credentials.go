package control

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

// Credentials are the certificate of one side and the authorities that it trusts.
type Credentials struct {
	Certificate tls.Certificate
	Authorities []*x509.Certificate
}

// The errors of ParseCredentials. They hide those of the parsers, which may quote the key.
var (
	errCertificate = errors.New("the files do not contain a certificate and its private key in PEM")
	errBundle      = errors.New("the file of the authorities contains no certificates in PEM, or something else")
)

// ParseCredentials parses the content of the three files.
func ParseCredentials(certificate, key, authorities []byte) (*Credentials, error) {
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, errCertificate
	}
	c := &Credentials{Certificate: pair}
	for rest := authorities; len(rest) > 0; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil || block.Type != certificateBlock {
			return nil, errBundle
		}
		parsed, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, errBundle
		}
		c.Authorities = append(c.Authorities, parsed)
	}
	if len(c.Authorities) == 0 {
		return nil, errBundle
	}
	return c, nil
}

func (c *Credentials) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	for _, authority := range c.Authorities {
		pool.AddCert(authority)
	}
	return pool
}

// ServerConfig returns the configuration of a server that only the operator of a network can connect to. Sessions are not resumed,
// so that each connection is verified against the present authorities.
func (c *Credentials) ServerConfig(networkID string, now func() time.Time) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Time: now, SessionTicketsDisabled: true,
		Certificates: []tls.Certificate{c.Certificate},
		ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: c.pool(),
		VerifyConnection: func(state tls.ConnectionState) error {
			if err := state.PeerCertificates[0].VerifyHostname(OperatorName(networkID)); err != nil {
				return fmt.Errorf("the client is not the operator of this network: %w", err)
			}
			return nil
		},
	}
}

// ClientConfig returns the configuration of an operator that accepts only a server with a name, see ServerName.
func (c *Credentials) ClientConfig(server string, now func() time.Time) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Time: now, ServerName: server, RootCAs: c.pool(), Certificates: []tls.Certificate{c.Certificate},
	}
}
