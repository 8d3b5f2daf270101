package auth

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"time"
)

// Certificate is a TLS certificate with its key, in two PEM files that are re-read when they change: connections that are
// open keep theirs, new ones get the new one. While the files do not match, such as between the writing of one and the
// other, the previous certificate stays in use. A Certificate is safe for concurrent use.
type Certificate struct{ *watchedFile[certificate] }

// certificate is the content of the two files. It takes the place of a key.
type certificate struct {
	KeyInfo
	tls.Certificate
}

func (c certificate) material() string {
	digest := sha256.Sum256(c.Leaf.Raw)
	return string(digest[:])
}

// pemSeparator separates the two files in what is read. PEM files are text.
const pemSeparator = 0

// errCertificate hides the errors of the parser, which may quote the key.
var errCertificate = errors.New("the files do not contain a certificate and its private key in PEM")

// OpenCertificate reads a certificate. Invalid files are an error now; later they are logged.
func OpenCertificate(certPath, keyPath string, opts ...FileOption) (*Certificate, error) {
	f := &watchedFile[certificate]{path: certPath, noun: "certificates", parse: parseCertificate, read: func() ([]byte, error) {
		chain, err := readSmallFile(certPath)
		if err != nil {
			return nil, err
		}
		key, err := readSmallFile(keyPath)
		return bytes.Join([][]byte{chain, key}, []byte{pemSeparator}), err
	}}
	return &Certificate{f}, f.open(opts)
}

func parseCertificate(content []byte) ([]certificate, error) {
	chain, key, _ := bytes.Cut(content, []byte{pemSeparator})
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, errCertificate
	}
	return []certificate{{KeyInfo: KeyInfo{ID: pair.Leaf.SerialNumber.Text(16), NotAfter: pair.Leaf.NotAfter}, Certificate: pair}}, nil
}

// NotAfter returns the end of the present certificate.
func (c *Certificate) NotAfter() time.Time { return (*c.get())[0].KeyInfo.NotAfter }

// TLSConfig returns the configuration of a server: TLS 1.2 or newer, with the present certificate for each connection.
func (c *Certificate) TLSConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return &(*c.get())[0].Certificate, nil
		},
	}
}
