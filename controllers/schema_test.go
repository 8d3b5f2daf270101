package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/platform/statusz"
)

func TestBackoff(t *testing.T) {
	for attempt, want := range map[int32]time.Duration{
		0: 30 * time.Second, 1: 30 * time.Second, 2: time.Minute, 3: 2 * time.Minute, 6: 16 * time.Minute, 7: 30 * time.Minute, 1 << 30: 30 * time.Minute,
	} {
		require.Equal(t, want, backoff(attempt), "attempt %d", attempt)
	}
}

func TestMissingURL(t *testing.T) {
	for want, keys := range map[string][]string{
		"": {"url"}, "url-us": {}, "url-eu": {"url-us", "url-sg"}, "url-sg": {"url-us", "url-eu"},
	} {
		secret := &corev1.Secret{Data: map[string][]byte{}}
		for _, key := range keys {
			secret.Data[key] = []byte("x")
		}
		require.Equal(t, want, missingURL(secret))
	}
	all := &corev1.Secret{Data: map[string][]byte{"url-us": {1}, "url-eu": {1}, "url-sg": {1}}}
	require.Empty(t, missingURL(all))
}

func TestRedact(t *testing.T) {
	w := &World{}
	w.hide(&corev1.Secret{Data: map[string][]byte{
		"url": []byte("postgres://plaza:p%40ssword-1@db/plaza\n"), "port": []byte("5432"), "token": []byte("long-token"),
	}})
	require.Equal(t, "no [secret] at 5432", w.redact("no long-token at 5432"))
	require.Equal(t, "[secret] refused", w.redact("p@ssword-1 refused"))
	require.Equal(t, "dial [secret]: refused", w.redact("dial postgres://plaza:p%40ssword-1@db/plaza: refused"))
}

// TestFingerprintFollowsContent changes with the content of a Secret, and with nothing else.
func TestFingerprintFollowsContent(t *testing.T) {
	w := schemaWorld(t)
	w.pass(Schema{})
	first := w.fingerprint
	require.NotEmpty(t, first)
	w.edit("acme-db", func(s *corev1.Secret) { s.Annotations = map[string]string{"a": "b"} })
	w.pass(Schema{})
	require.Equal(t, first, w.fingerprint)
	w.edit("acme-db", func(s *corev1.Secret) { s.Data["url"] = []byte("postgres://another") })
	w.pass(Schema{})
	require.NotEqual(t, first, w.fingerprint)
	require.NotContains(t, w.fingerprint, "another")
}

func schemaWorld(t *testing.T) *stageWorld {
	t.Helper()
	w := newStageWorld(t, v1alpha1.RegionUS)
	w.sn.Spec.Database.SecretRef.Name = "acme-db"
	w.settle()
	require.NoError(t, w.client.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "acme-db", Namespace: "plaza"}, Data: map[string][]byte{"url": []byte("postgres://db.example")},
	}))
	return w
}

