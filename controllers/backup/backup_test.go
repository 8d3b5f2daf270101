package backup_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/backup"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/controllers/stagetest"
	"github.com/plaza-social/plaza/platform/statusz"
)

// world is a network with backups.
type world struct {
	*stagetest.Harness
	t *testing.T
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{stagetest.New(t, v1alpha1.RegionUS), t}
	w.SettleKeys()
	w.SN.Status.Schema.Completed = "done"
	w.SN.Spec.Backup = &v1alpha1.Backup{Schedule: "0 3 * * *", OverdueAfter: "6h", Destinations: []v1alpha1.BackupDestination{
		{Code: "us", URL: "s3://backups-us", SecretRef: &v1alpha1.LocalSecretReference{Name: "backups"}},
		{Code: "eu", URL: "s3://backups-eu"},
		{Code: "sg", URL: "gs://backups-sg"},
	}}
	w.CreateSecret("backups", map[string]string{"AWS_ACCESS_KEY_ID": "AKIA1234", "AWS_SECRET_ACCESS_KEY": "swordfish"})
	return w
}

// run runs the stage and returns its condition as a text.
func (w *world) run() (reason v1alpha1.Reason, message string) {
	w.t.Helper()
	out := w.Run(backup.Stage{})
	require.Empty(w.t, out.Errors)
	require.NotContains(w.t, out.Message, "swordfish")
	status := metav1.ConditionFalse
	switch out.Reason {
	case v1alpha1.ReasonNoBackup, v1alpha1.ReasonBackupsScheduled:
		status = metav1.ConditionTrue
	case v1alpha1.ReasonPostgreSQLBackups, v1alpha1.ReasonApplyFailed:
		status = metav1.ConditionUnknown
	}
	require.Equal(w.t, status, out.Status, out.Reason)
	return out.Reason, out.Message
}

// settle runs the stage until it has created a Job.
func (w *world) settle() {
	w.t.Helper()
	for range 5 {
		w.run()
		if w.job() != nil {
			return
		}
	}
	require.FailNow(w.t, "there is no Job")
}

func (w *world) job() *batchv1.Job {
	w.t.Helper()
	var job batchv1.Job
	err := w.Client.Get(w.t.Context(), client.ObjectKey{Namespace: "plaza", Name: "acme-backup"}, &job)
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(w.t, err)
	return &job
}

// end ends the Job now, with the termination log of its program.
func (w *world) end(kind batchv1.JobConditionType, log string) {
	w.t.Helper()
	w.Now = w.Now.Add(time.Second)
	job := w.job()
	require.NotNil(w.t, job)
	job.Status.Conditions = []batchv1.JobCondition{{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(w.Now)}}
	require.NoError(w.t, w.Client.Status().Update(w.t.Context(), job))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "acme-backup-x", Namespace: "plaza",
		Labels: map[string]string{batchv1.JobNameLabel: job.Name},
	}}
	require.NoError(w.t, client.IgnoreNotFound(w.Client.Delete(w.t.Context(), pod)))
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{
		{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: log}}},
	}
	require.NoError(w.t, w.Client.Create(w.t.Context(), pod))
}

func (w *world) scheduled(lastSuccess time.Time, lastError string) string {
	return statusz.Backups{State: statusz.BackupsScheduled, LastSuccess: lastSuccess, LastError: lastError}.Log("", 4096)
}

