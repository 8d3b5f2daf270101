//go:build cluster

package clustertest

import (
	"cmp"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// previousRelease returns the image of the previous release, or "" if there is none, and says so. Then the network has the image of the
// new one from the beginning.
func (s *suite) previousRelease() string {
	image := os.Getenv("CLUSTER_PREVIOUS_IMAGE")
	if image == "" {
		s.sayf("!!! THE UPGRADE FROM THE PREVIOUS RELEASE IS NOT TESTED: %s",
			cmp.Or(os.Getenv("CLUSTER_PREVIOUS_MISSING"), "CLUSTER_PREVIOUS_IMAGE is not set"))
	}
	return image
}

// imageOf returns the image of the servers of a region that are not being stopped.
func (s *suite) imageOf(t *testing.T, code string) string {
	t.Helper()
	image := ""
	for _, pod := range s.pods(t, code) {
		require.Contains(t, []string{"", pod.Spec.Containers[0].Image}, image, "the pods of %s have different images", code)
		image = pod.Spec.Containers[0].Image
	}
	return image
}

// badRelease sets the image of the new release with a database to which its servers cannot write, although they are ready. The error
// rate stops the update in the first region.
func (s *suite) badRelease(t *testing.T) {
	t.Helper()
	before, old := s.uids(t, "eu", "sg"), s.imageOf(t, "eu")
	readOnly := s.readOnlyDatabase(t)
	s.pause("us") // its requests fail, and are counted below
	s.edit(t, func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Image, sn.Spec.Rollout.Soak = "", "1h" // the requests that fail end the update before
		eachRegion(func(r *v1alpha1.Region) {
			r.Env, r.PodAnnotations = readOnly, map[string]string{"test.example/release": "bad"}
		})(sn)
	})
	s.within(t, "the pods of us are those of the bad release", func() string {
		pods := s.pods(t, "us")
		for _, pod := range pods {
			if pod.Annotations["test.example/release"] != "bad" || readySince(pod).After(time.Now().Add(-time.Second)) {
				return pod.Name
			}
		}
		if len(pods) != 2 {
			return "there are more than two"
		}
		return ""
	})
	failed := 0
	s.within(t, "the update stops because of the requests that fail", func() string {
		if _, err := s.people["us"].post(fresh, "to a bad release"); err != nil {
			failed++
		}
		_, reason, message := condition(s.network(t), v1alpha1.ConditionReady)
		if reason != string(v1alpha1.ReasonErrorRateHigh) {
			return reason + ": " + message
		}
		return ""
	})
	require.GreaterOrEqual(t, failed, 10)
	s.sayf("    %d requests to us failed before the update stopped", failed)
	s.holds(t, "no other region is updated", func() string {
		if after := s.uids(t, "eu", "sg"); !equal(before, after) {
			return "pods were replaced"
		}
		return ""
	})
	require.Equal(t, old, s.imageOf(t, "eu"))
	require.NoError(t, s.people["us"].read("/api/v3/communities/"+s.people["us"].community), "reads are served")
	s.nothingFailed(t)
}

// readOnlyDatabase returns variables with which servers can read rows, and not write any. Migrations do not read them.
func (s *suite) readOnlyDatabase(t *testing.T) []corev1.EnvVar {
	t.Helper()
	const name = "read-only-db"
	url := string(get(t, s, &corev1.Secret{}, "acme-db").Data["url"])
	separator := "?"
	if strings.Contains(url, "?") {
		separator = "&"
	}
	require.NoError(t, s.client.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace},
		StringData: map[string]string{"url": url + separator + "default_transaction_read_only=on"},
	}))
	var variables []corev1.EnvVar
	for _, code := range codes {
		variables = append(variables, corev1.EnvVar{Name: "PLAZA_DATABASE_URL_" + strings.ToUpper(code), ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: "url"},
		}})
	}
	return variables
}

// rollBack returns to the previous release, whose servers then run on the schema of the new one.
func (s *suite) rollBack(t *testing.T) {
	t.Helper()
	others := s.uids(t, "eu", "sg")
	s.edit(t, func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Image, sn.Spec.Rollout.Soak = s.image, "5s"
		eachRegion(func(r *v1alpha1.Region) { r.Env, r.PodAnnotations = nil, nil })(sn)
	})
	s.ready(t)
	s.within(t, "the pods of the bad release have ended, with the connections to them", func() string {
		for _, pod := range s.everyPod(t, "us") {
			if pod.Annotations["test.example/release"] == "bad" {
				return pod.Name
			}
		}
		return ""
	})
	require.Equal(t, s.imageOf(t, "eu"), s.imageOf(t, "us"))
	require.Equal(t, others, s.uids(t, "eu", "sg"), "the other regions have not been touched")
	_, err := s.people["us"].do(fresh, http.MethodGet, s.base(t, "us"), "/api/v3/communities/"+s.people["us"].community, nil)
	require.NoError(t, err)
	s.resume(t, "us")
	s.moreWrites(t)
	s.nothingFailed(t)
}

// anyUser runs the servers of a region with a random user of the root group, as OpenShift does.
func (s *suite) anyUser(t *testing.T) {
	t.Helper()
	const patch = `{"spec": {"securityContext": {"runAsUser": 1000660000, "runAsGroup": 0, "fsGroup": 1000660000}}}`
	s.edit(t, func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Regions[2].PodPatch = &apiextensionsv1.JSON{Raw: []byte(patch)}
	})
	s.ready(t)
	for _, pod := range s.pods(t, "sg") {
		require.EqualValues(t, 1000660000, *pod.Spec.SecurityContext.RunAsUser)
		require.EqualValues(t, 0, *pod.Spec.SecurityContext.RunAsGroup)
	}
	s.nothingFailed(t)
}

// daily returns daily backups.
func daily() *v1alpha1.Backup {
	return &v1alpha1.Backup{Schedule: "@daily", Destinations: []v1alpha1.BackupDestination{
		{Code: "us", URL: "s3://backups-us"}, {Code: "eu", URL: "s3://backups-eu"}, {Code: "sg", URL: "gs://backups-sg"},
	}}
}

// backups adds backups to a network whose database is PostgreSQL, and removes them.
func (s *suite) backups(t *testing.T) {
	t.Helper()
	before := s.uids(t, codes...)
	s.edit(t, func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Backup = daily()
	})
	reasonIs := func(wanted v1alpha1.Reason) func() string {
		return func() string {
			if _, reason, message := condition(s.network(t), v1alpha1.ConditionBackupsScheduled); reason != string(wanted) {
				return reason + ": " + message
			}
			return ""
		}
	}
	s.within(t, "the status says that PostgreSQL is backed up by its own means", reasonIs(v1alpha1.ReasonPostgreSQLBackups))
	s.edit(t, func(sn *v1alpha1.SocialNetwork) { sn.Spec.Backup = nil })
	s.within(t, "the backups are removed", reasonIs(v1alpha1.ReasonNoBackup))
	require.Equal(t, before, s.uids(t, codes...), "no server restarts because of backups")
	s.nothingFailed(t)
}
