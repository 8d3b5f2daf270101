package schema

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/stage"
)

func TestBackoff(t *testing.T) {
	for attempt, want := range map[int32]time.Duration{
		0: 30 * time.Second, 1: 30 * time.Second, 2: time.Minute, 3: 2 * time.Minute, 6: 16 * time.Minute, 7: 30 * time.Minute,
		1 << 30: 30 * time.Minute,
	} {
		require.Equal(t, want, backoff(attempt), "attempt %d", attempt)
	}
}

// TestIsBroken checks which states of a region let the migration of an update begin outside of the maintenance windows.
func TestIsBroken(t *testing.T) {
	for reason, want := range map[v1alpha1.Reason]bool{
		v1alpha1.ReasonRolloutStopped: true, v1alpha1.ReasonPodCrashing: true,
		v1alpha1.ReasonWindowInvalid: false, v1alpha1.ReasonTemplateDrift: false, v1alpha1.ReasonProgressing: false,
	} {
		condition := metav1.Condition{Type: v1alpha1.RegionUpdated, Status: metav1.ConditionFalse, Reason: string(reason)}
		status := v1alpha1.SocialNetworkStatus{Regions: []v1alpha1.RegionStatus{
			{Code: "us"},
			{Code: "eu", Conditions: []metav1.Condition{condition}},
		}}
		r := &run{pass: &stage.Pass{Status: &status}}
		require.Equal(t, want, r.isBroken(), reason)
		status.Regions[1].Conditions[0].Status = metav1.ConditionTrue
		require.False(t, r.isBroken(), reason)
	}
}

func TestMissingURL(t *testing.T) {
	for want, keys := range map[string][]string{
		"": {"url"}, "url-us": {}, "url-eu": {"url-us", "url-sg"}, "url-sg": {"url-us", "url-eu"},
	} {
		secret := &corev1.Secret{Data: map[string][]byte{}}
		for _, key := range keys {
			secret.Data[key] = []byte("x")
		}
		require.Equal(t, want, missingURL(secret))
	}
	all := &corev1.Secret{Data: map[string][]byte{"url-us": {1}, "url-eu": {1}, "url-sg": {1}}}
	require.Empty(t, missingURL(all))
}