// TestBackups follows a schedule from its creation to its removal.
func TestBackups(t *testing.T) {
	w := newWorld(t)
	reason, message := w.run()
	require.Equal(t, v1alpha1.ReasonBackupsChanging, reason)
	require.Equal(t, "The backup schedule is being applied.", message)
	require.Equal(t, time.Second, w.Report.Requeue)
	require.Equal(t, "true", w.Secret("backups").Labels["plaza.social/watched"], "a change of the Secret starts a pass")
	w.settle()
	require.Equal(t, 10*time.Second, w.Report.Requeue)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "acme-migrate", Namespace: "plaza"}}
	require.NoError(t, w.Client.Delete(t.Context(), account), "the pod needs it")
	container := w.job().Spec.Template.Spec.Containers[0]
	require.Contains(t, container.Args, "--schedule=0 3 * * *")
	require.Contains(t, container.Args, "--credentials=us=/etc/plaza/backup/us")
	for _, text := range container.Args {
		require.NotContains(t, text, "swordfish")
	}

	w.end(batchv1.JobComplete, w.scheduled(time.Time{}, ""))
	reason, message = w.run()
	require.Equal(t, v1alpha1.ReasonBackupsScheduled, reason)
	require.Equal(t, "Backups are scheduled; none has ended yet.", message)
	require.Equal(t, w.Now.Add(6*time.Hour), w.SN.Status.Backup.OverdueAt.UTC(), "a backup begins at once")
	before := w.SN.Status.DeepCopy()
	w.run()
	require.Equal(t, before.Backup, w.SN.Status.Backup, "nothing changes while it waits")

	w.Now = w.Now.Add(29 * time.Minute)
	w.run()
	require.NotNil(t, w.job(), "it is not time yet")
	require.Equal(t, time.Minute, w.Report.Requeue)
	w.Now = w.Now.Add(time.Minute)
	w.run()
	require.Nil(t, w.job(), "it is time to look again")
	w.Now = w.Now.Add(time.Minute)
	w.settle()
	success := w.Now.Add(-10 * time.Minute)
	w.end(batchv1.JobComplete, w.scheduled(success, ""))
	reason, message = w.run()
	require.Equal(t, v1alpha1.ReasonBackupsScheduled, reason)
	require.Equal(t, "The last backup ended at 2026-11-21T09:21:01Z.", message)
	require.Equal(t, time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC), w.SN.Status.Backup.OverdueAt.UTC(), "3:00 of the next day, and six hours")

	w.SN.Spec.Backup = nil
	reason, message = w.run()
	require.Equal(t, v1alpha1.ReasonBackupsChanging, reason)
	require.Equal(t, "The backup schedule is being removed.", message)
	w.settle()
	require.NotContains(t, w.job().Spec.Template.Spec.Containers[0].Args, "--schedule=0 3 * * *")
	require.Nil(t, w.SN.Status.Backup.OverdueAt)
	w.end(batchv1.JobComplete, statusz.Backups{State: statusz.BackupsRemoved}.Log("", 4096))
	reason, _ = w.run()
	require.Equal(t, v1alpha1.ReasonNoBackup, reason)
	require.Nil(t, w.SN.Status.Backup)
}

func TestBackupOverdue(t *testing.T) {
	w := newWorld(t)
	w.settle()
	success := w.Now.Add(-time.Minute)
	w.end(batchv1.JobComplete, w.scheduled(success, ""))
	w.run()
	w.Now = w.Now.Add(24 * time.Hour)
	w.run()
	w.settle()
	w.end(batchv1.JobComplete, w.scheduled(success, "no bucket for swordfish"))
	reason, message := w.run()
	require.Equal(t, v1alpha1.ReasonBackupOverdue, reason)
	require.Equal(t, "No backup has succeeded since 2026-11-21T08:59:00Z. The newest one failed: no bucket for [secret].", message)
	require.NotNil(t, w.SN.Status.Backup.OverdueAt)

	w.Now = w.Now.Add(31 * time.Minute)
	w.run()
	w.settle()
	w.end(batchv1.JobComplete, w.scheduled(w.Now, ""))
	reason, _ = w.run()
	require.Equal(t, v1alpha1.ReasonBackupsScheduled, reason)
}

func TestBackupFailedOnce(t *testing.T) {
	w := newWorld(t)
	w.settle()
	w.end(batchv1.JobComplete, w.scheduled(w.Now.Add(-time.Hour), "no bucket"))
	reason, message := w.run()
	require.Equal(t, v1alpha1.ReasonBackupFailed, reason)
	require.Equal(t, "The newest backup failed: no bucket.", message)
}

// TestScheduleNotApplied checks that a schedule that cannot be applied is tried again, and overdue in the end.
func TestScheduleNotApplied(t *testing.T) {
	w := newWorld(t)
	w.settle()
	w.end(batchv1.JobFailed, statusz.Backups{State: statusz.BackupsFailed}.Log("permission denied", 4096))
	reason, message := w.run()
	require.Equal(t, v1alpha1.ReasonBackupsNotApplied, reason)
	require.Equal(t, "The backup schedule is not applied: permission denied.", message)
	require.NotNil(t, w.SN.Status.Backup.OverdueAt)
	due := *w.SN.Status.Backup.OverdueAt

	w.Now = w.Now.Add(4 * time.Minute)
	w.run()
	require.NotNil(t, w.job())
	require.Equal(t, time.Minute, w.Report.Requeue, "sooner than after a success")
	w.Now = w.Now.Add(2 * time.Minute)
	w.run()
	require.Nil(t, w.job())
	w.settle()
	w.end(batchv1.JobFailed, "")
	w.run()
	require.Equal(t, due, *w.SN.Status.Backup.OverdueAt, "further attempts do not put it off")
}

