package auth

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"

	"github.com/plaza-social/plaza/platform/control"
)

// Control is the certificate of the control endpoints, its key and the authorities that may issue the operator's certificate, in
// three PEM files that are re-read when they change, like those of a Certificate.
type Control struct {
	*watchedFile[controlFiles]

	networkID string
}

// controlFiles is the content of the three files. It takes the place of a key.
type controlFiles struct {
	KeyInfo

	config      *tls.Config
	authorities []KeyInfo
}

func (c controlFiles) material() string { return c.ID }

// OpenControl reads the files of a network's control endpoints. Invalid files are an error now; later they are logged.
func OpenControl(certPath, keyPath, authoritiesPath, networkID string, opts ...FileOption) (*Control, error) {
	c := &Control{networkID: networkID}
	c.watchedFile = &watchedFile[controlFiles]{path: certPath, noun: "certificates", parse: c.parseFiles, read: func() ([]byte, error) {
		var parts [][]byte
		for _, path := range []string{certPath, keyPath, authoritiesPath} {
			part, err := readSmallFile(path)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
		}
		return bytes.Join(parts, []byte{pemSeparator}), nil
	}}
	return c, c.open(opts)
}

func (c *Control) parseFiles(content []byte) ([]controlFiles, error) {
	certificate, rest, _ := bytes.Cut(content, []byte{pemSeparator})
	key, authorities, _ := bytes.Cut(rest, []byte{pemSeparator})
	credentials, err := control.ParseCredentials(certificate, key, authorities)
	if err != nil {
		return nil, err
	}
	files := controlFiles{
		KeyInfo: certificateInfo(credentials.Certificate.Leaf), config: credentials.ServerConfig(c.networkID, c.options.now),
	}
	for _, authority := range credentials.Authorities {
		files.authorities = append(files.authorities, certificateInfo(authority))
	}
	return []controlFiles{files}, nil
}

func certificateInfo(certificate *x509.Certificate) KeyInfo {
	return KeyInfo{ID: control.ID(certificate), NotAfter: certificate.NotAfter}
}

// TLSConfig returns the configuration of a server that uses the present files for each connection.
func (c *Control) TLSConfig() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return (*c.get())[0].config, nil },
	}
}

// Authorities describes the trusted authorities, in the order of the file.
func (c *Control) Authorities() []KeyInfo { return (*c.get())[0].authorities }
