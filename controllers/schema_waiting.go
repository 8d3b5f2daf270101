package controllers

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// lookAtMigration is how often the pod of a migration that runs is looked at: nothing tells the operator of its changes.
const lookAtMigration = 10 * time.Second

// waitsFor says why the pod of a migration does not run, in words that stay the same from look to look; empty where it runs.
func waitsFor(ctx context.Context, w *World, job *batchv1.Job) string {
	var pods corev1.PodList
	err := w.Fresh.List(ctx, &pods, client.InNamespace(job.Namespace), client.MatchingLabels{batchv1.JobNameLabel: job.Name}, client.Limit(20))
	if err != nil {
		return "" // the Job tells enough
	}
	for i := range pods.Items {
		if why := podWaitsFor(&pods.Items[i]); why != "" {
			return w.redact(why)
		}
	}
	return ""
}

func podWaitsFor(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return "no node takes its pod: " + c.Message
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
			return "its container cannot be made: " + c.State.Waiting.Message
		}
	}
	return ""
}
