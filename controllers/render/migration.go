package render

import (
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/platform/store/migrations"
)

// TerminationLog is the file to which a migration writes its error, which becomes the termination message of the pod.
const TerminationLog = corev1.TerminationMessagePathDefault

// MigrationTarget returns a hash of the inputs of a migration: the image, the address of the database, and the
// placement of its rows. A network is migrated when the Job of its target is complete. A change of the content of the
// database's Secret, such as its password, does not change the target.
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

// MigrationJob returns the Job of a migration attempt, counted from 1. All attempts at a target have the same name, so
// that there is at most one; Jobs are immutable, so it is only created, never changed. It does not retry by itself: the
// operator decides when to retry.
//
// The pod has the scheduling, resources and variables of the primary region's pods, or of those of the spec's first
// region if the spec does not have the primary one.
func MigrationJob(n Network, attempt int32) *batchv1.Job {
	target := MigrationTarget(n)
	job := jobOf(n, n.meta(MigrationJobName(n.SN.Name, target), ComponentMigrate), migrationDeadline(len(migrations.Names())))
	job.Annotations = map[string]string{
		AnnotationTarget:  target,
		AnnotationAttempt: strconv.Itoa(int(attempt)),
	}
	return job
}

// jobOf returns a Job that runs the pod of a migration once.
func jobOf(n Network, meta metav1.ObjectMeta, deadline time.Duration) *batchv1.Job {
	return &batchv1.Job{
		TypeMeta:   typeMeta(batchv1.SchemeGroupVersion, "Job"),
		ObjectMeta: meta,
		Spec: batchv1.JobSpec{
			Parallelism:           new(int32(1)),
			Completions:           new(int32(1)),
			BackoffLimit:          new(int32(0)),
			ActiveDeadlineSeconds: new(int64(deadline.Seconds())),
			Template:              migrationTemplate(n),
		},
	}
}

// migrationDeadline returns the time limit of a migration of a number of steps, in whole hours: one for a large index and
// the placement of rows, and two minutes for each step, of which CockroachDB needs seconds when it is busy.
func migrationDeadline(steps int) time.Duration {
	return (time.Hour + time.Duration(steps)*2*time.Minute + time.Hour - 1).Truncate(time.Hour)
}

func migrationTemplate(n Network) corev1.PodTemplateSpec {
	spec := podSpec(n, MigrationRegion(n))
	c := &spec.Containers[0]
	c.Args = append([]string{"migrate", "up", "--json", "--survive=" + survive(n.SN.Spec.Database)}, databaseArgs(n)...)
	c.Env = withOwner(n.SN.Spec.Database, c.Env)
	c.TerminationMessagePath = TerminationLog
	c.TerminationMessagePolicy = corev1.TerminationMessageReadFile
	mount(&spec, append(commonVolumes(n, true), identityVolume(n))...)
	spec.RestartPolicy = corev1.RestartPolicyNever
	spec.ServiceAccountName = MigrationName(n.SN.Name)
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: Labels(n.SN.Name, ComponentMigrate)},
		Spec:       spec,
	}
}

// ownerVariable has the URL with which migrations change the schema, and ownerKey is its key in the database's Secret.
const (
	ownerVariable = "PLAZA_DATABASE_OWNER_URL"
	ownerKey      = "owner-url"
)

// withOwner adds the URL of the schema's owner, an optional key of the database's Secret, unless the spec sets it.
func withOwner(db v1alpha1.Database, env []corev1.EnvVar) []corev1.EnvVar {
	if slices.ContainsFunc(env, func(v corev1.EnvVar) bool { return v.Name == ownerVariable }) {
		return env
	}
	return append([]corev1.EnvVar{databaseVariable(db, ownerVariable, ownerKey)}, env...)
}

// MigrationRegion returns the region whose pods a migration's pod resembles.
func MigrationRegion(n Network) *v1alpha1.Region {
	if r := n.Region(primaryRegion(n.SN.Spec.Database)); r != nil {
		return r
	}
	return &n.SN.Spec.Regions[0]
}

// databaseArgs are flags, which override every variable, so that a migration runs with what was hashed. With the network's identity it
// refuses the database of another one.
func databaseArgs(n Network) []string {
	primary := string(primaryRegion(n.SN.Spec.Database))
	args := []string{
		"--termination-log=" + TerminationLog, "--region=" + primary, "--primary-region=" + primary,
		networkFlag + n.NetworkID, "--directory-key-file=" + identityFolder + "/" + keyring.DirectoryKeyFile,
	}
	for _, l := range localities(n.SN.Spec.Database) {
		args = append(args, "--locality-"+l.code+"="+l.name)
	}
	return args
}

// IsMigrationOf reports whether a migration's Job has the identity of a network.
func IsMigrationOf(job *batchv1.Job, networkID string) bool {
	return slices.ContainsFunc(job.Spec.Template.Spec.Containers, func(c corev1.Container) bool {
		return slices.Contains(c.Args, networkFlag+networkID)
	})
}

// networkFlag is the flag with the id of the network.
const networkFlag = "--network-id="

// MigrationServiceAccount returns the ServiceAccount of migrations. It has no permissions, and its token is not
// mounted.
func MigrationServiceAccount(n Network) *corev1.ServiceAccount {
	return serviceAccount(n.meta(MigrationName(n.SN.Name), ComponentMigrate), MigrationRegion(n))
}
