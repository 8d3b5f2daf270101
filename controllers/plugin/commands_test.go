package plugin

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// command runs a command that must succeed.
func (w *keysWorld) command(cmd *cobra.Command, args ...string) string {
	w.t.Helper()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetArgs(args)
	require.NoError(w.t, cmd.ExecuteContext(w.t.Context()))
	return out.String()
}

// TestListOfNetworks lists the networks of a namespace, or of all.
func TestListOfNetworks(t *testing.T) {
	w := newKeysWorld(t)
	w.network(func(sn *v1alpha1.SocialNetwork) { sn.Spec.Regions[1].EvacuateTo = v1alpha1.RegionUS })
	require.NoError(t, w.p.client.Create(t.Context(),
		&v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "acme"}}))
	const header, first = `^NAMESPACE .*\n`, `plaza +acme +Unknown +NotReported +- +- +eu to us\n`
	require.Regexp(t, header+first+"$", w.command(w.p.status()))
	require.Regexp(t, header+`other +acme +Unknown +NotReported +- +- +-\n`+first+"$", w.command(w.p.status(), "-A"))
}

// TestStatusOfKeys checks what is shown of the keys, and of a spec that the operator has not seen.
func TestStatusOfKeys(t *testing.T) {
	now := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	in := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: now.Add(d)} }
	sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: "plaza", Name: "acme", Generation: 3}}
	sn.Status = v1alpha1.SocialNetworkStatus{
		ObservedGeneration: 2, Version: "v1", Schema: v1alpha1.SchemaStatus{Current: "92"},
		ServerKeys: v1alpha1.ServerKeysStatus{NextRotation: in(90 * time.Second)},
		Regions: []v1alpha1.RegionStatus{{Code: "eu", Replicas: 3, ReadyReplicas: 1, ServerKeys: []v1alpha1.KeyStatus{
			{ID: "k-2", State: v1alpha1.KeyPending},
			{ID: "k-1", State: v1alpha1.KeyActive},
			{ID: "k-0", State: v1alpha1.KeyRetiring, NotAfter: in(-time.Hour)},
		}}},
		SigningKeys: []v1alpha1.KeyStatus{{ID: "s-1", State: v1alpha1.KeyActive}},
		APIKeys:     []v1alpha1.KeyStatus{{ID: "a-1", State: v1alpha1.KeyActive}},
		Control:     v1alpha1.ControlStatus{CertificatesNotAfter: in(time.Hour)},
		Conditions: []metav1.Condition{
			{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: "Why", Message: "Because."},
			{Type: v1alpha1.ConditionReconciling, Status: metav1.ConditionFalse},
			{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionFalse},
			{Type: v1alpha1.ConditionPaused, Status: metav1.ConditionFalse},
		},
	}
	var out bytes.Buffer
	require.NoError(t, describe(&out, sn, now))
	require.Equal(t, `SocialNetwork plaza/acme: Ready is False (Why)
  Because.
  The operator has not seen the newest spec: generation 2 of 3.
Version v1, schema 92, network id -

REGION   CLUSTER   AVAILABLE               UPDATED   PODS   SERVER KEY   EVACUATED TO
eu       -         Unknown (NotReported)   Unknown   1/3    k-1          -

Server keys are rotated next 2026-11-23T10:01:30Z, in 2m.
Server key k-2 of eu is Pending.
Server key k-0 of eu is Retiring and ends 2026-11-23T09:00:00Z.
Signing key s-1 is Active.
API key a-1 is Active.
The first certificate of control calls ends 2026-11-23T11:00:00Z, in 1h0m.
`, out.String())
}

