package schema_test

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
	"github.com/plaza-social/plaza/controllers/schema"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/controllers/stagetest"
	"github.com/plaza-social/plaza/platform/statusz"
)

// TestFingerprintFollowsContent checks that the fingerprint changes with the content of a Secret, and with nothing
// else.
func TestFingerprintFollowsContent(t *testing.T) {
	h := newHarness(t)
	h.Run(schema.Stage{})
	first := h.Pass.Network.SecretsFingerprint
	require.NotEmpty(t, first)
	h.EditSecret("acme-db", func(s *corev1.Secret) { s.Annotations = map[string]string{"a": "b"} })
	h.Run(schema.Stage{})
	require.Equal(t, first, h.Pass.Network.SecretsFingerprint)
	h.EditSecret("acme-db", func(s *corev1.Secret) { s.Data["url"] = []byte("postgres://another") })
	h.Run(schema.Stage{})
	require.NotEqual(t, first, h.Pass.Network.SecretsFingerprint)
	require.NotContains(t, h.Pass.Network.SecretsFingerprint, "another")
}

func newHarness(t *testing.T) *stagetest.Harness {
	t.Helper()
	h := stagetest.New(t, v1alpha1.RegionUS)
	h.SN.Spec.Database.SecretRef.Name = "acme-db"
	h.SettleKeys()
	h.CreateSecret("acme-db", map[string]string{"url": "postgres://db.example"})
	return h
}

// TestInvalidURLs checks that the condition names the Secret and the key of a database URL that the platform refuses, and shows no part of
// its password, and that white space around a URL is ignored.
func TestInvalidURLs(t *testing.T) {
	for _, key := range []string{"url", "url-us", "url-eu", "url-sg", "owner-url"} {
		h := newHarness(t)
		h.EditSecret("acme-db", func(s *corev1.Secret) { s.Data[key] = []byte("postgres://plaza:p@ss#1@db.example/plaza") })
		out := h.Run(schema.Stage{})
		require.Equal(t, v1alpha1.ReasonSecretIncomplete, out.Reason)
		require.Equal(t, "The key "+key+" of Secret acme-db is not valid: the database URL has an @, /, ? or # in an unexpected place: "+
			"a user name or password that contains one must be percent-encoded, as %40, %2F, %3F or %23.", out.Message)
		require.Empty(t, out.Objects)

		h.EditSecret("acme-db", func(s *corev1.Secret) {
			s.Data = map[string][]byte{
				"url": []byte("postgres://plaza:p%40ss%231@db.example/plaza\n"),
				key:   []byte("\tpostgres://plaza:p%40ss%231@db.example/plaza\r\n"),
			}
		})
		require.Equal(t, v1alpha1.ReasonMigrating, h.Run(schema.Stage{}).Reason)
	}
	h := newHarness(t)
	h.EditSecret("acme-db", func(s *corev1.Secret) { s.Data = map[string][]byte{"url": []byte(" \n")} })
	require.Equal(t, "Secret acme-db has neither the key url nor the key url-us.", h.Run(schema.Stage{}).Message)
}

