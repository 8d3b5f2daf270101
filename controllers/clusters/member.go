package clusters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/platformclient"
)

// Connection is a working connection to a member cluster.
type Connection struct {
	// Client writes, and reads from the cache. APIReader reads from the API server.
	Client    client.Client
	APIReader client.Reader
	// Servers calls the platform's servers in the cluster.
	Servers platformclient.Servers
	// Kinds are the optional and the detected kinds that the cluster has.
	Kinds []schema.GroupVersionKind
}

// maxRetryInterval is the longest time between two attempts to connect.
const maxRetryInterval = 15 * time.Second

// member is a registered cluster. It connects again with a new cache whenever the connection was lost: the watches of an old
// cache can take half a minute until they continue, and nothing shows that it is out of date until then.
type member struct {
	name, resourceVersion string
	registration          registration
	options               Options
	cancel                context.CancelFunc

	mu        sync.Mutex
	current   *Connection
	err       error   // why there is no connection; ErrPending before the first attempt has ended
	lastError error   // the last error of a list or watch
	before    *member // whose connection is used until the first attempt has ended; nil if there is none
}

func newMember(secret *corev1.Secret, registered registration, before *member, options Options) *member {
	m := &member{
		name: secret.Name, resourceVersion: secret.ResourceVersion, registration: registered, options: options, err: ErrPending,
	}
	if before != nil {
		m.before = before
		m.current, _ = before.connection()
	}
	return m
}

// start connects in the background, unless the kubeconfig is refused.
func (m *member) start(ctx context.Context) {
	if m.registration.refused != nil {
		m.set(nil, m.registration.refused)
		return
	}
	go m.run(ctx)
}

// stop disconnects. A nil member is not connected.
func (m *member) stop() {
	if m == nil {
		return
	}
	m.cancel()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before.stop()
	m.before = nil
}

func (m *member) connection() (*Connection, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.current == nil {
		return nil, m.err
	}
	return m.current, nil
}

func (m *member) set(current *Connection, err error) {
	m.mu.Lock()
	m.current, m.err = current, err
	m.before.stop()
	m.before = nil
	m.mu.Unlock()
	m.options.Changed(m.name, nil)
}

func (m *member) run(ctx context.Context) {
	wait := time.Second
	for ctx.Err() == nil {
		connected, err := m.serve(ctx)
		if ctx.Err() != nil {
			return
		}
		log.FromContext(ctx).Info("a cluster is unreachable", "cluster", m.name, "error", err.Error())
		m.set(nil, unreachable(m.name, err))
		if wait = min(2*wait, maxRetryInterval, 4*m.options.probeInterval()); connected {
			wait = min(time.Second, m.options.probeInterval())
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

func unreachable(name string, err error) error {
	return &Error{
		v1alpha1.ReasonClusterUnreachable,
		fmt.Sprintf("Cluster %s cannot be reached: %s.", name, strings.TrimSuffix(err.Error(), ".")),
	}
}

// serve connects and returns when the connection is lost, with its error and whether there was a connection.
func (m *member) serve(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	transport := &transport{lost: make(chan error, 1)}
	config := transport.wrap(m.registration.config)
	connected, err := m.newCluster(config)
	if err != nil {
		return false, err
	}
	known, err := discovery.NewDiscoveryClientForConfigAndClient(config, connected.GetHTTPClient())
	if err != nil {
		return false, err
	}
	// A connection that was lost without notice must not be used by the next attempt.
	defer func() { cancel(); utilnet.CloseIdleConnectionsFor(connected.GetHTTPClient().Transport) }()
	if _, err := known.ServerVersion(); err != nil { // otherwise the lists would only run into the timeout
		return false, err
	}
	servers, err := m.options.Servers(config)
	if err != nil {
		return false, err
	}
	stopped := make(chan error, 1)
	go func() { stopped <- connected.Start(ctx) }()
	if err := m.watchAll(ctx, connected.GetCache()); err != nil {
		return false, err
	}
	connection := Connection{Client: connected.GetClient(), APIReader: connected.GetAPIReader(), Servers: servers}
	ticker := time.NewTicker(m.options.probeInterval())
	defer ticker.Stop()
	lacking := Kinds{
		Discovery: known, Optional: m.options.OptionalKinds, Detected: m.options.DetectedKinds, Scheme: m.options.Scheme,
		Cache: connected.GetCache(), SyncTimeout: m.options.syncTimeout(),
		Watch: func(ctx context.Context, object client.Object) error {
			return m.watch(ctx, connected.GetCache(), object)
		},
	}
	for first := true; ; first = false {
		kinds, err := lacking.Discover(ctx, connection.Kinds)
		if err != nil {
			return !first, err
		}
		if first || !slices.Equal(kinds, connection.Kinds) {
			connection.Kinds = kinds
			m.set(new(connection), nil)
		}
		select {
		case <-ctx.Done():
			return true, ctx.Err()
		case err := <-stopped:
			return true, cmp.Or(err, errors.New("the cache ended"))
		case err := <-transport.lost:
			return true, err
		case <-ticker.C:
		}
	}
}

func (m *member) newCluster(config *rest.Config) (cluster.Cluster, error) {
	options := m.options.Cache(m.registration.namespaces())
	options.DefaultWatchErrorHandler = func(_ context.Context, _ *toolscache.Reflector, err error) {
		m.mu.Lock()
		m.lastError = err
		m.mu.Unlock()
	}
	return cluster.New(config, func(o *cluster.Options) { o.Scheme, o.Cache = m.options.Scheme, options })
}

// watchAll fills the cache with the kinds that every cluster has, and watches them.
func (m *member) watchAll(ctx context.Context, objects cache.Cache) error {
	ctx, cancel := context.WithTimeout(ctx, m.options.syncTimeout())
	defer cancel()
	for _, kind := range m.options.Kinds {
		object, err := NewObject(m.options.Scheme, kind)
		if err != nil {
			return err
		}
		if err := m.watch(ctx, objects, object, cache.BlockUntilSynced(false)); err != nil {
			return err
		}
	}
	if !objects.WaitForCacheSync(ctx) {
		m.mu.Lock()
		defer m.mu.Unlock()
		return cmp.Or(m.lastError, errors.New("the objects could not be listed in time"))
	}
	return nil
}

func (m *member) watch(ctx context.Context, objects cache.Cache, object client.Object, options ...cache.InformerGetOption) error {
	informer, err := objects.GetInformer(ctx, object, options...)
	if err != nil {
		return err
	}
	if _, isPod := object.(*corev1.Pod); isPod { // pods are read, but start no reconcile
		return nil
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    m.changed,
		DeleteFunc: m.changed,
		UpdateFunc: func(before, after any) {
			if changed := after.(client.Object); before.(client.Object).GetResourceVersion() != changed.GetResourceVersion() {
				m.options.Changed(m.name, changed)
			}
		},
	})
	return err
}

func (m *member) changed(object any) {
	if tombstone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	if changed, ok := object.(client.Object); ok {
		m.options.Changed(m.name, changed)
	}
}
