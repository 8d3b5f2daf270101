package clusters

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/platformclient"
)

// Options configure a Registry.
type Options struct {
	// Config connects to the operator's own cluster, which has the Secrets.
	Config *rest.Config
	// Namespace is that of the Secrets; if it is empty, no cluster is registered.
	Namespace string
	Scheme    *runtime.Scheme
	// Cache returns the options of a member's cache for some namespaces; nil means all.
	Cache func(namespaces []string) cache.Options
	// Kinds are the kinds that every cluster has and the operator watches, OptionalKinds those that a cluster may lack, and
	// DetectedKinds those of which it only asks whether a cluster has them.
	Kinds, OptionalKinds, DetectedKinds []schema.GroupVersionKind
	// Servers returns the client of the platform's servers in a cluster.
	Servers func(config *rest.Config) (platformclient.Servers, error)
	// Changed is called when a member became reachable or unreachable, with nil, and when an object in it changed.
	Changed func(cluster string, object client.Object)

	// SyncTimeout is how long the first lists of a member may take; 0 means 15 s. ProbeInterval is how often it is asked
	// whether it is reachable; 0 means 5 s.
	SyncTimeout, ProbeInterval time.Duration
}

// Registry holds the connections to the registered clusters. Registering, changing or removing a cluster takes effect
// immediately. No connection waits for another.
type Registry struct {
	options Options
	started chan struct{} // closed when the Secrets are known, or could not be read in time

	mu      sync.Mutex
	members map[string]*member
	listed  func() bool // reports whether all Secrets are known; nil before they are watched
}

// New returns a registry, which is started by Start.
func New(options Options) *Registry {
	return &Registry{options: options, started: make(chan struct{}), members: map[string]*member{}}
}

// Error is why a cluster cannot be used.
type Error struct {
	Reason  v1alpha1.Reason
	Message string
}

func (e *Error) Error() string { return e.Message }

// ErrPending is returned while it is not known yet whether a cluster can be used, for a short time after the start of the
// operator or the registration of the cluster.
var ErrPending = &Error{Reason: v1alpha1.ReasonProgressing, Message: "The connection is being established."}

// Start watches the Secrets until ctx ends. It implements manager.Runnable.
func (r *Registry) Start(ctx context.Context) error {
	if r.options.Namespace == "" {
		close(r.started)
		<-ctx.Done()
		return nil
	}
	secrets, err := cache.New(r.options.Config, cache.Options{
		Scheme: r.options.Scheme,
		ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {
			Label:      labels.SelectorFromSet(labels.Set{v1alpha1.LabelKubeconfig: "true"}),
			Namespaces: map[string]cache.Config{r.options.Namespace: {}},
		}},
	})
	if err != nil {
		return fmt.Errorf("creating the cache of kubeconfigs: %w", err)
	}
	informer, err := secrets.GetInformer(ctx, &corev1.Secret{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching kubeconfigs: %w", err)
	}
	handler, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { r.registered(ctx, object) },
		UpdateFunc: func(_, object any) { r.registered(ctx, object) },
		DeleteFunc: r.removed,
	})
	if err != nil {
		return fmt.Errorf("watching kubeconfigs: %w", err)
	}
	r.mu.Lock()
	r.listed = handler.HasSynced
	r.mu.Unlock()
	go r.awaitSecrets(ctx, handler)
	err = secrets.Start(ctx)
	r.disconnect()
	return err
}

// awaitSecrets waits until the Secrets are known, for a limited time: without a permission they never are.
func (r *Registry) awaitSecrets(ctx context.Context, handler toolscache.ResourceEventHandlerRegistration) {
	defer close(r.started)
	ctx, cancel := context.WithTimeout(ctx, r.options.syncTimeout())
	defer cancel()
	toolscache.WaitForCacheSync(ctx.Done(), handler.HasSynced)
}

func (o Options) syncTimeout() time.Duration { return cmp.Or(o.SyncTimeout, 15*time.Second) }

func (o Options) probeInterval() time.Duration { return cmp.Or(o.ProbeInterval, 5*time.Second) }

// registered connects to the cluster of a new or changed Secret.
func (r *Registry) registered(ctx context.Context, object any) {
	secret, ok := object.(*corev1.Secret)
	if !ok {
		return
	}
	registered := register(secret)
	r.mu.Lock()
	before := r.members[secret.Name]
	if before != nil && before.resourceVersion == secret.ResourceVersion {
		r.mu.Unlock()
		return
	}
	m := newMember(secret, registered, before, r.options)
	ctx, m.cancel = context.WithCancel(ctx)
	r.members[secret.Name] = m
	r.mu.Unlock()
	m.start(ctx)
}

// removed disconnects from the cluster of a Secret that was deleted.
func (r *Registry) removed(object any) {
	if tombstone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	secret, ok := object.(*corev1.Secret)
	if !ok {
		return
	}
	r.mu.Lock()
	m := r.members[secret.Name]
	delete(r.members, secret.Name)
	r.mu.Unlock()
	m.stop()
	r.options.Changed(secret.Name, nil)
}

func (r *Registry) disconnect() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.members {
		m.stop()
	}
}

// Connect returns the connection to a cluster for the networks of a namespace, whose objects are in namespace there, or an
// *Error.
func (r *Registry) Connect(cluster, from, namespace string) (*Connection, error) {
	m, err := r.member(cluster)
	if err != nil {
		return nil, err
	}
	if m.registration.refused != nil {
		return nil, &Error{
			v1alpha1.ReasonClusterRefused,
			fmt.Sprintf("The kubeconfig of cluster %s is refused: %s.", cluster, m.registration.refused),
		}
	}
	if !m.registration.allows(from, namespace) {
		return nil, &Error{v1alpha1.ReasonClusterNotAllowed, fmt.Sprintf(
			"The Secret of cluster %s does not allow the networks of namespace %s to use namespace %s there; see its annotation %s.",
			cluster, from, namespace, v1alpha1.AnnotationAllowedNamespaces)}
	}
	return m.connection()
}

func (r *Registry) member(cluster string) (*member, error) {
	select {
	case <-r.started:
	default:
		return nil, ErrPending
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.members[cluster]
	if m == nil && r.listed != nil && !r.listed() {
		return nil, &Error{v1alpha1.ReasonClusterUnreachable, fmt.Sprintf(
			"The Secrets with the label %s in namespace %s, which register clusters, cannot be listed.", v1alpha1.LabelKubeconfig,
			r.options.Namespace)}
	}
	if m == nil {
		return nil, &Error{v1alpha1.ReasonClusterNotRegistered, fmt.Sprintf(
			"No Secret %s with the label %s in namespace %s registers the cluster.", cluster, v1alpha1.LabelKubeconfig, r.options.Namespace)}
	}
	return m, nil
}
