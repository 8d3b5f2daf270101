package controllers

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/keys"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/controllers/stagetest"
	"github.com/plaza-social/plaza/platform/statusz"
)

// away is what a stage does while a member cluster cannot be reached: that of region eu, in a network whose regions us and sg are in the
// operator's own cluster.
type away struct {
	// change, made while the cluster is away, gives the stage something to do in every region.
	change func(h *stagetest.Harness)
	// status and reason are those of the stage's condition then.
	status metav1.ConditionStatus
	reason v1alpha1.Reason
	// deleted are the objects of the operator's own cluster that change makes superfluous.
	deleted []string
	// others checks that the stage goes on in the other regions, and that it gives up nothing that the lost one may need.
	others func(t *testing.T, n *awayNetwork)
	// returned is the reason of the condition after the cluster has returned.
	returned v1alpha1.Reason
	// undo takes the change back, if those of later stages would not work with it; nil means that they do.
	undo func(h *stagetest.Harness)
}

// awayRows has a row for every stage, by its condition.
var awayRows = map[string]away{
	v1alpha1.ConditionKeysReady: {
		change: func(h *stagetest.Harness) {
			for _, annotation := range []string{
				v1alpha1.AnnotationRotate, v1alpha1.AnnotationRotateSigning, v1alpha1.AnnotationRotateAPI, v1alpha1.AnnotationRotateControl,
			} {
				h.SN.Annotations[annotation] = "now"
			}
		},
		status: metav1.ConditionUnknown, reason: v1alpha1.ReasonClusterUnreachable, others: keysWait, returned: v1alpha1.ReasonKeysVerified,
	},
	v1alpha1.ConditionEvacuationsApplied: {
		change: func(h *stagetest.Harness) { h.SN.Spec.Regions[2].EvacuateTo = v1alpha1.RegionEU },
		status: metav1.ConditionUnknown, reason: v1alpha1.ReasonClusterUnreachable,
		others: func(t *testing.T, n *awayNetwork) {
			t.Helper()
			require.NotContains(t, n.Objects(), "Secret/acme-eu-evacuation", "it belongs into the cluster of its region")
		},
		returned: v1alpha1.ReasonEvacuated,
		undo:     func(h *stagetest.Harness) { h.SN.Spec.Regions[2].EvacuateTo = "" },
	},
	v1alpha1.ConditionSchemaMigrated: {
		change: func(h *stagetest.Harness) { h.SN.Spec.Image = "plaza.example/plaza:v2" },
		status: metav1.ConditionUnknown, reason: v1alpha1.ReasonClusterUnreachable,
		others: func(t *testing.T, n *awayNetwork) {
			t.Helper()
			for _, code := range []v1alpha1.RegionCode{v1alpha1.RegionUS, v1alpha1.RegionSG} {
				require.NotContains(t, render.ServerImage(n.deployment(code).Spec.Template.Spec), "v2", "its pods would have no schema")
			}
		},
		returned: v1alpha1.ReasonMigrated,
	},
	v1alpha1.ConditionRegionsAvailable: {
		change: func(h *stagetest.Harness) {
			for i := range h.SN.Spec.Regions {
				h.SN.Spec.Regions[i].Env = []corev1.EnvVar{{Name: "PLAZA_LOG_LEVEL", Value: "debug"}}
			}
		},
		status: metav1.ConditionUnknown, reason: v1alpha1.ReasonClusterUnreachable,
		others: func(t *testing.T, n *awayNetwork) {
			t.Helper()
			for _, code := range []v1alpha1.RegionCode{v1alpha1.RegionUS, v1alpha1.RegionSG} {
				env := n.deployment(code).Spec.Template.Spec.Containers[0].Env
				require.True(t, slices.ContainsFunc(env, func(e corev1.EnvVar) bool { return e.Value == "debug" }), "region %s is updated", code)
			}
		},
		returned: v1alpha1.ReasonServing,
	},
	v1alpha1.ConditionModerationApplied: {
		change: func(h *stagetest.Harness) { h.SN.Spec.Moderation.FlagLimit = 7 },
		status: metav1.ConditionUnknown, reason: v1alpha1.ReasonClusterUnreachable, others: pushesReachOthers,
		returned: v1alpha1.ReasonModerationRuns,
	},
	v1alpha1.ConditionWebhooksApplied: {
		change: func(h *stagetest.Harness) { h.SN.Spec.Webhooks[0].URL = "https://other.example/" },
		status: metav1.ConditionUnknown, reason: v1alpha1.ReasonClusterUnreachable, others: pushesReachOthers,
		returned: v1alpha1.ReasonWebhooksRun,
	},
	v1alpha1.ConditionAlertsApplied: {
		change: func(h *stagetest.Harness) { h.SN.Spec.Monitoring.Labels = map[string]string{"team": "community"} },
		status: metav1.ConditionUnknown, reason: v1alpha1.ReasonClusterUnreachable,
		others: func(t *testing.T, n *awayNetwork) {
			t.Helper()
			var dashboard corev1.ConfigMap
			require.NoError(t, n.Client.Get(t.Context(), client.ObjectKey{Namespace: "plaza", Name: "acme-dashboard"}, &dashboard))
			require.Equal(t, "community", dashboard.Labels["team"])
		},
		returned: v1alpha1.ReasonAlertsDisabled,
	},
	v1alpha1.ConditionRegionsPinned: { // there is one database, of which the servers of every region know
		change: func(h *stagetest.Harness) {
			h.Servers.Pods[v1alpha1.RegionUS][0].Placement = placedAt(h.Now, statusz.NotPinned, statusz.ReasonTablesNotPinned)
		},
		status: metav1.ConditionFalse, reason: v1alpha1.ReasonTablesNotPinned, returned: v1alpha1.ReasonTablesNotPinned,
	},
	v1alpha1.ConditionBackupsScheduled: {
		change: func(h *stagetest.Harness) {
			h.SN.Spec.Backup = &v1alpha1.Backup{Schedule: "@daily", OverdueAfter: "6h", Destinations: []v1alpha1.BackupDestination{
				{Code: "us", URL: "s3://us"}, {Code: "eu", URL: "s3://eu"}, {Code: "sg", URL: "s3://sg"},
			}}
		},
		status: metav1.ConditionUnknown, reason: v1alpha1.ReasonClusterUnreachable,
		others: func(t *testing.T, n *awayNetwork) {
			t.Helper()
			require.NotContains(t, n.Objects(), "Job/acme-backup")
		},
		returned: v1alpha1.ReasonBackupsNotApplied, // the Job of the harness ends without a message
		undo:     func(h *stagetest.Harness) { h.SN.Spec.Backup, h.SN.Status.Backup = nil, nil },
	},
	v1alpha1.ConditionSwept: {
		change: func(h *stagetest.Harness) { h.SN.Spec.Regions[0].Ingress, h.SN.Spec.Regions[1].Ingress = nil, nil },
		status: metav1.ConditionUnknown, reason: v1alpha1.ReasonClusterUnreachable, deleted: []string{"Ingress/acme-us"},
		others: func(t *testing.T, n *awayNetwork) {
			t.Helper()
			require.NotContains(t, n.Objects(), "Ingress/acme-us")
			require.Contains(t, n.eu.Objects(), "Ingress/acme-eu")
		},
		returned: v1alpha1.ReasonNothingLeft,
	},
}

