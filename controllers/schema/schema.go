// Package schema is the stage that migrates the database with a Job, one for each migration target of the network. Regions
// wait for it; running servers are not touched.
package schema

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
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
	minBackoff = 30 * time.Second
	maxBackoff = 30 * time.Minute
	// pollInterval is how often the pod of a running migration is read; pods of Jobs are not watched.
	pollInterval = 10 * time.Second
)

// Stage migrates the database.
type Stage struct{}

// Condition returns SchemaMigrated.
func (Stage) Condition() string { return v1alpha1.ConditionSchemaMigrated }

// Run creates the migration's Job, or reports on the one that exists.
func (Stage) Run(ctx context.Context, p *stage.Pass) stage.Outcome {
	setVersions(p)
	if p.Network.NetworkID == "" {
		return stage.False(v1alpha1.ReasonWaitingForKeys, "The migration waits for the network's identity; see KeysReady.")
	}
	if p.Refused != "" {
		out := stage.False(v1alpha1.ReasonNotAllowed, p.Refused)
		out.RequeueAfter(stage.MissingInterval) // a Secret without the operator's label is not cached
		return out
	}
	r := &run{pass: p, cluster: p.Primary()}
	if r.readSecrets(ctx) {
		r.migrate(ctx)
	}
	return r.out
}

// run is one run of the stage.
type run struct {
	pass    *stage.Pass
	cluster *stage.Cluster // in which the database is migrated
	network render.Network // of cluster
	out     stage.Outcome
}

func (r *run) migrate(ctx context.Context) {
	r.network = r.cluster.Network
	if !r.cluster.IsUsable() {
		r.waitForCluster()
		return
	}
	var job batchv1.Job
	key := client.ObjectKey{
		Namespace: r.cluster.Namespace(), Name: render.MigrationJobName(r.network.SN.Name, render.MigrationTarget(r.network)),
	}
	err := r.cluster.Cache.Get(ctx, key, &job)
	switch {
	case apierrors.IsNotFound(err):
		r.createJob(ctx)
	case err != nil:
		r.out.SetCondition(metav1.ConditionUnknown, v1alpha1.ReasonApplyFailed, "The migration's Job could not be read: "+err.Error())
	default:
		r.followJob(ctx, &job)
	}
}

// waitForCluster reports that the cluster in which the database is migrated cannot be used. If the migration was completed before,
// regions in other clusters do not wait for it.
func (r *run) waitForCluster() {
	r.out.Facts.SchemaReady = r.pass.Status.Schema.Completed == render.MigrationTarget(r.network)
	if r.out.Facts.SchemaReady {
		r.out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonMigrated, "The database has the schema that the image needs.")
		return
	}
	r.out.SetCondition(metav1.ConditionUnknown, r.cluster.Reason, "The database cannot be migrated. "+r.cluster.Message)
}

// createJob creates the Job of the next attempt. Attempts at another target do not count.
func (r *run) createJob(ctx context.Context) {
	if hold := r.hold(); hold.Reason != "" {
		r.out.SetCondition(metav1.ConditionFalse, hold.Reason, hold.Message)
		r.out.RequeueAfter(hold.Again)
		return
	}
	schema := &r.pass.Status.Schema
	retarget, err := r.hasOtherTarget(ctx)
	if err != nil {
		r.out.SetCondition(metav1.ConditionUnknown, v1alpha1.ReasonApplyFailed, "The migration's Jobs could not be listed: "+err.Error())
		return
	}
	if retarget || schema.LastError == "" {
		schema.Attempts, schema.LastError = 0, ""
	}
	schema.NextRetry = nil
	attempt := schema.Attempts + 1
	r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonMigrating, fmt.Sprintf("The database is being migrated, attempt %d.", attempt))
	if r.network.SN.Spec.Paused {
		r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonPausedBySpec, "The database is migrated when spec.paused is false.")
	}
	r.applyAccount()
	r.out.Apply(stage.Desired{Object: render.MigrationJob(r.network, attempt), Mode: apply.CreateOnly, Cluster: r.cluster})
}

// hold returns why the migration may not begin now. The first migration of a network may, and one that replaces another that failed, or
// belongs to the repair of an update that did not succeed.
func (r *run) hold() stage.Hold {
	schema := r.pass.Status.Schema
	if schema.Completed == "" || schema.Completed == render.MigrationTarget(r.network) || schema.LastError != "" || r.isBroken() {
		return stage.Hold{}
	}
	return r.pass.HoldUpdate()
}

// isBroken reports whether the update of a region has begun and needs attention.
func (r *run) isBroken() bool {
	return slices.ContainsFunc(r.pass.Status.Regions, func(region v1alpha1.RegionStatus) bool {
		updated := meta.FindStatusCondition(region.Conditions, v1alpha1.RegionUpdated)
		if updated == nil || updated.Status != metav1.ConditionFalse {
			return false
		}
		reason := v1alpha1.Reason(updated.Reason)
		return reason.NeedsAttention() && reason != v1alpha1.ReasonWindowInvalid && reason != v1alpha1.ReasonTemplateDrift
	})
}

