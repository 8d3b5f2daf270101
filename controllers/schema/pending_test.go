package schema

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestWhyPodPending(t *testing.T) {
	waiting := func(reason, message string) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Image: "plaza:v2", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		}}}
	}
	for name, c := range map[string]struct {
		status corev1.PodStatus
		want   string
	}{
		"nothing is known":      {corev1.PodStatus{}, ""},
		"it starts":             {waiting("ContainerCreating", ""), ""},
		"no image":              {waiting("ErrImagePull", "dial tcp: lookup registry"), "its image plaza:v2 cannot be pulled"},
		"no image, tried again": {waiting("ImagePullBackOff", "back-off pulling image"), "its image plaza:v2 cannot be pulled"},
		"no key of a Secret":    {waiting("CreateContainerConfigError", `secret "x" not found`), `its container cannot be created: secret "x" not found`},
		"it runs": {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}}}, ""},
		"no node": {corev1.PodStatus{Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available",
		}}}, "its pod cannot be scheduled: 0/3 nodes are available"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, whyPodPending(&corev1.Pod{Status: c.status}))
		})
	}
}
