package main

import (
	"github.com/spf13/cobra"

	"github.com/plaza-social/plaza/platform/app"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/telemetry"
)

func newServe() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve one region",
		Long: "Serve one region until SIGTERM or an interrupt, then drain and exit. The database must have been migrated with\n" +
			"plaza migrate up; until then the server responds with 503 and /readyz states the reason.",
		Args: noArgs,
		RunE: serve,
	}
	config.AddFlags(cmd.Flags())
	return cmd
}

func serve(cmd *cobra.Command, _ []string) error {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	if err := cfg.CheckServe(); err != nil {
		return err
	}
	ctx := cmd.Context()
	log, level := newLogger(cmd, cfg)
	go app.ManageMemory(ctx)
	build := telemetry.BuildInfo()
	log.InfoContext(ctx, "starting", "version", build.Version, "revision", build.Revision, "config", cfg)
	server, err := app.New(ctx, cfg, log, app.WithLogLevel(level))
	if err != nil {
		return err
	}
	return server.Run(ctx)
}
