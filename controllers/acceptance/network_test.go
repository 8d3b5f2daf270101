package acceptance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// up creates a network and completes its migration and rollout until it is ready.
func (o *operator) up(sn *v1alpha1.SocialNetwork) *v1alpha1.SocialNetwork {
	o.t.Helper()
	o.apply(sn)
	o.condition(sn.Name, v1alpha1.ConditionSchemaMigrated, "False", v1alpha1.ReasonMigrating)
	o.migrate(sn.Name)
	for _, region := range sn.Spec.Regions {
		o.serve(sn.Name, region.Code)
	}
	o.condition(sn.Name, v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	return get(o, &v1alpha1.SocialNetwork{}, sn.Name)
}

func TestNetworkBecomesReady(t *testing.T) {
	o := start(t)
	sn := o.up(sample(t, "socialnetwork"))
	require.Equal(t, "3/3", sn.Status.RegionsReady)
	require.Equal(t, "v1", sn.Status.Version)
	require.NotEmpty(t, sn.Status.Schema.Completed)
	sn.Status.Schema.Completed = ""
	require.Equal(t, v1alpha1.SchemaStatus{Current: "92", Target: "92", Attempts: 1}, sn.Status.Schema)
	require.Empty(t, sn.Status.PendingChanges)
	require.Len(t, sn.Status.Regions, 3)
	for _, region := range sn.Status.Regions {
		require.NotEmpty(t, region.Endpoint)
		require.NotEmpty(t, region.ConfigurationHash)
		require.NotEmpty(t, region.ModerationHash)
		require.Equal(t, v1alpha1.KeyActive, region.ServerKeys[0].State)
	}
	o.condition(sn.Name, v1alpha1.ConditionRegionsPinned, "Unknown", "PostgreSQLHasNoPlacement")
}
