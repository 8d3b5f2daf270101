package main

import (
	"context"
	"crypto/rand"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/plaza-social/plaza/platform/control"
)

// certificateLifetime is longer than any benchmark.
const certificateLifetime = 24 * time.Hour

// profiles is how a server's profiles are read.
type profiles struct {
	client *http.Client
	base   string // address of the endpoints, without path
}

// controlOf creates the certificates of a server's control endpoints, at which it serves profiles. It returns the server's settings
// and a client.
func (e *environment) controlOf(ctx context.Context, name string) ([]string, profiles, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, profiles{}, err
	}
	now := time.Now()
	authority, err := control.NewAuthority(rand.Reader, networkID, now, certificateLifetime)
	if err != nil {
		return nil, profiles{}, err
	}
	holder := control.ServerName(string(home), networkID)
	certificate, key, err := authority.Issue(rand.Reader, holder, control.Server, now, certificateLifetime)
	if err != nil {
		return nil, profiles{}, err
	}
	trusted, dir := control.Bundle([]*control.Authority{authority}), e.path(name+"-control")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, profiles{}, err
	}
	for file, text := range map[string][]byte{control.CertificateFile: certificate, control.KeyFile: key, control.AuthoritiesFile: trusted} {
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
			return nil, profiles{}, err
		}
	}
	certificate, key, err = authority.Issue(rand.Reader, control.OperatorName(networkID), control.Operator, now, certificateLifetime)
	if err != nil {
		return nil, profiles{}, err
	}
	own, err := control.ParseCredentials(certificate, key, trusted)
	if err != nil {
		return nil, profiles{}, err
	}
	settings := []string{
		"PLAZA_PPROF=true", "PLAZA_CONTROL_LISTEN=" + address, "PLAZA_CONTROL_CERT_FILE=" + filepath.Join(dir, control.CertificateFile),
		"PLAZA_CONTROL_KEY_FILE=" + filepath.Join(dir, control.KeyFile), "PLAZA_CONTROL_CA_FILE=" + filepath.Join(dir, control.AuthoritiesFile),
	}
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: own.ClientConfig(holder, time.Now)}}
	return settings, profiles{client, "https://" + address}, nil
}