// TestAttempts walks through failures, another target, a pause, and success.
func TestAttempts(t *testing.T) {
	ctx := t.Context()
	h := newHarness(t)
	jobs := func() []batchv1.Job {
		var list batchv1.JobList
		require.NoError(t, h.Client.List(ctx, &list))
		return list.Items
	}
	end := func(kind batchv1.JobConditionType) {
		t.Helper()
		for _, job := range jobs() {
			job.Status.Conditions = []batchv1.JobCondition{{
				Type: kind, Status: corev1.ConditionTrue, Message: "why",
				LastTransitionTime: metav1.NewTime(h.Now),
			}}
			require.NoError(t, h.Client.Status().Update(ctx, &job))
		}
	}
	state := func() (string, v1alpha1.SchemaStatus) {
		out := h.Run(schema.Stage{})
		return string(out.Reason), h.SN.Status.Schema
	}
	h.SN.Spec.Paused = true
	for range 3 {
		reason, status := state()
		require.Equal(t, "PausedBySpec", reason)
		require.Zero(t, status.Attempts, "nothing is attempted while paused")
	}
	h.SN.Spec.Paused = false
	reason, _ := state()
	require.Equal(t, "Migrating", reason)
	require.Equal(t, "1", jobs()[0].Annotations[render.AnnotationAttempt])
	require.Len(t, jobs(), 1)
	_, status := state()
	require.Equal(t, int32(1), status.Attempts)

	end(batchv1.JobFailed)
	reason, status = state()
	require.Equal(t, "MigrationFailed", reason)
	require.Equal(t, "why", status.LastError)
	require.WithinDuration(t, h.Now.Add(30*time.Second), status.NextRetry.Time, time.Second)
	require.Equal(t, "Migration attempt 1 failed: why. The next attempt starts at 2026-11-21T09:00:31Z.", h.Report.Results[0].Message)
	require.Equal(t, 31*time.Second, h.Report.Requeue)
	h.Now = h.Now.Add(20 * time.Second)
	_, later := state()
	require.Equal(t, status, later, "nothing changes while it waits")
	h.Now = h.Now.Add(12 * time.Second)
	state()
	require.Empty(t, jobs(), "the next attempt needs the name")
	require.Equal(t, "Migration attempt 1 failed: why", h.Report.Results[0].Message)
	require.Equal(t, time.Second, h.Report.Requeue)
	reason, _ = state()
	require.Equal(t, "Migrating", reason)
	require.Equal(t, "2", jobs()[0].Annotations[render.AnnotationAttempt])

	end(batchv1.JobFailed)
	state()
	h.SN.Spec.Database.Survive = "region" // another target
	h.SN.Generation++
	reason, status = state()
	require.Equal(t, "Migrating", reason)
	require.Zero(t, status.Attempts, "the new Job has not been read yet")
	require.Empty(t, status.LastError)
	require.Len(t, jobs(), 2, "the sweep removes the other one")
	end(batchv1.JobComplete)
	reason, status = state()
	require.Equal(t, "Migrated", reason)
	require.Nil(t, status.NextRetry)
	require.NotEmpty(t, status.Current)
	require.Equal(t, status.Target, status.Current, "the Job does not say more")
}

// TestAttemptsThatLeaveNoError counts only attempts that failed: a Job that was deleted while it ran, and one after a migration that
// succeeded, are first attempts.
func TestAttemptsThatLeaveNoError(t *testing.T) {
	h := newHarness(t)
	job := func() *batchv1.Job {
		var list batchv1.JobList
		require.NoError(t, h.Client.List(t.Context(), &list))
		require.Len(t, list.Items, 1)
		return &list.Items[0]
	}
	end := func(kind batchv1.JobConditionType) {
		failed := job()
		failed.Status.Conditions = []batchv1.JobCondition{{
			Type: kind, Status: corev1.ConditionTrue, Message: "why",
			LastTransitionTime: metav1.NewTime(h.Now),
		}}
		require.NoError(t, h.Client.Status().Update(t.Context(), failed))
		h.Run(schema.Stage{})
	}
	requireAttempt := func(want string) {
		t.Helper()
		out := h.Run(schema.Stage{})
		require.Equal(t, "The database is being migrated, attempt "+want+".", out.Message)
		require.Equal(t, want, job().Annotations[render.AnnotationAttempt])
		h.Run(schema.Stage{})
	}
	requireAttempt("1")
	require.NoError(t, h.Client.Delete(t.Context(), job()))
	requireAttempt("1")
	end(batchv1.JobFailed)
	h.Now = h.Now.Add(time.Minute)
	h.Run(schema.Stage{})
	requireAttempt("2")
	end(batchv1.JobComplete)
	require.NoError(t, h.Client.Delete(t.Context(), job()))
	requireAttempt("1")
}

