package platformclient_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/control"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/statusz"
)

// networkID is that of package apptest.
const networkID = "0123456789abcdef01234567"

// secured are the certificates of a network.
type secured struct {
	t         *testing.T
	authority *control.Authority
	dir       string
}

func newSecured(t *testing.T) *secured {
	t.Helper()
	authority, err := control.NewAuthority(rand.Reader, networkID, time.Now(), time.Hour)
	require.NoError(t, err)
	return &secured{t, authority, t.TempDir()}
}

func (s *secured) issue(name string, usage control.Usage) (certificate, key, authorities []byte) {
	s.t.Helper()
	certificate, key, err := s.authority.Issue(rand.Reader, name, usage, time.Now(), time.Hour)
	require.NoError(s.t, err)
	return certificate, key, control.Bundle([]*control.Authority{s.authority})
}

func (s *secured) credentials(name string, usage control.Usage) *control.Credentials {
	s.t.Helper()
	c, err := control.ParseCredentials(s.issue(name, usage))
	require.NoError(s.t, err)
	return c
}

// configure gives the server of a region its control port.
func (s *secured) configure(cfg *config.Config) {
	certificate, key, authorities := s.issue(control.ServerName(string(cfg.Region), networkID), control.Server)
	dir := filepath.Join(s.dir, string(cfg.Region))
	require.NoError(s.t, os.MkdirAll(dir, 0o700))
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(s.t, os.WriteFile(path, text, 0o600))
		return path
	}
	cfg.ControlListen = "127.0.0.1:0"
	cfg.ControlCertFile, cfg.ControlKeyFile = write(control.CertificateFile, certificate), write(control.KeyFile, key)
	cfg.ControlCAFile = write(control.AuthoritiesFile, authorities)
}

// server returns how the operator calls the server of a region.
func (s *secured) server(n *apptest.Network, code region.Code) platformclient.Server {
	s.t.Helper()
	return platformclient.Server{
		Ops: n.Region(code).OpsAddr(), Control: n.Region(code).ControlAddr(), Name: control.ServerName(string(code), networkID),
		Credentials: s.credentials(control.OperatorName(networkID), control.Operator),
	}
}

// serve serves a handler as control port of the region eu until the test ends.
func (s *secured) serve(handler http.HandlerFunc) platformclient.Server {
	s.t.Helper()
	name := control.ServerName("eu", networkID)
	server := httptest.NewUnstartedServer(handler)
	server.TLS = s.credentials(name, control.Server).ServerConfig(networkID, time.Now)
	server.StartTLS()
	s.t.Cleanup(server.Close)
	return platformclient.Server{
		Control: server.Listener.Addr().String(), Name: name, Credentials: s.credentials(control.OperatorName(networkID), control.Operator),
	}
}

// record is what connections of a dialer sent and received.
type record struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *record) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	return &recordedConn{conn, r}, err
}

func (r *record) add(text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = r.text.Write(text)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

type recordedConn struct {
	net.Conn

	record *record
}

func (c *recordedConn) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	c.record.add(into[:n])
	return n, err
}

func (c *recordedConn) Write(text []byte) (int, error) {
	c.record.add(text)
	return c.Conn.Write(text)
}

// TestControlCalls calls real servers on their control ports. Nothing that they exchange can be read.
func TestControlCalls(t *testing.T) {
	certificates := newSecured(t)
	n := apptest.Start(t, apptest.WithConfig(certificates.configure))
	var seen record
	servers := platformclient.NewVia(seen.dial)
	token, err := platformclient.AdminToken(secretOf(t, n.Keys.Signing), n.NetworkID, time.Now())
	require.NoError(t, err)
	for _, code := range region.All() {
		server := certificates.server(n, code)
		status, err := servers.Status(within(t), server)
		require.NoError(t, err)
		require.Equal(t, string(code), status.Region)
		require.True(t, status.Control.Trusts(certificates.authority.ID()))
		require.NoError(t, servers.VerifyServerKey(within(t), server, "k1", keyring.NewSecret(n.ServerKey)))
		require.ErrorIs(t, servers.VerifyServerKey(within(t), server, "k1", keyring.NewSecret(n.APIKey)), platformclient.ErrKeyRefused)
		require.NoError(t, servers.PushModeration(within(t), server, token, platformclient.Moderation{FlagLimit: 7, Generation: 3}))
		require.NoError(t, servers.SetLogLevel(within(t), server, "debug"))
		status, err = servers.Status(within(t), server)
		require.NoError(t, err)
		require.Equal(t, &statusz.LogLevel{Current: "debug", Configured: "info"}, status.LogLevel)
	}
	require.NotEmpty(t, seen.String())
	for _, text := range []string{n.ServerKey, token.Reveal(), "Bearer", "networkId", "flagLimit", "nonce"} {
		require.NotContains(t, seen.String(), text)
	}

	other := newSecured(t)
	server := certificates.server(n, region.EU)
	for name, c := range map[string]struct {
		change func(*platformclient.Server)
		want   string
	}{
		"another region": {func(s *platformclient.Server) { s.Name = control.ServerName("us", networkID) }, "not us."},
		"another authority": {func(s *platformclient.Server) {
			s.Credentials = other.credentials(control.OperatorName(networkID), control.Operator)
		}, "unknown authority"},
		"no certificate of operator": {
			func(s *platformclient.Server) { s.Credentials = certificates.credentials(s.Name, control.Server) },
			"bad certificate",
		},
		"no credentials yet": {func(s *platformclient.Server) { s.Credentials = nil }, "does not exist yet"},
	} {
		t.Run(name, func(t *testing.T) {
			server := server
			c.change(&server)
			_, err := servers.Status(within(t), server)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, servers.PushModeration(within(t), server, token, platformclient.Moderation{FlagLimit: 8}), c.want)
			require.ErrorContains(t, servers.VerifyServerKey(within(t), server, "k1", keyring.NewSecret(n.ServerKey)), c.want)
		})
	}
}

// TestImpostor checks that a server that is not of the network is not asked again without TLS, nor believed if it claims to be.
func TestImpostor(t *testing.T) {
	certificates, other := newSecured(t), newSecured(t)
	asked := 0
	impostor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_ = json.NewEncoder(w).Encode(statusz.Status{Region: "eu", NetworkID: networkID, Control: &statusz.Control{}})
	}))
	defer impostor.Close()
	server := other.serve(func(http.ResponseWriter, *http.Request) {})
	server.Ops, server.Credentials = impostor.Listener.Addr().String(),
		certificates.credentials(control.OperatorName(networkID), control.Operator)
	_, err := platformclient.New().Status(within(t), server)
	require.ErrorContains(t, err, "unknown authority")
	require.Zero(t, asked)
}
