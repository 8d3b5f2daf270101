// Package testenv starts a real kube-apiserver and etcd for tests, once for each test program.
package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/plaza-social/plaza/controllers/scheme"
)

// Patience is how long a test waits for an expected change. It costs time only when the test fails.
const Patience = 2 * time.Minute

// Env is a running control plane without nodes and controllers: no pods start, and no garbage is collected.
type Env struct {
	Config *rest.Config
	Client client.Client

	env  *envtest.Environment
	next atomic.Int64
}

// Main starts the control plane, runs the tests, and stops it, after the cleanups: func TestMain(m *testing.M) { testenv.Main(m, &env) }.
func Main(m *testing.M, into **Env, cleanups ...func()) {
	env, err := Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	*into = env
	code := m.Run()
	for _, cleanup := range cleanups {
		cleanup()
	}
	if err := env.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// Start starts the control plane and installs the CRD.
func Start() (*Env, error) {
	return start(&envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join(Root(), "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	})
}

// StartMember starts the control plane of a member cluster, which does not have the CRD.
func StartMember() (*Env, error) { return start(&envtest.Environment{}) }

// timeout limits the start and the stop of a control plane, and the installation of CRDs. The defaults, 10 and 20 s, are too short on
// a busy machine.
const timeout = 2 * time.Minute

// Configure sets where the programs of a control plane are, and its time limits.
func Configure(e *envtest.Environment) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		e.BinaryAssetsDirectory = filepath.Join(Root(), "bin", "envtest")
	}
	e.ControlPlaneStartTimeout, e.ControlPlaneStopTimeout, e.CRDInstallOptions.MaxTime = timeout, timeout, timeout
}

func start(e *envtest.Environment) (*Env, error) {
	Configure(e)
	// The default range has only 254 addresses for Services.
	e.ControlPlane.GetAPIServer().Configure().Set("service-cluster-ip-range", "10.0.0.0/16")
	config, err := e.Start()
	if err != nil {
		return nil, fmt.Errorf("starting kube-apiserver and etcd (run `make envtest` first): %w", err)
	}
	config.QPS, config.Burst = 500, 1000
	c, err := client.New(config, client.Options{Scheme: scheme.New()})
	if err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	return &Env{Config: config, Client: c, env: e}, nil
}

// Stop stops the control plane.
func (e *Env) Stop() error { return e.env.Stop() }

// Root returns the root of the repository: the closest parent of the working directory with a go.mod.
func Root() string {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

var notDNS = regexp.MustCompile(`[^a-z0-9]+`)

// Namespace creates a namespace for the test that enforces the restricted pod security standard.
func (e *Env) Namespace(t *testing.T) string {
	t.Helper()
	name := strings.Trim(notDNS.ReplaceAllString(strings.ToLower(t.Name()), "-"), "-")
	name = fmt.Sprintf("%.40s-%d", name, e.next.Add(1))
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	if err := e.Client.Create(t.Context(), ns); err != nil {
		t.Fatalf("creating namespace %s: %v", name, err)
	}
	return name
}

// AddUser creates a user and returns a kubeconfig for it.
func (e *Env) AddUser(user envtest.User) ([]byte, error) {
	added, err := e.env.AddUser(user, nil)
	if err != nil {
		return nil, fmt.Errorf("adding user %s: %w", user.Name, err)
	}
	return added.KubeConfig()
}
