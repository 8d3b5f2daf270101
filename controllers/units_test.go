package controllers

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/clusters"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/scheme"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/platform/statusz"
)

func TestVersions(t *testing.T) {
	var v writtenVersions
	sn := func(version string) *v1alpha1.SocialNetwork {
		return &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a", ResourceVersion: version}}
	}
	require.False(t, v.isStale(sn("1")))
	v.record(sn("10"))
	require.True(t, v.isStale(sn("9")))
	require.False(t, v.isStale(sn("10")))
	require.False(t, v.isStale(sn("9")), "it was seen, and is forgotten")
	v.record(sn("10"))
	v.forget(types.NamespacedName{Namespace: "n", Name: "a"})
	require.False(t, v.isStale(sn("9")))
	v.record(sn("no number"))
	require.False(t, v.isStale(sn("1")))
}

// TestRequeue checks that a resync has a lower priority than changes.
func TestRequeue(t *testing.T) {
	soon := requeueAfter(5 * time.Second)
	require.Equal(t, 5*time.Second, soon.RequeueAfter)
	require.Nil(t, soon.Priority)
	require.Equal(t, 100*time.Millisecond, requeueAfter(time.Nanosecond).RequeueAfter)
	for i := range 100 {
		look := requeueAfter([]time.Duration{0, 720 * time.Hour}[i%2])
		require.InDelta(t, resyncInterval.Seconds(), look.RequeueAfter.Seconds(), resyncInterval.Seconds()/10)
		require.Equal(t, handler.LowPriority, *look.Priority)
		require.Negative(t, *look.Priority)
	}
}

