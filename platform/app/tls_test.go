package app_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/app"
	"github.com/plaza-social/plaza/platform/config"
)

// writeCertificate writes a certificate of 127.0.0.1 with a serial number and returns a pool that trusts it.
func writeCertificate(t *testing.T, dir string, serial int64) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	for name, block := range map[string]*pem.Block{
		"tls.key": {Type: "PRIVATE KEY", Bytes: private},
		"tls.crt": {Type: "CERTIFICATE", Bytes: der},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600))
	}
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return certificate
}

// servingTLS starts a server on a certificate in dir.
func servingTLS(t *testing.T, dir string) *running {
	t.Helper()
	return servingTLSWithLog(t, dir, quiet)
}

// servingTLSWithLog is servingTLS with a log.
func servingTLSWithLog(t *testing.T, dir string, log *slog.Logger) *running {
	t.Helper()
	r, _ := servingWithLog(t, log, func(cfg *config.Config) {
		cfg.TLSCertFile, cfg.TLSKeyFile = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	})
	return r
}

// secureClient returns a client that trusts the certificates and keeps connections.
func secureClient(t *testing.T, protocols func(*http.Protocols), trusted ...*x509.Certificate) *http.Client {
	t.Helper()
	pool := x509.NewCertPool()
	for _, c := range trusted {
		pool.AddCert(c)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, Protocols: new(http.Protocols)}
	protocols(transport.Protocols)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func overHTTP1(p *http.Protocols) { p.SetHTTP1(true) }
func overHTTP2(p *http.Protocols) { p.SetHTTP2(true) }

// TestTLS serves HTTP/1.1 and HTTP/2, chosen by ALPN, and nothing without TLS or with an old version.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	trusted := writeCertificate(t, dir, 1)
	r := servingTLS(t, dir)
	for protocols, want := range map[string]func(*http.Protocols){"HTTP/1.1": overHTTP1, "HTTP/2.0": overHTTP2} {
		resp, err := secureClient(t, want, trusted).Get("https://" + r.APIAddr() + "/api/v3/users")
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, resp.Body)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, protocols, resp.Proto)
		require.Equal(t, http.StatusUnauthorized, resp.StatusCode)
		require.Equal(t, "max-age=31536000", resp.Header.Get("Strict-Transport-Security"))
		require.Equal(t, "no-store", resp.Header.Get("Cache-Control"))
	}
	resp, err := http.Get("http://" + r.APIAddr() + "/api/v3/users")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusBadRequest, resp.StatusCode, "a request without TLS")
	_, err = tls.Dial("tcp", r.APIAddr(), &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10, InsecureSkipVerify: true})
	require.ErrorContains(t, err, "protocol version")
}

// TestRotatedCertificate replaces the certificate while a connection is open: it stays usable, and new connections get
// the new certificate. While the files do not match, the previous certificate stays in use.
func TestRotatedCertificate(t *testing.T) {
	dir := t.TempDir()
	first := writeCertificate(t, dir, 1)
	log := &lines{}
	r := servingTLSWithLog(t, dir, slog.New(slog.NewTextHandler(log, nil)))
	open := func() (*tls.Conn, int64) {
		conn, err := tls.Dial("tcp", r.APIAddr(), &tls.Config{InsecureSkipVerify: true})
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn, conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	serial := func() int64 {
		conn, number := open()
		require.NoError(t, conn.Close())
		return number
	}
	ask := func(conn *tls.Conn) {
		_, err := io.WriteString(conn, "GET /api/v3/users HTTP/1.1\r\nHost: plaza\r\n\r\n")
		require.NoError(t, err)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, resp.Body)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusUnauthorized, resp.StatusCode)
	}
	conn, number := open()
	require.Equal(t, first.SerialNumber.Int64(), number)
	ask(conn)
	writeCertificate(t, dir, 2)
	require.Eventually(t, func() bool { return serial() == 2 }, patience, 50*time.Millisecond)
	ask(conn)
	const refused = `msg="key file is invalid, using the previous keys"`
	before := log.count(refused) // the second certificate may have been read between its files
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tls.key"), []byte("half written"), 0o600))
	require.Eventually(t, func() bool { return serial() == 2 && log.count(refused) > before }, patience, 50*time.Millisecond)
	require.EqualValues(t, 2, serial(), "after the files were read")
	writeCertificate(t, dir, 3)
	require.Eventually(t, func() bool { return serial() == 3 }, patience, 50*time.Millisecond)
	ask(conn)
}

// TestWrongTLSFiles checks the errors of files that cannot be used.
func TestWrongTLSFiles(t *testing.T) {
	dir := t.TempDir()
	writeCertificate(t, dir, 1)
	cfg := fullConfig(t, "postgresql://plaza@127.0.0.1:1/plaza")
	for name, c := range map[string]struct{ cert, key, want string }{
		"key missing":  {"tls.crt", "", "tls-cert-file: must be set together with tls-key-file"},
		"cert missing": {"", "tls.key", "tls-cert-file: must be set together with tls-key-file"},
		"no file":      {"other.crt", "tls.key", "tls-cert-file: open "},
		"swapped":      {"tls.key", "tls.crt", "the files do not contain a certificate and its private key in PEM"},
	} {
		t.Run(name, func(t *testing.T) {
			c1 := cfg
			for file, into := range map[*string]string{&c1.TLSCertFile: c.cert, &c1.TLSKeyFile: c.key} {
				if *file = ""; into != "" {
					*file = filepath.Join(dir, into)
				}
			}
			_, err := app.New(t.Context(), c1, quiet)
			require.ErrorContains(t, err, c.want)
			var wrong *config.Error
			require.ErrorAs(t, err, &wrong)
		})
	}
}
