package service

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestResponses(t *testing.T) {
	require.True(t, Success().GetSuccess())
	require.Equal(t, "success", StatusSuccess().GetStatus())
	require.True(t, StatusSuccess().GetSuccess() && StatusSuccess().GetData().GetSuccess())
	require.Zero(t, Millis().Nanosecond()%int(time.Millisecond))
}
