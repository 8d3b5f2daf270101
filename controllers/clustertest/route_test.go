//go:build cluster

package clustertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/controllers/clusters"
)

// forwarded reports whether the tests reach Services, pods and the database only through port-forwards of the API server, as is
// necessary where pods run in a virtual machine. Otherwise this machine has a route to them.
func forwarded() bool { return os.Getenv("CLUSTER_ROUTE") == "port-forward" }

// forwarder connects to Services and pods through the API server.
type forwarder struct {
	client client.Client
	pods   *clusters.PodDialer
}

// newForwarder returns a forwarder to a cluster, or nil if this machine has a route to Services and pods.
func newForwarder(t *testing.T, config *rest.Config, c client.Client) *forwarder {
	t.Helper()
	if !forwarded() {
		return nil
	}
	pods, err := clusters.NewPodDialer(config)
	require.NoError(t, err)
	return &forwarder{c, pods}
}

// useRoute makes the tests' connections go through the API server if CLUSTER_ROUTE says so.
func (s *suite) useRoute(t *testing.T) {
	t.Helper()
	if !forwarded() {
		require.Empty(t, os.Getenv("CLUSTER_ROUTE"), "CLUSTER_ROUTE is port-forward or empty")
		return
	}
	s.forwarder = newForwarder(t, s.config, s.client)
	for _, c := range []*http.Client{kept, fresh} {
		transport, _ := c.Transport.(*http.Transport)
		transport.DialContext = s.dialHome
	}
}

// dialHome connects to an address of serviceAddress, which may be in a member cluster.
func (s *suite) dialHome(ctx context.Context, kind, address string) (net.Conn, error) {
	for code, home := range s.members {
		if rest, found := strings.CutPrefix(address, code+".member."); found {
			return home.forwarder.dial(ctx, kind, rest)
		}
	}
	return s.forwarder.dial(ctx, kind, address)
}

// serviceAddress returns the address of a port of a Service in a member cluster, or, without one, in that of KUBECONFIG.
func serviceAddress(service *corev1.Service, port int32, home *member) string {
	host := service.Spec.ClusterIP
	if forwarded() {
		host = service.Name + "." + service.Namespace + ".svc"
		if home != nil {
			host = home.region + ".member." + host
		}
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// podAddress returns the address of a port of a pod.
func podAddress(pod *corev1.Pod, port int32) string {
	if forwarded() {
		return clusters.PodAddress(pod, strconv.Itoa(int(port)))
	}
	return net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(int(port)))
}

// connect connects to the database.
func (s *suite) connect(ctx context.Context, address string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, err
	}
	if s.forwarder != nil {
		config.DialFunc = s.forwarder.dial
		config.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	}
	return pgx.ConnectConfig(ctx, config)
}

// dial connects to an address of serviceAddress or podAddress, or to the name that a Service has in pods.
func (f *forwarder) dial(ctx context.Context, kind, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if name, isService := strings.CutSuffix(strings.TrimSuffix(host, ".cluster.local"), ".svc"); isService {
		if address, err = f.endpoint(ctx, name, port); err != nil {
			return nil, err
		}
	}
	return f.pods.Dial(ctx, kind, address)
}

// endpoint chooses a ready pod of a Service, named name.namespace, as kube-proxy does.
func (f *forwarder) endpoint(ctx context.Context, service, port string) (string, error) {
	name, namespace, _ := strings.Cut(service, ".")
	var found corev1.Service
	if err := f.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &found); err != nil {
		return "", err
	}
	portName, err := nameOfPort(&found, port)
	if err != nil {
		return "", err
	}
	var slices discoveryv1.EndpointSliceList
	if err := f.client.List(ctx, &slices, client.InNamespace(namespace),
		client.MatchingLabels{discoveryv1.LabelServiceName: name}); err != nil {
		return "", err
	}
	var ready []string
	for i := range slices.Items {
		ready = append(ready, readyPods(&slices.Items[i], portName)...)
	}
	if len(ready) == 0 {
		return "", fmt.Errorf("no pod of Service %s is ready", service)
	}
	return ready[rand.N(len(ready))], nil
}

func nameOfPort(service *corev1.Service, port string) (string, error) {
	for _, p := range service.Spec.Ports {
		if strconv.Itoa(int(p.Port)) == port {
			return p.Name, nil
		}
	}
	return "", errors.New("Service " + service.Name + " has no port " + port)
}

// readyPods returns the addresses of a port of the ready pods of a slice.
func readyPods(slice *discoveryv1.EndpointSlice, portName string) []string {
	var ready []string
	for _, p := range slice.Ports {
		if p.Port == nil || p.Name != nil && *p.Name != portName {
			continue
		}
		for _, e := range slice.Endpoints {
			if e.TargetRef != nil && e.Conditions.Ready != nil && *e.Conditions.Ready {
				pod := &corev1.Pod{}
				pod.Name, pod.Namespace = e.TargetRef.Name, e.TargetRef.Namespace
				ready = append(ready, clusters.PodAddress(pod, strconv.Itoa(int(*p.Port))))
			}
		}
	}
	return ready
}