// TestEveryStageWithoutACluster loses a member cluster, once for each stage of the operator: nothing in it is read or written, the other
// regions go on, the stage's condition says so, and nothing is created, retired or forgotten because of it. When the cluster returns, the
// network is as the spec says.
func TestEveryStageWithoutACluster(t *testing.T) {
	n := newAwayNetwork(t)
	require.Len(t, awayRows, len(n.stages), "every row is of a stage")
	n.pass(8)
	for _, s := range n.stages {
		row, found := awayRows[s.Condition()]
		require.True(t, found, "the stage of %s has no row in awayRows", s.Condition())
		isDone := t.Run(s.Condition(), func(t *testing.T) {
			n.T = t
			for _, c := range n.SN.Status.Conditions {
				require.NotEqual(t, string(v1alpha1.ReasonClusterUnreachable), c.Reason, c.Type)
			}
			n.own, n.member, n.secrets = n.Objects(), n.eu.Objects(), n.files()
			n.eu.Reason, n.Servers.Pushes = v1alpha1.ReasonClusterUnreachable, nil
			row.change(n.Harness)
			n.SN.Generation++
			n.pass(8)
			n.requireNothingLost(row.deleted)
			c := meta.FindStatusCondition(n.SN.Status.Conditions, s.Condition())
			require.Equal(t, string(row.reason), c.Reason, c.Message)
			require.Equal(t, row.status, c.Status)
			if row.others != nil {
				row.others(t, n)
			}
			n.eu.Reason = ""
			n.pass(8)
			c = meta.FindStatusCondition(n.SN.Status.Conditions, s.Condition())
			require.Equal(t, string(row.returned), c.Reason, c.Message)
			if row.undo != nil {
				row.undo(n.Harness)
				n.pass(8)
			}
		})
		if !isDone { // the next stages have another network than their rows expect
			return
		}
	}
}

