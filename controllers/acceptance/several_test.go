package acceptance

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// TestTwoNetworksInOneNamespace has two networks, one of which has a name that is a prefix of the other's.
func TestTwoNetworksInOneNamespace(t *testing.T) {
	o := start(t)
	first := o.up(sample(t, "socialnetwork-minimal"))
	other := sample(t, "socialnetwork-minimal")
	other.Name = "acme"
	other.Spec.Regions[0].Host = "other.local"
	second := o.up(other)
	require.NotEqual(t, first.Status.NetworkID, second.Status.NetworkID)
	require.NoError(t, o.client.Delete(t.Context(), second))
	o.pass("acme-minimal")
	o.condition("acme-minimal", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	require.True(t, o.exists(&appsv1.Deployment{}, "acme-minimal-us"))
}

// TestSameNameInTwoNamespaces has two networks with the same name and one operator.
func TestSameNameInTwoNamespaces(t *testing.T) {
	a := prepare(t)
	there := env.Namespace(t)
	a.watches = append(a.watches, there)
	a.run()
	t.Cleanup(a.end)
	other := *a
	other.namespace = there
	b := &other
	first, second := a.up(sample(t, "socialnetwork-minimal")), b.up(sample(t, "socialnetwork-minimal"))
	require.NotEqual(t, first.Status.NetworkID, second.Status.NetworkID)
	a.edit("acme-minimal", func(sn *v1alpha1.SocialNetwork) { sn.Spec.Regions[0].Replicas = new(int32(3)) })
	a.eventually("three pods", func() string {
		if *a.deployment("acme-minimal", "us").Spec.Replicas != 3 {
			return "not yet"
		}
		return ""
	})
	b.pass("acme-minimal")
	require.Equal(t, int32(1), *b.deployment("acme-minimal", "us").Spec.Replicas)
	ofB := get(b, &corev1.Secret{}, "acme-minimal-identity").Data
	require.NotEqual(t, get(a, &corev1.Secret{}, "acme-minimal-identity").Data, ofB)

	require.NoError(t, a.client.Delete(t.Context(), get(a, &v1alpha1.SocialNetwork{}, "acme-minimal")))
	a.eventually("the metrics of the one to go", func() string {
		return strings.Join(slices.Sorted(maps.Keys(a.series("acme-minimal"))), " ")
	})
	require.NotEmpty(t, b.series("acme-minimal"))
	b.pass("acme-minimal")
	b.condition("acme-minimal", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	require.Equal(t, ofB, get(b, &corev1.Secret{}, "acme-minimal-identity").Data)
}

// gate is a TCP proxy to the API server that can be closed.
type gate struct {
	listener net.Listener
	to       string
	mu       sync.Mutex
	closed   bool
	open     map[net.Conn]bool
	refused  atomic.Int32
}

func newGate(t *testing.T, to string) *gate {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := &gate{listener: listener, to: to, open: map[net.Conn]bool{}}
	t.Cleanup(func() { _ = listener.Close() })
	go g.serve()
	return g
}

func (g *gate) serve() {
	for {
		in, err := g.listener.Accept()
		if err != nil {
			return
		}
		out, err := new(net.Dialer).Dial("tcp", g.to)
		if err != nil || !g.keep(in, out) {
			g.refused.Add(1)
			_ = in.Close()
			if out != nil {
				_ = out.Close()
			}
			continue
		}
		go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
		go func() { _, _ = io.Copy(in, out); _ = in.Close() }()
	}
}

func (g *gate) keep(conns ...net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range conns {
		g.open[c] = true
	}
	return !g.closed
}

// shut closes every connection and refuses new ones until it is opened again.
func (g *gate) shut(closed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = closed
	if closed {
		for c := range g.open {
			_ = c.Close()
		}
		g.open = map[net.Conn]bool{}
	}
}

// TestAPIServerUnavailable disconnects the operator from the API server while users make changes.
func TestAPIServerUnavailable(t *testing.T) {
	ctx := t.Context()
	o := prepare(t)
	address, err := url.Parse(o.config.Host)
	if err != nil || address.Host == "" {
		address = &url.URL{Host: o.config.Host}
	}
	g := newGate(t, address.Host)
	o.config.Host = "https://" + g.listener.Addr().String()
	o.run()
	t.Cleanup(o.end)
	o.up(sample(t, "socialnetwork-minimal"))
	o.condition("acme-minimal", v1alpha1.ConditionAlertsApplied, "True", v1alpha1.ReasonInstalled)
	o.settle("acme-minimal")
	before := get(o, &v1alpha1.SocialNetwork{}, "acme-minimal").Status

	g.shut(true)
	require.NoError(t, o.client.Delete(ctx, get(o, &corev1.Service{}, "acme-minimal-us")))
	o.edit("acme-minimal", func(sn *v1alpha1.SocialNetwork) { sn.Spec.Moderation.FlagLimit = 9 })
	o.eventually("the operator to retry", func() string {
		require.False(t, o.exists(&corev1.Service{}, "acme-minimal-us"))
		require.Equal(t, before, get(o, &v1alpha1.SocialNetwork{}, "acme-minimal").Status)
		if n := g.refused.Load(); n < 5 {
			return fmt.Sprintf("only %d connections", n)
		}
		return ""
	})
	g.shut(false)
	o.eventually("the Service to be restored", func() string {
		if !o.exists(&corev1.Service{}, "acme-minimal-us") {
			return "it does not exist"
		}
		return ""
	})
	o.condition("acme-minimal", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	after := get(o, &v1alpha1.SocialNetwork{}, "acme-minimal").Status
	for i, c := range before.Conditions { // nothing was reported missing in the meantime
		if c.Type == v1alpha1.ConditionAlertsApplied {
			require.Equal(t, c.LastTransitionTime, after.Conditions[i].LastTransitionTime)
		}
	}
}

// TestNameConflict has a Service of a user with the name of the operator's.
func TestNameConflict(t *testing.T) {
	ctx := t.Context()
	o := start(t)
	sn := sample(t, "socialnetwork-minimal")
	service := &corev1.Service{}
	service.Name, service.Namespace = render.RegionName(sn.Name, "us"), o.namespace
	service.Spec.Ports = []corev1.ServicePort{{Name: "mine", Port: 1}}
	service.Labels = map[string]string{"mine": "true"}
	require.NoError(t, o.client.Create(ctx, service, client.FieldOwner("user")))
	o.up(sn)
	live := get(o, &corev1.Service{}, service.Name)
	require.Equal(t, "true", live.Labels["mine"])
	require.Equal(t, render.OperatorName, live.Labels[render.LabelManagedBy])
}
