// Package backup is the stage that makes a CockroachDB database back itself up: a Job creates, changes and removes the database's
// backup schedule, and reports how the backups ended. It runs again and again, because only the database knows that.
package backup

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/jobresult"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/platform/statusz"
)

const (
	// checkInterval is how often the database is asked how its backups ended, and retryInterval how soon after a failure.
	checkInterval = 30 * time.Minute
	retryInterval = 5 * time.Minute
	// pollInterval is how often a Job is looked at whose pod does not run yet or is being deleted.
	pollInterval = 10 * time.Second
)

// Stage applies spec.backup.
type Stage struct{}

// Condition returns BackupsScheduled.
func (Stage) Condition() string { return v1alpha1.ConditionBackupsScheduled }

// Run reads the result of the Job, and creates or deletes it when it is time.
func (Stage) Run(ctx context.Context, p *stage.Pass) stage.Outcome {
	switch {
	case p.SN.Spec.Backup == nil && p.Status.Backup == nil:
		return stage.True(v1alpha1.ReasonNoBackup, "spec.backup is not set.")
	case p.Network.NetworkID == "":
		return stage.False(v1alpha1.ReasonWaitingForKeys, "Backups wait for the network's identity; see KeysReady.")
	case p.Status.Schema.Completed == "":
		return stage.False(v1alpha1.ReasonWaitingForSchema, "Backups are scheduled once the database is migrated; see SchemaMigrated.")
	case p.Refused != "":
		return stage.False(v1alpha1.ReasonNotAllowed, p.Refused)
	}
	r := &run{pass: p, cluster: p.Primary(), spec: p.SN.Spec.Backup}
	if !r.cluster.IsUsable() {
		return stage.Unknown(r.cluster.Reason, "The backups are not known. "+r.cluster.Message)
	}
	if r.readSpec(ctx) {
		r.followJob(ctx)
	}
	return r.out
}

// run is one run of the stage.
type run struct {
	pass     *stage.Pass
	cluster  *stage.Cluster
	spec     *v1alpha1.Backup // nil while the schedule is being removed
	schedule cron.Schedule
	target   string
	out      stage.Outcome
}

// readSpec reports whether the spec can be applied; otherwise it sets the condition.
func (r *run) readSpec(ctx context.Context) bool {
	var versions []string
	if r.spec != nil {
		var err error
		if r.schedule, err = parse(r.spec.Schedule, r.pass.Now); err != nil {
			r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonBackupScheduleInvalid, fmt.Sprintf("spec.backup.schedule: %s.", err))
			return false
		}
		var complete bool
		if versions, complete = r.readSecrets(ctx); !complete {
			return false
		}
		if r.pass.Status.Backup == nil {
			r.pass.Status.Backup = &v1alpha1.BackupStatus{}
		}
	}
	r.target = render.BackupTarget(r.cluster.Network, versions)
	return true
}

// readSecrets returns the versions of the Secrets with credentials. It reports whether they are complete and watched; otherwise it sets
// the condition.
func (r *run) readSecrets(ctx context.Context) (versions []string, complete bool) {
	for _, d := range r.spec.Destinations {
		if d.SecretRef == nil {
			continue
		}
		purpose := fmt.Sprintf(" with the credentials of the backups of %s", d.Code)
		secret := r.out.ReadSecret(ctx, r.pass, r.cluster, d.SecretRef.Name, purpose, render.BackupKeys(d)...)
		if secret == nil {
			return nil, false
		}
		versions = append(versions, secret.ResourceVersion)
	}
	if len(r.out.Watched) > 0 && !r.pass.SN.Spec.Paused { // the label changes the version
		r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonBackupsChanging, "The backup schedule is being applied.")
		r.out.RequeueAfter(time.Second)
		return nil, false
	}
	return versions, true
}

