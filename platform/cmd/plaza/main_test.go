package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/devdb/testdb"
)

// TestMain lets the test binary act as plaza, for tests that need a process.
func TestMain(m *testing.M) {
	if os.Getenv("PLAZA_TEST_BE_PLAZA") != "" {
		main()
	}
	os.Exit(m.Run())
}

// plaza runs the program and returns its exit code and output.
func plaza(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestUsageErrors(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"unknown command":     {[]string{"servee"}, `plaza: unknown argument "servee" for "plaza": see plaza --help`},
		"unknown subcommand":  {[]string{"migrate", "down"}, `plaza: unknown argument "down" for "plaza migrate"`},
		"argument":            {[]string{"version", "please"}, `plaza: unknown argument "please" for "plaza version"`},
		"unknown flag":        {[]string{"serve", "--colour"}, `plaza: unknown flag: --colour`},
		"wrong value":         {[]string{"serve", "--region", "mars"}, `plaza: flag --region: unknown region "mars": want us, eu or sg`},
		"wrong value, config": {[]string{"config", "--pool-size", "0"}, `plaza: flag --pool-size: "0" is not a number from 1 to 1000`},
		"missing setting":     {[]string{"serve", "--region", "us"}, `plaza: network-id: not set: use --network-id, PLAZA_NETWORK_ID`},
		"missing database":    {[]string{"migrate", "up"}, `plaza: database-url: not set`},
		"missing keys":        {[]string{"token", "admin", "--network-id", strings.Repeat("a", 24)}, `plaza: signing-keys-file: not set`},
		"no such port":        {[]string{"dev", "--port", "70000"}, `plaza: flag --port: 70000`},
		"no duration":         {[]string{"token", "admin", "--ttl", "x"}, `plaza: flag --ttl: "x" is not a duration like 1h or 30m`},
		"no switch":           {[]string{"dev", "--demo=x"}, `plaza: flag --demo: "x" is not true or false`},
		"port not a number":   {[]string{"dev", "--port", "x"}, `plaza: flag --port: "x" is not a whole number`},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := plaza(t, c.args...)
			require.Equal(t, 2, code)
			require.Empty(t, stdout)
			require.Contains(t, stderr, c.want)
			require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
		})
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{nil, {"--help"}, {"migrate"}, {"token"}, {"dev", "--help"}, {"serve", "--help"}} {
		code, stdout, stderr := plaza(t, args...)
		require.Zero(t, code, args)
		require.Contains(t, stdout, "Usage:", args)
		require.Empty(t, stderr, args)
	}
}

func TestVersion(t *testing.T) {
	code, stdout, _ := plaza(t, "version")
	require.Zero(t, code)
	require.Regexp(t, `^plaza \S+ \(revision \S+, go\S+\)\n$`, stdout)
}

func TestConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plaza.yaml")
	require.NoError(t, os.WriteFile(file, []byte("region: sg\npool-size: 3\n"), 0o600))
	t.Setenv("PLAZA_DATABASE_URL", "postgresql://plaza:hunter2@db/plaza")
	code, stdout, stderr := plaza(t, "config", "--config", file, "--pool-size", "5", "--directory-key", "hunter2")
	require.Equal(t, exitUsage, code, "plaza serve would refuse it")
	require.Equal(t, "plaza: warning: flag --directory-key: other users of this machine see it among the arguments of the process; "+
		"use --directory-key-file or PLAZA_DIRECTORY_KEY_FILE\n"+
		"plaza: network-id: not set: use --network-id, PLAZA_NETWORK_ID or the key in the file\n", stderr)
	require.Contains(t, stdout, "region: sg\n")
	require.Contains(t, stdout, "pool-size: \"5\"\n")
	require.Contains(t, stdout, "database-url: postgresql://plaza:redacted@db/plaza\n")
	require.NotContains(t, stdout, "hunter2")
}

// TestUnknownVariable checks that a variable with a typing error is an error of every command that reads the settings.
func TestUnknownVariable(t *testing.T) {
	t.Setenv("PLAZA_LISTN", ":1")
	for _, args := range [][]string{
		{"serve"},
		{"config"},
		{"migrate", "up"},
		{"migrate", "status"},
		{"token", "admin"},
		{"dev", "--data-dir", t.TempDir()},
	} {
		code, stdout, stderr := plaza(t, args...)
		require.Equal(t, exitUsage, code, args)
		require.Empty(t, stdout)
		require.Equal(t, "plaza: PLAZA_LISTN: is not a setting; did you mean PLAZA_LISTEN?\n", stderr)
	}
}

func TestConfigMarkdown(t *testing.T) {
	code, stdout, _ := plaza(t, "config", "--markdown")
	require.Zero(t, code)
	require.Contains(t, stdout, "| `--region` | `PLAZA_REGION` | required |")
}

func TestMigrate(t *testing.T) {
	url := testdb.New(t)
	code, stdout, stderr := plaza(t, "migrate", "status", "--database-url", url)
	require.Zero(t, code, stderr)
	require.Regexp(t, `^schema version is 0, required is \d+: run plaza migrate up\n$`, stdout)

	code, stdout, stderr = plaza(t, "migrate", "up", "--database-url", url)
	require.Zero(t, code, stderr)
	require.Regexp(t, `^step 1 of \d+, \d+s: \S+\n`, stdout)
	require.Regexp(t, `: up to date\n$`, stdout)

	code, stdout, stderr = plaza(t, "migrate", "up", "--database-url", url)
	require.Zero(t, code, stderr)
	require.Regexp(t, `^schema version is \d+, required is \d+: up to date\n$`, stdout, "idempotent")
}

func TestMigrateHidesPasswords(t *testing.T) {
	for url, want := range map[string]int{
		"postgresql://plaza:hunter2@127.0.0.1:1/plaza": exitTransient, "postgresql://plaza:hunter2@[/": exitUsage,
	} {
		t.Setenv("PLAZA_DATABASE_URL", url)
		code, stdout, stderr := plaza(t, "migrate", "up")
		require.Equal(t, want, code)
		require.NotContains(t, stdout+stderr, "hunter2")
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
}

func TestTokenAdmin(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "signing.json")
	require.NoError(t, auth.GenerateKeyring(keys))
	network := strings.Repeat("a", 24)
	code, stdout, stderr := plaza(t, "token", "admin", "--network-id", network, "--signing-keys-file", keys, "--name", "ann", "--ttl", "10m")
	require.Zero(t, code, stderr)
	ring, err := auth.OpenKeyring(keys)
	require.NoError(t, err)
	claims, err := auth.NewIssuer(network, ring).Verify(strings.TrimSpace(stdout))
	require.NoError(t, err)
	require.True(t, claims.Admin)
	require.Contains(t, stderr, "admin token for ann, valid until ")
}

// within returns a context that ends long before the Go tool's timeout.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
