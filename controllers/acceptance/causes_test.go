package acceptance

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/platform/statusz"
)

// unready makes the pods of a region unready, with the status of their containers, and their servers fail a check.
func (o *operator) unready(code v1alpha1.RegionCode, check statusz.CheckResult, change func(*corev1.ContainerStatus)) {
	o.t.Helper()
	for _, pod := range o.pods("acme", code) {
		o.servers.at(fmt.Sprintf("%s:%d", pod.Status.PodIP, render.PortOps), func(s *server) { s.failed = []statusz.CheckResult{check} })
		pod.Status.Conditions[0].Status = corev1.ConditionFalse
		c := corev1.ContainerStatus{Name: render.ContainerName, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
		if change != nil {
			change(&c)
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{c}
		require.NoError(o.t, o.client.Status().Update(context.Background(), &pod))
	}
}

// TestCauses checks that the status names why servers are not ready, and that keys and moderation are not blamed.
func TestCauses(t *testing.T) {
	o := start(t)
	o.up(sample(t, "socialnetwork"))
	away := statusz.CheckResult{Name: "database us", Reason: "dial tcp 10.0.0.9:5432: connection refused"}
	o.unready("us", away, nil)
	setStatus(o, o.deployment("acme", "us"), lost)
	c := o.condition("acme", v1alpha1.ConditionReady, "False", v1alpha1.ReasonDatabaseUnreachable)
	require.Regexp(t, `^RegionsAvailable: us: No pod is ready; pod acme-us-\w+: database us: dial tcp 10.0.0.9:5432: connection refused.$`,
		c.Message)
	o.condition("acme", v1alpha1.ConditionKeysReady, "Unknown", v1alpha1.ReasonNoServers)
	o.condition("acme", v1alpha1.ConditionModerationApplied, "Unknown", v1alpha1.ReasonNoServers)

	o.unready("us", statusz.CheckResult{Name: "database us", Reason: "FATAL: sorry, too many clients already (SQLSTATE 53300)"}, nil)
	o.pass("acme")
	o.condition("acme", v1alpha1.ConditionReady, "False", v1alpha1.ReasonDatabaseOutOfConnections)

	o.unready("us", away, func(c *corev1.ContainerStatus) {
		c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
		c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 2, Message: "no password-of-the-database"}
	})
	o.pass("acme")
	c = o.condition("acme", v1alpha1.ConditionReady, "False", v1alpha1.ReasonPodCrashing)
	require.Contains(t, c.Message, "its container plaza exited with code 2: no [secret].")

	setStatus(o, o.deployment("acme", "us"), func(d *appsv1.Deployment) {
		d.Status.ReadyReplicas, d.Status.AvailableReplicas = 1, 1
	})
	o.condition("acme", v1alpha1.ConditionRegionsAvailable, "True", v1alpha1.ReasonDegraded)
	require.Equal(t, "3/3", get(o, &v1alpha1.SocialNetwork{}, "acme").Status.RegionsReady)
}

// TestPatchIsRejected keeps the pods of a region whose patch cannot be applied.
func TestPatchIsRejected(t *testing.T) {
	o := start(t)
	o.up(sample(t, "socialnetwork-minimal"))
	patch := func(text string) {
		o.edit("acme-minimal", func(sn *v1alpha1.SocialNetwork) {
			sn.Spec.Regions[0].PodPatch = &apiextensionsv1.JSON{Raw: []byte(text)}
		})
	}
	patch(`{"metadata": {"labels": {"plaza.social/region": "eu"}}}`)
	c := o.condition("acme-minimal", v1alpha1.ConditionReady, "False", v1alpha1.ReasonPatchRejected)
	require.Contains(t, c.Message, "podPatch must not change the label plaza.social/region")
	require.Equal(t, int64(1), o.deployment("acme-minimal", "us").Generation)
	patch(`{"spec": {"hostAliases": [{"ip": "192.0.2.1", "hostnames": ["db.example"]}]}}`)
	o.eventually("the patch to be applied", func() string {
		if len(o.deployment("acme-minimal", "us").Spec.Template.Spec.HostAliases) == 0 {
			return "there are no aliases"
		}
		return ""
	})
}

// TestDatabaseCertificates checks that a missing certificate is named and noticed within seconds when it is created, and that pods
// restart when it changes.
func TestDatabaseCertificates(t *testing.T) {
	o := start(t)
	sn := sample(t, "socialnetwork-minimal")
	sn.Spec.Database.TLS = &v1alpha1.DatabaseTLS{CASecretRef: &v1alpha1.LocalSecretReference{Name: "database-ca"}}
	o.apply(sn)
	c := o.condition("acme-minimal", v1alpha1.ConditionReady, "False", v1alpha1.ReasonSecretMissing)
	require.Contains(t, c.Message, "Secret database-ca does not exist")
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "database-ca", Namespace: o.namespace},
		StringData: map[string]string{"other": "x"},
	}
	require.NoError(t, o.client.Create(t.Context(), secret))
	c = o.condition("acme-minimal", v1alpha1.ConditionReady, "False", v1alpha1.ReasonSecretIncomplete)
	require.Contains(t, c.Message, "Secret database-ca has no key ca.crt")
	o.editSecret("database-ca", func(s *corev1.Secret) { s.StringData = map[string]string{"ca.crt": "one"} })
	o.migrate("acme-minimal")
	o.serve("acme-minimal", "us")
	o.condition("acme-minimal", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	before := o.deployment("acme-minimal", "us").Spec.Template.Annotations[render.AnnotationConfiguration]
	o.editSecret("database-ca", func(s *corev1.Secret) { s.StringData = map[string]string{"ca.crt": "two"} })
	o.eventually("a restart with the new authority", func() string {
		if o.deployment("acme-minimal", "us").Spec.Template.Annotations[render.AnnotationConfiguration] == before {
			return "the template is the old one"
		}
		return ""
	})
}
