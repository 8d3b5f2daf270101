//go:build bench

package bench

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/testenv"
	"github.com/plaza-social/plaza/platform/control"
	"github.com/plaza-social/plaza/platform/statusz"
)

// namespace is the namespace of all networks.
const namespace = "default"

// cluster does the work of the controllers, kubelets and servers of a cluster.
type cluster struct {
	t      *testing.T
	client client.Client
	port   int32

	mu    sync.Mutex
	keys  map[string]string      // server keys by their ids
	certs map[string]*tls.Config // of control ports, by the name of the server
}

func newCluster(t *testing.T, env *testenv.Env) *cluster {
	t.Helper()
	c := &cluster{t: t, client: env.Client, keys: map[string]string{}, certs: map[string]*tls.Config{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+statusz.Path, c.status)
	mux.HandleFunc("POST "+statusz.ServerKeyPath, c.serverKey)
	server := httptest.NewUnstartedServer(mux)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS13, GetConfigForClient: c.certificate}
	server.StartTLS()
	t.Cleanup(server.Close)
	c.port = int32(server.Listener.Addr().(*net.TCPAddr).Port)
	return c
}

// status reports the settings that every network asks for.
func (c *cluster) status(w http.ResponseWriter, _ *http.Request) {
	moderation := statusz.Moderation{IsReportEnabled: true, FlagLimit: 100, Generation: 1, AsOf: time.Now()}
	moderation.Digest = moderation.Hash()
	_ = json.NewEncoder(w).Encode(statusz.Status{
		Region: "us", NetworkID: "0123456789abcdef01234567", Version: "v1", Schema: statusz.Schema{Current: 92, Required: 92},
		Moderation: moderation, Control: &statusz.Control{},
		Placement: statusz.Placement{State: statusz.Unknown, Reason: statusz.ReasonNoPlacement, Want: statusz.PlacementWanted{
			Localities: map[string]string{"us": "us-east1", "eu": "europe-west1", "sg": "asia-southeast1"}, Primary: "us", Survive: "zone",
		}},
	})
}

// certificate returns the configuration of the server that the operator calls: of the Secret with its certificate.
func (c *cluster) certificate(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.certs[hello.ServerName] == nil {
		c.readSecrets(hello.Context())
	}
	if found := c.certs[hello.ServerName]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("no certificate of %s", hello.ServerName)
}

func (c *cluster) readCertificate(secret *corev1.Secret) {
	files, err := control.ParseCredentials(secret.Data[control.CertificateFile], secret.Data[control.KeyFile],
		secret.Data[control.AuthoritiesFile])
	if err != nil || secret.Labels[render.LabelRegion] == "" {
		return
	}
	for _, name := range files.Certificate.Leaf.DNSNames {
		_, suffix, _ := strings.Cut(name, ".")
		networkID, _, _ := strings.Cut(suffix, ".")
		c.certs[name] = files.ServerConfig(networkID, time.Now)
	}
}

// serverKey accepts every key of every Secret.
func (c *cluster) serverKey(w http.ResponseWriter, req *http.Request) {
	var ask statusz.ServerKeyRequest
	if json.NewDecoder(req.Body).Decode(&ask) != nil {
		http.Error(w, "no key", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keys[ask.ID] == "" {
		c.readSecrets(req.Context())
	}
	key, found := c.keys[ask.ID]
	_ = json.NewEncoder(w).Encode(statusz.ServerKeyAnswer{
		Valid: found, ID: ask.ID, Digest: statusz.ServerKeyDigest(sha256.Sum256([]byte(key)), ask.ID, ask.Nonce),
	})
}

func (c *cluster) readSecrets(ctx context.Context) {
	var list corev1.SecretList
	if c.client.List(ctx, &list, client.InNamespace(namespace)) != nil {
		return
	}
	for _, secret := range list.Items {
		c.readCertificate(&secret)
		file, err := keyring.ParseFile(keyring.NewSecret(string(secret.Data[keyring.ServerKeysFile])))
		if err != nil {
			continue
		}
		for _, entry := range file {
			c.keys[entry.ID] = entry.Key.Reveal()
		}
	}
}

// make creates the networks.
func (c *cluster) make(networks, regions int) {
	c.t.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "acme-db", Namespace: namespace}, StringData: map[string]string{"url": "postgres://db.example/plaza"},
	}
	require.NoError(c.t, c.client.Create(c.t.Context(), secret))
	for i := range networks {
		name := fmt.Sprintf("network-%03d", i)
		sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
		sn.Spec.Database.SecretRef.Name = secret.Name
		for _, code := range v1alpha1.RegionCodes()[:regions] {
			sn.Spec.Regions = append(sn.Spec.Regions, v1alpha1.Region{Code: code, Host: string(code) + "." + name + ".example"})
		}
		sn.Spec.Moderation = v1alpha1.Moderation{ReportEnabled: true, FlagLimit: 100}
		sn.Spec.NetworkPolicy.Enabled = true
		sn.Spec.Monitoring = v1alpha1.Monitoring{ServiceMonitor: true, Dashboards: true, Alerts: v1alpha1.Alerts{Enabled: true}}
		require.NoError(c.t, c.client.Create(c.t.Context(), sn))
	}
}

