package render_test

import (
	"context"
	"encoding/json"
	"go/build"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/testenv"
)

// TestAPIServer uses a real API server.
func TestAPIServer(t *testing.T) {
	server := startServer(t)
	t.Run("rendered", func(t *testing.T) { testAccepted(t, server) })
	t.Run("samples", func(t *testing.T) { testSamples(t, server) })
	t.Run("handover", func(t *testing.T) { testHandover(t, server) })
}

// testAccepted applies all objects in namespaces that enforce the pod security standard "restricted": the server
// returns no errors or warnings, and stores every field as rendered. It also creates pods from the templates, because
// the standard is enforced on pods.
func testAccepted(t *testing.T, server *apiServer) {
	t.Helper()
	for name, sn := range specs(t) {
		t.Run(name, func(t *testing.T) {
			sn.Namespace = name
			server.namespace(t, name)
			server.watchWarnings(t)
			require.NoError(t, server.client.Create(t.Context(), sn.DeepCopy(), client.FieldValidation(metav1.FieldValidationStrict)))
			n := networkOf(sn)
			for _, object := range render.Everything(n) {
				server.apply(t, object)
			}
			for i := range sn.Spec.Regions {
				server.pod(t, sn.Namespace, render.Deployment(n, &sn.Spec.Regions[i]).Spec.Template)
			}
			server.pod(t, sn.Namespace, render.MigrationJob(n, 1).Spec.Template)
		})
	}
}

// testSamples applies the samples with kubectl, as in the README.
func testSamples(t *testing.T, server *apiServer) {
	t.Helper()
	server.namespace(t, "samples")
	user, err := server.env.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil)
	require.NoError(t, err)
	kubectl, err := user.Kubectl()
	require.NoError(t, err)
	for _, args := range [][]string{
		{"apply", "-n", "samples", "-f", samplesFolder + "/socialnetwork.yaml"},
		{"apply", "-n", "samples", "-k", samplesFolder},
	} {
		_, stderr, err := kubectl.Run(args...)
		text, _ := io.ReadAll(stderr)
		require.NoError(t, err, "%v: %s", args, text)
		require.Empty(t, string(text), "warnings of %v", args)
	}
	var networks v1alpha1.SocialNetworkList
	require.NoError(t, server.client.List(t.Context(), &networks, client.InNamespace("samples")))
	files, err := filepath.Glob(samplesFolder + "/socialnetwork*.yaml")
	require.NoError(t, err)
	require.Len(t, networks.Items, len(files), "kustomization.yaml lists every sample")
	require.NoError(t, server.client.Get(t.Context(), client.ObjectKey{Namespace: "samples", Name: "acme-db"}, &corev1.Secret{}))
}

// apiServer is a real API server with the warnings that it returned.
type apiServer struct {
	env    *envtest.Environment
	client client.Client

	mu       sync.Mutex
	warnings []string
}

func startServer(t *testing.T) *apiServer {
	t.Helper()
	gateway, err := build.Import("sigs.k8s.io/gateway-api/apis/v1", ".", build.FindOnly)
	require.NoError(t, err)
	env := &envtest.Environment{
		CRDDirectoryPaths: []string{
			filepath.Dir(crdFile),
			filepath.Join(gateway.Dir, "..", "..", "config", "crd", "standard", "gateway.networking.k8s.io_httproutes.yaml"),
		},
		CRDs:                  []*apiextensionsv1.CustomResourceDefinition{serviceMonitorCRD()},
		ErrorIfCRDPathMissing: true,
	}
	testenv.Configure(env)
	cfg, err := env.Start()
	require.NoError(t, err, "an API server: make envtest")
	t.Cleanup(func() { require.NoError(t, env.Stop()) })

	server := &apiServer{env: env}
	cfg.WarningHandlerWithContext = server
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, v1alpha1.AddToScheme} {
		require.NoError(t, add(scheme))
	}
	server.client, err = client.New(cfg, client.Options{Scheme: scheme})
	require.NoError(t, err)
	server.waitForClasses(t)
	return server
}

var _ rest.WarningHandlerWithContext = (*apiServer)(nil)

// HandleWarningHeaderWithContext records a warning.
func (s *apiServer) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warnings = append(s.warnings, text)
}

func (s *apiServer) watchWarnings(t *testing.T) {
	t.Helper()
	s.warnings = nil
	t.Cleanup(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		require.Empty(t, s.warnings)
	})
}

// waitForClasses waits for the priority classes that the server creates at startup; without them it rejects pods.
func (s *apiServer) waitForClasses(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		class := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}}
		return s.client.Get(t.Context(), client.ObjectKey{Name: "system-node-critical"}, class) == nil
	}, testenv.Patience, 50*time.Millisecond)
}

func (s *apiServer) namespace(t *testing.T, name string) {
	t.Helper()
	require.NoError(t, s.client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: name,
		Labels: map[string]string{
			"pod-security.kubernetes.io/enforce": "restricted",
			"pod-security.kubernetes.io/warn":    "restricted",
		},
	}}))
}

// apply applies an object like the operator, and reads it back.
func (s *apiServer) apply(t *testing.T, object client.Object) {
	t.Helper()
	desired := unstructuredOf(t, object)
	live := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(desired)}
	require.NoError(t, s.client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(live),
		client.FieldOwner(testManager), client.ForceOwnership), fileName(object))
	require.NoError(t, s.client.Get(t.Context(), client.ObjectKeyFromObject(live), live))
	requireIn(t, fileName(object), desired, live.Object)
}

// pod creates a pod from a template, like a controller.
func (s *apiServer) pod(t *testing.T, namespace string, template corev1.PodTemplateSpec) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Namespace, pod.GenerateName = namespace, "pod-"
	require.NoError(t, s.client.Create(t.Context(), pod, client.FieldValidation(metav1.FieldValidationStrict)))
}

// unstructuredOf returns an object as it is sent, without the unset fields that Go types marshal.
func unstructuredOf(t *testing.T, object client.Object) map[string]any {
	t.Helper()
	text, err := json.Marshal(object)
	require.NoError(t, err)
	var content unstructured.Unstructured
	require.NoError(t, content.UnmarshalJSON(text))
	delete(content.Object, "status")
	return content.Object
}

// requireIn checks that live has every field of desired with the same value. Lists of the same length are compared item
// by item.
func requireIn(t *testing.T, path string, desired, live any) {
	t.Helper()
	switch want := desired.(type) {
	case map[string]any:
		have, ok := live.(map[string]any)
		require.True(t, ok || len(want) == 0, path)
		for name, value := range want {
			requireIn(t, path+"."+name, value, have[name])
		}
	case []any:
		have, ok := live.([]any)
		require.True(t, ok, path)
		require.Len(t, have, len(want), path)
		for i := range want {
			requireIn(t, path+"[]", want[i], have[i])
		}
	default:
		require.Equal(t, desired, live, path)
	}
}

// serviceMonitorCRD replaces that of the Prometheus operator, whose module has only Go types; it has no schema.
func serviceMonitorCRD() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "servicemonitors.monitoring.coreos.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "monitoring.coreos.com",
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "servicemonitors", Kind: "ServiceMonitor"},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: new(true),
				}},
			}},
		},
	}
}
