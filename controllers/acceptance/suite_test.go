// Package acceptance tests the whole operator against a real API server. The tests do the work of the cluster's controllers: they
// complete Jobs and make pods ready. The platform's servers are fakes.
package acceptance

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	controllerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers"
	"github.com/plaza-social/plaza/controllers/clusters"
	"github.com/plaza-social/plaza/controllers/networkmetrics"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/restrictions"
	"github.com/plaza-social/plaza/controllers/scheme"
	"github.com/plaza-social/plaza/controllers/testenv"
)

var env *testenv.Env

// parallelTests is how many tests run in parallel. They mostly wait for the operator, so it may exceed the number of CPUs.
const parallelTests = "6"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", parallelTests); err != nil {
		panic(err)
	}
	ctrl.SetLogger(funcr.New(logged.add, funcr.Options{Verbosity: 1}))
	testenv.Main(m, &env, stopMembers)
}

// logged holds the log of all operators.
var logged journal

type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(prefix, args string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, prefix+" "+args)
}

func (j *journal) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.lines, "\n")
}

// operator is a running operator that watches one namespace.
type operator struct {
	t         *testing.T
	namespace string
	watches   []string // watched namespaces
	client    client.Client
	servers   *servers
	clock     *clock
	registry  *prometheus.Registry
	stop      context.CancelFunc
	stopped   chan error

	// platform calls the platform's servers; nil means servers.
	platform platformclient.Servers

	// config is the operator's client configuration, and writes records its writes.
	config       *rest.Config
	writes       *writes
	restrictions restrictions.Limits
	// maxRollouts is how many networks are updated at the same time; 0 means any number.
	maxRollouts int
	// clusters is the namespace of the Secrets that register member clusters.
	clusters string
	// member is the name of the member cluster that client and namespace are of, or "".
	member string
	// leads enables leader election.
	leads bool
	// elected is closed when the operator is elected.
	elected <-chan struct{}
	// cache is what the operator reads.
	cache client.Reader
}

// defaultImage is the image of the operator's own version.
const defaultImage = "plaza.example/plaza:v1"

// start runs an operator for a new namespace, in parallel to other tests.
func start(t *testing.T) *operator {
	t.Helper()
	o := prepare(t)
	o.run()
	t.Cleanup(o.end)
	return o
}

// prepare returns an operator for a new namespace that is not running yet. The test runs in parallel to others, in a cluster
// with the optional kinds.
func prepare(t *testing.T) *operator {
	t.Helper()
	t.Parallel()
	installKinds(t)
	return newOperator(t)
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	namespace := env.Namespace(t)
	return &operator{
		t: t, namespace: namespace, watches: []string{namespace}, client: env.Client, servers: &servers{says: map[string]*server{}},
		clock:  &clock{},
		config: rest.CopyConfig(env.Config), writes: &writes{},
	}
}

// twin returns another operator for the same networks.
func (o *operator) twin() *operator {
	return &operator{
		t: o.t, namespace: o.namespace, watches: o.watches, client: o.client, servers: o.servers, clock: o.clock,
		config: rest.CopyConfig(env.Config), writes: &writes{}, leads: o.leads,
	}
}

// run starts the operator.
func (o *operator) run() {
	o.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	if o.platform == nil {
		o.platform = o.servers
	}
	o.stop, o.stopped, o.registry = cancel, make(chan error, 1), prometheus.NewRegistry()
	config := rest.CopyConfig(o.config)
	config.Wrap(o.writes.wrap)
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                  scheme.New(),
		Cache:                   controllers.CacheOptions(o.watches),
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		Controller:              controllerconfig.Controller{SkipNameValidation: new(true)},
		LeaderElection:          o.leads,
		LeaderElectionID:        "plaza-operator",
		LeaderElectionNamespace: o.namespace,
		LeaseDuration:           new(2 * testenv.Patience), // a slow machine must not cause a change of leaders
		RenewDeadline:           new(testenv.Patience),
		RetryPeriod:             new(300 * time.Millisecond),
	})
	require.NoError(o.t, err)
	known, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	require.NoError(o.t, err)
	r := &controllers.Reconciler{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Servers: o.platform, Recorder: mgr.GetEventRecorder("plaza-operator"),
		Options: controllers.Options{
			DefaultImage: defaultImage, Namespace: "plaza-system", Restrictions: o.restrictions,
			MaxConcurrentRollouts: o.maxRollouts,
		}, Now: o.clock.now,
		Kinds: &controllers.OptionalKinds{Discovery: known, Interval: 500 * time.Millisecond}, Metrics: networkmetrics.New(o.registry),
	}
	require.NoError(o.t, r.AddClusters(ctx, mgr, clusters.Options{
		Namespace: o.clusters, ProbeInterval: 300 * time.Millisecond,
		Servers: func(*rest.Config) (platformclient.Servers, error) { return o.platform, nil },
	}))
	require.NoError(o.t, r.SetupWithManager(ctx, mgr))
	o.elected, o.cache = mgr.Elected(), mgr.GetCache()
	go func() { o.stopped <- mgr.Start(ctx) }()
}