// applyAccount applies what the migrations' pods need.
func (r *run) applyAccount() {
	r.out.Apply(stage.Desired{Object: render.MigrationServiceAccount(r.network), Cluster: r.cluster})
	if policy := render.MigrationNetworkPolicy(r.network); policy != nil {
		r.out.Apply(stage.Desired{Object: policy, Cluster: r.cluster})
	}
}

// hasOtherTarget reports whether the network has a Job with another migration target.
func (r *run) hasOtherTarget(ctx context.Context) (bool, error) {
	var jobs batchv1.JobList
	labels := client.MatchingLabels(render.Labels(r.network.SN.Name, render.ComponentMigrate))
	err := r.cluster.Cache.List(ctx, &jobs, client.InNamespace(r.cluster.Namespace()), labels)
	target := render.MigrationTarget(r.network)
	return slices.ContainsFunc(jobs.Items, func(job batchv1.Job) bool { return job.Annotations[render.AnnotationTarget] != target }), err
}

// followJob reports on a Job that exists.
func (r *run) followJob(ctx context.Context, job *batchv1.Job) {
	schema := &r.pass.Status.Schema
	attempt, _ := strconv.Atoi(job.Annotations[render.AnnotationAttempt])
	schema.Attempts = int32(min(max(attempt, 1), 1<<30))
	ended, at := jobresult.Finished(job)
	if ended == batchv1.JobFailed {
		r.retryLater(ctx, job, at)
		return
	}
	schema.NextRetry = nil
	r.applyAccount()
	if ended == batchv1.JobComplete {
		r.out.Facts.SchemaReady = true
		schema.LastError, schema.Completed = "", render.MigrationTarget(r.network)
		if schema.Target == "" || schema.Current == "" {
			setVersionsFromJob(schema, r.readTermination(ctx, job), true)
		}
		r.out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonMigrated, "The database has the schema that the image needs.")
		return
	}
	message := fmt.Sprintf("The database is being migrated, attempt %d.", schema.Attempts)
	if why := r.whyPending(ctx, job); why != "" {
		message = fmt.Sprintf("The migration is not running, attempt %d: %s.", schema.Attempts, strings.TrimSuffix(why, "."))
	}
	r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonMigrating, message)
	r.out.RequeueAfter(pollInterval)
}

// retryLater reports the error of a failed Job, and deletes the Job when the backoff has passed.
func (r *run) retryLater(ctx context.Context, job *batchv1.Job, failedAt time.Time) {
	schema := &r.pass.Status.Schema
	if !render.IsMigrationOf(job, r.network.NetworkID) {
		schema.LastError, schema.NextRetry = "", nil
		r.out.Deletions = []stage.Deletion{{Object: job, Cluster: r.cluster}}
		r.out.RequeueAfter(time.Second)
		r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonMigrating, "The migration starts again with the identity that was restored.")
		return
	}
	t := r.readTermination(ctx, job)
	setVersionsFromJob(schema, t, false)
	schema.LastError = stage.Shorten(r.lastError(job, t))
	due := failedAt.Add(backoff(schema.Attempts))
	message := fmt.Sprintf("Migration attempt %d failed: %s", schema.Attempts, schema.LastError)
	if r.pass.Now.Before(due) {
		next := metav1.NewTime(due.Truncate(time.Second).Add(time.Second))
		schema.NextRetry = &next
		message += fmt.Sprintf(". The next attempt starts at %s.", next.UTC().Format(time.RFC3339))
		r.out.RequeueAfter(next.Sub(r.pass.Now))
	} else {
		r.out.Deletions = []stage.Deletion{{Object: job, Cluster: r.cluster}}
		r.out.RequeueAfter(time.Second)
	}
	reason := v1alpha1.ReasonMigrationFailed
	if strings.Contains(schema.LastError, statusz.OtherNetwork) {
		reason = v1alpha1.ReasonDatabaseOfAnotherNetwork
	}
	r.out.SetCondition(metav1.ConditionFalse, reason, message)
}

func backoff(attempts int32) time.Duration {
	wait := minBackoff
	for range min(attempts-1, 10) {
		wait *= 2
	}
	return min(wait, maxBackoff)
}

// lastError returns why a migration failed. An error that was read earlier is kept when the pod is gone.
func (r *run) lastError(job *batchv1.Job, t termination) string {
	switch {
	case t.text != "":
		return r.pass.Redact(t.text)
	case r.pass.Status.Schema.LastError != "":
		return r.pass.Status.Schema.LastError
	case t.err != nil:
		return "the migration's pod could not be read: " + t.err.Error()
	}
	if message := jobresult.FailureMessage(job); message != "" {
		return r.pass.Redact(message)
	}
	return "the Job gives no reason"
}
