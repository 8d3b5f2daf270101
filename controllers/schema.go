package controllers

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/render"
)

const (
	firstRetry   = 30 * time.Second
	longestRetry = 30 * time.Minute
)

// Schema is the stage that migrates the database, by one Job for each target of the network. Regions wait for it; those
// that run go on as they are.
type Schema struct{}

// Condition is SchemaMigrated.
func (Schema) Condition() string { return v1alpha1.ConditionSchemaMigrated }

// Run makes the Job where there is none, and reads what became of it.
func (s Schema) Run(ctx context.Context, w *World) Outcome {
	s.noteVersions(w)
	if w.Network.NetworkID == "" {
		return False(v1alpha1.ReasonWaitingForKeys, "The migration starts once the network has its identity; see KeysReady.")
	}
	if out, ok := s.secrets(ctx, w); !ok {
		return out
	}
	var job batchv1.Job
	key := client.ObjectKey{Namespace: w.SN.Namespace, Name: render.MigrationJobName(w.SN.Name, render.MigrationTarget(w.Network))}
	err := w.Cached.Get(ctx, key, &job)
	switch {
	case apierrors.IsNotFound(err):
		return s.start(ctx, w)
	case err != nil:
		return Unknown(v1alpha1.ReasonApplyFailed, "The migration's Job could not be read: "+err.Error())
	}
	return s.follow(ctx, w, &job)
}

// start makes the Job of the next attempt. What was learned of another target counts no more.
func (Schema) start(ctx context.Context, w *World) Outcome {
	schema := &w.Status.Schema
	other, err := otherTarget(ctx, w)
	if err != nil {
		return Unknown(v1alpha1.ReasonApplyFailed, "The migrations' Jobs could not be read: "+err.Error())
	}
	if other || schema.LastError == "" {
		schema.Attempts, schema.LastError = 0, ""
	}
	attempt := schema.Attempts + 1
	schema.NextRetry = nil
	out := False(v1alpha1.ReasonMigrating, fmt.Sprintf("The database is being migrated, attempt %d.", attempt))
	if w.SN.Spec.Paused {
		out = False(v1alpha1.ReasonPausedBySpec, "The database is migrated when spec.paused is false.")
	}
	out.Objects = []Desired{
		{Object: render.MigrationServiceAccount(w.Network)},
		{Object: render.MigrationJob(w.Network, attempt), Mode: apply.CreateOnly},
	}
	out.After = func(context.Context) error {
		schema.Attempts = attempt
		return nil
	}
	return out
}

// otherTarget is true while there is a Job of the network that migrated to another target.
func otherTarget(ctx context.Context, w *World) (bool, error) {
	var jobs batchv1.JobList
	err := w.Cached.List(ctx, &jobs, client.InNamespace(w.SN.Namespace), client.MatchingLabels(render.Labels(w.SN.Name, render.ComponentMigrate)))
	target := render.MigrationTarget(w.Network)
	return slices.ContainsFunc(jobs.Items, func(job batchv1.Job) bool { return job.Annotations[render.AnnotationTarget] != target }), err
}

// follow reads what became of the Job.
func (s Schema) follow(ctx context.Context, w *World, job *batchv1.Job) Outcome {
	objects := []Desired{{Object: render.MigrationServiceAccount(w.Network)}}
	schema := &w.Status.Schema
	attempt, _ := strconv.Atoi(job.Annotations[render.AnnotationAttempt])
	schema.Attempts = int32(min(max(attempt, 1), 1<<30))
	done, at := finished(job)
	switch done {
	case batchv1.JobComplete:
		w.SchemaReady = true
		schema.LastError, schema.NextRetry = "", nil
		if schema.Target == "" || schema.Current == "" {
			s.noteEnd(schema, migrationOf(ctx, w, job), true)
		}
		out := True(v1alpha1.ReasonMigrated, "The database has the schema that the image needs.")
		out.Objects = objects
		return out
	case batchv1.JobFailed:
		return s.failed(ctx, w, job, at)
	}
	schema.NextRetry = nil
	out := False(v1alpha1.ReasonMigrating, fmt.Sprintf("The database is being migrated, attempt %d.", schema.Attempts))
	if why := waitsFor(ctx, w, job); why != "" {
		out.Message = fmt.Sprintf("The migration, attempt %d, does not run: %s.", schema.Attempts, strings.TrimSuffix(why, "."))
	}
	out.Within(lookAtMigration)
	out.Objects = objects
	return out
}

// failed tells of the error, and removes the Job once it is time for the next attempt.
func (s Schema) failed(ctx context.Context, w *World, job *batchv1.Job, at time.Time) Outcome {
	schema := &w.Status.Schema
	end := migrationOf(ctx, w, job)
	s.noteEnd(schema, end, false)
	schema.LastError = short(lastError(w, job, end))
	wait := backoff(schema.Attempts)
	due := at.Add(wait)
	message := fmt.Sprintf("Attempt %d to migrate the database failed: %s", schema.Attempts, schema.LastError)
	out := False(v1alpha1.ReasonMigrationFailed, message)
	if w.Now.Before(due) {
		next := metav1.NewTime(due.Truncate(time.Second).Add(time.Second))
		schema.NextRetry = &next
		out.Message += fmt.Sprintf(". The next attempt starts at %s.", next.UTC().Format(time.RFC3339))
		out.Within(next.Sub(w.Now))
		return out
	}
	out.Deletions = []client.Object{job}
	out.Within(time.Second)
	return out
}

func backoff(attempts int32) time.Duration {
	wait := firstRetry
	for range min(attempts-1, 10) {
		wait *= 2
	}
	return min(wait, longestRetry)
}

// finished returns how a Job ended, and when; "" while it runs.
func finished(job *batchv1.Job) (batchv1.JobConditionType, time.Time) {
	for _, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
			return c.Type, c.LastTransitionTime.Time
		}
	}
	return "", time.Time{}
}

// lastError is why a migration failed. What was read once stays when the pod is gone.
func lastError(w *World, job *batchv1.Job, end migrationEnd) string {
	switch {
	case end.text != "":
		return w.redact(end.text)
	case w.Status.Schema.LastError != "":
		return w.Status.Schema.LastError
	case end.err != nil:
		return "the migration's pod could not be read: " + end.err.Error()
	}
	for _, c := range job.Status.Conditions {
		if c.Type == batchv1.JobFailed && c.Message != "" {
			return w.redact(c.Message)
		}
	}
	return "no reason was given"
}
