package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/config"
)

func newTokenAdmin() *cobra.Command {
	var name string
	var ttl time.Duration
	cmd := &cobra.Command{
		Use:   "admin",
		Short: "Print an admin token signed with the network's signing keys",
		Long: "Print an admin token, which grants all permissions when sent as Authorization: Bearer. It cannot be revoked, so\n" +
			"--ttl should be short. Requires network-id and signing-keys-file.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return tokenAdmin(cmd, name, ttl) },
	}
	config.AddFlags(cmd.Flags())
	cmd.Flags().StringVar(&name, "name", "admin", "name of the token's owner, shown in logs")
	cmd.Flags().DurationVar(&ttl, "ttl", time.Hour, "validity")
	return cmd
}

func tokenAdmin(cmd *cobra.Command, name string, ttl time.Duration) error {
	cfg, err := loadConfig(cmd, "network-id", "signing-keys-file")
	if err != nil {
		return err
	}
	token, expires, err := mintAdmin(cfg, name, ttl)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "admin token for %s, valid until %s\n", name, expires.Format(time.RFC3339))
	_, err = fmt.Fprintln(cmd.OutOrStdout(), token)
	return err
}

func mintAdmin(cfg config.Config, name string, ttl time.Duration) (string, time.Time, error) {
	ring, err := auth.OpenKeyring(cfg.SigningKeysFile)
	if err != nil {
		return "", time.Time{}, err
	}
	return auth.NewIssuer(string(cfg.NetworkID), ring).MintAdmin(name, ttl)
}
