package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// loadConfig loads the configuration for a command that has the flags of config.AddFlags and requires some settings.
func loadConfig(cmd *cobra.Command, required ...string) (config.Config, error) {
	if err := config.CheckEnvironment(os.Environ()); err != nil {
		return config.Config{}, err
	}
	cfg, err := config.Load(cmd.Flags(), os.LookupEnv)
	if err != nil {
		return cfg, err
	}
	for _, warning := range config.SecretArguments(cmd.Flags()) {
		_, _ = fmt.Fprintln(cmd.ErrOrStderr(), "plaza: warning:", warning)
	}
	return cfg, cfg.Check(required...)
}

// newLogger returns a logger to standard error; standard output is for results.
func newLogger(cmd *cobra.Command, cfg config.Config) (*slog.Logger, *slog.LevelVar) {
	level := new(slog.LevelVar)
	level.Set(cfg.LogLevel.Level())
	return telemetry.NewLogger(cmd.ErrOrStderr(), cfg.LogFormat, level), level
}
