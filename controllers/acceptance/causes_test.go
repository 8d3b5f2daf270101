package acceptance

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	appsv1 "k8s.io/api/apps/v1"

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
	require.Regexp(t, `^RegionsAvailable: us: No pod is ready; pod acme-us-\w+: database us: dial tcp 10.0.0.9:5432: connection refused.$`, c.Message)
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
