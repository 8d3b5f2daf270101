package render

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// TerminationLog is where a migration writes its last error, which the pod's status then shows.
const TerminationLog = corev1.TerminationMessagePathDefault

// MigrationTarget returns a hash of what a migration depends on: the image, where the database is, and where its rows
// belong. A network is migrated when the Job of its target is complete. New content of the database's Secret, such as another
// password, is no new target.
func MigrationTarget(n Network) string {
	db := n.SN.Spec.Database
	return hashOf(struct {
		Image      string              `json:"image"`
		Secret     string              `json:"secret"`
		Primary    v1alpha1.RegionCode `json:"primary"`
		Localities map[string]string   `json:"localities"`
		Survive    string              `json:"survive"`
	}{n.Image(), db.SecretRef.Name, primaryRegion(db), db.Localities, survive(db)})
}

// MigrationJob returns the Job of an attempt, counted from 1, to migrate the database. Every attempt of a target has the same
// name, so that there is never more than one; a Job cannot change, so it is made only where there is none. It does not try
// again by itself: how often and when is for the operator to say.
//
// The pod runs where the pods of the primary region run, with the same resources, tolerations, affinity and variables; of the
// spec's first region where the primary one is not in the spec.
func MigrationJob(n Network, attempt int32) *batchv1.Job {
	target := MigrationTarget(n)
	job := &batchv1.Job{
		TypeMeta:   typeMeta(batchv1.SchemeGroupVersion, "Job"),
		ObjectMeta: n.meta(MigrationJobName(n.SN.Name, target), ComponentMigrate),
		Spec: batchv1.JobSpec{
			Parallelism:           new(int32(1)),
			Completions:           new(int32(1)),
			BackoffLimit:          new(int32(0)),
			ActiveDeadlineSeconds: new(int64(6 * 60 * 60)),
			Template:              migrationTemplate(n),
		},
	}
	job.Annotations = map[string]string{
		AnnotationTarget:  target,
		AnnotationAttempt: strconv.Itoa(int(attempt)),
	}
	return job
}

func migrationTemplate(n Network) corev1.PodTemplateSpec {
	r := migrationRegion(n)
	c := container(n, r)
	c.Args = migrationArgs(n.SN.Spec.Database)
	c.TerminationMessagePath = TerminationLog
	c.TerminationMessagePolicy = corev1.TerminationMessageReadFile

	spec := podSpec(n, r)
	spec.RestartPolicy = corev1.RestartPolicyNever
	spec.ServiceAccountName = MigrationName(n.SN.Name)
	spec.Containers = []corev1.Container{c}
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: Labels(n.SN.Name, ComponentMigrate)},
		Spec:       spec,
	}
}

// migrationRegion returns the region whose pods a migration's pod is like.
func migrationRegion(n Network) *v1alpha1.Region {
	if r := n.Region(primaryRegion(n.SN.Spec.Database)); r != nil {
		return r
	}
	return &n.SN.Spec.Regions[0]
}

// migrationArgs are flags, which win over every variable: what the operator hashed is what runs.
func migrationArgs(db v1alpha1.Database) []string {
	args := []string{
		"migrate", "up", "--json", "--termination-log=" + TerminationLog,
		"--region=" + string(primaryRegion(db)),
		"--primary-region=" + string(primaryRegion(db)),
		"--survive=" + survive(db),
	}
	for _, l := range localities(db) {
		args = append(args, "--locality-"+l.code+"="+l.name)
	}
	return args
}

// MigrationServiceAccount returns the ServiceAccount of migrations. It has no rights, and its token is not mounted.
func MigrationServiceAccount(n Network) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{
		TypeMeta:                     typeMeta(corev1.SchemeGroupVersion, "ServiceAccount"),
		ObjectMeta:                   n.meta(MigrationName(n.SN.Name), ComponentMigrate),
		AutomountServiceAccountToken: new(false),
	}
}
