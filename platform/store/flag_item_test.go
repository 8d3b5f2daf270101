package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store"
)

func TestHasClaim(t *testing.T) {
	t.Parallel()
	until := now.Add(time.Hour)
	claimed := store.FlagItem{State: store.FlagsClaimed, ClaimedUntil: &until}
	require.True(t, claimed.HasClaim(until.Add(-time.Millisecond)))
	require.False(t, claimed.HasClaim(until))
	require.False(t, store.FlagItem{State: store.FlagsOpen}.HasClaim(now))
	require.False(t, store.FlagItem{State: store.FlagsResolved, ClaimedUntil: &until}.HasClaim(now))
}
