package keys

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
)

// TestFirstProblem checks which of several problems the condition reports.
func TestFirstProblem(t *testing.T) {
	for want, reasons := range map[v1alpha1.Reason][]v1alpha1.Reason{
		"":                                {},
		v1alpha1.ReasonNoServers:          {v1alpha1.ReasonNoServers, v1alpha1.ReasonServersSilent},
		v1alpha1.ReasonServersSilent:      {v1alpha1.ReasonServersSilent, v1alpha1.ReasonNoServers},
		v1alpha1.ReasonClusterUnreachable: {v1alpha1.ReasonServersSilent, v1alpha1.ReasonClusterUnreachable},
		v1alpha1.ReasonKeyPending:         {v1alpha1.ReasonServersSilent, v1alpha1.ReasonClusterUnreachable, v1alpha1.ReasonKeyPending, v1alpha1.ReasonProgressing},
		v1alpha1.ReasonKeyFileBroken:      {v1alpha1.ReasonClusterUnreachable, v1alpha1.ReasonKeyPending, v1alpha1.ReasonKeyFileBroken},
		v1alpha1.ReasonKeysMissing:        {v1alpha1.ReasonClusterUnreachable, v1alpha1.ReasonKeyPending, v1alpha1.ReasonKeyFileBroken, v1alpha1.ReasonKeysMissing},
	} {
		r := &run{}
		for _, reason := range reasons {
			r.problemf(reason, "why")
		}
		found := v1alpha1.Reason("")
		if first := r.firstProblem(); first != nil {
			found = first.reason
		}
		require.Equal(t, want, found)
	}
}

// TestKeysInStatus checks that the list of a Secret with many keys is short.
func TestKeysInStatus(t *testing.T) {
	require.Len(t, keyStatus(make([]keyring.KeyState, 20)), 20)
	require.Len(t, keyStatus(make([]keyring.KeyState, 21)), 20)
}
