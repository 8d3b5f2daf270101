package render

import (
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// backupFolder has a folder with the credentials of each home's bucket.
const backupFolder = "/etc/plaza/backup"

// backupDeadline bounds a run of the backup Job, which lists buckets, but takes no backup itself.
const backupDeadline = 30 * time.Minute

// BackupSecrets returns the names of the Secrets with the credentials of backups.
func BackupSecrets(spec *v1alpha1.SocialNetworkSpec) []string {
	var names []string
	if spec.Backup == nil {
		return nil
	}
	for _, d := range spec.Backup.Destinations {
		if d.SecretRef != nil {
			names = append(names, d.SecretRef.Name)
		}
	}
	return names
}

// BackupTarget returns a hash of the inputs of the backup Job: the schedule, the destinations, and versions, which change with the
// credentials.
func BackupTarget(n Network, versions []string) string {
	return hashOf(struct {
		Args     []string `json:"args"`
		Secret   string   `json:"secret"`
		Versions []string `json:"versions"`
	}{backupArgs(n), n.SN.Spec.Database.SecretRef.Name, versions})
}

// HasBackupJob reports whether the network needs the Job in the cluster: the spec has backups, or an earlier one had.
func (n Network) HasBackupJob() bool {
	return n.Migrates() && (n.SN.Spec.Backup != nil || n.SN.Status.Backup != nil)
}

// BackupJob returns the Job that makes the database have the backup schedule of the spec, or none if the spec has no backups, and
// reports on backups. Its pod is that of a migration with other arguments, and has the same labels, so that the same NetworkPolicy
// applies.
func BackupJob(n Network, target string) *batchv1.Job {
	job := jobOf(n, n.meta(BackupJobName(n.SN.Name), ComponentBackup), backupDeadline)
	job.Annotations = map[string]string{AnnotationTarget: target}
	pod := &job.Spec.Template.Spec
	pod.Containers[0].Args = backupArgs(n)
	if n.SN.Spec.Backup != nil {
		for _, d := range n.SN.Spec.Backup.Destinations {
			if d.SecretRef != nil {
				credentials := secretVolume(backupFolder+"/"+string(d.Code), d.SecretRef.Name)
				credentials.Name = "backup-" + string(d.Code)
				mount(pod, credentials)
			}
		}
	}
	return job
}

func backupArgs(n Network) []string {
	args := append([]string{"migrate", "backups"}, databaseArgs(n)...)
	backup := n.SN.Spec.Backup
	if backup == nil {
		return args
	}
	args = append(args, "--schedule="+backup.Schedule)
	if backup.Retention != nil {
		args = append(args, "--retention="+string(*backup.Retention))
	}
	for _, d := range backup.Destinations {
		args = append(args, "--destination="+string(d.Code)+"="+d.URL)
		if d.SecretRef != nil {
			args = append(args, "--credentials="+string(d.Code)+"="+backupFolder+"/"+string(d.Code))
		}
	}
	return args
}

// BackupKeys returns the keys that the Secret of a destination must have.
func BackupKeys(d v1alpha1.BackupDestination) []string {
	if strings.HasPrefix(d.URL, "gs://") {
		return []string{"credentials.json"}
	}
	return []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
}