// TestTarget checks the target of an image other than the default: it is read from the end of its migration, then from
// its servers.
func TestTarget(t *testing.T) {
	h := newHarness(t)
	const foreign, other = "plaza.example/plaza:v2", "plaza.example/plaza:v3"
	h.SN.Spec.Image = foreign
	schema := func() v1alpha1.SchemaStatus {
		h.Run(schema.Stage{})
		return h.SN.Status.Schema
	}
	ends := func(kind batchv1.JobConditionType, message string) {
		t.Helper()
		var jobs batchv1.JobList
		require.NoError(t, h.Client.List(t.Context(), &jobs))
		for _, job := range jobs.Items {
			if !strings.Contains(job.Spec.Template.Spec.Containers[0].Image, h.SN.Spec.Image) {
				continue
			}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Name: job.Name + "-" + string(kind[0]), Namespace: job.Namespace,
				Labels: map[string]string{batchv1.JobNameLabel: job.Name},
			}}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{
				{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: message}}},
			}
			require.NoError(t, h.Client.Create(t.Context(), pod))
			job.Status.Conditions = []batchv1.JobCondition{{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(h.Now)}}
			require.NoError(t, h.Client.Status().Update(t.Context(), &job))
		}
	}
	schema()
	require.Empty(t, schema().Target, "it is unknown")
	ends(batchv1.JobFailed, "refused\n{\"target\":93}")
	failed := schema()
	require.Equal(t, "93", failed.Target)
	require.Empty(t, failed.Current)
	require.Equal(t, "refused", failed.LastError)

	h.SN.Spec.Image = other
	h.SN.Generation++
	require.Empty(t, schema().Target, "it was another image's")
	ends(batchv1.JobComplete, `{"current":95,"target":94}`)
	migrated := schema()
	require.Equal(t, "94", migrated.Target)
	require.Equal(t, "95", migrated.Current)

	h.Servers.Schema = statusz.Schema{Current: 96, Required: 90}
	h.Servers.Image = foreign
	h.SN.Generation++
	seen := schema()
	require.Equal(t, "94", seen.Target, "servers of another image do not count")
	require.Equal(t, "96", seen.Current)
	h.Servers.Image = other
	require.Equal(t, "90", schema().Target)
}

func TestSchemaSecrets(t *testing.T) {
	h := newHarness(t)
	h.EditSecret("acme-db", func(s *corev1.Secret) { s.Data = map[string][]byte{"url-us": {1}} })
	require.Equal(t, v1alpha1.ReasonSecretIncomplete, h.Run(schema.Stage{}).Reason)
	require.NoError(t, h.Client.Delete(t.Context(), h.Secret("acme-db")))
	require.Equal(t, v1alpha1.ReasonSecretMissing, h.Run(schema.Stage{}).Reason)
	h.SN.Status.NetworkID = ""
	require.Equal(t, v1alpha1.ReasonWaitingForKeys, h.Run(schema.Stage{}).Reason)
}

// TestDatabaseOfAnotherNetwork checks the reason of a migration that another network's database refuses.
func TestDatabaseOfAnotherNetwork(t *testing.T) {
	h := newHarness(t)
	h.Run(schema.Stage{})
	var list batchv1.JobList
	require.NoError(t, h.Client.List(t.Context(), &list))
	require.Len(t, list.Items, 1)
	job := &list.Items[0]
	job.Status.Conditions = []batchv1.JobCondition{{
		Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Message: statusz.OtherNetwork + ": …", LastTransitionTime: metav1.NewTime(h.Now),
	}}
	require.NoError(t, h.Client.Status().Update(t.Context(), job))
	out := h.Run(schema.Stage{})
	require.Equal(t, v1alpha1.ReasonDatabaseOfAnotherNetwork, out.Reason)
	require.Contains(t, h.SN.Status.Schema.LastError, statusz.OtherNetwork)

	h.SN.Status.NetworkID = "restored-network-id"
	out = h.Run(schema.Stage{})
	require.Equal(t, v1alpha1.ReasonMigrating, out.Reason,
		"the identity of the lost network was restored: it does not wait for the next attempt")
	require.Empty(t, h.SN.Status.Schema.LastError)
	h.Run(schema.Stage{})
	require.NoError(t, h.Client.List(t.Context(), &list))
	require.Len(t, list.Items, 1)
	require.True(t, render.IsMigrationOf(&list.Items[0], "restored-network-id"))
}

