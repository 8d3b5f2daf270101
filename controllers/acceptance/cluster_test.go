package acceptance

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/clusters"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/platform/statusz"
)

// The work of the cluster's own controllers and kubelets.

// job waits for the migration Job of a network.
func (o *operator) job(network string) *batchv1.Job {
	o.t.Helper()
	var job batchv1.Job
	o.eventually("a migration Job", func() string {
		var jobs batchv1.JobList
		err := o.client.List(context.Background(), &jobs, client.InNamespace(o.namespace), client.MatchingLabels{render.LabelNetwork: network})
		if err != nil || len(jobs.Items) != 1 {
			return fmt.Sprintf("%d jobs, %v", len(jobs.Items), err)
		}
		job = jobs.Items[0]
		return ""
	})
	return &job
}

// migrate completes the network's migration Job.
func (o *operator) migrate(network string) {
	o.t.Helper()
	now := metav1.Now()
	setStatus(o, o.job(network), func(job *batchv1.Job) {
		job.Status.StartTime, job.Status.CompletionTime, job.Status.Succeeded = &now, &now, 1
		job.Status.Conditions = []batchv1.JobCondition{
			{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue, LastTransitionTime: now},
			{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: now},
		}
	})
}

// failMigration fails it with a termination message and returns when.
func (o *operator) failMigration(network, message string) time.Time {
	o.t.Helper()
	ctx := context.Background()
	job := o.job(network)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: job.Name + "-", Namespace: o.namespace,
			Labels: map[string]string{batchv1.JobNameLabel: job.Name},
		},
		Spec: job.Spec.Template.Spec,
	}
	pod.Spec.ServiceAccountName = "" // created by a controller that does not run here
	require.NoError(o.t, o.client.Create(ctx, pod))
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: render.ContainerName, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: message}},
	}}
	require.NoError(o.t, o.client.Status().Update(ctx, pod))
	now := metav1.NewTime(o.clock.now())
	setStatus(o, job, func(job *batchv1.Job) {
		job.Status.StartTime, job.Status.Failed = &now, 1
		job.Status.Conditions = []batchv1.JobCondition{
			{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, LastTransitionTime: now, Reason: "BackoffLimitExceeded"},
			{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, LastTransitionTime: now, Reason: "BackoffLimitExceeded"},
		}
	})
	return now.Time
}

// deployment waits for a region's Deployment.
func (o *operator) deployment(network string, code v1alpha1.RegionCode) *appsv1.Deployment {
	o.t.Helper()
	var d appsv1.Deployment
	o.eventually("the Deployment of "+string(code), func() string {
		err := o.client.Get(context.Background(), client.ObjectKey{Namespace: o.namespace, Name: render.RegionName(network, code)}, &d)
		if err != nil {
			return err.Error()
		}
		return ""
	})
	return &d
}

var lastAddress atomic.Int32

// serve makes a region's Deployment ready, with one pod and its server.
func (o *operator) serve(network string, code v1alpha1.RegionCode) {
	o.t.Helper()
	d := o.deployment(network, code)
	pods := o.pods(network, code)
	if len(pods) == 0 {
		o.pod(code, d)
	}
	o.setReady(d)
}

// setReady makes all pods of the newest template ready.
func (o *operator) setReady(d *appsv1.Deployment) {
	o.t.Helper()
	setStatus(o, d, func(d *appsv1.Deployment) {
		want := int32(1)
		if d.Spec.Replicas != nil {
			want = *d.Spec.Replicas
		}
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation, Replicas: want, UpdatedReplicas: want, ReadyReplicas: want, AvailableReplicas: want,
			Conditions: conditions(corev1.ConditionTrue, corev1.ConditionTrue, "NewReplicaSetAvailable", "all is well"),
		}
	})
}

// setStuck exceeds the progress deadline of the newest template; the old pods keep serving.
func (o *operator) setStuck(d *appsv1.Deployment) {
	o.t.Helper()
	setStatus(o, d, func(d *appsv1.Deployment) {
		d.Status.ObservedGeneration, d.Status.UpdatedReplicas, d.Status.Replicas = d.Generation, 1, d.Status.AvailableReplicas+1
		d.Status.Conditions = conditions(corev1.ConditionTrue, corev1.ConditionFalse, "ProgressDeadlineExceeded", "too slow")
	})
}

// lost is the status of a Deployment that lost all pods after its rollout.
func lost(d *appsv1.Deployment) {
	d.Status.ReadyReplicas, d.Status.AvailableReplicas = 0, 0
	d.Status.Conditions = conditions(corev1.ConditionFalse, corev1.ConditionTrue, "NewReplicaSetAvailable", "it was")
}

func conditions(available, progressing corev1.ConditionStatus, reason, message string) []appsv1.DeploymentCondition {
	now := metav1.Now()
	return []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentAvailable, Status: available, LastUpdateTime: now, LastTransitionTime: now},
		{Type: appsv1.DeploymentProgressing, Status: progressing, Reason: reason, Message: message, LastUpdateTime: now, LastTransitionTime: now},
	}
}

// setStatus updates the status of an object, with retries on conflicts.
func setStatus[O client.Object](o *operator, object O, change func(O)) {
	o.t.Helper()
	o.onNewest(object, func() error {
		change(object)
		return o.client.Status().Update(context.Background(), object)
	})
}

func (o *operator) pods(network string, code v1alpha1.RegionCode) []corev1.Pod {
	o.t.Helper()
	var pods corev1.PodList
	require.NoError(o.t, o.client.List(context.Background(), &pods, client.InNamespace(o.namespace),
		client.MatchingLabels(render.RegionSelector(network, code))))
	return pods.Items
}

// pod creates a ready pod of a region and its server.
func (o *operator) pod(code v1alpha1.RegionCode, d *appsv1.Deployment) {
	o.t.Helper()
	ctx := context.Background()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: d.Name + "-", Namespace: o.namespace, Labels: d.Spec.Template.Labels},
		Spec:       d.Spec.Template.Spec,
	}
	pod.Spec.ServiceAccountName = ""
	require.NoError(o.t, o.client.Create(ctx, pod))
	n := lastAddress.Add(1)
	address := fmt.Sprintf("10.9.%d.%d", n/250, n%250+1)
	ops := fmt.Sprintf("%s:%d", address, render.PortOps)
	if o.member != "" {
		ops = clusters.PodAddress(pod, strconv.Itoa(int(render.PortOps)))
	}
	o.servers.at(ops, func(s *server) {
		s.status = statusz.Status{Region: string(code), Version: "v1", Schema: statusz.Schema{Current: 92, Required: 92}}
		s.status.LogLevel = &statusz.LogLevel{Current: "info", Configured: "info"}
		s.status.Placement = statusz.Placement{
			State: statusz.Unknown, Reason: statusz.ReasonNoPlacement,
			Want: statusz.PlacementWanted{
				Localities: map[string]string{"us": "us-east1", "eu": "europe-west1", "sg": "asia-southeast1"},
				Primary:    "us", Survive: "zone",
			},
		}
		s.status.Moderation = statusz.Moderation{IsReportEnabled: true, FlagLimit: 50, AsOf: time.Now()}
		s.status.Moderation.Digest = s.status.Moderation.Hash()
	})
	pod.Status.Phase, pod.Status.PodIP, pod.Status.PodIPs = corev1.PodRunning, address, []corev1.PodIP{{IP: address}}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	require.NoError(o.t, o.client.Status().Update(ctx, pod))
}
