package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/dburl"
	"github.com/plaza-social/plaza/platform/store/db"
)

func newMigrateUp() *cobra.Command {
	var asJSON bool
	var terminationLog string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Apply pending migrations; on CockroachDB, also place the tables' rows",
		Long: "Apply pending migrations; on CockroachDB, also place the tables' rows and wait until they are moved. The command\n" +
			"is idempotent, may run concurrently, and continues what was interrupted. Exit codes: 0 success, 1 failure, 2 invalid flags or " +
			"configuration,\n" +
			"75 failure that a retry may fix (the database is unavailable or busy).",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := &migrateProgress{out: cmd.OutOrStdout(), json: asJSON}
			cfg, err := loadMigrationConfig(cmd)
			if err == nil {
				err = migrateUp(cmd, cfg, timeout, p)
			}
			return p.finish(err, cfg, terminationLog)
		},
	}
	config.AddFlags(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print progress as JSON lines")
	cmd.Flags().DurationVar(&timeout, "step-timeout", db.DefaultMigrationTimeout,
		"time limit of each statement; a step creates a table or an index")
	cmd.Flags().StringVar(&terminationLog, "termination-log", "",
		"file to which the error (one line) and the schema (one line of JSON) are written, such as /dev/termination-log in a Kubernetes Job")
	return cmd
}

func newMigrateStatus() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Print the schema version of the database and the required one",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadMigrationConfig(cmd)
			if err != nil {
				return err
			}
			status, err := readSchemaStatus(cmd, cfg)
			if err != nil {
				return databaseFailure(err, cfg)
			}
			return status.print(cmd.OutOrStdout(), asJSON)
		},
	}
	config.AddFlags(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// loadMigrationConfig loads the configuration for commands that work on the schema.
func loadMigrationConfig(cmd *cobra.Command) (config.Config, error) {
	cfg, err := loadConfig(cmd)
	if err == nil && cfg.DatabaseOwnerURL == (dburl.URL{}) {
		err = cfg.Check("database-url")
	}
	return cfg, err
}

func migrateUp(cmd *cobra.Command, cfg config.Config, timeout time.Duration, p *migrateProgress) error {
	err := db.Migrate(cmd.Context(), db.MigrateOptions{
		URL:      cfg.MigrationURL().Reveal(),
		Identity: identityOf(cfg),
		Layout:   db.Layout{Localities: cfg.Localities(), Primary: cfg.PrimaryRegion, Survive: string(cfg.Survive)},
		Progress: p.step, StatementTimeout: timeout,
	})
	if err != nil {
		return databaseFailure(err, cfg)
	}
	status, err := readSchemaStatus(cmd, cfg)
	if err != nil {
		return databaseFailure(err, cfg)
	}
	return p.done(status)
}

// identityOf returns what identifies the network in its database; "" if the configuration does not name the network.
func identityOf(cfg config.Config) string {
	if cfg.NetworkID == "" || cfg.DirectoryKey == "" {
		return ""
	}
	return db.NetworkIdentity(string(cfg.NetworkID), cfg.DirectoryKey.Reveal())
}

// The states of a schema.
const (
	schemaUpToDate = "UpToDate"
	schemaBehind   = "Behind" // migrations are pending
	schemaAhead    = "Ahead"  // the database was migrated by a newer program
)

// schemaStatus is the schema version of a database compared with that required by the program.
type schemaStatus struct {
	Current int64  `json:"current"` // 0 if there is none
	Target  int64  `json:"target"`
	State   string `json:"state"`
}

func readSchemaStatus(cmd *cobra.Command, cfg config.Config) (schemaStatus, error) {
	current, target, err := db.MigrationStatus(cmd.Context(), cfg.MigrationURL().Reveal())
	s := schemaStatus{Current: current, Target: target, State: schemaUpToDate}
	switch {
	case current < target:
		s.State = schemaBehind
	case current > target:
		s.State = schemaAhead
	}
	return s, err
}

func (s schemaStatus) print(out io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(s)
	}
	words := map[string]string{schemaUpToDate: "up to date", schemaBehind: "run plaza migrate up", schemaAhead: "newer than required"}
	_, err := fmt.Fprintf(out, "schema version is %d, required is %d: %s\n", s.Current, s.Target, words[s.State])
	return err
}
