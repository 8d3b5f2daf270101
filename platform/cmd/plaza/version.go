package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/plaza-social/plaza/platform/telemetry"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := telemetry.BuildInfo()
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "plaza %s (revision %s, %s)\n", b.Version, b.Revision, b.GoVersion)
			return err
		},
	}
}
