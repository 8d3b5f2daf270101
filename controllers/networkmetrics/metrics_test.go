package networkmetrics

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// TestMetrics collects the metrics of a network, and of none.
func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(registry)
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