// TestMigrationThatDoesNotRun tells why the pod of a migration does not run, without what is in Secrets.
func TestMigrationThatDoesNotRun(t *testing.T) {
	h := newHarness(t)
	h.Run(schema.Stage{})
	var jobs batchv1.JobList
	require.NoError(t, h.Client.List(t.Context(), &jobs))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "migration", Namespace: "plaza", Labels: map[string]string{batchv1.JobNameLabel: jobs.Items[0].Name},
	}}
	require.NoError(t, h.Client.Create(t.Context(), pod))
	requireMessage := func(message string, status corev1.PodStatus) {
		t.Helper()
		pod.Status = status
		require.NoError(t, h.Client.Status().Update(t.Context(), pod))
		out := h.Run(schema.Stage{})
		require.Equal(t, v1alpha1.ReasonMigrating, out.Reason)
		require.Equal(t, metav1.ConditionFalse, out.Status)
		require.Equal(t, message, out.Message)
		require.Equal(t, 10*time.Second, out.Requeue, "pods of Jobs are not watched")
	}
	requireMessage("The database is being migrated, attempt 1.", corev1.PodStatus{})
	requireMessage("The migration is not running, attempt 1: it cannot be scheduled: 0/3 nodes are available.", corev1.PodStatus{
		Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes are available."}},
	})
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
		Reason:  "CreateContainerError",
		Message: "no postgres://db.example.",
	}}
	requireMessage("The migration is not running, attempt 1: its container cannot be created: no [secret].", corev1.PodStatus{
		ContainerStatuses: []corev1.ContainerStatus{{State: waiting}},
	})
	exited := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}
	requireMessage("The database is being migrated, attempt 1.",
		corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: exited}}})
}

// TestRefusedMigration creates no Job that the operator's restrictions do not allow, and looks again: Secrets without the operator's label
// are not watched.
func TestRefusedMigration(t *testing.T) {
	h := newHarness(t)
	h.Run(schema.Stage{})
	h.Pass.Refused = "The operator does not allow it."
	out := schema.Stage{}.Run(t.Context(), h.Pass)
	require.Equal(t, v1alpha1.ReasonNotAllowed, out.Reason)
	require.Equal(t, metav1.ConditionFalse, out.Status)
	require.Equal(t, h.Pass.Refused, out.Message)
	require.Equal(t, 3*time.Second, out.Requeue)
	require.Empty(t, out.Objects)
}

// TestUpdatesThatAreHeld begins no migration while updates may not begin, unless it is the first one, or repairs something.
func TestUpdatesThatAreHeld(t *testing.T) {
	for name, c := range map[string]struct {
		change func(status *v1alpha1.SocialNetworkStatus, target string)
		held   bool
	}{
		"an update":              {func(status *v1alpha1.SocialNetworkStatus, _ string) { status.Schema.Completed = "former" }, true},
		"the first migration":    {func(*v1alpha1.SocialNetworkStatus, string) {}, false},
		"one that was completed": {func(status *v1alpha1.SocialNetworkStatus, target string) { status.Schema.Completed = target }, false},
		"one after another failed": {func(status *v1alpha1.SocialNetworkStatus, _ string) {
			status.Schema.Completed, status.Schema.LastError = "former", "why"
		}, false},
		"the repair of an update": {func(status *v1alpha1.SocialNetworkStatus, _ string) {
			status.Schema.Completed = "former"
			status.Regions = []v1alpha1.RegionStatus{{Code: "us", Conditions: []metav1.Condition{
				{Type: v1alpha1.RegionUpdated, Status: metav1.ConditionFalse, Reason: string(v1alpha1.ReasonRolloutStopped)},
			}}}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			h.SN.Spec.Paused = true
			h.Run(schema.Stage{})
			h.SN.Spec.Paused, h.Pass.SN.Spec.Paused = false, false
			h.Pass.Updates.MayBegin = func() stage.Hold {
				return stage.Hold{Reason: v1alpha1.ReasonWaitingForWindow, Message: "The window is closed.", Again: time.Minute}
			}
			c.change(h.Pass.Status, render.MigrationTarget(h.Pass.Network))
			out := schema.Stage{}.Run(t.Context(), h.Pass)
			require.Equal(t, metav1.ConditionFalse, out.Status)
			if c.held {
				require.Equal(t, v1alpha1.ReasonWaitingForWindow, out.Reason)
				require.Equal(t, "The window is closed.", out.Message)
				require.Equal(t, time.Minute, out.Requeue)
				require.Empty(t, out.Objects)
			} else {
				require.Equal(t, v1alpha1.ReasonMigrating, out.Reason)
			}
		})
	}
}

