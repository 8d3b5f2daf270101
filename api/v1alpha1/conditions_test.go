package v1alpha1

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestNeedsAttention checks that waiting for something is progress, which no one has to act on.
func TestNeedsAttention(t *testing.T) {
	for _, reason := range []Reason{
		ReasonProgressing, ReasonMigrating, ReasonWaitingForSchema, ReasonWaitingForRegion, ReasonWaitingForWindow, ReasonWaitingForTurn,
		ReasonNoServers, ReasonDeleting,
		ReasonWaitingForKeys, ReasonPausedBySpec, ReasonNotPaused, ReasonAlertsDisabled, ReasonCRDMissing, ReasonKeyPending,
		ReasonRotationUnderWay,
		ReasonModerationPushed, ReasonWebhooksPushed, ReasonBackupsChanging, ReasonDegraded, ReasonEvacuationStarting, ReasonEvacuationEnding,
		ReasonRoutePending,
	} {
		require.False(t, reason.NeedsAttention(), reason)
	}
	for _, reason := range []Reason{
		ReasonRolloutStopped, ReasonErrorRateHigh, ReasonServersSilent, ReasonPodCrashing, ReasonKeysMissing, ReasonRotationStuck,
		ReasonWindowInvalid,
		ReasonTemplateDrift, ReasonClusterUnreachable, ReasonBackupOverdue,
	} {
		require.True(t, reason.NeedsAttention(), reason)
	}
}

func TestIsUnknown(t *testing.T) {
	for reason, want := range map[Reason]bool{
		ReasonNoServers: true, ReasonServersSilent: true, ReasonProgressing: false, ReasonPodCrashing: false, ReasonClusterAbandoned: false,
		ReasonClusterUnreachable: true, ReasonClusterNotRegistered: true, ReasonClusterNotAllowed: true, ReasonClusterRefused: true,
	} {
		require.Equal(t, want, reason.IsUnknown(), reason)
		require.Equal(t, want && reason != ReasonNoServers && reason != ReasonServersSilent, reason.IsOfCluster(), reason)
	}
}

// TestFollows checks which reasons give way to the condition that has their cause, in the summary of a network.
func TestFollows(t *testing.T) {
	for reason, want := range map[Reason]bool{
		ReasonWaitingForKeys: true, ReasonWaitingForSchema: true, ReasonWaitingForRegion: true, ReasonNoServers: true,
		ReasonWaitingForWindow: false, ReasonServersSilent: false, ReasonKeyPending: false,
	} {
		require.Equal(t, want, reason.Follows(), reason)
	}
}

// TestDurations checks what a text means that is not a duration.
func TestDurations(t *testing.T) {
	for text, want := range map[Duration]time.Duration{"": time.Minute, "soon": time.Minute, "0s": 0, "2h": 2 * time.Hour} {
		require.Equal(t, want, text.Or(time.Minute), text)
	}
}