func TestPostgreSQLHasOwnBackups(t *testing.T) {
	w := newWorld(t)
	w.settle()
	w.end(batchv1.JobComplete, statusz.Backups{State: statusz.BackupsUnsupported}.Log("", 4096))
	reason, message := w.run()
	require.Equal(t, v1alpha1.ReasonPostgreSQLBackups, reason)
	require.Contains(t, message, "back it up by its own means")
	require.Equal(t, metav1.ConditionUnknown, w.Report.Results[0].Status)
	require.Nil(t, w.SN.Status.Backup.OverdueAt)

	w.SN.Spec.Backup = nil
	w.run()
	w.settle()
	w.end(batchv1.JobComplete, statusz.Backups{State: statusz.BackupsUnsupported}.Log("", 4096))
	reason, _ = w.run()
	require.Equal(t, v1alpha1.ReasonNoBackup, reason)
	require.Nil(t, w.SN.Status.Backup)
}

// TestNewScheduleWithAnOldBackup applies a schedule to a database whose last backup is old: the next one is due from now on.
func TestNewScheduleWithAnOldBackup(t *testing.T) {
	w := newWorld(t)
	w.settle()
	w.end(batchv1.JobComplete, w.scheduled(w.Now.Add(-30*24*time.Hour), ""))
	reason, _ := w.run()
	require.Equal(t, v1alpha1.ReasonBackupsScheduled, reason)
	require.Equal(t, w.Now.Add(6*time.Hour), w.SN.Status.Backup.OverdueAt.UTC())
}

// TestChangesAreApplied checks that every change of the spec and of the credentials leads to a new Job.
func TestChangesAreApplied(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"schedule":    func(w *world) { w.SN.Spec.Backup.Schedule = "@weekly" },
		"destination": func(w *world) { w.SN.Spec.Backup.Destinations[1].URL = "s3://backups-eu2" },
		"retention":   func(w *world) { w.SN.Spec.Backup.Retention = new(v1alpha1.Duration("48h")) },
		"credentials": func(w *world) {
			w.EditSecret("backups", func(s *corev1.Secret) { s.Data["AWS_SECRET_ACCESS_KEY"] = []byte("sailfish") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.settle()
			w.end(batchv1.JobComplete, w.scheduled(w.Now, ""))
			w.run()
			first := w.job().Annotations["plaza.social/migration-target"]
			change(w)
			reason, _ := w.run()
			require.Equal(t, v1alpha1.ReasonBackupsChanging, reason)
			w.settle()
			require.NotEqual(t, first, w.job().Annotations["plaza.social/migration-target"])
		})
	}
}

func TestSecretsOfBackups(t *testing.T) {
	w := newWorld(t)
	w.DeleteSecret("backups")
	reason, message := w.run()
	require.Equal(t, v1alpha1.ReasonSecretMissing, reason)
	require.Contains(t, message, "Secret backups with the credentials of the backups of us does not exist")
	require.Equal(t, 3*time.Second, w.Report.Requeue)
	w.CreateSecret("backups", map[string]string{"AWS_ACCESS_KEY_ID": "AKIA1234"})
	reason, message = w.run()
	require.Equal(t, v1alpha1.ReasonSecretIncomplete, reason)
	require.Equal(t, "Secret backups has no key AWS_SECRET_ACCESS_KEY.", message)
}

func TestPausedBackups(t *testing.T) {
	w := newWorld(t)
	w.SN.Spec.Paused = true
	for range 3 {
		reason, _ := w.run()
		require.Equal(t, v1alpha1.ReasonPausedBySpec, reason)
		require.Nil(t, w.job())
	}
}

func TestBackupsWait(t *testing.T) {
	for want, change := range map[v1alpha1.Reason]func(w *world){
		v1alpha1.ReasonNoBackup:         func(w *world) { w.SN.Spec.Backup = nil },
		v1alpha1.ReasonWaitingForSchema: func(w *world) { w.SN.Status.Schema.Completed = "" },
		v1alpha1.ReasonWaitingForKeys:   func(w *world) { w.SN.Status.NetworkID = "" },
	} {
		w := newWorld(t)
		change(w)
		reason, _ := w.run()
		require.Equal(t, want, reason)
		require.Nil(t, w.job())
	}
}