// untilReady completes Jobs and makes pods ready until every network is ready.
func (c *cluster) untilReady(networks int) {
	c.t.Helper()
	for {
		require.NoError(c.t, c.work(c.t.Context()))
		var list v1alpha1.SocialNetworkList
		require.NoError(c.t, c.client.List(c.t.Context(), &list))
		ready := 0
		for _, sn := range list.Items {
			if meta.IsStatusConditionTrue(sn.Status.Conditions, v1alpha1.ConditionReady) {
				ready++
			}
		}
		if ready == networks {
			return
		}
		pause(c.t, 2*time.Second)
	}
}

func (c *cluster) work(ctx context.Context) error {
	var jobs batchv1.JobList
	var deployments appsv1.DeploymentList
	if err := errors.Join(c.client.List(ctx, &jobs), c.client.List(ctx, &deployments)); err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(8)
	for i := range jobs.Items {
		if len(jobs.Items[i].Status.Conditions) == 0 {
			group.Go(func() error { return client.IgnoreNotFound(c.complete(ctx, &jobs.Items[i])) })
		}
	}
	for i := range deployments.Items {
		if d := &deployments.Items[i]; d.Status.ObservedGeneration != d.Generation {
			group.Go(func() error { return c.ready(ctx, d) })
		}
	}
	return group.Wait()
}

func (c *cluster) complete(ctx context.Context, job *batchv1.Job) error {
	now := metav1.Now()
	before := job.DeepCopy()
	job.Status.StartTime, job.Status.CompletionTime, job.Status.Succeeded = &now, &now, 1
	job.Status.Conditions = []batchv1.JobCondition{
		{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue, LastTransitionTime: now},
		{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: now},
	}
	return c.client.Status().Patch(ctx, job, client.MergeFrom(before))
}

// ready creates one ready pod with the address of the fake server and completes the Deployment's status.
func (c *cluster) ready(ctx context.Context, d *appsv1.Deployment) error {
	if d.Status.ObservedGeneration == 0 {
		if err := c.pod(ctx, d); err != nil {
			return err
		}
	}
	before := d.DeepCopy()
	now := metav1.Now()
	n := *d.Spec.Replicas
	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: d.Generation, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n,
		Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, LastUpdateTime: now, LastTransitionTime: now},
			{
				Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable", LastUpdateTime: now,
				LastTransitionTime: now,
			},
		},
	}
	return c.client.Status().Patch(ctx, d, client.MergeFrom(before))
}

func (c *cluster) pod(ctx context.Context, d *appsv1.Deployment) error {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: d.Name + "-", Namespace: namespace, Labels: d.Spec.Template.Labels},
		Spec:       d.Spec.Template.Spec,
	}
	pod.Spec.ServiceAccountName = "" // created by a controller that does not run here
	for i, port := range pod.Spec.Containers[0].Ports {
		if port.Name == render.PortControlName {
			pod.Spec.Containers[0].Ports[i].ContainerPort = c.port
		}
	}
	if err := c.client.Create(ctx, pod); err != nil {
		return err
	}
	pod.Status.Phase, pod.Status.PodIP, pod.Status.PodIPs = corev1.PodRunning, "127.0.0.1", []corev1.PodIP{{IP: "127.0.0.1"}}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	return c.client.Status().Update(ctx, pod)
}
