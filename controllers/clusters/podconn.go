package clusters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/plaza-social/plaza/controllers/platformclient"
)

// Servers returns a client of the platform's servers in a member cluster. Their pods have no address that is reachable from other
// clusters, so each connection is a port-forward of the member's API server to the pod: it needs no network between the clusters,
// gateway or Service, is encrypted up to the pod's node, and carries any protocol, such as TLS with the server itself.
func Servers(config *rest.Config) (platformclient.Servers, error) {
	d, err := NewPodDialer(config)
	if err != nil {
		return nil, err
	}
	return platformclient.NewVia(d.Dial), nil
}

// PodAddress returns the address of a port of a pod for a PodDialer.
func PodAddress(pod *corev1.Pod, port string) string {
	return net.JoinHostPort(pod.Name+"."+pod.Namespace, port)
}

// PodDialer connects to ports of pods through the API server.
type PodDialer struct {
	config *rest.Config
	server *url.URL
}

// NewPodDialer returns a dialer to the pods of a cluster.
func NewPodDialer(config *rest.Config) (*PodDialer, error) {
	server, _, err := rest.DefaultServerURL(config.Host, "", schema.GroupVersion{}, true)
	if err != nil {
		return nil, fmt.Errorf("reading the address of the API server: %w", err)
	}
	return &PodDialer{config, server}, nil
}

// Dial connects to an address of PodAddress.
func (d *PodDialer) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	dot := strings.LastIndexByte(host, '.') // names of pods may have dots, names of namespaces have none
	if dot < 0 {
		return nil, errors.New("the address is not that of a pod")
	}
	type result struct {
		conn net.Conn
		err  error
	}
	connected := make(chan result, 1)
	go func() {
		conn, err := d.forward(host[dot+1:], host[:dot], port)
		connected <- result{conn, err}
	}()
	select {
	case r := <-connected:
		return r.conn, r.err
	case <-ctx.Done():
		go func() {
			if r := <-connected; r.conn != nil {
				_ = r.conn.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

func (d *PodDialer) forward(namespace, pod, port string) (net.Conn, error) {
	address := d.server.JoinPath("api", "v1", "namespaces", namespace, "pods", pod, "portforward")
	transport, upgrader, err := spdy.RoundTripperFor(d.config)
	if err != nil {
		return nil, err
	}
	websocket, err := portforward.NewSPDYOverWebsocketDialerForStreaming(address, d.config)
	if err != nil {
		return nil, err
	}
	plain := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport, Timeout: requestTimeout}, http.MethodPost, address)
	connection, _, err := portforward.NewFallbackDialerForStreaming(websocket, plain, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err) // API servers before 1.31 have no websockets
	}).Dial(portforward.PortForwardProtocolV1Name)
	if err != nil {
		return nil, fmt.Errorf("forwarding a port of pod %s: %w", pod, err)
	}
	conn, err := openStreams(connection, port)
	if err != nil {
		_ = connection.Close()
		return nil, fmt.Errorf("forwarding a port of pod %s: %w", pod, err)
	}
	return conn, nil
}

// openStreams opens the two streams of a forwarded connection: one for its data, and one for the error with which it fails.
func openStreams(connection httpstream.Connection, port string) (net.Conn, error) {
	headers := http.Header{}
	headers.Set(corev1.PortHeader, port)
	headers.Set(corev1.PortForwardRequestIDHeader, "1")
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	failures, err := connection.CreateStream(headers)
	if err != nil {
		return nil, err
	}
	_ = failures.Close() // nothing is sent on it
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := connection.CreateStream(headers)
	if err != nil {
		return nil, err
	}
	conn := &podConn{Stream: data, connection: connection}
	go func() {
		text, err := io.ReadAll(io.LimitReader(failures, 1<<10))
		if err == nil && len(text) > 0 {
			_ = connection.Close() // otherwise reads wait for a server that does not listen
		}
	}()
	return conn, nil
}

// podConn is a connection to a port of a pod. It has no deadlines; requests end with their context.
type podConn struct {
	httpstream.Stream

	connection httpstream.Connection
}

// Close closes the connection.
func (c *podConn) Close() error { return c.connection.Close() }

// LocalAddr returns no address.
func (*podConn) LocalAddr() net.Addr { return noAddress }

// RemoteAddr returns no address.
func (*podConn) RemoteAddr() net.Addr { return noAddress }

var noAddress = &net.UnixAddr{Name: "pod", Net: "pod"}

// SetDeadline does nothing.
func (*podConn) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing.
func (*podConn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing.
func (*podConn) SetWriteDeadline(time.Time) error { return nil }