// followJob reads the result of the Job that exists, or creates one.
func (r *run) followJob(ctx context.Context) {
	var job batchv1.Job
	name := render.BackupJobName(r.pass.SN.Name)
	err := r.cluster.Cache.Get(ctx, client.ObjectKey{Namespace: r.cluster.Namespace(), Name: name}, &job)
	switch {
	case apierrors.IsNotFound(err):
		r.create()
	case err != nil:
		r.out.SetCondition(metav1.ConditionUnknown, v1alpha1.ReasonApplyFailed, "The backup Job could not be read: "+err.Error())
		return
	default:
		r.readJob(ctx, &job)
	}
	if r.out.Reason == "" {
		r.report()
	}
}

// create creates the Job, unless the network is paused.
func (r *run) create() {
	if r.pass.SN.Spec.Paused {
		return
	}
	network := r.cluster.Network
	r.out.Apply(stage.Desired{Object: render.MigrationServiceAccount(network), Cluster: r.cluster})
	r.out.Apply(stage.Desired{Object: render.BackupJob(network, r.target), Mode: apply.CreateOnly, Cluster: r.cluster})
	r.out.RequeueAfter(pollInterval)
}

// readJob records the result of a Job that ended, once, and deletes the Job when it is time for the next one.
func (r *run) readJob(ctx context.Context, job *batchv1.Job) {
	ended, at := jobresult.Finished(job)
	if ended == "" || !job.DeletionTimestamp.IsZero() {
		r.out.RequeueAfter(pollInterval)
		return
	}
	status := r.pass.Status.Backup
	isCurrent := job.Annotations[render.AnnotationTarget] == r.target
	if isCurrent && (status.CheckedAt == nil || !status.CheckedAt.Equal(new(metav1.NewTime(at)))) {
		pods, err := jobresult.Pods(ctx, r.cluster.APIReader, job)
		if err != nil {
			r.out.SetCondition(metav1.ConditionUnknown, v1alpha1.ReasonApplyFailed, "The pod of the backup Job could not be read: "+err.Error())
			return
		}
		r.record(job, at, jobresult.TerminationMessage(pods))
	}
	if r.pass.Status.Backup == nil { // removed; the stage sweep deletes the Job
		return
	}
	again := checkInterval
	if ended == batchv1.JobFailed {
		again = retryInterval
	}
	if wait := at.Add(again).Sub(r.pass.Now); isCurrent && wait > 0 {
		r.out.RequeueAfter(wait)
		return
	}
	if !r.pass.SN.Spec.Paused {
		r.out.Deletions = append(r.out.Deletions, stage.Deletion{Object: job, Cluster: r.cluster})
		r.out.RequeueAfter(time.Second)
	}
}

// record updates the status from the termination message of the Job's pod.
func (r *run) record(job *batchv1.Job, at time.Time, message string) {
	result, text := statusz.ReadBackups(message)
	status := r.pass.Status.Backup
	status.CheckedAt = new(metav1.NewTime(at))
	if result.LastSuccess.After(time.Time{}) && (status.LastSuccess == nil || result.LastSuccess.After(status.LastSuccess.Time)) {
		status.LastSuccess = new(metav1.NewTime(result.LastSuccess.Truncate(time.Second)))
	}
	status.Unsupported = result.State == statusz.BackupsUnsupported
	switch result.State {
	case statusz.BackupsFailed:
		status.LastError = stage.Shorten(r.pass.Redact(cmp.Or(text, unexplained(job))))
		return
	case statusz.BackupsRemoved, statusz.BackupsUnsupported:
		if r.spec == nil {
			r.pass.Status.Backup = nil
			r.out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonNoBackup, "spec.backup is not set.")
			return
		}
	}
	if status.Applied != r.target {
		status.Applied, status.AppliedAt = r.target, new(metav1.NewTime(at))
	}
	status.LastError = stage.Shorten(r.pass.Redact(result.LastError))
}

// unexplained returns what is known of a Job that failed without a message of its program.
func unexplained(job *batchv1.Job) string {
	return cmp.Or(jobresult.FailureMessage(job), "the Job gives no reason")
}
