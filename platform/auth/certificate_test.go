package auth_test

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/control"
)

// pemFiles are the paths of a certificate, its key and the authorities that are trusted.
type pemFiles struct{ certificate, key, authorities string }

func newPEMFiles(t *testing.T) pemFiles {
	t.Helper()
	dir := t.TempDir()
	return pemFiles{filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"), filepath.Join(dir, "ca.crt")}
}

// write writes a certificate and its key, which a new authority issues, and returns both.
func (f pemFiles) write(t *testing.T, lifetime time.Duration) (*control.Authority, *x509.Certificate) {
	t.Helper()
	authority, err := control.NewAuthority(rand.Reader, networkID, start, 48*time.Hour)
	require.NoError(t, err)
	certificate, key, err := authority.Issue(rand.Reader, control.ServerName("eu", networkID), control.Server, start, lifetime)
	require.NoError(t, err)
	writeFile(t, f.certificate, string(certificate))
	writeFile(t, f.key, string(key))
	writeFile(t, f.authorities, string(control.Bundle([]*control.Authority{authority})))
	block, _ := pem.Decode(certificate)
	parsed, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	return authority, parsed
}

// TestCertificate opens a certificate and replaces it: while one of its two files is missing or does not match, the previous one is used.
func TestCertificate(t *testing.T) {
	t.Parallel()
	c, files := newClock(), newPEMFiles(t)
	_, first := files.write(t, time.Hour)
	opened, err := auth.OpenCertificate(files.certificate, files.key, quietly, auth.WithClock(c.Now))
	require.NoError(t, err)
	requireServes := func(want *x509.Certificate, message string) {
		t.Helper()
		c.Move(time.Minute)
		got, err := opened.TLSConfig().GetCertificate(&tls.ClientHelloInfo{})
		require.NoError(t, err)
		require.True(t, want.Equal(got.Leaf), message)
		require.Equal(t, want.NotAfter, opened.NotAfter(), message)
	}
	requireServes(first, "the file")
	require.Equal(t, control.ID(first), opened.Status().Keys[0].ID)
	require.EqualValues(t, tls.VersionTLS12, opened.TLSConfig().MinVersion)

	oldKey, err := os.ReadFile(files.key)
	require.NoError(t, err)
	_, second := files.write(t, 2*time.Hour)
	newKey, err := os.ReadFile(files.key)
	require.NoError(t, err)
	writeFile(t, files.key, string(oldKey))
	requireServes(first, "a key that does not match")
	require.NotEmpty(t, opened.Status().Error)
	require.NoError(t, os.Remove(files.key))
	requireServes(first, "no key")
	writeFile(t, files.key, string(newKey))
	requireServes(second, "both files are new")
	require.Empty(t, opened.Status().Error)
	require.NoError(t, os.Remove(files.certificate))
	requireServes(second, "no certificate")
	require.Contains(t, opened.Status().Error, files.certificate)

	_, err = auth.OpenCertificate(files.certificate, files.key, quietly)
	require.ErrorIs(t, err, os.ErrNotExist, "no certificate")
	writeFile(t, files.certificate, string(newKey))
	_, err = auth.OpenCertificate(files.certificate, files.key, quietly)
	require.ErrorContains(t, err, "the files do not contain a certificate and its private key in PEM")
}

// TestControl opens the files of control endpoints and replaces them.
func TestControl(t *testing.T) {
	t.Parallel()
	c, files := newClock(), newPEMFiles(t)
	authority, first := files.write(t, time.Hour)
	open := func(f pemFiles) (*auth.Control, error) {
		return auth.OpenControl(f.certificate, f.key, f.authorities, networkID, quietly, auth.WithClock(c.Now))
	}
	opened, err := open(files)
	require.NoError(t, err)
	requireServes := func(want *x509.Certificate, authority *control.Authority, message string) {
		t.Helper()
		c.Move(time.Minute)
		got, err := opened.TLSConfig().GetConfigForClient(&tls.ClientHelloInfo{})
		require.NoError(t, err)
		require.True(t, want.Equal(got.Certificates[0].Leaf), message)
		require.Equal(t, []auth.KeyInfo{{ID: control.ID(want), NotAfter: want.NotAfter}}, opened.Status().Keys, message)
		require.Equal(t, []auth.KeyInfo{{ID: authority.ID(), NotAfter: authority.Certificate.NotAfter}}, opened.Authorities(), message)
	}
	requireServes(first, authority, "the files")
	require.EqualValues(t, tls.VersionTLS13, opened.TLSConfig().MinVersion)

	second := newPEMFiles(t)
	replacing, want := second.write(t, 2*time.Hour)
	for _, missing := range []string{files.certificate, files.key, files.authorities} {
		content, err := os.ReadFile(missing)
		require.NoError(t, err)
		require.NoError(t, os.Remove(missing))
		_, err = open(files)
		require.ErrorIs(t, err, os.ErrNotExist, missing)
		requireServes(first, authority, "without "+missing)
		writeFile(t, missing, string(content))
	}
	writeFile(t, files.authorities, "none")
	_, err = open(files)
	require.Error(t, err)
	requireServes(first, authority, "authorities that are not PEM")
	for from, to := range map[string]string{
		second.certificate: files.certificate, second.key: files.key,
		second.authorities: files.authorities,
	} {
		content, err := os.ReadFile(from)
		require.NoError(t, err)
		writeFile(t, to, string(content))
	}
	requireServes(want, replacing, "all files are new")
}
