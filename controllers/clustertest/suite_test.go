//go:build cluster

package clustertest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/controllers/scheme"
	"github.com/plaza-social/plaza/controllers/testenv"
)

const (
	// system is the operator's namespace.
	system = "plaza-system"
	// network is the name of the network in the samples.
	network = "acme"
)

// codes are the regions of the sample, in order.
var codes = []string{"us", "eu", "sg"}

// suite is a cluster and the network that all phases share.
type suite struct {
	config *rest.Config
	client client.Client
	kube   *kubernetes.Clientset
	// homes are the clusters of regions, by code; a region without one is in the cluster of client.
	homes map[string]*member
	// members are the clusters of CLUSTER_MEMBERS, by region.
	members map[string]*member
	// forwarder connects through the API server; nil if this machine has a route to Services and pods.
	forwarder *forwarder
	// t is the test of all phases; cleanups that outlive a phase belong to it.
	t *testing.T
	// namespace is the namespace of the network.
	namespace string
	began     time.Time

	people    map[string]*person // by the code of their region
	traffic   *traffic
	rotation  *rotation
	keyOfLost string   // the server key of a region whose cluster is cut off
	capture   *capture // nil if packets are not recorded
	networkID string
	// image is the image of the network in the spec: that of the previous release until it is upgraded.
	image string
}

// phase is a part of a test that builds on those before it.
type phase struct {
	name string
	run  func(*suite, *testing.T)
}

// phases are those of TestNetwork.
var phases = []phase{
	{"a fresh network becomes ready by itself", (*suite).fresh},
	{"each region serves", (*suite).serves},
	{"packets are recorded", (*suite).record},
	{"a rotation begins", (*suite).rotate},
	{"another network survives its leader's end while it is migrated", (*suite).minimal},
	{"moderation settings hold", (*suite).moderation},
	{"the rotation ends", (*suite).rotated},
	{"no key and no token passed between pods in clear text", (*suite).noKeyPassed},
	{"an image that is nowhere touches no region", (*suite).badImage},
	{"pods that do not start stop the roll at the first region", (*suite).badPods},
	{"a release that fails requests stops at the first region", (*suite).badRelease},
	{"and is rolled back to the previous release", (*suite).rollBack},
	{"the previous release is upgraded region by region, past the leader's end", (*suite).roll},
	{"servers run with any user", (*suite).anyUser},
	{"an autoscaler chooses the number of pods", (*suite).autoscaled},
	{"the database says that it has no backup schedules", (*suite).backups},
	{"another operator of the same version restarts nothing", (*suite).upgrade},
	{"what is added to a Deployment by hand is removed", (*suite).editByHand},
	{"a region is cut off with the leader in it, is evacuated, and comes back", (*suite).cutOff},
	{"a region leaves the spec and comes back", (*suite).leaves},
	{"deleted keys are restored, and all users stay signed in", (*suite).deletedKeys},
	{"a deleted network is made again, and nothing is lost", (*suite).again},
}

func TestNetwork(t *testing.T) {
	if os.Getenv("CLUSTER_MEMBERS") != "" {
		t.Skip("each region has a cluster; see TestThreeClusters")
	}
	s := open(t)
	s.install(t)
	s.runPhases(t, phases)
}

// runPhases runs phases in order, on the same network.
func (s *suite) runPhases(t *testing.T, phases []phase) {
	t.Helper()
	for _, phase := range phases {
		began := time.Now()
		s.sayf("=== %s", phase.name)
		passed := t.Run(phase.name, func(t *testing.T) {
			defer s.explain(t)
			phase.run(s, t)
		})
		if !passed {
			t.Fatal("the phases after this one build on it")
		}
		s.sayf("    done after %.0f s", time.Since(began).Seconds())
	}
}

// sayf prints the progress of the tests.
func (s *suite) sayf(format string, args ...any) {
	fmt.Printf("%5.0f s  %s\n", time.Since(s.began).Seconds(), fmt.Sprintf(format, args...))
}

// open connects to the cluster of KUBECONFIG and creates a namespace for the network.
func open(t *testing.T) *suite {
	t.Helper()
	ctrl.SetLogger(logr.Discard()) // otherwise it prints a trace that it is not set
	config, err := ctrl.GetConfig()
	require.NoError(t, err, "the tests want KUBECONFIG; hack/cluster/test.sh sets it")
	require.NotEmpty(t, os.Getenv("CLUSTER_DATABASE_URL"), "the tests want CLUSTER_DATABASE_URL; hack/cluster/test.sh sets it")
	config.QPS, config.Burst = 100, 200
	c, err := client.New(config, client.Options{Scheme: scheme.New()})
	require.NoError(t, err)
	kube, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	s := &suite{t: t, config: config, client: c, kube: kube, began: time.Now(), people: map[string]*person{}}
	s.useRoute(t)
	s.namespace = s.newNamespace(t, "network")
	return s
}

// newNamespace creates a namespace that enforces the restricted pod security standard, and a database for its networks.
func (s *suite) newNamespace(t *testing.T, prefix string) string {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // it outlives the test because of its cleanup
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "plaza-test-" + prefix + "-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	require.NoError(t, s.client.Create(ctx, ns))
	t.Cleanup(func() { require.NoError(t, client.IgnoreNotFound(s.client.Delete(ctx, ns))) })
	database := s.newDatabase(t, ns.Name)
	for _, name := range []string{"acme-db", "acme-minimal-db"} { // a namespace has one of these networks
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns.Name}, StringData: map[string]string{"url": database}}
		require.NoError(t, s.client.Create(ctx, secret))
	}
	return ns.Name
}

// newDatabase creates a database and returns its URL. It is never deleted; the cluster is temporary.
func (s *suite) newDatabase(t *testing.T, name string) string {
	t.Helper()
	address, err := url.Parse(os.Getenv("CLUSTER_DATABASE_URL"))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var db *pgx.Conn
	s.within(t, "the database accepts connections", func() string { // its Service may have just been created
		if db, err = s.connect(ctx, address.String()); err != nil {
			return err.Error()
		}
		return ""
	})
	_, err = db.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
	require.NoError(t, err)
	require.NoError(t, db.Close(ctx))
	made := *address
	made.Path = "/" + name
	return made.String()
}

// root returns a path in the repository.
func root(elements ...string) string {
	return filepath.Join(append([]string{testenv.Root()}, elements...)...)
}
