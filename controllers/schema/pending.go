package schema

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// whyPending returns why the pod of a migration does not run, or "" if it runs. The text is the same from pass to pass.
func (r *run) whyPending(ctx context.Context, job *batchv1.Job) string {
	pods, err := r.pods(ctx, job)
	if err != nil {
		return "" // the Job's own status is enough
	}
	for i := range pods {
		if why := whyPodPending(&pods[i]); why != "" {
			return r.pass.Redact(why)
		}
	}
	return ""
}

func whyPodPending(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return "its pod cannot be scheduled: " + c.Message
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Waiting == nil {
			continue
		}
		switch c.State.Waiting.Reason {
		case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable":
			return fmt.Sprintf("its image %s cannot be pulled", c.Image)
		case "CreateContainerConfigError", "CreateContainerError":
			return "its container cannot be created: " + c.State.Waiting.Message
		}
	}
	return ""
}
