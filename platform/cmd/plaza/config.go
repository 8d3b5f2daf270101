package main

import (
	"fmt"
	"os"

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
			text, err := configText(cmd, markdown)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprint(cmd.OutOrStdout(), text); err != nil || markdown {
				return err
			}
			return checkServe(cmd)
		},
	}
	config.AddFlags(cmd.Flags())
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print a Markdown table of all settings instead")
	return cmd
}

// checkServe returns an error if plaza serve would refuse the configuration. Other commands need fewer settings.
func checkServe(cmd *cobra.Command) error {
	cfg, err := config.Load(cmd.Flags(), os.LookupEnv)
	if err != nil {
		return err
	}
	return cfg.CheckServe()
}

func configText(cmd *cobra.Command, markdown bool) (string, error) {
	if markdown {
		return config.Markdown(), nil
	}
	cfg, err := loadConfig(cmd)
	if err != nil {
		return "", err
	}
	return cfg.RedactedYAML()
}