// awayNetwork is a network with a region in a member cluster.
type awayNetwork struct {
	*stagetest.Harness

	eu     *stagetest.Member
	stages []stage.Stage
	// own, member and secrets are the objects and the contents of Secrets before the cluster was lost.
	own, member map[string]string
	secrets     map[string]map[string][]byte
}

func newAwayNetwork(t *testing.T) *awayNetwork {
	t.Helper()
	h := stagetest.New(t, v1alpha1.RegionUS, v1alpha1.RegionEU, v1alpha1.RegionSG)
	n := &awayNetwork{Harness: h, eu: h.Join(v1alpha1.RegionEU)}
	n.stages = (&Reconciler{Client: h.Client}).stages()
	n.stages[0] = keys.Stage{Random: h.Random}
	h.SN.Status.Clusters = membersOf(h.SN)
	h.SN.Spec.Database.SecretRef.Name, h.SN.Spec.Database.PrimaryRegion = "acme-db", v1alpha1.RegionEU // so that eu migrates it
	h.SN.Spec.Monitoring.Dashboards = true
	crm := v1alpha1.LocalSecretReference{Name: "crm"}
	h.SN.Spec.Webhooks = []v1alpha1.Webhook{{Name: "crm", URL: "https://crm.example/", SecretRef: crm, Enabled: true}}
	h.CreateSecret("crm", map[string]string{render.HookKey: "hush-hush-hush-hush"})
	h.Servers.UnreachableAPIs = map[string]bool{}
	h.Servers.Moderation, h.Servers.Hooks = map[v1alpha1.RegionCode]statusz.Moderation{}, map[v1alpha1.RegionCode]*statusz.Hooks{}
	for i := range h.SN.Spec.Regions {
		region := &h.SN.Spec.Regions[i]
		region.Host, region.Ingress = string(region.Code)+".example", &v1alpha1.Ingress{}
		h.Servers.Moderation[region.Code] = statusz.Moderation{AsOf: stagetest.Start}
		h.Servers.Hooks[region.Code] = &statusz.Hooks{Enabled: true, AsOf: stagetest.Start}
		h.Servers.Pods[region.Code][0].Placement = placedAt(h.Now, statusz.Pinned, statusz.ReasonAllTablesPinned)
	}
	for _, a := range []stagetest.API{h.API, n.eu.API} {
		a.CreateSecret("acme-db", map[string]string{"url": "postgres://db.example"})
	}
	return n
}

// placedAt returns a check of the database.
func placedAt(at time.Time, state, reason string) statusz.Placement {
	return statusz.Placement{State: state, Reason: reason, CheckedAt: at, Tables: 41, Want: statusz.PlacementWanted{
		Localities: map[string]string{"us": "us-east1", "eu": "europe-west1", "sg": "asia-southeast1"}, Primary: "eu", Survive: "zone",
	}}
}

// pass runs all stages until nothing changes any more, one minute after another. In the meantime Jobs succeed and pods become ready.
func (n *awayNetwork) pass(most int) {
	n.T.Helper()
	var before []map[string]string
	for unchanged := 0; most > 0 && unchanged < 2; most-- {
		for _, result := range n.RunAll(n.stages...) {
			require.Empty(n.T, result.Errors, result.Condition)
		}
		n.work(n.API)
		if n.eu.Reason == "" {
			n.work(n.eu.API)
		}
		n.Now = n.Now.Add(time.Minute)
		after := []map[string]string{n.Objects(), n.eu.Objects()}
		if unchanged++; !reflect.DeepEqual(before, after) {
			before, unchanged = after, 0
		}
	}
}

// work does what Kubernetes does with the Jobs and the Deployments of a cluster.
func (n *awayNetwork) work(a stagetest.API) {
	n.T.Helper()
	var jobs batchv1.JobList
	require.NoError(n.T, a.Client.List(n.T.Context(), &jobs))
	for i := range jobs.Items {
		job := &jobs.Items[i]
		if len(job.Status.Conditions) == 0 {
			job.Status.Conditions = []batchv1.JobCondition{
				{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(n.Now)},
			}
			require.NoError(n.T, a.Client.Status().Update(n.T.Context(), job))
		}
	}
	var deployments appsv1.DeploymentList
	require.NoError(n.T, a.Client.List(n.T.Context(), &deployments))
	for i := range deployments.Items {
		d := &deployments.Items[i]
		before := d.DeepCopy()
		pods := *d.Spec.Replicas
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation, Replicas: pods, UpdatedReplicas: pods, ReadyReplicas: pods, AvailableReplicas: pods,
		}
		if reflect.DeepEqual(before.Status, d.Status) {
			continue
		}
		require.NoError(n.T, a.Client.Status().Patch(n.T.Context(), d, client.MergeFrom(before), client.FieldOwner("kubernetes")))
	}
}

