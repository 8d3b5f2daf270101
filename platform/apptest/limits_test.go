package apptest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
)

// TestLimits checks that the time limits of the servers of a network are lifted, unless it asks for those of production.
func TestLimits(t *testing.T) {
	t.Parallel()
	var cfg config.Config
	seen := apptest.WithConfig(func(c *config.Config) { cfg = *c })

	require.Equal(t, limits.Lift(), apptest.Start(t, seen).Region(region.EU).Limits())
	for _, setting := range []config.Duration{cfg.StatementTimeout, cfg.RequestTimeout, cfg.ShutdownTimeout} {
		require.Equal(t, limits.Lifted, setting.Std())
	}

	require.Equal(t, limits.Production(), apptest.Start(t, apptest.WithProductionLimits(), seen).Region(region.EU).Limits())
	usual := config.Default()
	require.Equal(t, usual.StatementTimeout, cfg.StatementTimeout)
	require.Equal(t, usual.RequestTimeout, cfg.RequestTimeout)
	require.Equal(t, usual.ShutdownTimeout, cfg.ShutdownTimeout)
}