// TestMetrics collects the metrics of a network, and of none.
func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry)
	sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "acme"}}
	sn.Spec.Paused = true
	status := &v1alpha1.SocialNetworkStatus{
		Conditions: []metav1.Condition{{Type: "Ready", Status: "False"}},
		Regions:    []v1alpha1.RegionStatus{{Code: "eu", Conditions: []metav1.Condition{{Type: "Available", Status: "True"}}}},
		Schema:     v1alpha1.SchemaStatus{Current: "92", Target: "93", Attempts: 3},
		ServerKeys: v1alpha1.ServerKeysStatus{NextRotation: &metav1.Time{Time: time.Unix(2000, 0)}},
		Control:    v1alpha1.ControlStatus{CertificatesNotAfter: &metav1.Time{Time: time.Unix(3000, 0)}},

		MissingKeys: []string{"acme-api-keys", "acme-signing-keys"},
		Backup: &v1alpha1.BackupStatus{
			LastSuccess: &metav1.Time{Time: time.Unix(4000, 0)},
			OverdueAt:   &metav1.Time{Time: time.Unix(5000, 0)},
		},
	}
	m.Observe(sn, status, time.Unix(1000, 0))
	status.Conditions[0].Status, status.ServerKeys.NextRotation = "True", nil
	m.Observe(sn, status, time.Unix(1001, 0))
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP plaza_operator_backup_last_success_timestamp_seconds End of the newest successful backup of the database; absent while none is known.
# TYPE plaza_operator_backup_last_success_timestamp_seconds gauge
plaza_operator_backup_last_success_timestamp_seconds{namespace="n",network="acme"} 4000
# HELP plaza_operator_backup_overdue_timestamp_seconds Time at which the next backup must have succeeded; absent without spec.backup, and on PostgreSQL.
# TYPE plaza_operator_backup_overdue_timestamp_seconds gauge
plaza_operator_backup_overdue_timestamp_seconds{namespace="n",network="acme"} 5000
# HELP plaza_operator_condition Status of a condition of the network: 1 for its current status (True, False or Unknown), 0 for the others.
# TYPE plaza_operator_condition gauge
plaza_operator_condition{namespace="n",network="acme",status="False",type="Ready"} 0
plaza_operator_condition{namespace="n",network="acme",status="True",type="Ready"} 1
plaza_operator_condition{namespace="n",network="acme",status="Unknown",type="Ready"} 0
# HELP plaza_operator_control_certificate_not_after_timestamp_seconds End of the first certificate of control calls that ends: of the authority, the operator or a region.
# TYPE plaza_operator_control_certificate_not_after_timestamp_seconds gauge
plaza_operator_control_certificate_not_after_timestamp_seconds{namespace="n",network="acme"} 3000
# HELP plaza_operator_migration_attempts Number of attempts to migrate the database to the current target.
# TYPE plaza_operator_migration_attempts gauge
plaza_operator_migration_attempts{namespace="n",network="acme"} 3
# HELP plaza_operator_missing_keys Number of Secrets whose keys were lost, of which no copy is left.
# TYPE plaza_operator_missing_keys gauge
plaza_operator_missing_keys{namespace="n",network="acme"} 2
# HELP plaza_operator_observed_timestamp_seconds Time of the last completed reconcile of the network.
# TYPE plaza_operator_observed_timestamp_seconds gauge
plaza_operator_observed_timestamp_seconds{namespace="n",network="acme"} 1001
# HELP plaza_operator_paused 1 if the network is paused, otherwise 0.
# TYPE plaza_operator_paused gauge
plaza_operator_paused{namespace="n",network="acme"} 1
# HELP plaza_operator_region_condition Status of a condition of a region: 1 for its current status (True, False or Unknown), 0 for the others.
# TYPE plaza_operator_region_condition gauge
plaza_operator_region_condition{namespace="n",network="acme",region="eu",status="False",type="Available"} 0
plaza_operator_region_condition{namespace="n",network="acme",region="eu",status="True",type="Available"} 1
plaza_operator_region_condition{namespace="n",network="acme",region="eu",status="Unknown",type="Available"} 0
# HELP plaza_operator_schema_version Schema version that the database has (kind=current) and that the image needs (kind=target).
# TYPE plaza_operator_schema_version gauge
plaza_operator_schema_version{kind="current",namespace="n",network="acme"} 92
plaza_operator_schema_version{kind="target",namespace="n",network="acme"} 93
`)))
	status.Regions, status.Schema.Target = nil, ""
	m.Observe(sn, status, time.Unix(1002, 0))
	left, err := testutil.GatherAndCount(registry, "plaza_operator_region_condition")
	require.NoError(t, err)
	require.Zero(t, left, "the region went")
	known, err := testutil.GatherAndCount(registry, "plaza_operator_schema_version")
	require.NoError(t, err)
	require.Equal(t, 1, known, "the target is not known")
	m.Forget(types.NamespacedName{Namespace: "n", Name: "acme"})
	count, err := testutil.GatherAndCount(registry)
	require.NoError(t, err)
	require.Zero(t, count)
	var none *Metrics
	none.Observe(sn, status, time.Now())
	none.Forget(types.NamespacedName{})
}

// silentServers are servers that do not answer.
type silentServers struct{ platformclient.Servers }

func (silentServers) Status(context.Context, platformclient.Server) (statusz.Status, error) {
	return statusz.Status{}, errors.New("connection refused")
}

// TestPodsOfTheFormerCluster moves a region to another cluster: pods that are left in the former one are not among its servers.
func TestPodsOfTheFormerCluster(t *testing.T) {
	sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: "plaza"}}
	sn.Spec.Regions = []v1alpha1.Region{{Code: "eu", Cluster: "member"}}
	clusterOf := func(name, namespace, pod string) *stage.Cluster {
		labels := render.ServerSelector(sn.Name)
		labels[render.LabelRegion] = "eu"
		ready := corev1.PodStatus{PodIP: "10.0.0.1", Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
		cache := fake.NewClientBuilder().WithObjects(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: namespace, Labels: labels},
			Status:     ready,
		}).Build()
		return &stage.Cluster{
			Name: name, Cache: cache, Servers: silentServers{},
			Network: render.Network{SN: sn, Cluster: name, Namespace: namespace},
		}
	}
	p := &stage.Pass{SN: sn, Clusters: []*stage.Cluster{
		clusterOf("", "plaza", "former"),
		clusterOf("member", render.RegionNamespace(sn, &sn.Spec.Regions[0]), "present"),
	}}
	p.Network = p.Own().Network
	require.NoError(t, (&Reconciler{}).readServers(t.Context(), p))
	require.Len(t, p.Reports["eu"], 1)
	require.Equal(t, "present", p.Reports["eu"][0].Pod)
}

// lostClusters are clusters that cannot be reached.
type lostClusters struct{ asked []string }

func (c *lostClusters) Connect(cluster, _, _ string) (*clusters.Connection, error) {
	c.asked = append(c.asked, cluster)
	return nil, &clusters.Error{Reason: v1alpha1.ReasonClusterUnreachable, Message: "no route"}
}

// TestFormerClusterHoldsTheNetwork checks that a cluster that the spec no longer names, and in which objects are left, keeps the finalizer
// and is visited by a deletion.
func TestFormerClusterHoldsTheNetwork(t *testing.T) {
	sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{
		Name: "acme", Namespace: "plaza",
		Finalizers: []string{v1alpha1.FinalizerClusters},
	}}
	sn.Spec.Regions = []v1alpha1.Region{{Code: "eu"}}
	sn.Status.Clusters = []v1alpha1.ClusterNamespace{{Name: "former", Namespace: "plaza"}}
	asked := &lostClusters{}
	r := &Reconciler{
		Client: fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(sn).WithStatusSubresource(sn).Build(), Kinds: &OptionalKinds{},
		Clusters: asked, Now: time.Now,
	}
	changed, err := r.recordMembers(t.Context(), sn)
	require.NoError(t, err)
	require.False(t, changed)
	sn.DeletionTimestamp = new(metav1.Now())
	result, err := r.finalize(t.Context(), sn)
	require.NoError(t, err)
	require.Equal(t, []string{"former"}, asked.asked)
	require.Equal(t, deletionInterval, result.RequeueAfter)
}

// TestAbandonedCluster checks the command that deletes what is left in a cluster: the network's objects, and also its keys if the network
// does not retain them.
func TestAbandonedCluster(t *testing.T) {
	sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: "social", UID: "u-1"}}
	member := v1alpha1.ClusterNamespace{Name: "east", Namespace: "plaza"}
	for policy, selector := range map[v1alpha1.DeletionPolicy]string{
		v1alpha1.DeletionRetain: "plaza.social/owner=u-1",
		v1alpha1.DeletionDelete: "plaza.social/network=acme,plaza.social/owner-namespace=social",
	} {
		sn.Spec.DeletionPolicy = policy
		event := abandonment(sn, member, errors.New("it does not answer"))
		require.True(t, event.Warning)
		require.Equal(t, v1alpha1.ReasonClusterAbandoned, event.Reason)
		require.Contains(t, event.Message, "deleted the network without cluster east: it does not answer")
		require.True(t, strings.HasSuffix(event.Message, "kubectl -n plaza delete KINDS -l "+selector), event.Message)
	}
}
