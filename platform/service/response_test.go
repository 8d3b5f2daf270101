package service

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
)

func TestResponses(t *testing.T) {
	require.True(t, Success().GetSuccess())
	require.Equal(t, "success", StatusSuccess().GetStatus())
	require.True(t, StatusSuccess().GetSuccess() && StatusSuccess().GetData().GetSuccess())
	require.Equal(t, region.SG, HomeOf(region.NewID(region.SG)))
	require.Empty(t, HomeOf("not an id"))
	require.Zero(t, Millis().Nanosecond()%int(time.Millisecond))
}
