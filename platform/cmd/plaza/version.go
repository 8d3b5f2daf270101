package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// versionInfo is the output of plaza version --json.
type versionInfo struct {
	telemetry.Build
	Schema int64 `json:"schema"` // required schema version
}

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versionInfo{Build: telemetry.BuildInfo(), Schema: db.TargetVersion()}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(v)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "plaza %s (revision %s, %s)\n", v.Version, v.Revision, v.GoVersion)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, including the required schema version")
	return cmd
}
