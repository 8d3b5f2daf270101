//go:build cluster

package clustertest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

const operator = "plaza-operator"

// install applies the file of make install.yaml and waits for both operator pods.
func (s *suite) install(t *testing.T) {
	t.Helper()
	s.sayf("=== the operator is installed")
	for _, object := range documents(t, root("bin", "install.yaml")) {
		withImages(t, object)
		s.apply(t, object)
	}
	s.operatorsReady(t)
}

// withImages replaces the images of the operator's Deployment by those of CLUSTER_IMAGE_TAG, if it is set.
func withImages(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	tag := os.Getenv("CLUSTER_IMAGE_TAG")
	if tag == "" || object.GetKind() != "Deployment" {
		return
	}
	containers, found, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
	require.NoError(t, err)
	require.True(t, found)
	manager, _ := containers[0].(map[string]any)
	manager["image"] = "plaza-operator:" + tag
	variables, _ := manager["env"].([]any)
	for _, v := range variables {
		if variable, _ := v.(map[string]any); variable["name"] == "PLAZA_IMAGE" {
			variable["value"] = "plaza:" + tag
		}
	}
	require.NoError(t, unstructured.SetNestedSlice(object.Object, containers, "spec", "template", "spec", "containers"))
}

// operatorsReady waits until all operator pods have the newest template, and one is the leader.
func (s *suite) operatorsReady(t *testing.T) {
	t.Helper()
	s.within(t, "the operators are ready", func() string {
		var d appsv1.Deployment
		if err := s.client.Get(t.Context(), client.ObjectKey{Namespace: system, Name: operator}, &d); err != nil {
			return err.Error()
		}
		st := d.Status
		if st.ObservedGeneration < d.Generation || st.UpdatedReplicas < 2 || st.AvailableReplicas < 2 || st.Replicas != 2 {
			return fmt.Sprintf("%d pods, %d of the newest template, %d available", st.Replicas, st.UpdatedReplicas, st.AvailableReplicas)
		}
		if s.leader() == "" {
			return "none leads"
		}
		return ""
	})
}

// leader returns the name of the leading pod, or "".
func (s *suite) leader() string {
	var lease coordinationv1.Lease
	key := client.ObjectKey{Namespace: system, Name: "plaza-operator.plaza.social"}
	if s.client.Get(context.Background(), key, &lease) != nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	name, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
	return name
}

// killLeader kills the leading pod without a graceful shutdown, and returns its name.
func (s *suite) killLeader(t *testing.T) string {
	t.Helper()
	name := s.leader()
	require.NotEmpty(t, name)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: name}}
	require.NoError(t, s.client.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
	return name
}

// otherLeads waits until another pod is the leader.
func (s *suite) otherLeads(t *testing.T, than string) {
	t.Helper()
	s.within(t, "another operator leads", func() string {
		if now := s.leader(); now == "" || now == than {
			return "the leader is " + now
		}
		return ""
	})
}

// minimal creates the sample with one region in a separate namespace, and kills the leader during its migration.
func (s *suite) minimal(t *testing.T) {
	t.Helper()
	namespace := s.newNamespace(t, "minimal")
	s.applyFile(t, namespace, root("config", "samples", "socialnetwork-minimal.yaml"))
	s.within(t, "the migration has begun", func() string {
		var pods corev1.PodList
		match := client.MatchingLabels{render.LabelComponent: string(render.ComponentMigrate)}
		require.NoError(t, s.client.List(t.Context(), &pods, client.InNamespace(namespace), match))
		if len(pods.Items) == 0 {
			return "there is no pod of it"
		}
		return ""
	})
	killed := s.killLeader(t)
	s.otherLeads(t, killed)
	sn := s.readyIn(t, namespace, "acme-minimal")
	require.Equal(t, int32(1), sn.Status.Schema.Attempts, "the migration was not restarted")
	s.secondNetwork(t, namespace)
	require.NoError(t, s.client.Delete(t.Context(), sn))
	s.operatorsReady(t)
}

