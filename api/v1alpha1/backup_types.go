package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Backup configures the backups of a CockroachDB database: a backup schedule of the database itself, which the operator creates,
// changes, and removes together with this field. PostgreSQL is backed up by its own means.
type Backup struct {
	// When full backups begin, in cron form with five fields in UTC, such as 0 3 * * *, or @hourly, @daily, @weekly or @monthly. At
	// least an hour must be between two.
	// +required
	// +kubebuilder:validation:MinLength=6
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^(@hourly|@daily|@weekly|@monthly|[0-9A-Za-z*/,-]+( [0-9A-Za-z*/,-]+){4})$`
	Schedule string `json:"schedule"`

	// How long backups are kept, from 1 day to 10 years; older ones are deleted, but never the newest that succeeded. The credentials
	// must allow to list and delete objects. Empty: backups are not deleted by the operator, but for example by rules of the bucket.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('24h') && duration(self) <= duration('87840h')",message="backup.retention must be between 24h and 87840h"
	Retention *Duration `json:"retention,omitempty"`

	// After which time a backup that should have begun, and has not succeeded, is reported as overdue, from 10 minutes to 7 days.
	// +optional
	// +kubebuilder:default="6h"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('10m') && duration(self) <= duration('168h')",message="backup.overdueAfter must be between 10m and 168h"
	OverdueAfter Duration `json:"overdueAfter,omitempty"`

	// The buckets of the three homes. CockroachDB writes the rows of a home to that of its locality, and what belongs to none to that of
	// database.primaryRegion. The same bucket for all three stores them together.
	// +required
	// +listType=map
	// +listMapKey=code
	// +kubebuilder:validation:MinItems=3
	// +kubebuilder:validation:MaxItems=3
	Destinations []BackupDestination `json:"destinations"`
}

// BackupDestination is the bucket with the backups of the rows of a home.
type BackupDestination struct {
	// The home's code.
	// +required
	Code RegionCode `json:"code"`

	// Address of a folder: s3://bucket/folder?region=…, with the parameter endpoint for another service than Amazon's, or
	// gs://bucket/folder. It has no credentials.
	// +required
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=1000
	// +kubebuilder:validation:Pattern=`^(s3|gs)://[a-z0-9][a-z0-9._-]+[a-z0-9](/[A-Za-z0-9._/-]*)?(\?(region|endpoint)=[A-Za-z0-9.:/_-]+(&(region|endpoint)=[A-Za-z0-9.:/_-]+)?)?$`
	URL string `json:"url"`

	// A Secret in the namespace of the primary region with the credentials: the keys AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
	// optionally AWS_SESSION_TOKEN, or credentials.json with the key of a Google service account. Empty: the nodes of the database,
	// and with a retention the ServiceAccount of migrations, use their own identity.
	// +optional
	SecretRef *LocalSecretReference `json:"secretRef,omitempty"`
}

// BackupStatus is the observed state of the backups.
type BackupStatus struct {
	// Hash of the schedule and the destinations that the operator applied last.
	// +optional
	Applied string `json:"applied,omitempty"`

	// When it was applied.
	// +optional
	AppliedAt *metav1.Time `json:"appliedAt,omitempty"`

	// When the operator last read the result of backups from the database.
	// +optional
	CheckedAt *metav1.Time `json:"checkedAt,omitempty"`

	// When the newest successful backup ended.
	// +optional
	LastSuccess *metav1.Time `json:"lastSuccess,omitempty"`

	// Why the newest backup failed, or why the schedule could not be applied, without secrets. Empty if neither did.
	// +optional
	// +kubebuilder:validation:MaxLength=1000
	LastError string `json:"lastError,omitempty"`

	// When the next backup must have succeeded, so that it is not overdue.
	// +optional
	OverdueAt *metav1.Time `json:"overdueAt,omitempty"`

	// Whether the database has no backup schedules, because it is PostgreSQL.
	// +optional
	Unsupported bool `json:"unsupported,omitempty"`
}
