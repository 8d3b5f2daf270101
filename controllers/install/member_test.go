//go:build install

package install

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// rareInMember are permissions on a member cluster that the scenario does not use.
var rareInMember = map[right]string{
	"get batch jobs":           "for a new Job that is not in the cache yet",
	"create  pods/portforward": "for API servers before 1.31",
}

// TestForAMember installs config/member in another cluster, and runs every region of a network there.
func TestForAMember(t *testing.T) {
	hub, member := startCluster(t), startCluster(t)
	hub.namespace(networks)
	member.namespace(networks)
	member.installOptionalKinds()
	hub.install("default")
	manifests := member.install("member")
	kubeconfig, err := os.ReadFile(member.accountKubeconfig(memberAccount, memberAccount))
	require.NoError(t, err)
	require.NoError(t, hub.client.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: "there", Namespace: system, Labels: map[string]string{v1alpha1.LabelKubeconfig: "true"},
			Annotations: map[string]string{v1alpha1.AnnotationAllowedNamespaces: networks},
		},
		Data: map[string][]byte{v1alpha1.KubeconfigKey: kubeconfig},
	}))
	p := hub.startProgram()
	sn := hub.network(networks)
	require.NoError(t, member.client.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: sn.Spec.Database.SecretRef.Name, Namespace: networks},
		StringData: map[string]string{"url": "postgres://plaza:secret@db.example/plaza"},
	}))
	for i := range sn.Spec.Regions {
		sn.Spec.Regions[i].Cluster = "there"
	}
	sn.Spec.DeletionPolicy = v1alpha1.DeletionDelete
	require.NoError(t, hub.client.Create(t.Context(), sn))
	member.migrate(sn.Name)
	hub.condition(sn.Name, v1alpha1.ConditionSchemaMigrated, "True", v1alpha1.ReasonMigrated)
	hub.condition(sn.Name, v1alpha1.ConditionRegionsAvailable, "False", v1alpha1.ReasonProgressing)
	hub.condition(sn.Name, v1alpha1.ConditionAlertsApplied, "False", v1alpha1.ReasonCRDMissing)
	for _, region := range sn.Spec.Regions {
		member.has("deployment", render.RegionName(sn.Name, region.Code))
	}
	member.readyPod(render.RegionSelector(sn.Name, "us"))
	hub.changeSpec(sn.Name, func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Regions[2].Autoscaling = &v1alpha1.Autoscaling{MinReplicas: 1, MaxReplicas: 2}
		sn.Spec.Regions[2].Replicas = nil
	})
	member.has("horizontalpodautoscaler", render.RegionName(sn.Name, sn.Spec.Regions[2].Code))
	hub.condition(sn.Name, v1alpha1.ConditionKeysReady, "Unknown", v1alpha1.ReasonServersSilent)
	require.NoError(t, hub.client.Delete(t.Context(), sn))
	hub.eventually("the network to be deleted", func() string {
		if err := hub.client.Get(t.Context(), client.ObjectKeyFromObject(sn), sn); client.IgnoreNotFound(err) == nil && err != nil {
			return ""
		}
		return "it exists"
	})
	p.stop()
	member.comparePermissions(member.rightsOfRole(manifests, "Role", memberAccount), rareInMember)
}

// readyPod creates a ready pod.
func (c *cluster) readyPod(labels map[string]string) {
	c.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "server", Namespace: networks, Labels: labels},
		Spec: corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   new(true),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: render.ContainerName, Image: "plaza",
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false),
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
	require.NoError(c.t, c.client.Create(c.t.Context(), pod))
	pod.Status.Phase, pod.Status.PodIP, pod.Status.PodIPs = corev1.PodRunning, "10.9.0.1", []corev1.PodIP{{IP: "10.9.0.1"}}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	require.NoError(c.t, c.client.Status().Update(c.t.Context(), pod))
}

// changeSpec edits a network.
func (c *cluster) changeSpec(name string, change func(*v1alpha1.SocialNetwork)) {
	c.t.Helper()
	c.eventually("the network to be edited", func() string {
		var sn v1alpha1.SocialNetwork
		require.NoError(c.t, c.client.Get(c.t.Context(), client.ObjectKey{Namespace: networks, Name: name}, &sn))
		change(&sn)
		if err := c.client.Update(c.t.Context(), &sn); err != nil {
			return err.Error()
		}
		return ""
	})
}