// secondNetwork creates another network on the database of the network acme-minimal, which refuses it.
func (s *suite) secondNetwork(t *testing.T, namespace string) {
	t.Helper()
	for _, object := range documents(t, root("config", "samples", "socialnetwork-minimal.yaml")) {
		if object.GetKind() != v1alpha1.Kind {
			continue
		}
		object.SetNamespace(namespace)
		object.SetName("second")
		s.apply(t, object)
	}
	var second v1alpha1.SocialNetwork
	s.within(t, "a second network on the same database is refused", func() string {
		require.NoError(t, s.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "second"}, &second))
		if _, reason, message := condition(&second, v1alpha1.ConditionSchemaMigrated); reason != string(v1alpha1.ReasonDatabaseOfAnotherNetwork) {
			return reason + ": " + message
		}
		return ""
	})
	require.NoError(t, s.client.Delete(t.Context(), &second))
}

// upgrade updates the operator to another image tag, and checks that no server restarts.
func (s *suite) upgrade(t *testing.T) {
	t.Helper()
	before := s.uids(t, codes...)
	image := s.retag(t)
	patch := fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"manager","image":%q}]}}}}`, image)
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: operator}}
	leader := s.leader()
	require.NoError(t, s.client.Patch(t.Context(), d, client.RawPatch("application/strategic-merge-patch+json", []byte(patch))))
	s.operatorsReady(t)
	s.otherLeads(t, leader)
	s.observed(t)
	s.holds(t, "no server was restarted", func() string {
		if after := s.uids(t, codes...); !equal(before, after) {
			return fmt.Sprintf("%v are not %v", after, before)
		}
		return ""
	})
	s.ready(t)
	s.nothingFailed(t)
}

// observed waits until the operator has reconciled the network after an edit.
func (s *suite) observed(t *testing.T) {
	t.Helper()
	s.edit(t, func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Monitoring.Dashboards = !sn.Spec.Monitoring.Dashboards
	})
	s.within(t, "the operator has seen an edit", func() string {
		if sn := s.network(t); sn.Status.ObservedGeneration != sn.Generation {
			return fmt.Sprintf("it has seen generation %d of %d", sn.Status.ObservedGeneration, sn.Generation)
		}
		return ""
	})
}

func equal(a, b map[string]string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// retag loads the operator's image with another tag, and returns its name.
func (s *suite) retag(t *testing.T) string {
	t.Helper()
	var d appsv1.Deployment
	require.NoError(t, s.client.Get(t.Context(), client.ObjectKey{Namespace: system, Name: operator}, &d))
	old := d.Spec.Template.Spec.Containers[0].Image
	made := fmt.Sprintf("%s-%d", old, time.Now().Unix())
	archive := filepath.Join(t.TempDir(), "operator.tar")
	rewrite(t, root("bin", "plaza-operator-image.tar"), archive, made)
	cluster(t, "load", archive)
	return made
}

var tagged = regexp.MustCompile(`"plaza-operator:[^"]*"`)

// rewrite copies an image archive with another image name.
func rewrite(t *testing.T, from, to, name string) {
	t.Helper()
	in, err := os.Open(from)
	require.NoError(t, err)
	defer func() { _ = in.Close() }()
	var out bytes.Buffer
	reader, writer, renamed := tar.NewReader(in), tar.NewWriter(&out), 0
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		content, err := io.ReadAll(reader)
		require.NoError(t, err)
		if header.Name == "manifest.json" {
			renamed = len(tagged.FindAll(content, -1))
			content = tagged.ReplaceAll(content, []byte(`"`+name+`"`))
			header.Size = int64(len(content))
		}
		require.NoError(t, writer.WriteHeader(header))
		_, err = writer.Write(content)
		require.NoError(t, err)
	}
	require.NoError(t, writer.Close())
	require.Equal(t, 1, renamed, "names in %s", from)
	require.NoError(t, os.WriteFile(to, out.Bytes(), 0o600))
}

// program returns the program that disconnects regions and loads images.
func program(t *testing.T) string {
	t.Helper()
	path := os.Getenv("CLUSTER_PROGRAM")
	require.NotEmpty(t, path, "the tests want CLUSTER_PROGRAM; hack/cluster/test.sh sets it")
	return path
}

// cluster runs the program of the cluster.
func cluster(t *testing.T, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute) // a cleanup must restore the network
	defer cancel()
	out, err := exec.CommandContext(ctx, program(t), args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}
