package view

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/network"
)

func TestModerationRules(t *testing.T) {
	t.Parallel()
	changed := deletedAt.Add(1234567 * time.Nanosecond)
	rules := (&Builder{}).ModerationRules([]network.ModerationRule{{ID: "r", Regex: "x", IsEnabled: true, ChangedAt: changed}})
	require.Equal(t, deletedAt.Add(time.Millisecond), rules[0].GetUpdatedAt().AsTime(), "the wire has milliseconds")
	require.True(t, rules[0].GetIsEnabled())
	require.NotNil(t, (&Builder{}).ModerationRules(nil), "an empty list rather than none")
}