// TestMigrationInALostCluster cannot migrate the database. Regions in other clusters do not wait for a migration that was completed.
func TestMigrationInALostCluster(t *testing.T) {
	h := newHarness(t)
	us := h.Join(v1alpha1.RegionUS)
	us.Reason = v1alpha1.ReasonClusterUnreachable
	out := h.Run(schema.Stage{})
	require.Equal(t, metav1.ConditionUnknown, out.Status)
	require.Equal(t, v1alpha1.ReasonClusterUnreachable, out.Reason)
	require.Equal(t, "The database cannot be migrated. The cluster cluster-us cannot be used.", out.Message)
	require.False(t, h.Pass.SchemaReady)
	h.SN.Status.Schema.Completed = render.MigrationTarget(h.Pass.Network)
	out = h.Run(schema.Stage{})
	require.Equal(t, metav1.ConditionTrue, out.Status)
	require.Equal(t, v1alpha1.ReasonMigrated, out.Reason)
	require.True(t, h.Pass.SchemaReady)
}

// TestAccountOfMigrations applies the ServiceAccount and the NetworkPolicy of migrations in each pass, also after a migration.
func TestAccountOfMigrations(t *testing.T) {
	h := newHarness(t)
	requireObjects := func(want ...string) {
		t.Helper()
		paused := h.SN.Spec.Paused
		h.SN.Spec.NetworkPolicy.Enabled, h.SN.Spec.Paused, h.Pass.SN.Spec.Paused = true, false, false
		out := schema.Stage{}.Run(t.Context(), h.Pass)
		h.SN.Spec.NetworkPolicy.Enabled, h.SN.Spec.Paused = false, paused
		var kinds []string
		for _, desired := range out.Objects {
			require.Same(t, h.Pass.Primary(), desired.Cluster)
			kinds = append(kinds, desired.Object.GetObjectKind().GroupVersionKind().Kind)
		}
		require.Equal(t, want, kinds)
	}
	h.SN.Spec.Paused = true
	h.Run(schema.Stage{})
	requireObjects("ServiceAccount", "NetworkPolicy", "Job")
	h.SN.Spec.Paused = false
	h.Run(schema.Stage{})
	requireObjects("ServiceAccount", "NetworkPolicy")
	var jobs batchv1.JobList
	require.NoError(t, h.Client.List(t.Context(), &jobs))
	jobs.Items[0].Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	require.NoError(t, h.Client.Status().Update(t.Context(), &jobs.Items[0]))
	h.Run(schema.Stage{})
	require.True(t, h.Pass.SchemaReady)
	requireObjects("ServiceAccount", "NetworkPolicy")
}

