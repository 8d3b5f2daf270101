package backup

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// report sets the condition from the status.
func (r *run) report() {
	status := r.pass.Status.Backup
	r.setOverdue(status)
	switch {
	case status.Applied != r.target:
		r.reportUnapplied(status)
	case status.Unsupported:
		r.out.SetCondition(metav1.ConditionUnknown, v1alpha1.ReasonPostgreSQLBackups,
			"The database is PostgreSQL, which has no backup schedules; back it up by its own means.")
	case status.OverdueAt != nil && !r.pass.Now.Before(status.OverdueAt.Time):
		r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonBackupOverdue,
			fmt.Sprintf("No backup has succeeded since %s.%s", r.since(status), because(status)))
	case status.LastError != "":
		r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonBackupFailed, sentence("The newest backup failed", status.LastError))
	case status.LastSuccess == nil:
		r.out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonBackupsScheduled, "Backups are scheduled; none has ended yet.")
	default:
		r.out.SetCondition(metav1.ConditionTrue, v1alpha1.ReasonBackupsScheduled,
			fmt.Sprintf("The last backup ended at %s.", rfc3339(status.LastSuccess)))
	}
}

// setOverdue sets when the next backup is overdue, from the schedule that the database has.
func (r *run) setOverdue(status *v1alpha1.BackupStatus) {
	if r.spec == nil || status.Unsupported {
		status.OverdueAt = nil
		return
	}
	switch {
	case status.Applied == r.target:
		status.OverdueAt = new(metav1.NewTime(overdueAt(r.schedule, r.spec, status)))
	case status.OverdueAt == nil: // a schedule that cannot be applied makes no backup either
		status.OverdueAt = new(metav1.NewTime(r.pass.Now.Add(r.spec.OverdueAfter.Or(defaultOverdueAfter)).Truncate(time.Second)))
	}
	r.out.RequeueAfter(status.OverdueAt.Sub(r.pass.Now))
}

// reportUnapplied reports that the database does not have the schedule of the spec yet.
func (r *run) reportUnapplied(status *v1alpha1.BackupStatus) {
	switch {
	case r.pass.SN.Spec.Paused:
		r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonPausedBySpec, "The backup schedule is changed when spec.paused is false.")
	case status.LastError != "":
		r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonBackupsNotApplied,
			sentence("The backup schedule is not applied", status.LastError))
	case r.spec == nil:
		r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonBackupsChanging, "The backup schedule is being removed.")
	default:
		r.out.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonBackupsChanging, "The backup schedule is being applied.")
	}
}

// since returns since when there is no backup.
func (r *run) since(status *v1alpha1.BackupStatus) string {
	if status.LastSuccess != nil {
		return rfc3339(status.LastSuccess)
	}
	return rfc3339(status.AppliedAt) + ", when the schedule was applied"
}

func because(status *v1alpha1.BackupStatus) string {
	if status.LastError == "" {
		return ""
	}
	return " " + sentence("The newest one failed", status.LastError)
}

func sentence(head, tail string) string { return head + ": " + strings.TrimSuffix(tail, ".") + "." }

func rfc3339(at *metav1.Time) string { return at.UTC().Format(time.RFC3339) }
