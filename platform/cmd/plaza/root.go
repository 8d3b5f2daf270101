package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plaza-social/plaza/platform/config"
)

// Exit codes.
const (
	exitOK    = 0
	exitError = 1 // failure
	exitUsage = 2 // invalid command line or configuration
	// exitTransient is EX_TEMPFAIL of sysexits: a failure that a retry may fix.
	exitTransient = 75
)

// run runs the program and returns its exit code. Errors are printed to stderr on one line.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot() //nolint:contextcheck // passed by ExecuteContext
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	_, _ = fmt.Fprintln(stderr, "plaza:", oneLine(err))
	return exitCode(err)
}

// oneLine returns the text of err without line breaks, which errors of drivers and joined errors contain.
func oneLine(err error) string {
	lines := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' })
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "; ")
}

func exitCode(err error) int {
	var usage *usageError
	var wrong *config.Error
	if errors.As(err, &usage) || errors.As(err, &wrong) {
		return exitUsage
	}
	if isTransient(err) {
		return exitTransient
	}
	return exitError
}

// usageError is an error of the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func newRoot() *cobra.Command {
	root := newGroup("plaza", "Self-hosted social platform server for three regions",
		newServe(), newDev(), newGroup("migrate", "Migrate the database schema", newMigrateUp(), newMigrateStatus(), newMigrateBackups()),
		newImport(), newGroup("token", "Mint tokens", newTokenAdmin()), newConfig(), newVersion())
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{flagError(err)} })
	return root
}

// flagError returns an error that says which values a flag takes, where the flag library says which function failed.
func flagError(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	want := map[string]string{
		"int": "a whole number", "bool": "true or false", "duration": "a duration like 1h or 30m",
	}[invalid.GetFlag().Value.Type()]
	if want == "" {
		return err
	}
	return fmt.Errorf("flag --%s: %q is not %s", invalid.GetFlag().Name, invalid.GetValue(), want)
}

// newGroup returns a command that only has subcommands.
func newGroup(name, short string, commands ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{
		Use: name, Short: short, Args: noArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	group.AddCommand(commands...)
	return group
}

// noArgs rejects arguments, including unknown subcommands.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	shown := strconv.Quote(args[0])
	if strings.ContainsAny(args[0], ":@") || len(config.SecretArguments(cmd.Flags())) > 0 {
		// It can be a database URL, or the end of a secret that contains a space.
		shown = "which is not shown,"
	}
	return &usageError{fmt.Errorf("unknown argument %s for %q: see %s --help", shown, cmd.CommandPath(), cmd.CommandPath())}
}
