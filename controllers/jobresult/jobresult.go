// Package jobresult reads how a Job of one pod ended.
package jobresult

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Finished returns how and when a Job ended; the type is empty while the Job runs.
func Finished(job *batchv1.Job) (batchv1.JobConditionType, time.Time) {
	for _, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
			return c.Type, c.LastTransitionTime.Time
		}
	}
	return "", time.Time{}
}

// FailureMessage returns why Kubernetes says that a Job failed, or "".
func FailureMessage(job *batchv1.Job) string {
	for _, c := range job.Status.Conditions {
		if c.Type == batchv1.JobFailed {
			return c.Message
		}
	}
	return ""
}

// Pods lists the pods of a Job from the API server; they are not cached.
func Pods(ctx context.Context, reader client.Reader, job *batchv1.Job) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := reader.List(ctx, &pods, client.InNamespace(job.Namespace), client.MatchingLabels{batchv1.JobNameLabel: job.Name}, client.Limit(20))
	return pods.Items, err
}

// TerminationMessage returns the termination message of the newest pod.
func TerminationMessage(pods []corev1.Pod) string {
	var newest *corev1.Pod
	for i := range pods {
		if newest == nil || newest.CreationTimestamp.Before(&pods[i].CreationTimestamp) {
			newest = &pods[i]
		}
	}
	if newest == nil {
		return ""
	}
	for _, c := range newest.Status.ContainerStatuses {
		if t := c.State.Terminated; t != nil && t.Message != "" {
			return t.Message
		}
	}
	return ""
}
