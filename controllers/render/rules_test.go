package render_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

func TestBackupKeys(t *testing.T) {
	aws := []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
	for address, want := range map[string][]string{"s3://b": aws, "s3://gs": aws, "gs://b": {"credentials.json"}} {
		required, optional := render.BackupKeys(v1alpha1.BackupDestination{URL: address})
		require.Equal(t, want, required, address)
		require.Equal(t, len(want) == 2, optional == "AWS_SESSION_TOKEN", address)
	}
}

// TestPods checks that the restrictions of networks, and the Secrets that they use, are those of every pod: of the servers, the migrations
// and the backups.
func TestPods(t *testing.T) {
	n := networkOf(spec(t, "socialnetwork-production"))
	secrets := func() (all []string) {
		for _, pod := range render.Pods(n) {
			for _, v := range pod.Volumes {
				if v.Secret != nil {
					all = append(all, v.Secret.SecretName)
				}
			}
		}
		return all
	}
	require.Len(t, render.Pods(n), 2+len(n.SN.Spec.Regions))
	require.Subset(t, secrets(), []string{n.SN.Spec.Backup.Destinations[0].SecretRef.Name})
	n.SN.Spec.Backup = nil
	require.Len(t, render.Pods(n), 1+len(n.SN.Spec.Regions))
}

// TestOwnerURLOfTheSpec checks that a migration uses the URL of the schema's owner that the spec sets instead of the Secret's.
func TestOwnerURLOfTheSpec(t *testing.T) {
	sn := spec(t, "socialnetwork-production")
	owners := func() (all []corev1.EnvVar) {
		for _, v := range render.MigrationJob(networkOf(sn), 1).Spec.Template.Spec.Containers[0].Env {
			if v.Name == "PLAZA_DATABASE_OWNER_URL" {
				all = append(all, v)
			}
		}
		return all
	}
	require.Len(t, owners(), 1)
	require.Equal(t, "owner-url", owners()[0].ValueFrom.SecretKeyRef.Key)
	own := corev1.EnvVar{Name: "PLAZA_DATABASE_OWNER_URL", Value: "postgresql://owner@db/plaza"}
	for i := range sn.Spec.Regions {
		sn.Spec.Regions[i].Env = append(sn.Spec.Regions[i].Env, own)
	}
	require.Equal(t, []corev1.EnvVar{own}, owners())
}

// TestProbeOfACluster checks the labels of the targets of a probe in the operator's own cluster and in a member.
func TestProbeOfACluster(t *testing.T) {
	n := networkOf(spec(t, "socialnetwork-production"))
	n.SN.Spec.Monitoring.Probe = &v1alpha1.Probe{Prober: "prober:9115", Module: "http_2xx"}
	labels := func() map[string]string {
		return render.Probe(n, &n.SN.Spec.Regions[0]).Spec.Targets.StaticConfig.Labels
	}
	want := map[string]string{"plaza_network": n.SN.Name, "plaza_region": string(n.SN.Spec.Regions[0].Code)}
	require.Equal(t, want, labels())
	n.Cluster, want["cluster"] = "member", "member"
	require.Equal(t, want, labels())
}