// writes records the writes of an operator.
type writes struct {
	mu   sync.Mutex
	list []string
}

func (w *writes) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		if req.Method != http.MethodGet && !strings.Contains(req.URL.Path, "/leases") {
			w.mu.Lock()
			w.list = append(w.list, req.Method+" "+req.URL.Path)
			w.mu.Unlock()
		}
		return next.RoundTrip(req)
	})
}

// take returns the writes since the last call.
func (w *writes) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.list
	w.list = nil
	return list
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

// printLog logs the end of the operator's log if the test failed: what concerns its networks.
func (o *operator) printLog() {
	if o.t.Failed() {
		ours := regexp.MustCompile(regexp.QuoteMeta(o.namespace) + `\b`)
		lines := slices.DeleteFunc(strings.Split(logged.text(), "\n"), func(line string) bool { return !ours.MatchString(line) })
		o.t.Logf("the log's end:\n%s", strings.Join(lines[max(0, len(lines)-50):], "\n"))
	}
}

// end stops the operator and waits for it.
func (o *operator) end() {
	o.printLog()
	o.stop()
	select {
	case err := <-o.stopped:
		o.stopped <- nil
		if err != nil {
			o.t.Errorf("the operator ended: %v", err)
		}
	case <-time.After(testenv.Patience):
		o.t.Error("the operator did not end")
	}
}

// clock is the operator's clock: real time plus what a test adds.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

// sample returns a network of config/samples with the defaults of the CRD.
func sample(t *testing.T, name string) *v1alpha1.SocialNetwork {
	t.Helper()
	object := manifest(t, name)
	object.SetNamespace("default")
	require.NoError(t, env.Client.Create(t.Context(), object, client.DryRunAll))
	var sn v1alpha1.SocialNetwork
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &sn))
	sn.ObjectMeta = metav1.ObjectMeta{Name: sn.Name}
	return &sn
}

// manifest reads a file of config/samples.
func manifest(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testenv.Root(), "config", "samples", name+".yaml"))
	require.NoError(t, err)
	for part := range strings.SplitSeq(string(text), "\n---\n") {
		object := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(part), &object.Object))
		if object.GetKind() == v1alpha1.Kind {
			return object
		}
	}
	t.Fatalf("%s holds no SocialNetwork", name)
	return nil
}

// apply creates a network and its database's Secret.
func (o *operator) apply(sn *v1alpha1.SocialNetwork) *v1alpha1.SocialNetwork {
	o.t.Helper()
	ctx := context.Background()
	sn.Namespace = o.namespace
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: sn.Spec.Database.SecretRef.Name, Namespace: o.namespace},
		StringData: map[string]string{"url": "postgres://plaza:password-of-the-database@db.example/plaza"},
	}
	require.NoError(o.t, client.IgnoreAlreadyExists(o.client.Create(ctx, secret)))
	require.NoError(o.t, o.client.Create(ctx, sn))
	return sn
}

// pass waits for a reconcile of the network that has no other cause.
func (o *operator) pass(network string) {
	o.t.Helper()
	o.clock.add(2 * time.Second)
	since := float64(o.clock.now().Unix()) - 1
	o.edit(network, func(sn *v1alpha1.SocialNetwork) {
		sn.SetAnnotations(map[string]string{"test.example/pass": fmt.Sprint(since)})
	})
	o.eventually("another pass", func() string {
		if at := o.metric("plaza_operator_observed_timestamp_seconds", network); at < since {
			return fmt.Sprintf("the last was at %f, before %f", at, since)
		}
		return ""
	})
}