// deployment returns the Deployment of a region in the operator's own cluster.
func (n *awayNetwork) deployment(code v1alpha1.RegionCode) *appsv1.Deployment {
	n.T.Helper()
	var d appsv1.Deployment
	require.NoError(n.T, n.Client.Get(n.T.Context(), client.ObjectKey{Namespace: "plaza", Name: render.RegionName("acme", code)}, &d))
	return &d
}

// files returns the contents of the Secrets in the operator's own cluster.
func (n *awayNetwork) files() map[string]map[string][]byte {
	n.T.Helper()
	files := map[string]map[string][]byte{}
	for name := range n.Objects() {
		if secret, isSecret := strings.CutPrefix(name, "Secret/"); isSecret {
			files[secret] = n.Secret(secret).Data
		}
	}
	return files
}

// requireNothingLost checks what must hold in every stage while the cluster is away. Calls of its servers fail in the harness, and reads
// and writes of the cluster itself panic.
func (n *awayNetwork) requireNothingLost(deleted []string) {
	n.T.Helper()
	require.Equal(n.T, n.member, n.eu.Objects(), "nothing is written in the cluster")
	have := n.Objects()
	for name := range n.own {
		if !slices.Contains(deleted, name) {
			require.Contains(n.T, have, name, "it is not deleted")
		}
	}
	for name := range maps.Keys(have) {
		require.NotContains(n.T, name, "/acme-eu", "the region is not created in another cluster")
	}
	require.Equal(n.T, []v1alpha1.ClusterNamespace{{Name: n.eu.Name, Namespace: "plaza"}}, n.SN.Status.Clusters,
		"the cluster is not forgotten")
	require.Empty(n.T, n.SN.Status.MissingKeys)
	for _, region := range n.SN.Status.Regions {
		available := meta.FindStatusCondition(region.Conditions, v1alpha1.RegionAvailable)
		if region.Code == v1alpha1.RegionEU {
			require.Equal(n.T, string(v1alpha1.ReasonClusterUnreachable), available.Reason)
			require.Equal(n.T, metav1.ConditionUnknown, available.Status)
			continue
		}
		require.Equal(n.T, metav1.ConditionTrue, available.Status, "%s: %s", region.Code, available.Message)
	}
}

// keysWait checks that the server keys of the other regions were rotated, and that a key that all regions read has a successor, but is in
// use until the lost region has read it.
func keysWait(t *testing.T, n *awayNetwork) {
	t.Helper()
	requireStates := func(keys []v1alpha1.KeyStatus, want ...v1alpha1.KeyState) {
		t.Helper()
		var states []v1alpha1.KeyState
		for _, key := range keys {
			states = append(states, key.State)
		}
		require.ElementsMatch(t, want, states)
	}
	requireStates(n.SN.Status.Regions[0].ServerKeys, v1alpha1.KeyActive, v1alpha1.KeyRetiring)
	requireStates(n.SN.Status.SigningKeys, v1alpha1.KeyActive, v1alpha1.KeyPending)
	requireStates(n.SN.Status.APIKeys, v1alpha1.KeyActive, v1alpha1.KeyPending)
	authority := "acme-control-authority"
	require.NotEqual(t, n.secrets[authority][keyring.AuthoritiesFile], n.Secret(authority).Data[keyring.AuthoritiesFile],
		"a new authority is trusted")
	require.Equal(t, n.secrets[authority]["tls.crt"], n.Secret(authority).Data["tls.crt"], "but issues nothing before all servers trust it")
}

// pushesReachOthers checks that settings were pushed to the other regions only.
func pushesReachOthers(t *testing.T, n *awayNetwork) {
	t.Helper()
	var regions []string
	for _, host := range n.Servers.Pushes { // 10.0.<number of the region>.<number of the pod>
		regions = append(regions, strings.Split(host, ".")[2])
	}
	slices.Sort(regions)
	require.Equal(t, []string{"0", "2"}, slices.Compact(regions))
}