// TestRunningBackupJob leaves a Job alone that has not ended, or is being deleted.
func TestRunningBackupJob(t *testing.T) {
	w := newWorld(t)
	w.settle()
	w.Now = w.Now.Add(time.Hour)
	w.SN.Spec.Backup.Schedule = "@weekly"
	reason, _ := w.run()
	require.Equal(t, v1alpha1.ReasonBackupsChanging, reason)
	require.Equal(t, 10*time.Second, w.Report.Requeue)
	require.NotNil(t, w.job())

	w.end(batchv1.JobComplete, w.scheduled(w.Now, ""))
	job := w.job()
	job.Finalizers = []string{"example.com/keep"}
	require.NoError(t, w.Client.Update(t.Context(), job))
	require.NoError(t, w.Client.Delete(t.Context(), job))
	w.run()
	require.Empty(t, w.Report.Results[0].Deletions)
	require.Equal(t, 10*time.Second, w.Report.Requeue)
	require.Empty(t, w.SN.Status.Backup.Applied)
}

// TestResultOfAnotherSchedule ends a Job after the schedule was changed: what it has applied is not what the spec says.
func TestResultOfAnotherSchedule(t *testing.T) {
	w := newWorld(t)
	w.settle()
	w.end(batchv1.JobComplete, w.scheduled(w.Now, ""))
	w.SN.Spec.Backup.Schedule = "@weekly"
	reason, _ := w.run()
	require.Equal(t, v1alpha1.ReasonBackupsChanging, reason)
	require.Empty(t, w.SN.Status.Backup.Applied)
	require.Nil(t, w.SN.Status.Backup.LastSuccess)
	require.Equal(t, time.Second, w.Report.Requeue)
	require.Nil(t, w.job())
}

// TestOlderResult checks that a result with an older backup, such as that of a restored database, does not take back what is known.
func TestOlderResult(t *testing.T) {
	w := newWorld(t)
	w.SN.Spec.Backup.OverdueAfter = ""
	w.settle()
	success := w.Now.Add(-time.Minute)
	w.end(batchv1.JobComplete, w.scheduled(success, ""))
	w.run()
	w.Now = w.Now.Add(30 * time.Minute)
	w.run()
	w.settle()
	w.end(batchv1.JobComplete, w.scheduled(success.Add(-time.Hour), ""))
	w.run()
	require.Equal(t, success, w.SN.Status.Backup.LastSuccess.UTC())
	require.Equal(t, time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC), w.SN.Status.Backup.OverdueAt.UTC(), "six hours are the default")
}

// TestUnreadableBackups creates no Job while it is not known whether there is one, or with which credentials.
func TestUnreadableBackups(t *testing.T) {
	for name, want := range map[string]string{
		"backups":     "the cache is gone",
		"acme-backup": "The backup Job could not be read: the cache is gone",
	} {
		w := newWorld(t)
		w.Cache = stagetest.Unreadable{Client: w.Client, Prefix: name}
		for range 2 { // the first labels the Secret
			w.run()
		}
		reason, message := w.run()
		require.Equal(t, v1alpha1.ReasonApplyFailed, reason)
		require.Equal(t, want, message)
		require.Nil(t, w.job())
	}
}

// TestRefusedBackups creates no Job that the operator's restrictions do not allow.
func TestRefusedBackups(t *testing.T) {
	w := newWorld(t)
	w.run()
	w.Pass.Refused = "The operator does not allow it."
	require.Equal(t, stage.False(v1alpha1.ReasonNotAllowed, w.Pass.Refused), backup.Stage{}.Run(t.Context(), w.Pass))
}

func TestInvalidSchedules(t *testing.T) {
	for schedule, problem := range map[string]string{
		"0 3 * * X":     "spec.backup.schedule: ",
		"0 0 30 2 *":    "there is no such time",
		"*/30 * * * *":  "30m0s after the one at",
		"0,59 3 * * *":  "59m0s after the one at",
		"0 3 * * 1-5":   "",
		"@hourly":       "",
		"0 0 1 1 *":     "",
		"30 2,14 * * *": "",
	} {
		w := newWorld(t)
		w.SN.Spec.Backup.Schedule = schedule
		reason, message := w.run()
		if problem == "" {
			require.Equal(t, v1alpha1.ReasonBackupsChanging, reason, schedule)
			continue
		}
		require.Equal(t, v1alpha1.ReasonBackupScheduleInvalid, reason, schedule)
		require.Contains(t, message, problem)
	}
}

var _ stage.Stage = backup.Stage{}
