package control

import (
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"time"
)

// skew is how far clocks may be apart.
const skew = 5 * time.Minute

const (
	certificateBlock = "CERTIFICATE"
	keyBlock         = "PRIVATE KEY"
)

// Authority issues the certificates of a network.
type Authority struct {
	Certificate *x509.Certificate
	key         ed25519.PrivateKey
}

// NewAuthority creates an authority that is valid from now on.
func NewAuthority(random io.Reader, networkID string, now time.Time, lifetime time.Duration) (*Authority, error) {
	serial, key, err := draw(random)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: suffix(networkID)},
		NotBefore: now.Add(-skew), NotAfter: now.Add(lifetime),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
		PermittedDNSDomainsCritical: true, PermittedDNSDomains: []string{suffix(networkID)},
	}
	certificate, err := sign(random, template, template, key, key)
	if err != nil {
		return nil, err
	}
	return &Authority{certificate, key}, nil
}

// ID returns the serial number of the authority's certificate, which identifies it in the status of servers.
func (a *Authority) ID() string { return ID(a.Certificate) }

// ID returns the serial number of a certificate in hexadecimal.
func ID(certificate *x509.Certificate) string { return certificate.SerialNumber.Text(16) }

// Usage is the side of connections that a certificate is for.
type Usage x509.ExtKeyUsage

// The sides.
const (
	Server   = Usage(x509.ExtKeyUsageServerAuth)
	Operator = Usage(x509.ExtKeyUsageClientAuth)
)

// Issue returns a certificate with a name and its private key, both PEM. It ends no later than the authority.
func (a *Authority) Issue(random io.Reader, name string, usage Usage, now time.Time, lifetime time.Duration) (certificate, key []byte,
	err error,
) {
	serial, private, err := draw(random)
	if err != nil {
		return nil, nil, err
	}
	until := now.Add(lifetime)
	if until.After(a.Certificate.NotAfter) {
		until = a.Certificate.NotAfter
	}
	issued, err := sign(random, &x509.Certificate{
		SerialNumber: serial, DNSNames: []string{name}, NotBefore: now.Add(-skew), NotAfter: until,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsage(usage)},
	}, a.Certificate, private, a.key)
	if err != nil {
		return nil, nil, err
	}
	key, err = encodeKey(private)
	return encodeCertificate(issued), key, err
}

// Issued reports whether the authority issued a certificate.
func (a *Authority) Issued(certificate *x509.Certificate) bool {
	return certificate.CheckSignatureFrom(a.Certificate) == nil
}

// draw returns a serial number and a private key.
func draw(random io.Reader) (*big.Int, ed25519.PrivateKey, error) {
	raw := make([]byte, 15+ed25519.SeedSize)
	if _, err := io.ReadFull(random, raw); err != nil {
		return nil, nil, fmt.Errorf("reading random bytes for a certificate: %w", err)
	}
	serial := new(big.Int).SetBytes(raw[:15])
	serial.SetBit(serial, 8*15, 1) // all have the same length
	return serial, ed25519.NewKeyFromSeed(raw[15:]), nil
}

func sign(random io.Reader, template, parent *x509.Certificate, key, signer ed25519.PrivateKey) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(random, template, parent, key.Public(), signer)
	if err != nil {
		return nil, fmt.Errorf("creating a certificate: %w", err)
	}
	return x509.ParseCertificate(der)
}

func encodeCertificate(certificate *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: certificate.Raw})
}

func encodeKey(key ed25519.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding a private key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: der}), nil
}

// EncodeAuthorities returns the certificates and private keys of authorities as PEM, in their order.
func EncodeAuthorities(authorities []*Authority) ([]byte, error) {
	var text []byte
	for _, a := range authorities {
		key, err := encodeKey(a.key)
		if err != nil {
			return nil, err
		}
		text = append(append(text, encodeCertificate(a.Certificate)...), key...)
	}
	return text, nil
}

// Bundle returns the certificates of authorities as PEM, for those who trust them.
func Bundle(authorities []*Authority) []byte {
	var text []byte
	for _, a := range authorities {
		text = append(text, encodeCertificate(a.Certificate)...)
	}
	return text
}

// errAuthorities hides the errors of the parsers, which may quote a key.
var errAuthorities = errors.New("it is not a list of certificates of authorities, each with its private key, in PEM")

// ParseAuthorities parses the result of EncodeAuthorities.
func ParseAuthorities(text []byte) ([]*Authority, error) {
	var authorities []*Authority
	for len(text) > 0 {
		var first, second *pem.Block
		first, text = pem.Decode(text)
		second, text = pem.Decode(text)
		if first == nil || second == nil || first.Type != certificateBlock || second.Type != keyBlock {
			return nil, errAuthorities
		}
		certificate, err := x509.ParseCertificate(first.Bytes)
		if err != nil || !certificate.IsCA {
			return nil, errAuthorities
		}
		private, err := x509.ParsePKCS8PrivateKey(second.Bytes)
		key, ok := private.(ed25519.PrivateKey)
		if err != nil || !ok || !key.Public().(ed25519.PublicKey).Equal(certificate.PublicKey) { // documented
			return nil, errAuthorities
		}
		authorities = append(authorities, &Authority{certificate, key})
	}
	return authorities, nil
}
