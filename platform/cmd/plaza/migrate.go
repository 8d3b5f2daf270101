package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/store"
)

func newMigrate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database to the schema that this program needs",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newMigrateStep("up", "Apply the steps that are missing; on CockroachDB, wait until the rows are where they belong", migrateUp),
		newMigrateStep("status", "Tell which schema the database has and which one this program needs", migrateStatus),
	)
	return cmd
}

func newMigrateStep(name, short string, step func(context.Context, config.Config, io.Writer) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:   name,
		Short: short,
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			if err := cfg.Check("database-url"); err != nil {
				return err
			}
			return step(cmd.Context(), cfg, cmd.OutOrStdout())
		},
	}
	config.AddFlags(cmd.Flags())
	return cmd
}

func migrateUp(ctx context.Context, cfg config.Config, out io.Writer) error {
	err := store.Migrate(ctx, store.MigrateOptions{
		URL:        cfg.DatabaseURL.Reveal(),
		Localities: cfg.Localities(),
		Survive:    string(cfg.Survive),
		Progress:   func(done, total int, name string) { _, _ = fmt.Fprintf(out, "[%d/%d] %s\n", done, total, name) },
	})
	if err != nil {
		return err
	}
	return migrateStatus(ctx, cfg, out)
}

func migrateStatus(ctx context.Context, cfg config.Config, out io.Writer) error {
	current, target, err := store.MigrationStatus(ctx, cfg.DatabaseURL.Reveal())
	if err != nil {
		return err
	}
	state := "up to date"
	switch {
	case current < target:
		state = "run plaza migrate up"
	case current > target:
		state = "newer than this program"
	}
	_, err = fmt.Fprintf(out, "database at %d, program needs %d: %s\n", current, target, state)
	return err
}
