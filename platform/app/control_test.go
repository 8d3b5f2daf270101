package app_test

import (
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/app"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/control"
	"github.com/plaza-social/plaza/platform/statusz"
)

// newAuthority creates an authority of the test's network.
func newAuthority(t *testing.T) *control.Authority {
	t.Helper()
	a, err := control.NewAuthority(rand.Reader, string(testConfig().NetworkID), time.Now(), time.Hour)
	require.NoError(t, err)
	return a
}

// controlFolder is a mounted Secret with the files of the control endpoints.
type controlFolder string

// issue writes a certificate of the region eu that an authority issues.
func (dir controlFolder) issue(t *testing.T, issuer *control.Authority, trusted ...*control.Authority) {
	t.Helper()
	certificate, key, err := issuer.Issue(rand.Reader, control.ServerName("eu", string(testConfig().NetworkID)), control.Server, time.Now(),
		time.Hour)
	require.NoError(t, err)
	for name, text := range map[string][]byte{
		control.CertificateFile: certificate, control.KeyFile: key, control.AuthoritiesFile: control.Bundle(trusted),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(string(dir), name), text, 0o600))
	}
}

func (dir controlFolder) configure(cfg *config.Config) {
	cfg.ControlListen = "127.0.0.1:0"
	cfg.ControlCertFile = filepath.Join(string(dir), control.CertificateFile)
	cfg.ControlKeyFile = filepath.Join(string(dir), control.KeyFile)
	cfg.ControlCAFile = filepath.Join(string(dir), control.AuthoritiesFile)
}

// operatorClient returns a client with a certificate of the network's operator. Each request uses a new connection.
func operatorClient(t *testing.T, issuer *control.Authority, trusted ...*control.Authority) *http.Client {
	t.Helper()
	network := string(testConfig().NetworkID)
	certificate, key, err := issuer.Issue(rand.Reader, control.OperatorName(network), control.Operator, time.Now(), time.Hour)
	require.NoError(t, err)
	credentials, err := control.ParseCredentials(certificate, key, control.Bundle(trusted))
	require.NoError(t, err)
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: credentials.ClientConfig(control.ServerName("eu", network), time.Now),
	}}
}

// TestControl calls the control endpoints as the operator does.
func TestControl(t *testing.T) {
	a := newAuthority(t)
	dir := controlFolder(t.TempDir())
	dir.issue(t, a, a)
	r, cfg := serving(t, dir.configure)
	operator, base := operatorClient(t, a, a), "https://"+r.ControlAddr()

	code, body := get(t, operator, base+statusz.Path)
	require.Equal(t, http.StatusOK, code)
	var status statusz.Status
	require.NoError(t, json.Unmarshal([]byte(body), &status))
	require.True(t, status.Control.Trusts(a.ID()))
	require.True(t, status.Control.Certificate.Valid)
	require.Empty(t, status.Control.Error)

	key, err := auth.EnsureKeySet(cfg.ServerKeysFile, "k1")
	require.NoError(t, err)
	for request, want := range map[string]int{
		`{"id":"k1","nonce":"` + strings.Repeat("n", 32) + `"}`: http.StatusOK,
		`{"key":"` + key + `"}`:                                 http.StatusBadRequest,
	} {
		resp, err := operator.Post(base+statusz.ServerKeyPath, "application/json", strings.NewReader(request))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, want, resp.StatusCode)
	}

	ring, err := auth.OpenKeyring(cfg.SigningKeysFile)
	require.NoError(t, err)
	token, _, err := auth.NewIssuer(string(cfg.NetworkID), ring).MintAdmin("test", time.Minute)
	require.NoError(t, err)
	for authorization, want := range map[string]int{"Bearer " + token: http.StatusOK, "": http.StatusUnauthorized} {
		require.Equal(t, want, putSettings(t, operator, base, authorization))
	}
	for path, want := range map[string]int{"/debug/pprof/": 404, "/livez": 404, "/metrics": 404, "/api/v3/users": 404} {
		code, _ := get(t, operator, base+path)
		require.Equal(t, want, code, path)
	}
	for _, path := range []string{statusz.Path, "/debug/pprof/"} {
		code, _ := get(t, http.DefaultClient, "http://"+r.OpsAddr()+path)
		require.Equal(t, http.StatusNotFound, code, "%s is served by the control port only", path)
	}
	conn, err := tls.Dial("tcp", r.ControlAddr(), &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true})
	require.NoError(t, err)
	_, err = conn.Read(make([]byte, 1))
	require.ErrorContains(t, err, "certificate required")
	require.NoError(t, conn.Close())
	resp, err := http.Get("http://" + r.ControlAddr() + statusz.Path)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusBadRequest, resp.StatusCode, "without TLS")
}

