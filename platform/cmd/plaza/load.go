package main

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// loadConfig loads the configuration for a command that has the flags of config.AddFlags.
func loadConfig(cmd *cobra.Command) (config.Config, error) {
	return config.Load(cmd.Flags(), os.LookupEnv)
}

// newLogger returns a logger to standard error; standard output is for results.
func newLogger(cmd *cobra.Command, cfg config.Config) *slog.Logger {
	return telemetry.NewLogger(cmd.ErrOrStderr(), cfg.LogFormat, cfg.LogLevel.Level())
}
