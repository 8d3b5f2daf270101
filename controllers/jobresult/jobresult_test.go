package jobresult_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/plaza-social/plaza/controllers/jobresult"
)

// TestFinished checks that only the final conditions of a Job say that it ended.
func TestFinished(t *testing.T) {
	t.Parallel()
	at := metav1.NewTime(time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC))
	for _, kind := range []batchv1.JobConditionType{
		batchv1.JobSuspended, batchv1.JobComplete, batchv1.JobFailed, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet,
	} {
		for _, status := range []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown} {
			job := &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{
				{Type: batchv1.JobSuspended, Status: corev1.ConditionFalse}, {Type: kind, Status: status, LastTransitionTime: at},
			}}}
			ended, when := jobresult.Finished(job)
			if isFinal := kind == batchv1.JobComplete || kind == batchv1.JobFailed; isFinal && status == corev1.ConditionTrue {
				require.Equal(t, kind, ended)
				require.Equal(t, at.Time, when)
				continue
			}
			require.Empty(t, ended, "%s is %s", kind, status)
			require.Zero(t, when)
		}
	}
	ended, _ := jobresult.Finished(&batchv1.Job{})
	require.Empty(t, ended)
}

// TestTerminationMessage reads the message of the newest pod.
func TestTerminationMessage(t *testing.T) {
	t.Parallel()
	pod := func(minute int, message string) corev1.Pod {
		ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: message}}
		return corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(time.Date(2026, 11, 21, 9, minute, 0, 0, time.UTC))},
			Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{}, {State: ended}}},
		}
	}
	require.Empty(t, jobresult.TerminationMessage(nil))
	require.Equal(t, "second", jobresult.TerminationMessage([]corev1.Pod{pod(1, "first"), pod(3, "second"), pod(2, "other")}))
	require.Empty(t, jobresult.TerminationMessage([]corev1.Pod{pod(1, "first"), pod(2, "")}))
	two := pod(1, "")
	two.Status.ContainerStatuses = append(two.Status.ContainerStatuses, pod(1, "of the other container").Status.ContainerStatuses...)
	require.Equal(t, "of the other container", jobresult.TerminationMessage([]corev1.Pod{two}))
}

// TestFailureMessage reads why a Job failed, which other conditions do not say.
func TestFailureMessage(t *testing.T) {
	t.Parallel()
	job := &batchv1.Job{}
	require.Empty(t, jobresult.FailureMessage(job))
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Message: "soon"}}
	require.Empty(t, jobresult.FailureMessage(job))
	job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: batchv1.JobFailed, Message: "why"})
	require.Equal(t, "why", jobresult.FailureMessage(job))
}

// TestPods lists the pods of a Job, and not those of another one or of another namespace.
func TestPods(t *testing.T) {
	t.Parallel()
	pod := func(namespace, name, job string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{batchv1.JobNameLabel: job}}}
	}
	api := fake.NewClientBuilder().WithObjects(pod("plaza", "a", "backup"), pod("plaza", "b", "other"), pod("other", "c", "backup")).Build()
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "plaza", Name: "backup"}}
	pods, err := jobresult.Pods(t.Context(), api, job)
	require.NoError(t, err)
	require.Len(t, pods, 1)
	require.Equal(t, "a", pods[0].Name)
}
