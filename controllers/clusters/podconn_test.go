package clusters

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/platform/control"
	"github.com/plaza-social/plaza/platform/statusz"
)

const networkID = "0123456789abcdef01234567"

// forwarder is an API server before 1.31: it forwards every port of every pod to one address, over SPDY, and records the bytes.
type forwarder struct {
	mu    sync.Mutex
	to    string
	paths []string
	seen  strings.Builder
}

// ServeHTTP serves a port-forward.
func (f *forwarder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	f.mu.Lock()
	f.paths = append(f.paths, req.URL.Path)
	f.mu.Unlock()
	if strings.EqualFold(req.Header.Get("Upgrade"), "websocket") {
		http.Error(w, "websockets are not supported", http.StatusBadRequest)
		return
	}
	if _, err := httpstream.Handshake(req, w, []string{portforward.PortForwardProtocolV1Name}); err != nil {
		return
	}
	streams := make(chan httpstream.Stream, 2)
	connection := spdy.NewResponseUpgrader().UpgradeResponse(w, req, func(stream httpstream.Stream, _ <-chan struct{}) error {
		streams <- stream
		return nil
	})
	if connection == nil {
		return
	}
	defer func() { _ = connection.Close() }()
	for {
		select {
		case stream := <-streams:
			if stream.Headers().Get(corev1.StreamType) == corev1.StreamTypeData {
				go f.pipe(stream)
			}
		case <-connection.CloseChan():
			return
		}
	}
}

func (f *forwarder) pipe(stream httpstream.Stream) {
	f.mu.Lock()
	to := f.to
	f.mu.Unlock()
	conn, err := net.Dial("tcp", to)
	if err != nil {
		_ = stream.Reset()
		return
	}
	go func() { _, _ = io.Copy(io.MultiWriter(conn, f), stream) }()
	_, _ = io.Copy(io.MultiWriter(stream, f), conn)
	_ = stream.Close()
}

// Write records bytes that pass the API server.
func (f *forwarder) Write(text []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen.Write(text)
}

func credentials(t *testing.T, a *control.Authority, name string, usage control.Usage) *control.Credentials {
	t.Helper()
	certificate, key, err := a.Issue(rand.Reader, name, usage, time.Now(), time.Hour)
	require.NoError(t, err)
	c, err := control.ParseCredentials(certificate, key, control.Bundle([]*control.Authority{a}))
	require.NoError(t, err)
	return c
}

// TestControlCallsThroughAPortForward calls a server in a member cluster with mutual TLS: the API server in between cannot read it.
func TestControlCallsThroughAPortForward(t *testing.T) {
	authority, err := control.NewAuthority(rand.Reader, networkID, time.Now(), time.Hour)
	require.NoError(t, err)
	name := control.ServerName("eu", networkID)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(statusz.Status{Region: "eu", NetworkID: networkID, Control: &statusz.Control{}})
	}))
	server.TLS = credentials(t, authority, name, control.Server).ServerConfig(networkID, time.Now)
	server.StartTLS()
	defer server.Close()
	through := &forwarder{to: server.Listener.Addr().String()}
	api := httptest.NewServer(through)
	defer api.Close()

	servers, err := Servers(&rest.Config{Host: api.URL})
	require.NoError(t, err)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "acme-eu-1", Namespace: "plaza"}}
	called := platformclient.Server{
		Control: PodAddress(pod, "9443"), Name: name, Credentials: credentials(t, authority, control.OperatorName(networkID), control.Operator),
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	status, err := servers.Status(ctx, called)
	require.NoError(t, err)
	require.Equal(t, "eu", status.Region)
	through.mu.Lock()
	require.Contains(t, through.paths, "/api/v1/namespaces/plaza/pods/acme-eu-1/portforward")
	require.NotEmpty(t, through.seen.String())
	require.NotContains(t, through.seen.String(), networkID+`"`, "the body of the response")
	through.mu.Unlock()

	called.Name = control.ServerName("us", networkID)
	_, err = servers.Status(ctx, called)
	require.ErrorContains(t, err, "not us.")

	through.mu.Lock()
	through.to = "127.0.0.1:1"
	through.mu.Unlock()
	called.Name = name
	_, err = servers.Status(ctx, called)
	require.ErrorAs(t, err, new(*platformclient.UnreachableError))
	require.NotErrorIs(t, err, context.DeadlineExceeded, "a server that does not listen is noticed at once")
}