func putSettings(t *testing.T, client *http.Client, base, authorization string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, base+statusz.SettingsPath, strings.NewReader(`{"flagLimit":7}`))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", authorization)
	resp, err := client.Do(req)
	require.NoError(t, err)
	_, _ = io.Copy(io.Discard, resp.Body)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

// TestProfiles serves profiles at the control endpoints, without the command line, which may contain secrets.
func TestProfiles(t *testing.T) {
	a := newAuthority(t)
	dir := controlFolder(t.TempDir())
	dir.issue(t, a, a)
	r, _ := serving(t, dir.configure, func(cfg *config.Config) { cfg.Pprof = true })
	operator := operatorClient(t, a, a)
	for path, want := range map[string]int{"": 200, "symbol": 200, "heap": 200, "cmdline": 404} {
		code, _ := get(t, operator, "https://"+r.ControlAddr()+"/debug/pprof/"+path)
		require.Equal(t, want, code, path)
		code, _ = get(t, http.DefaultClient, "http://"+r.OpsAddr()+"/debug/pprof/"+path)
		require.Equal(t, http.StatusNotFound, code)
	}
}

// TestControlFollowsItsFiles rotates the authority: the server trusts the old one, both, and the new one.
func TestControlFollowsItsFiles(t *testing.T) {
	old, next := newAuthority(t), newAuthority(t)
	dir := controlFolder(t.TempDir())
	dir.issue(t, old, old)
	r, _ := serving(t, dir.configure)
	before, after := operatorClient(t, old, old, next), operatorClient(t, next, old, next)
	works := func(client *http.Client) bool {
		resp, err := client.Get("https://" + r.ControlAddr() + statusz.Path)
		if err != nil {
			return false
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	}
	require.True(t, works(before))
	require.False(t, works(after))
	dir.issue(t, old, next, old)
	require.Eventually(t, func() bool { return works(after) }, patience, 50*time.Millisecond)
	require.True(t, works(before))
	dir.issue(t, next, next, old)
	require.True(t, works(before))
	dir.issue(t, next, next)
	require.Eventually(t, func() bool { return !works(before) }, patience, 50*time.Millisecond)
	require.True(t, works(after))
	require.NoError(t, os.WriteFile(filepath.Join(string(dir), control.AuthoritiesFile), []byte("half written"), 0o600))
	require.Eventually(t, func() bool {
		_, body := get(t, after, "https://"+r.ControlAddr()+statusz.Path)
		return strings.Contains(body, "the file of the authorities contains no certificates")
	}, patience, 50*time.Millisecond, "the previous files stay in use")
}

// TestWrongControlSettings checks the errors of settings that contradict each other.
func TestWrongControlSettings(t *testing.T) {
	dir := controlFolder(t.TempDir())
	a := newAuthority(t)
	dir.issue(t, a, a)
	for name, c := range map[string]struct {
		change func(*config.Config)
		want   string
	}{
		"no certificate": {func(cfg *config.Config) { cfg.ControlCertFile = "" }, "control-cert-file: must be set together with control-listen"},
		"no authorities": {func(cfg *config.Config) { cfg.ControlCAFile = "" }, "control-ca-file: must be set together with control-listen"},
		"no port":        {func(cfg *config.Config) { cfg.ControlListen = "" }, "control-cert-file: must be set together with control-listen"},
		"no file":        {func(cfg *config.Config) { cfg.ControlCAFile += "x" }, "control-cert-file: open "},
		"a wrong file":   {func(cfg *config.Config) { cfg.ControlCAFile = cfg.ControlKeyFile }, "control-cert-file: read keys"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := fullConfig(t, "postgresql://plaza@127.0.0.1:1/plaza")
			dir.configure(&cfg)
			c.change(&cfg)
			_, err := app.New(t.Context(), cfg, quiet)
			require.ErrorContains(t, err, c.want)
		})
	}
	cfg := fullConfig(t, "postgresql://plaza@127.0.0.1:1/plaza")
	cfg.Pprof = true
	_, err := app.New(t.Context(), cfg, quiet)
	require.ErrorContains(t, err, "pprof: needs control-listen")
}
