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
		Short: "Print the effective configuration with secrets redacted",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := configText(cmd, markdown)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), text)
			return err
		},
	}
	config.AddFlags(cmd.Flags())
	cmd.Flags().BoolVar(&markdown, "markdown", false, "print a Markdown table of all settings instead")
	return cmd
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
