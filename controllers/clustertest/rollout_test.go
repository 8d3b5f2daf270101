//go:build cluster

package clustertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// badImage sets an image that does not exist.
func (s *suite) badImage(t *testing.T) {
	t.Helper()
	before := s.uids(t, codes...)
	s.edit(t, func(sn *v1alpha1.SocialNetwork) { sn.Spec.Image = "plaza:nowhere" })
	s.within(t, "the status names what the migration waits for", func() string {
		_, reason, message := condition(s.network(t), v1alpha1.ConditionSchemaMigrated)
		if reason != string(v1alpha1.ReasonMigrating) || !strings.Contains(message, "plaza:nowhere cannot be pulled") {
			return reason + ": " + message
		}
		return ""
	})
	s.holds(t, "no region is touched", func() string {
		if after := s.uids(t, codes...); !equal(before, after) {
			return fmt.Sprintf("%v are not %v", after, before)
		}
		return ""
	})
	s.edit(t, func(sn *v1alpha1.SocialNetwork) { sn.Spec.Image = s.image })
	s.ready(t)
	require.Equal(t, before, s.uids(t, codes...), "nor by the way back")
	s.nothingFailed(t)
}

// badPods sets a variable with which the servers do not start.
func (s *suite) badPods(t *testing.T) {
	t.Helper()
	before := s.uids(t, codes...)
	s.edit(t, eachRegion(func(r *v1alpha1.Region) { r.Env = []corev1.EnvVar{{Name: "PLAZA_LOG_LEVEL", Value: "whatever"}} }))
	s.within(t, "a new pod of us fails", func() string {
		for _, pod := range s.pods(t, "us") {
			for _, c := range pod.Status.ContainerStatuses {
				if c.RestartCount > 0 && !c.Ready {
					return ""
				}
			}
		}
		return "all start"
	})
	s.within(t, "the status names the pod's error", func() string {
		_, reason, message := condition(s.network(t), v1alpha1.ConditionReady)
		if reason != string(v1alpha1.ReasonPodCrashing) || !strings.Contains(message, "PLAZA_LOG_LEVEL") {
			return reason + ": " + message
		}
		require.NotContains(t, message, "whatever", "the value may come from a Secret")
		return ""
	})
	s.holds(t, "us keeps its old pods, and the other regions are not touched", func() string {
		after := s.uids(t, codes...)
		for name, uid := range before {
			if after[name] != uid {
				return fmt.Sprintf("pod %s was %s and is %q", name, uid, after[name])
			}
		}
		if len(after) > len(before)+1 {
			return fmt.Sprintf("there are more than one more: %v", after)
		}
		return ""
	})
	sn := s.network(t)
	require.Equal(t, "3/3", sn.Status.RegionsReady, "every region serves")
	status, reason, _ := condition(sn, v1alpha1.ConditionRegionsAvailable)
	require.Equal(t, "False", status, "and the status tells that not all is well: %s", reason)
	s.nothingFailed(t)
}

// editByHand adds a variable and a sidecar to a Deployment, as kubectl edit does: they are removed, and requests do not fail.
func (s *suite) editByHand(t *testing.T) {
	t.Helper()
	var d appsv1.Deployment
	s.within(t, "the Deployment is edited", func() string {
		key := client.ObjectKey{Namespace: s.namespace, Name: render.RegionName(network, "eu")}
		require.NoError(t, s.client.Get(t.Context(), key, &d))
		pod := &d.Spec.Template.Spec
		pod.Containers[0].Env = append(pod.Containers[0].Env, corev1.EnvVar{Name: "PLAZA_STATEMENT_TIMEOUT", Value: "17s"})
		pod.Containers = append(pod.Containers, corev1.Container{Name: "sidecar", Image: pod.Containers[0].Image})
		err := s.client.Update(t.Context(), &d, client.FieldOwner("kubectl-edit"))
		if apierrors.IsConflict(err) {
			return err.Error()
		}
		require.NoError(t, err)
		return ""
	})
	s.within(t, "the additions are removed", func() string {
		require.NoError(t, s.client.Get(t.Context(), client.ObjectKeyFromObject(&d), &d))
		pod := d.Spec.Template.Spec
		if len(pod.Containers) != 1 || slices.ContainsFunc(pod.Containers[0].Env,
			func(e corev1.EnvVar) bool { return e.Name == "PLAZA_STATEMENT_TIMEOUT" }) {
			return "they are still there"
		}
		return ""
	})
	s.ready(t)
	s.nothingFailed(t)
}

// roll upgrades the previous release and checks the order in which the regions are updated. The leader is killed during the second
// one.
func (s *suite) roll(t *testing.T) {
	t.Helper()
	s.image = ""
	s.edit(t, func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Image = ""
		eachRegion(func(r *v1alpha1.Region) {
			r.Env = []corev1.EnvVar{{Name: "PLAZA_LOG_LEVEL", Value: "warn"}}
			r.PodAnnotations = map[string]string{"test.example/rolled": "true"}
		})(sn)
	})
	s.within(t, "the second region rolls", func() string {
		if !slices.ContainsFunc(s.pods(t, "eu"), rolled) {
			return "all of its pods are old"
		}
		return ""
	})
	killed := s.killLeader(t)
	s.otherLeads(t, killed)
	s.ready(t)
	s.within(t, "no old pod is left", func() string {
		for _, pod := range s.everyPod(t, "") {
			if !rolled(pod) {
				return pod.Name
			}
		}
		return ""
	})
	for i, code := range codes[1:] {
		before := codes[i]
		latest, first := time.Time{}, time.Now()
		for _, pod := range s.pods(t, before) {
			latest = later(latest, readySince(pod))
		}
		for _, pod := range s.pods(t, code) {
			if made := pod.CreationTimestamp.Time; made.Before(first) {
				first = made
			}
		}
		require.False(t, first.Before(latest), "%s begins at %s, before the last pod of %s is ready at %s", code, first, before, latest)
		s.sayf("    %s was ready %.0f s before %s began", before, first.Sub(latest).Seconds(), code)
	}
	s.nothingFailed(t)
	s.operatorsReady(t)
}

func rolled(pod corev1.Pod) bool { return pod.Annotations["test.example/rolled"] == "true" }

func readySince(pod corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return time.Now()
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