// TestAttempts goes through failures, another target, a pause, and success.
func TestAttempts(t *testing.T) {
	ctx := t.Context()
	w := schemaWorld(t)
	jobs := func() []batchv1.Job {
		var list batchv1.JobList
		require.NoError(t, w.client.List(ctx, &list))
		return list.Items
	}
	end := func(kind batchv1.JobConditionType) {
		t.Helper()
		for _, job := range jobs() {
			job.Status.Conditions = []batchv1.JobCondition{{Type: kind, Status: corev1.ConditionTrue, Message: "why", LastTransitionTime: metav1.NewTime(w.now)}}
			require.NoError(t, w.client.Status().Update(ctx, &job))
		}
	}
	state := func() (string, v1alpha1.SchemaStatus) {
		out := w.pass(Schema{})
		return string(out.Reason), w.sn.Status.Schema
	}
	w.sn.Spec.Paused = true
	for range 3 {
		reason, status := state()
		require.Equal(t, "PausedBySpec", reason)
		require.Zero(t, status.Attempts, "nothing is attempted while paused")
	}
	w.sn.Spec.Paused = false
	reason, status := state()
	require.Equal(t, "Migrating", reason)
	require.Equal(t, int32(1), status.Attempts)
	require.Len(t, jobs(), 1)

	end(batchv1.JobFailed)
	reason, status = state()
	require.Equal(t, "MigrationFailed", reason)
	require.Equal(t, "why", status.LastError)
	require.WithinDuration(t, w.now.Add(30*time.Second), status.NextRetry.Time, time.Second)
	w.now = w.now.Add(20 * time.Second)
	_, later := state()
	require.Equal(t, status, later, "nothing changes while it waits")
	w.now = w.now.Add(12 * time.Second)
	state()
	require.Empty(t, jobs(), "the next attempt needs the name")
	reason, status = state()
	require.Equal(t, "Migrating", reason)
	require.Equal(t, int32(2), status.Attempts)
	require.Equal(t, "2", jobs()[0].Annotations[render.AnnotationAttempt])

	end(batchv1.JobFailed)
	state()
	w.sn.Spec.Database.Survive = "region" // another target
	w.sn.Generation++
	reason, status = state()
	require.Equal(t, "Migrating", reason)
	require.Equal(t, int32(1), status.Attempts)
	require.Empty(t, status.LastError)
	require.Len(t, jobs(), 2, "the sweep removes the other one")
	end(batchv1.JobComplete)
	reason, status = state()
	require.Equal(t, "Migrated", reason)
	require.Nil(t, status.NextRetry)
}

// TestTarget learns the target of an image that is not the operator's own: from the end of its migration, then from its servers.
func TestTarget(t *testing.T) {
	w := schemaWorld(t)
	const foreign, other = "plaza.example/plaza:v2", "plaza.example/plaza:v3"
	w.sn.Spec.Image = foreign
	schema := func() v1alpha1.SchemaStatus {
		w.pass(Schema{})
		return w.sn.Status.Schema
	}
	ends := func(kind batchv1.JobConditionType, message string) {
		t.Helper()
		var jobs batchv1.JobList
		require.NoError(t, w.client.List(t.Context(), &jobs))
		for _, job := range jobs.Items {
			if !strings.Contains(job.Spec.Template.Spec.Containers[0].Image, w.sn.Spec.Image) {
				continue
			}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: job.Name + "-" + string(kind[0]), Namespace: job.Namespace, Labels: map[string]string{batchv1.JobNameLabel: job.Name}}}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: message}}}}
			require.NoError(t, w.client.Create(t.Context(), pod))
			job.Status.Conditions = []batchv1.JobCondition{{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(w.now)}}
			require.NoError(t, w.client.Status().Update(t.Context(), &job))
		}
	}
	schema()
	require.Empty(t, schema().Target, "nobody has told it")
	ends(batchv1.JobFailed, "refused\n{\"target\":93}")
	failed := schema()
	require.Equal(t, "93", failed.Target)
	require.Empty(t, failed.Current)
	require.Equal(t, "refused", failed.LastError)

	w.sn.Spec.Image = other
	w.sn.Generation++
	require.Empty(t, schema().Target, "it was another image's")
	ends(batchv1.JobComplete, `{"current":95,"target":94}`)
	migrated := schema()
	require.Equal(t, "94", migrated.Target)
	require.Equal(t, "95", migrated.Current)

	w.servers.schema = statusz.Schema{Current: 96, Required: 90}
	w.servers.image = foreign
	w.sn.Generation++
	seen := schema()
	require.Equal(t, "94", seen.Target, "servers of another image do not tell")
	require.Equal(t, "96", seen.Current)
	w.servers.image = other
	require.Equal(t, "90", schema().Target)
}

func TestSchemaSecrets(t *testing.T) {
	w := schemaWorld(t)
	w.edit("acme-db", func(s *corev1.Secret) { s.Data = map[string][]byte{"url-us": {1}} })
	require.Equal(t, v1alpha1.ReasonSecretIncomplete, w.pass(Schema{}).Reason)
	require.NoError(t, w.client.Delete(t.Context(), w.secret("acme-db")))
	require.Equal(t, v1alpha1.ReasonSecretMissing, w.pass(Schema{}).Reason)
	w.sn.Status.NetworkID = ""
	require.Equal(t, v1alpha1.ReasonWaitingForKeys, w.pass(Schema{}).Reason)
}
