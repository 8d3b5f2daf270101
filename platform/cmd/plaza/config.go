package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/plaza-social/plaza/platform/config"
)

func newConfig() *cobra.Command {
	var markdown bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the effective configuration with secrets redacted; exit with 2 if plaza serve would refuse it",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if markdown {
				_, err := fmt.Fprint(cmd.OutOrStdout(), config.Markdown())
				return err
			}
			return printConfig(cmd)
		},
	}
	config.AddFlags(cmd.Flags())
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print a Markdown table of all settings instead")
	return cmd
}

// printConfig prints the configuration, and returns an error if plaza serve would refuse it. Other commands need fewer settings.
func printConfig(cmd *cobra.Command) error {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	text, err := cfg.RedactedYAML()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprint(cmd.OutOrStdout(), text); err != nil {
		return err
	}
	return cfg.CheckServe()
}