// TestAnnotateOnTopOfChanges does not replace an annotation that has changed since the network was read.
func TestAnnotateOnTopOfChanges(t *testing.T) {
	w := newKeysWorld(t)
	w.network(nil)
	read, err := w.p.network(t.Context(), "acme")
	require.NoError(t, err)
	require.NoError(t, w.p.annotate(t.Context(), read, v1alpha1.AnnotationRevoke, "k-1"))
	require.NotContains(t, read.Annotations, v1alpha1.AnnotationRevoke, "what was read is not changed")
	err = w.p.annotate(t.Context(), read, v1alpha1.AnnotationRevoke, "k-2")
	require.True(t, apierrors.IsConflict(err), "%v", err)
	require.ErrorContains(t, err, "changing SocialNetwork plaza/acme: ")
	read, err = w.p.network(t.Context(), "acme")
	require.NoError(t, err)
	require.Equal(t, "k-1", read.Annotations[v1alpha1.AnnotationRevoke])
}

// TestSuccessorsOfRevokedKeys names the Secrets with the successors of active keys that the operator creates.
func TestSuccessorsOfRevokedKeys(t *testing.T) {
	sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Name: "acme"}}
	sn.Status.Regions = []v1alpha1.RegionStatus{
		{Code: "us", ServerKeys: []v1alpha1.KeyStatus{{ID: "k-1", State: v1alpha1.KeyRetiring}, {ID: "k-2", State: v1alpha1.KeyActive}}},
		{Code: "eu", ServerKeys: []v1alpha1.KeyStatus{{ID: "k-1", State: v1alpha1.KeyActive}}},
	}
	printed := func() string {
		var out bytes.Buffer
		require.NoError(t, printRevoked(&printer{w: &out}, sn, []string{"k-1", "k-2", "k-3"}))
		return out.String()
	}
	const end = "Tokens that were requested with a revoked key stay valid until they expire; see controllers/COMPROMISE.md.\n"
	require.Equal(t,
		"Server key k-1 is revoked.\n  It was the active key of eu: give your servers the new one of Secret acme-eu-server-keys.\n"+
			"Server key k-2 is revoked.\n  It was the active key of us: give your servers the new one of Secret acme-us-server-keys.\nServer "+
			"key k-3 is revoked.\n"+end, printed())
	sn.Spec.ServerKeys.ExistingSecret = &v1alpha1.LocalSecretReference{Name: "own-keys"}
	require.Equal(t, "Server key k-1 is revoked.\nServer key k-2 is revoked.\nServer key k-3 is revoked.\n"+end, printed())
}

// TestEvacuationIsAwaited reads the network until the operator has seen the spec and the evacuation is in effect, or has ended.
func TestEvacuationIsAwaited(t *testing.T) {
	condition := func(status metav1.ConditionStatus, message string) []metav1.Condition {
		return []metav1.Condition{{Type: v1alpha1.RegionEvacuated, Status: status, Reason: "Why", Message: message}}
	}
	type read struct {
		observed   int64
		conditions []metav1.Condition
	}
	for name, c := range map[string]struct {
		end   bool
		reads []read
		says  string
	}{
		"begin": {false, []read{
			{1, condition(metav1.ConditionTrue, "of the spec before")},
			{2, nil},
			{2, condition(metav1.ConditionFalse, "starting")},
			{2, condition(metav1.ConditionFalse, "starting")},
			{2, condition(metav1.ConditionUnknown, "silent")},
			{3, condition(metav1.ConditionTrue, "done")},
		}, "Why: starting\nWhy: silent\n"},
		"end": {true, []read{
			{1, nil}, {2, condition(metav1.ConditionTrue, "ending")}, {2, condition(metav1.ConditionFalse, "still works")}, {2, nil},
		}, "Why: ending\nWhy: still works\n"},
	} {
		w := newKeysWorld(t)
		w.network(nil)
		w.operator = func(reads int, sn *v1alpha1.SocialNetwork) {
			now := c.reads[reads-1]
			sn.Status.ObservedGeneration, sn.Status.Regions = now.observed, []v1alpha1.RegionStatus{{Code: "eu", Conditions: now.conditions}}
		}
		var out bytes.Buffer
		require.NoError(t, w.p.await(t.Context(), "acme", "", &printer{w: &out}, evacuation{end: c.end}.state(2, "eu")), name)
		require.Equal(t, c.says, out.String(), name)
		require.Equal(t, len(c.reads), w.reads, name)
	}
}

