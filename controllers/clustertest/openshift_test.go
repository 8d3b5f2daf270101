//go:build cluster

package clustertest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// chosenUser is the user that testdata/openshift.yaml chooses for pods.
const chosenUser = 1000660000

// TestOpenShift runs the operator, a migration, a backup Job and servers where the cluster chooses the users of pods and rejects pods
// of other users, like OpenShift.
func TestOpenShift(t *testing.T) {
	if members := perRegion("CLUSTER_MEMBERS"); len(members) > 0 {
		t.Skip("each region has a cluster; see TestThreeClusters")
	}
	s := open(t)
	defer s.explain(t)
	s.install(t)
	s.chooseUsers(t, s.namespace, system)
	s.sayf("=== the operator is started again with the chosen user")
	require.NoError(t, s.client.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(system)))
	s.within(t, "the pods of the operator have the chosen user", func() string { return s.otherUsers(t, system) })
	s.operatorsReady(t)
	s.sayf("=== a network is migrated and becomes ready")
	s.applyFile(t, s.namespace, root("config", "samples", "socialnetwork-minimal.yaml"))
	sn := s.readyIn(t, s.namespace, "acme-minimal")
	s.sayf("=== the Job of backups runs")
	sn.Spec.Backup = daily()
	require.NoError(t, s.client.Update(t.Context(), sn, client.FieldOwner("person")))
	s.within(t, "it says that PostgreSQL is backed up by its own means", func() string {
		require.NoError(t, s.client.Get(t.Context(), client.ObjectKeyFromObject(sn), sn))
		if _, reason, message := condition(sn, v1alpha1.ConditionBackupsScheduled); reason != string(v1alpha1.ReasonPostgreSQLBackups) {
			return reason + ": " + message
		}
		return ""
	})
	require.Empty(t, s.otherUsers(t, s.namespace))
}

// chooseUsers applies testdata/openshift.yaml to namespaces, until the test ends.
func (s *suite) chooseUsers(t *testing.T, namespaces ...string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	for _, namespace := range namespaces {
		s.label(t, namespace, `"true"`)
		t.Cleanup(func() { s.label(t, namespace, "null") })
	}
	for _, object := range documents(t, root("controllers", "clustertest", "testdata", "openshift.yaml")) {
		s.apply(t, object)
		t.Cleanup(func() { require.NoError(t, client.IgnoreNotFound(s.client.Delete(ctx, object))) })
	}
	s.within(t, "users are chosen, and others rejected", func() string {
		chosen, fixed := restricted(system, nil), restricted(system, new(int64(65532)))
		if err := s.client.Create(t.Context(), chosen, client.DryRunAll); err != nil || chosen.Spec.SecurityContext.RunAsUser == nil {
			return fmt.Sprintf("none is chosen (%v)", err)
		}
		if err := s.client.Create(t.Context(), fixed, client.DryRunAll); err == nil ||
			!strings.Contains(err.Error(), "is not one of the namespace") {
			return fmt.Sprintf("another user is not rejected (%v)", err)
		}
		return ""
	})
}

// restricted returns a pod that complies with the pod security standard "restricted", of a user or any.
func restricted(namespace string, user *int64) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "try-", Namespace: namespace}, Spec: corev1.PodSpec{
		SecurityContext: &corev1.PodSecurityContext{
			RunAsUser: user, RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{Name: "try", Image: "try", SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		}}},
	}}
}

// label sets the label of testdata/openshift.yaml at a namespace, or removes it.
func (s *suite) label(t *testing.T, namespace, value string) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	patch := fmt.Sprintf(`{"metadata": {"labels": {"test.example/chosen-user": %s}}}`, value)
	err := s.client.Patch(context.WithoutCancel(t.Context()), ns, client.RawPatch("application/merge-patch+json", []byte(patch)))
	require.NoError(t, client.IgnoreNotFound(err))
}

// otherUsers returns a pod of a namespace without the chosen user, or that none has it, or "".
func (s *suite) otherUsers(t *testing.T, namespace string) string {
	t.Helper()
	var pods corev1.PodList
	require.NoError(t, s.client.List(t.Context(), &pods, client.InNamespace(namespace)))
	components := map[string]int{}
	for _, pod := range pods.Items {
		if user := pod.Spec.SecurityContext.RunAsUser; user == nil || *user != chosenUser {
			return pod.Name + " has another user"
		}
		components[pod.Labels[render.LabelComponent]]++
	}
	s.sayf("    pods with the chosen user: %v", components)
	if len(pods.Items) == 0 {
		return "there is no pod"
	}
	return ""
}
