package render_test

import (
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

func TestBackupKeys(t *testing.T) {
	aws := []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
	for address, want := range map[string][]string{"s3://b": aws, "s3://gs": aws, "gs://b": {"credentials.json"}} {
		require.Equal(t, want, render.BackupKeys(v1alpha1.BackupDestination{URL: address}), address)
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

// TestProbe checks what a probe requests, and with which labels.
func TestProbe(t *testing.T) {
	n := networkOf(spec(t, "socialnetwork"))
	r := &n.SN.Spec.Regions[0]
	r.Host, r.ExtraHosts = "us.example", []string{"other.example"}
	require.Nil(t, render.Probe(n, r))
	require.Empty(t, render.Probes(n))
	n.SN.Spec.Monitoring.Probe = &v1alpha1.Probe{Prober: "prober:9115", Module: "http_2xx"}
	n.SN.Spec.Monitoring.Labels = map[string]string{"team": "community", render.LabelNetwork: "other"}
	probe := render.Probe(n, r)
	require.Equal(t, "acme-us", probe.Name)
	require.Equal(t, []string{"us", "community", "acme"},
		[]string{probe.Labels[render.LabelRegion], probe.Labels["team"], probe.Labels[render.LabelNetwork]})
	require.Equal(t, monitoringv1.ProbeSpec{
		JobName: "plaza-probe", ProberSpec: monitoringv1.ProberSpec{URL: "prober:9115"}, Module: "http_2xx",
		Targets: monitoringv1.ProbeTargets{StaticConfig: &monitoringv1.ProbeTargetStaticConfig{
			Targets: []string{"https://us.example/docs", "https://other.example/docs"},
			Labels:  map[string]string{"plaza_network": "acme", "plaza_region": "us"},
		}},
		MetricRelabelConfigs: []monitoringv1.RelabelConfig{
			{Action: "replace", SourceLabels: []monitoringv1.LabelName{"plaza_network"}, TargetLabel: "network"},
			{Action: "replace", SourceLabels: []monitoringv1.LabelName{"plaza_region"}, TargetLabel: "region"},
		},
	}, probe.Spec)
	require.Len(t, render.Probes(n), len(n.SN.Spec.Regions))
	without := len(render.Everything(n))
	n.Capabilities.Probe = true
	require.Len(t, render.Everything(n), without+len(n.SN.Spec.Regions))
}

// TestPodLabels checks that labels of the spec do not replace those that select the pods.
func TestPodLabels(t *testing.T) {
	n := networkOf(spec(t, "socialnetwork"))
	r := &n.SN.Spec.Regions[0]
	r.PodLabels = map[string]string{"team": "community", render.LabelRegion: "eu", render.LabelInstance: "other"}
	labels := render.Deployment(n, r).Spec.Template.Labels
	require.Subset(t, labels, render.RegionSelector("acme", "us"))
	require.Equal(t, "community", labels["team"])
}

// TestOperatorsPeers checks which pods may call the operations and the control port: those of the operator in its namespace, or in any if
// that is not known.
func TestOperatorsPeers(t *testing.T) {
	for namespace, labels := range map[string]map[string]string{"": nil, "plaza-system": {"kubernetes.io/metadata.name": "plaza-system"}} {
		n := networkOf(spec(t, "socialnetwork"))
		n.OperatorNamespace = namespace
		operator := networkingv1.NetworkPolicyPeer{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: labels},
			PodSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{render.LabelName: render.OperatorName}},
		}
		rules := render.NetworkPolicy(n, &n.SN.Spec.Regions[0]).Spec.Ingress
		require.Contains(t, rules[1].From, operator)
		require.Equal(t, []networkingv1.NetworkPolicyPeer{operator}, rules[2].From)
		require.EqualValues(t, render.PortControl, rules[2].Ports[0].Port.IntValue())
	}
}

// TestMigrationWithoutThePrimaryRegion checks that a migration of a network whose spec does not have the primary region runs in the cluster
// of its first region, and with the settings of its pods.
func TestMigrationWithoutThePrimaryRegion(t *testing.T) {
	sn := spec(t, "socialnetwork")
	sn.Spec.Regions, sn.Spec.Database.PrimaryRegion = sn.Spec.Regions[1:], v1alpha1.RegionUS
	sn.Spec.Regions[0].PriorityClassName, sn.Spec.Regions[1].Cluster = "first", "west"
	n := networkOf(sn)
	require.True(t, n.Migrates())
	pod := render.MigrationJob(n, 1).Spec.Template.Spec
	require.Equal(t, "first", pod.PriorityClassName)
	require.Subset(t, pod.Containers[0].Args, []string{"--region=us", "--primary-region=us"})
	n.Cluster, n.Namespace = "west", sn.Namespace
	require.False(t, n.Migrates())
}

// TestSecretsAreKept checks the metadata with which other programs do not delete the Secrets with keys.
func TestSecretsAreKept(t *testing.T) {
	require.Equal(t, map[string]string{
		"argocd.argoproj.io/compare-options": "IgnoreExtraneous", "argocd.argoproj.io/sync-options": "Prune=false,Delete=false",
		"kustomize.toolkit.fluxcd.io/prune": "disabled", "helm.sh/resource-policy": "keep",
	}, render.KeepAnnotations())
	require.Equal(t, map[string]string{
		"app.kubernetes.io/name": "plaza", "app.kubernetes.io/component": "recovery", "app.kubernetes.io/managed-by": "plaza-operator",
		"plaza.social/recovery-of": "acme", "plaza.social/watched": "true",
	}, render.RecoveryLabels("acme"))
}