// TestFilesOfAReport writes a report of a network with two pods, one of which was restarted: it has the ends of their logs.
func TestFilesOfAReport(t *testing.T) {
	w := newKeysWorld(t)
	w.network(nil)
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		_, _ = fmt.Fprint(out, in.URL.Path, "?", in.URL.Query().Encode())
	}))
	t.Cleanup(server.Close)
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	require.NoError(t, err)
	w.p.kube = kube
	for i, name := range []string{"acme-us-0", "acme-us-1", "other-us-0"} {
		network, _, _ := strings.Cut(name, "-")
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: render.RegionLabels(network, render.ComponentServer, "us")}}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "plaza", RestartCount: int32(i)}}
		w.create(pod)
	}
	const query = "/log?container=plaza&tailLines=7"
	logs := map[string]string{
		"logs/acme-us-0.log":          "/api/v1/namespaces/plaza/pods/acme-us-0" + query,
		"logs/acme-us-1.log":          "/api/v1/namespaces/plaza/pods/acme-us-1" + query,
		"logs/acme-us-1.previous.log": "/api/v1/namespaces/plaza/pods/acme-us-1/log?container=plaza&previous=true&tailLines=7",
	}
	t.Chdir(t.TempDir())
	for lines, want := range map[string]map[string]string{"7": logs, "0": {}} {
		require.Equal(t, "acme-report.tar.gz\n", w.command(w.p.report(), "acme", "--log-lines", lines))
		info, err := os.Stat("acme-report.tar.gz")
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode())
		files := Unpack(t, "acme-report.tar.gz")
		var objects []string
		for name, content := range files {
			if kind, isObjects := strings.CutPrefix(name, "objects/"); isObjects {
				objects = append(objects, strings.TrimSuffix(kind, filepath.Ext(kind)))
				delete(files, name)
				require.NotContains(t, content, "other-us-0")
			}
		}
		slices.Sort(objects)
		require.Equal(t, []string{
			"ConfigMap", "Deployment", "Event", "HorizontalPodAutoscaler", "Ingress", "Job", "NetworkPolicy", "Pod", "PodDisruptionBudget",
			"Service", "ServiceAccount",
		}, objects)
		require.Contains(t, files["socialnetwork.yaml"], "name: acme")
		require.Empty(t, files["errors.txt"])
		delete(files, "socialnetwork.yaml")
		delete(files, "errors.txt")
		require.Equal(t, want, files)
	}
}

// TestRedaction checks which values of variables a report does not have: those of lists of variables wherever they are.
func TestRedaction(t *testing.T) {
	variable := func() map[string]any { return map[string]any{"name": "A", "value": "hush"} }
	reference := map[string]any{"name": "B", "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": "s"}}}
	content := map[string]any{
		"items": []any{map[string]any{"spec": map[string]any{"podPatch": map[string]any{"spec": map[string]any{
			"containers": []any{map[string]any{"name": "plaza", "env": []any{variable(), reference}}},
		}}}}},
		"metadata": map[string]any{
			"managedFields": []any{"x"},
			"annotations":   map[string]any{"kubectl.kubernetes.io/last-applied-configuration": "hush", "a": "b"},
		},
	}
	redact(content)
	shown := variable()
	shown["value"] = "[not shown]"
	require.Equal(t, map[string]any{
		"items": []any{map[string]any{"spec": map[string]any{"podPatch": map[string]any{"spec": map[string]any{
			"containers": []any{map[string]any{"name": "plaza", "env": []any{shown, reference}}},
		}}}}},
		"metadata": map[string]any{"annotations": map[string]any{"a": "b"}},
	}, content)
}

// Unpack returns the files of an archive.
func Unpack(t *testing.T, path string) map[string]string {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	zip, err := gzip.NewReader(file)
	require.NoError(t, err)
	files, archive := map[string]string{}, tar.NewReader(zip)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		content, err := io.ReadAll(archive)
		require.NoError(t, err)
		files[header.Name] = string(content)
	}
}