// seen waits until the operator has the current version of an object in its cache, and has reconciled the network since. What the status
// says then is not older than the object.
func (o *operator) seen(network string, object client.Object) {
	o.t.Helper()
	key := client.ObjectKeyFromObject(object)
	o.eventually("the operator to see "+key.Name, func() string {
		require.NoError(o.t, o.client.Get(context.Background(), key, object))
		cached := object.DeepCopyObject().(client.Object)
		if err := o.cache.Get(context.Background(), key, cached); err != nil {
			return err.Error()
		}
		return notEqual("version "+cached.GetResourceVersion(), "version "+object.GetResourceVersion())
	})
	o.pass(network)
}

// metric returns the value of a gauge that has only the labels of the network.
func (o *operator) metric(name, network string) float64 {
	o.t.Helper()
	for _, m := range o.series(network)[name] {
		return m.GetGauge().GetValue()
	}
	return 0
}

// series returns all metrics of a network by name.
func (o *operator) series(network string) map[string][]*dto.Metric {
	o.t.Helper()
	families, err := o.registry.Gather()
	require.NoError(o.t, err)
	series := map[string][]*dto.Metric{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range m.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if labels["namespace"] == o.namespace && labels["network"] == network {
				series[family.GetName()] = append(series[family.GetName()], m)
			}
		}
	}
	return series
}

// edit edits a network as a user would.
func (o *operator) edit(name string, change func(*v1alpha1.SocialNetwork)) {
	o.t.Helper()
	sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: o.namespace}}
	o.onNewest(sn, func() error {
		change(sn)
		return o.client.Update(context.Background(), sn, client.FieldOwner("user"))
	})
}

// editSecret edits a Secret as a user would.
func (o *operator) editSecret(name string, change func(*corev1.Secret)) {
	o.t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: o.namespace}}
	o.onNewest(secret, func() error {
		change(secret)
		return o.client.Update(context.Background(), secret, client.FieldOwner("user"))
	})
}

// onNewest reads and writes an object until there is no conflict.
func (o *operator) onNewest(object client.Object, write func() error) {
	o.t.Helper()
	o.eventually("an object to be written", func() string {
		require.NoError(o.t, o.client.Get(context.Background(), client.ObjectKeyFromObject(object), object))
		err := write()
		if apierrors.IsConflict(err) {
			return err.Error() // retry
		}
		require.NoError(o.t, err)
		return ""
	})
}

// get reads an object from the API server.
func get[T client.Object](o *operator, into T, name string) T {
	o.t.Helper()
	require.NoError(o.t, o.client.Get(context.Background(), client.ObjectKey{Namespace: o.namespace, Name: name}, into))
	return into
}

// exists reports whether an object exists.
func (o *operator) exists(object client.Object, name string) bool {
	o.t.Helper()
	err := o.client.Get(context.Background(), client.ObjectKey{Namespace: o.namespace, Name: name}, object)
	require.NoError(o.t, client.IgnoreNotFound(err))
	return err == nil
}

// settle waits until the operator writes nothing during a reconcile of the network. Events are written asynchronously.
func (o *operator) settle(network string) {
	o.t.Helper()
	o.writes.take()
	o.eventually("a reconcile without writes", func() string {
		o.pass(network)
		return strings.Join(o.writes.take(), ", ")
	})
}

// eventually waits until wrong returns "", and otherwise fails with its last result.
func (o *operator) eventually(what string, wrong func() string) {
	o.t.Helper()
	var last string
	err := wait.PollUntilContextTimeout(o.t.Context(), 50*time.Millisecond, testenv.Patience, true, func(context.Context) (bool, error) {
		last = wrong()
		return last == "", nil
	})
	if err != nil {
		o.t.Fatalf("%s: %s", what, last)
	}
}

// condition waits for a condition of the network.
func (o *operator) condition(name, kind string, want metav1.ConditionStatus, reason v1alpha1.Reason) metav1.Condition {
	o.t.Helper()
	var c *metav1.Condition
	o.eventually(fmt.Sprintf("%s of %s to be %s, %s", kind, name, want, reason), func() string {
		sn := get(o, &v1alpha1.SocialNetwork{}, name)
		c = meta.FindStatusCondition(sn.Status.Conditions, kind)
		switch {
		case c == nil:
			return "it does not exist"
		case c.Status != want || c.Reason != string(reason):
			return fmt.Sprintf("it is %s, %s: %s", c.Status, c.Reason, c.Message)
		case c.ObservedGeneration != sn.Generation:
			return "it is of an older generation"
		}
		return ""
	})
	return *c
}