// TestSecretsOfVariables waits for the Secrets of a region's variables, unless they are optional.
func TestSecretsOfVariables(t *testing.T) {
	h := newHarness(t)
	ref := &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "token"}, Key: "a"}
	h.SN.Spec.Regions[0].Env = []corev1.EnvVar{{Name: "TOKEN", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: ref}}}
	out := h.Run(schema.Stage{})
	require.Equal(t, v1alpha1.ReasonSecretMissing, out.Reason)
	require.Equal(t, "Secret token does not exist in the namespace; the operator continues once it is created.", out.Message)
	require.Equal(t, 3*time.Second, out.Requeue)
	ref.Optional = new(true)
	require.Equal(t, v1alpha1.ReasonMigrating, h.Run(schema.Stage{}).Reason)
	before := h.Pass.Network.SecretsFingerprint
	h.CreateSecret("token", map[string]string{"b": "x", "url": "not the URL of a database"})
	require.Equal(t, v1alpha1.ReasonMigrating, h.Run(schema.Stage{}).Reason, "its key is optional, too")
	require.NotEqual(t, before, h.Pass.Network.SecretsFingerprint)
	ref.Optional = nil
	out = h.Run(schema.Stage{})
	require.Equal(t, v1alpha1.ReasonSecretIncomplete, out.Reason)
	require.Equal(t, "Secret token has no key a.", out.Message)
}

// TestUnreadableObjects begins no migration if what it needs cannot be read.
func TestUnreadableObjects(t *testing.T) {
	for name, c := range map[string]struct {
		reason  v1alpha1.Reason
		message string
	}{
		"acme-identity": {v1alpha1.ReasonWaitingForKeys, "The migration waits for the network's identity; see KeysReady."},
		"acme-db":       {v1alpha1.ReasonApplyFailed, "the cache is gone"},
		"acme-migrate-": {v1alpha1.ReasonApplyFailed, "The migration's Job could not be read: the cache is gone"},
	} {
		h := newHarness(t)
		h.Cache = stagetest.Unreadable{Client: h.Client, Prefix: name}
		out := h.Run(schema.Stage{})
		require.Equal(t, metav1.ConditionUnknown, out.Status, name)
		require.Equal(t, c.reason, out.Reason, name)
		require.Equal(t, c.message, out.Message, name)
		require.Empty(t, out.Objects, name)
		require.False(t, h.Pass.SchemaReady, name)
	}
	h := newHarness(t)
	h.EditSecret("acme-identity", func(s *corev1.Secret) { s.Labels = nil })
	require.Equal(t, v1alpha1.ReasonMigrating, h.Run(schema.Stage{}).Reason, "it has lost its label")
}

// TestJobsThatRun checks that the regions wait for the end of the migration, whatever else its Job reports.
func TestJobsThatRun(t *testing.T) {
	h := newHarness(t)
	h.Run(schema.Stage{})
	for name, c := range map[string]batchv1.JobCondition{
		"nothing":        {},
		"suspended":      {Type: batchv1.JobSuspended, Status: corev1.ConditionTrue},
		"its pod ended":  {Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue},
		"its pod failed": {Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue},
		"not complete":   {Type: batchv1.JobComplete, Status: corev1.ConditionFalse},
		"not failed":     {Type: batchv1.JobFailed, Status: corev1.ConditionFalse},
		"complete":       {Type: batchv1.JobComplete, Status: corev1.ConditionTrue},
	} {
		t.Run(name, func(t *testing.T) {
			var list batchv1.JobList
			require.NoError(t, h.Client.List(t.Context(), &list))
			require.Len(t, list.Items, 1)
			job := &list.Items[0]
			if job.Status.Conditions = nil; c.Type != "" {
				job.Status.Conditions = []batchv1.JobCondition{c}
			}
			require.NoError(t, h.Client.Status().Update(t.Context(), job))
			h.SN.Status.Schema.Completed = ""
			out := h.Run(schema.Stage{})
			require.Equal(t, name == "complete", h.Pass.SchemaReady)
			require.Equal(t, name == "complete", h.SN.Status.Schema.Completed != "")
			require.Equal(t, name == "complete", out.Status == metav1.ConditionTrue, out.Message)
			require.Empty(t, h.SN.Status.Schema.LastError)
		})
	}
}
