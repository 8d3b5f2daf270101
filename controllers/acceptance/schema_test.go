package acceptance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/testenv"
)

// TestMigrationFails fails the migration to another image twice: running servers are not changed, everything else is
// reconciled, and the migration is retried with backoff.
func TestMigrationFails(t *testing.T) {
	o := start(t)
	o.up(sample(t, "socialnetwork"))
	image := o.deployment("acme", "us").Spec.Template.Spec.Containers[0].Image
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) { sn.Spec.Image = "plaza.example/plaza:v2" })
	o.condition("acme", v1alpha1.ConditionSchemaMigrated, "False", v1alpha1.ReasonMigrating)
	o.condition("acme", v1alpha1.ConditionSwept, "True", v1alpha1.ReasonNothingLeft) // the Job of the previous image was deleted
	first := o.job("acme")
	require.Empty(t, get(o, &v1alpha1.SocialNetwork{}, "acme").Status.Schema.Target, "it is not known yet")
	o.failMigration("acme", "step 00093 was refused: postgres://plaza:password-of-the-database@db.example/plaza\n"+`{"target":93}`)
	failed := o.condition("acme", v1alpha1.ConditionSchemaMigrated, "False", v1alpha1.ReasonMigrationFailed)
	require.Contains(t, failed.Message, "attempt 1")
	require.Contains(t, failed.Message, "step 00093 was refused")
	require.NotContains(t, failed.Message, "password-of-the-database")
	require.NotContains(t, failed.Message, "target")
	sn := get(o, &v1alpha1.SocialNetwork{}, "acme")
	require.Equal(t, int32(1), sn.Status.Schema.Attempts)
	require.NotNil(t, sn.Status.Schema.NextRetry)
	require.Equal(t, "93", sn.Status.Schema.Target)
	require.Equal(t, "92", sn.Status.Schema.Current)

	require.Equal(t, image, o.deployment("acme", "us").Spec.Template.Spec.Containers[0].Image)
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) { sn.Spec.Moderation.FlagLimit = 7 })
	o.condition("acme", v1alpha1.ConditionModerationApplied, "True", v1alpha1.ReasonModerationRuns)
	o.regionCondition("acme", "us", v1alpha1.RegionUpdated, v1alpha1.ReasonWaitingForSchema)
	o.regionCondition("acme", "us", v1alpha1.RegionAvailable, v1alpha1.ReasonServing)

	o.clock.add(31 * time.Second)
	o.pass("acme")
	o.eventually("the second attempt", func() string {
		job := o.job("acme")
		if job.UID == first.UID || job.Annotations[render.AnnotationAttempt] != "2" {
			return "the Job is of attempt " + job.Annotations[render.AnnotationAttempt]
		}
		return ""
	})
	at := o.failMigration("acme", "again")
	o.eventually("the second failure", func() string {
		sn = get(o, &v1alpha1.SocialNetwork{}, "acme")
		if c := meta.FindStatusCondition(sn.Status.Conditions, v1alpha1.ConditionSchemaMigrated); sn.Status.Schema.Attempts != 2 ||
			c.Reason != string(v1alpha1.ReasonMigrationFailed) {
			return fmt.Sprintf("it is attempt %d, %s: %s", sn.Status.Schema.Attempts, c.Reason, c.Message)
		}
		return ""
	})
	require.NotNil(t, sn.Status.Schema.NextRetry)
	require.WithinDuration(t, at.Add(time.Minute), sn.Status.Schema.NextRetry.Time, 2*time.Second, "the second wait is twice the first")
	require.NoError(t, o.client.Delete(t.Context(), o.job("acme"), client.PropagationPolicy(metav1.DeletePropagationBackground)))
	o.eventually("deleting the Job starts the next attempt immediately", func() string {
		if o.job("acme").Annotations[render.AnnotationAttempt] != "3" {
			return "it waits"
		}
		return ""
	})
	o.migrate("acme")
	o.condition("acme", v1alpha1.ConditionSchemaMigrated, "True", v1alpha1.ReasonMigrated)
	o.eventually("the new image", func() string {
		if have := o.deployment("acme", "us").Spec.Template.Spec.Containers[0].Image; have != "plaza.example/plaza:v2" {
			return "it has " + have
		}
		return ""
	})
	require.Empty(t, get(o, &v1alpha1.SocialNetwork{}, "acme").Status.Schema.LastError)
}

// TestLateDatabaseSecret creates the Secret after the network.
func TestLateDatabaseSecret(t *testing.T) {
	ctx := t.Context()
	o := start(t)
	sn := sample(t, "socialnetwork-minimal")
	sn.Namespace = o.namespace
	require.NoError(t, o.client.Create(ctx, sn))
	c := o.condition("acme-minimal", v1alpha1.ConditionSchemaMigrated, "False", v1alpha1.ReasonSecretMissing)
	require.Contains(t, c.Message, "acme-minimal-db")
	o.condition("acme-minimal", v1alpha1.ConditionReady, "False", v1alpha1.ReasonSecretMissing)

	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "acme-minimal-db", Namespace: o.namespace},
		StringData: map[string]string{"url-us": "postgres://db.example/plaza"},
	}
	require.NoError(t, o.client.Create(ctx, secret))
	o.pass("acme-minimal")
	c = o.condition("acme-minimal", v1alpha1.ConditionSchemaMigrated, "False", v1alpha1.ReasonSecretIncomplete)
	require.Contains(t, c.Message, "url-eu")
	o.editSecret("acme-minimal-db", func(secret *corev1.Secret) { // seen immediately, because the Secret is labelled by now
		secret.StringData = map[string]string{"url": "postgres://db.example/plaza"}
	})
	o.condition("acme-minimal", v1alpha1.ConditionSchemaMigrated, "False", v1alpha1.ReasonMigrating)
	o.migrate("acme-minimal")
	o.serve("acme-minimal", "us")
	o.condition("acme-minimal", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
}

// TestLeaderKilledDuringMigration stops the leader of two operators during a migration, without a graceful shutdown: its lease expires.
func TestLeaderKilledDuringMigration(t *testing.T) {
	first := prepare(t)
	first.leads = true
	first.run()
	t.Cleanup(first.end)
	second := first.twin()
	t.Cleanup(second.end)
	<-first.elected
	second.run()
	first.apply(sample(t, "socialnetwork"))
	first.condition("acme", v1alpha1.ConditionSchemaMigrated, "False", v1alpha1.ReasonMigrating)
	job := first.job("acme")
	first.stop()
	require.Eventually(t, func() bool { return len(first.stopped) > 0 }, testenv.Patience, 10*time.Millisecond)
	second.migrate("acme")
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "plaza-operator", Namespace: first.namespace}}
	second.onNewest(lease, func() error {
		lease.Spec.HolderIdentity = new("") // as if it had expired
		return second.client.Update(t.Context(), lease)
	})
	<-second.elected
	for _, code := range []v1alpha1.RegionCode{"us", "eu", "sg"} {
		second.serve("acme", code)
	}
	second.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	var jobs batchv1.JobList
	require.NoError(t, second.client.List(t.Context(), &jobs, client.InNamespace(second.namespace)))
	require.Len(t, jobs.Items, 1)
	require.Equal(t, job.UID, jobs.Items[0].UID)
	for _, write := range second.writes.take() {
		require.False(t, strings.HasPrefix(write, "POST") && strings.Contains(write, "/jobs"), write)
	}
}
