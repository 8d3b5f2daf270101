package config_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
)

// sources are the contents of the layers.
type sources struct {
	file  string // content of the YAML file; none when empty
	env   map[string]string
	flags []string
}

func (s sources) load(t *testing.T) (config.Config, error) {
	t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(flags)
	args := s.flags
	if s.file != "" {
		args = append([]string{"--config", write(t, "plaza.yaml", s.file)}, args...)
	}
	require.NoError(t, flags.Parse(args))
	return config.Load(flags, lookup(s.env))
}

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		text, ok := env[name]
		return text, ok
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	c, err := sources{}.load(t)
	require.NoError(t, err)
	require.Equal(t, config.Default(), c)
	require.Equal(t, config.Address(":8080"), c.Listen)
	require.Equal(t, config.Address("127.0.0.1:9080"), c.OpsListen, "the operations endpoints must not be public")
	require.Equal(t, 3*time.Second, c.StatementTimeout.Std())
	require.Equal(t, 10*time.Second, c.RequestTimeout.Std())
	require.Equal(t, 720*time.Hour, c.AccessTokenTTL.Std())
	require.Equal(t, time.Hour, c.AuthTokenTTL.Std())
	require.Equal(t, config.Size(1<<20), c.MaxBodyBytes)
	require.Equal(t, config.PoolSize(8), c.PoolSize)
	require.Equal(t, map[region.Code]string{"us": "us-east1", "eu": "europe-west1", "sg": "asia-southeast1"}, c.Localities())
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	s := sources{
		file:  "listen: 127.0.0.1:1\nops-listen: 127.0.0.1:1\npool-size: 1\nregion: sg\n",
		env:   map[string]string{"PLAZA_LISTEN": "127.0.0.1:2", "PLAZA_OPS_LISTEN": "127.0.0.1:2", "PLAZA_REGION": "", "PLAZA_POOL_SIZE": " "},
		flags: []string{"--listen", "127.0.0.1:3"},
	}
	c, err := s.load(t)
	require.NoError(t, err)
	require.Equal(t, config.Address("127.0.0.1:3"), c.Listen, "flag")
	require.Equal(t, config.Address("127.0.0.1:2"), c.OpsListen, "variable")
	require.Equal(t, config.PoolSize(1), c.PoolSize, "file, because the variable is blank")
	require.Equal(t, region.SG, c.Region, "file, because the variable is empty")
	require.Equal(t, config.Default().Survive, c.Survive, "default")
}

func TestFileThroughVariable(t *testing.T) {
	t.Parallel()
	path := write(t, "other.yaml", "region: eu\n")
	c, err := sources{env: map[string]string{"PLAZA_CONFIG": path}}.load(t)
	require.NoError(t, err)
	require.Equal(t, region.EU, c.Region)
}

func TestEmptyFile(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"# only a comment\n", "region:\n", "region: ~\n", "---\n{}\n"} {
		c, err := sources{file: text}.load(t)
		require.NoError(t, err, text)
		require.Equal(t, config.Default(), c, text)
	}
}

func TestSecretsFromFiles(t *testing.T) {
	t.Parallel()
	key := write(t, "key", "hunter2\n")
	url := write(t, "url", " postgresql://plaza:hunter3@db/plaza\n")
	for name, s := range map[string]sources{
		"flags":     {flags: []string{"--directory-key-file", key, "--database-url-file", url}},
		"variables": {env: map[string]string{"PLAZA_DIRECTORY_KEY_FILE": key, "PLAZA_DATABASE_URL_FILE": url}},
		"file":      {file: "directory-key-file: " + key + "\ndatabase-url-file: " + url + "\n"},
		"a higher layer's file overrides a lower layer's text": {
			env:   map[string]string{"PLAZA_DIRECTORY_KEY": "low", "PLAZA_DATABASE_URL": "postgresql://low"},
			flags: []string{"--directory-key-file", key, "--database-url-file", url},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := s.load(t)
			require.NoError(t, err)
			require.Equal(t, "hunter2", c.DirectoryKey.Reveal())
			require.Equal(t, "postgresql://plaza:hunter3@db/plaza", c.DatabaseURL.Reveal())
		})
	}
}

// TestWhiteSpaceIsTrimmed checks that white space around a value, such as the newline at the end of a value of a Secret, is not part of it
// in any layer. The directory key is left as it is.
func TestWhiteSpaceIsTrimmed(t *testing.T) {
	t.Parallel()
	const url = "postgresql://plaza:hunter3@db/plaza"
	for name, s := range map[string]sources{
		"variable": {env: map[string]string{
			"PLAZA_DATABASE_URL": "\t" + url + "\r\n", "PLAZA_REGION": "eu\n", "PLAZA_MEDIA_KEY": "hunter2\n",
			"PLAZA_DATABASE_URL_EU": " \n",
		}},
		"flag": {flags: []string{"--database-url", " " + url + "\n", "--region", "eu ", "--media-key", "hunter2\n", "--database-url-eu", "\n"}},
		"file": {file: "database-url: \"" + url + "\\n\"\nregion: \"eu\\n\"\nmedia-key: \"hunter2\\n\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := s.load(t)
			require.NoError(t, err)
			require.Equal(t, url, c.DatabaseURL.Reveal())
			require.Empty(t, c.DatabaseURLEU.Reveal())
			require.Equal(t, url, c.DatabaseURLs()[region.EU])
			require.Equal(t, region.EU, c.Region)
			require.Equal(t, "hunter2", c.MediaKey.Reveal())
		})
	}
	c, err := sources{env: map[string]string{"PLAZA_DIRECTORY_KEY": "key\n"}}.load(t)
	require.NoError(t, err)
	require.Equal(t, "key\n", c.DirectoryKey.Reveal())
}

func TestErrorsStateTheirSource(t *testing.T) {
	t.Parallel()
	empty := write(t, "empty", "\n")
	for name, c := range map[string]struct {
		sources sources
		want    string // PATH is replaced by the file's path
	}{
		"flag": {
			sources{flags: []string{"--listen", "nowhere"}},
			`flag --listen: "nowhere" is not an address like 127.0.0.1:8080 or :8080`,
		},
		"variable": {sources{env: map[string]string{"PLAZA_REGION": "mars"}}, `PLAZA_REGION: unknown region: want us, eu or sg`},
		"file": {
			sources{file: "region: eu\nlog-level: loud\n"},
			`plaza.yaml:2: log-level: "loud" is not a log level: want debug, info, warn or error`,
		},
		"database URL": {
			sources{env: map[string]string{"PLAZA_DATABASE_URL_SG": "postgresql://plaza:p@ss#1@db/plaza"}},
			"PLAZA_DATABASE_URL_SG: the database URL has an @, /, ? or # in an unexpected place: a user name or password that contains one " +
				"must be percent-encoded, as %40, %2F, %3F or %23",
		},
		"flag with a database": {
			sources{flags: []string{"--database-owner-url", "postgresql://plaza:pass word@db/plaza"}},
			"flag --database-owner-url: the database URL contains white space or a control character: a user name or password that contains it " +
				"must be percent-encoded, such as a space as %20",
		},
		"address with a user": {
			sources{flags: []string{"--public-url", "https://plaza:hunter2@eu.example.com"}},
			"flag --public-url: an address with a user name is not a URL like https://eu.api.example.com",
		},
		"overridden layer": {
			sources{env: map[string]string{"PLAZA_POOL_SIZE": "many"}, flags: []string{"--pool-size", "3"}},
			`PLAZA_POOL_SIZE: the value is not a number from 1 to 1000`,
		},
		"unknown setting":    {sources{file: "region: eu\nregoin: us\n"}, `plaza.yaml:2: unknown setting "regoin"`},
		"setting twice":      {sources{file: "region: eu\nregion: us\n"}, `plaza.yaml:2: duplicate setting "region"`},
		"not a scalar value": {sources{file: "region: [eu]\n"}, `plaza.yaml:1: region: want a scalar value`},
		"not a mapping":      {sources{file: "- region\n"}, `plaza.yaml:1: want settings as "name: value" lines`},
		"not YAML":           {sources{file: "region: \"eu\n"}, `plaza.yaml: yaml:`},
		"no file": {
			sources{flags: []string{"--config", "/does/not/exist"}},
			`flag --config: open /does/not/exist: no such file or directory`,
		},
		"no file, by variable": {
			sources{env: map[string]string{"PLAZA_CONFIG": "/does/not/exist"}},
			`PLAZA_CONFIG: open /does/not/exist: no such file or directory`,
		},
		"no secret file": {
			sources{flags: []string{"--directory-key-file", "/does/not/exist"}},
			`flag --directory-key-file: open /does/not/exist`,
		},
		"empty secret file": {sources{flags: []string{"--directory-key-file", empty}}, `flag --directory-key-file: ` + empty + ` is empty`},
		"secret in two ways": {
			sources{flags: []string{"--directory-key", "a", "--directory-key-file", "b"}},
			`flag --directory-key: must not be set together with flag --directory-key-file`,
		},
		"network id":             {sources{flags: []string{"--network-id", "ABC"}}, `flag --network-id: "ABC" is not an id: want 24 lowercase`},
		"port":                   {sources{flags: []string{"--listen", ":99999"}}, `the port must be a number from 0 to 65535`},
		"zero duration":          {sources{flags: []string{"--request-timeout", "0s"}}, `is not a positive duration`},
		"negative delay":         {sources{flags: []string{"--drain-delay", "-1s"}}, `is not a duration like 5s or 0s`},
		"size":                   {sources{flags: []string{"--max-body-bytes", "9999999999GiB"}}, `is not a positive size`},
		"survive":                {sources{flags: []string{"--survive", "all"}}, `want zone or region`},
		"locality":               {sources{flags: []string{"--locality-us", `x"y`}}, `is not the name of a database region`},
		"log format":             {sources{flags: []string{"--log-format", "xml"}}, `want json or text`},
		"empty value":            {sources{flags: []string{"--listen", ""}}, `flag --listen: "" is not an address`},
		"quoted multi-line text": {sources{file: "region: \"a\\nb\"\n"}, `plaza.yaml:1: region: unknown region "a\nb"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.sources.load(t)
			var wrong *config.Error
			require.ErrorAs(t, err, &wrong)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "\n", "one line")
		})
	}
}

func TestShownValuesCanBeParsed(t *testing.T) {
	t.Parallel()
	want, err := sources{env: map[string]string{
		"PLAZA_REGION": "EU", "PLAZA_MAX_BODY_BYTES": "1536KiB", "PLAZA_DRAIN_DELAY": "0s",
		"PLAZA_ACCESS_TOKEN_TTL": "1h30m", "PLAZA_LOG_LEVEL": "Debug",
	}}.load(t)
	require.NoError(t, err)
	text, err := want.RedactedYAML()
	require.NoError(t, err)
	require.Contains(t, text, "access-token-ttl: 1h30m\n")
	require.Contains(t, text, "auth-token-ttl: 1h\n")
	require.Contains(t, text, "max-body-bytes: 1536KiB\n")
	var settings strings.Builder
	for line := range strings.Lines(text) {
		if !strings.Contains(line, `: ""`) {
			settings.WriteString(line)
		}
	}
	got, err := sources{file: settings.String()}.load(t)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestSecretsAreNeverShown(t *testing.T) {
	t.Parallel()
	c, err := sources{flags: []string{
		"--directory-key", "hunter2", "--database-url", "postgresql://plaza:hunter2@db/plaza",
		"--database-url-eu", "postgresql://plaza@eu/plaza?password=hunter2",
	}}.load(t)
	require.NoError(t, err)
	yaml, err := c.RedactedYAML()
	require.NoError(t, err)
	asJSON, err := json.Marshal(c)
	require.NoError(t, err)
	var logged bytes.Buffer
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("starting", "config", c)
	for name, text := range map[string]string{"YAML": yaml, "JSON": string(asJSON), "log": logged.String()} {
		require.NotContains(t, text, "hunter2", name)
		require.Contains(t, text, "postgresql://plaza:redacted@db/plaza", name)
	}
	require.Contains(t, yaml, "directory-key: '[redacted]'\n")
}

// TestValuesOfVariablesAreNeverShown sets every variable to a text that is not valid for most: no error contains it, because it may
// come from a Secret.
func TestValuesOfVariablesAreNeverShown(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	config.AddFlags(flags)
	failed := 0
	flags.VisitAll(func(flag *pflag.Flag) {
		name := "PLAZA_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
		for _, value := range []string{"hunter2-top\nsecret", "hunter2,hunter2-top", "hunter2://x y", "17hunter2"} {
			if flag.Name == config.FileFlag || strings.HasSuffix(flag.Name, "-file") {
				continue // paths
			}
			_, err := sources{env: map[string]string{name: value}}.load(t)
			if err != nil {
				failed++
				require.NotContains(t, err.Error(), "hunter2", name)
				require.Contains(t, err.Error(), name)
			}
		}
	})
	require.Greater(t, failed, 100)
}

func TestDatabaseURLs(t *testing.T) {
	t.Parallel()
	c, err := sources{flags: []string{"--database-url", "postgresql://all", "--database-url-sg", "postgresql://sg"}}.load(t)
	require.NoError(t, err)
	require.Equal(t, map[region.Code]string{"us": "postgresql://all", "eu": "postgresql://all", "sg": "postgresql://sg"}, c.DatabaseURLs())
}

func TestCheckServe(t *testing.T) {
	t.Parallel()
	given := map[string]string{
		"region": "us", "network-id": strings.Repeat("a", 24), "database-url": "postgresql://db", "server-keys-file": "f",
		"api-keys-file": "f", "signing-keys-file": "f", "directory-key": "0123456789abcdef",
	}
	with := func(without string) config.Config {
		var s sources
		for name, value := range given {
			if name != without {
				s.flags = append(s.flags, "--"+name, value)
			}
		}
		c, err := s.load(t)
		require.NoError(t, err)
		return c
	}
	require.NoError(t, with("").CheckServe())
	for name := range given {
		err := with(name).CheckServe()
		var wrong *config.Error
		require.ErrorAs(t, err, &wrong, name)
		require.True(t, strings.HasPrefix(err.Error(), name+": not set: use --"+name+", PLAZA_"), err)
	}
	require.NoError(t, with("region").Check("network-id"))
	require.Error(t, with("region").Check("region"))
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	table := config.Markdown()
	for _, line := range config.Default().Redacted() {
		require.Contains(t, table, "| `--"+line.Name+"`")
	}
	for line := range strings.Lines(table) {
		require.Equal(t, 5, strings.Count(line, "|"), line)
	}
}

// TestDatabaseURL checks the default URL: the one for all homes, else that of the server's region, else any.
func TestDatabaseURL(t *testing.T) {
	t.Parallel()
	const all, us, eu, sg = "postgres://all/p", "postgres://us/p", "postgres://eu/p", "postgres://sg/p"
	for name, tc := range map[string]struct {
		env  map[string]string
		want string
	}{
		"none":    {map[string]string{"PLAZA_REGION": "eu"}, ""},
		"for all": {map[string]string{"PLAZA_REGION": "eu", "PLAZA_DATABASE_URL": all, "PLAZA_DATABASE_URL_EU": eu}, all},
		"the region's": {map[string]string{
			"PLAZA_REGION": "eu", "PLAZA_DATABASE_URL_US": us, "PLAZA_DATABASE_URL_EU": eu,
			"PLAZA_DATABASE_URL_SG": sg,
		}, eu},
		"another's":      {map[string]string{"PLAZA_REGION": "us", "PLAZA_DATABASE_URL_SG": sg}, sg},
		"without region": {map[string]string{"PLAZA_DATABASE_URL_SG": sg, "PLAZA_DATABASE_URL_US": us}, us},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := sources{env: tc.env}.load(t)
			require.NoError(t, err)
			require.Equal(t, tc.want, c.DatabaseURL.Reveal())
			require.Equal(t, tc.want != "", c.Check("database-url") == nil)
		})
	}
}

// TestFileSettings parses the settings of file storage.
func TestFileSettings(t *testing.T) {
	t.Parallel()
	c, err := sources{flags: []string{
		"--storage-url", "/srv/files/", "--storage-url-eu", "s3://bucket?region=eu-central-1", "--public-url", "https://eu.example.com/plaza/",
		"--strip-gps", "false",
	}}.load(t)
	require.NoError(t, err)
	require.Equal(t, map[region.Code]string{"us": "file:///srv/files", "eu": "s3://bucket?region=eu-central-1", "sg": "file:///srv/files"},
		c.StorageURLs())
	require.Equal(t, config.BaseURL("https://eu.example.com/plaza"), c.PublicURL)
	require.False(t, bool(c.StripGPS))
	require.True(t, bool(config.Default().StripGPS))
	require.Equal(t, config.Size(1<<30), c.MaxFileBytes)
	require.Empty(t, config.Default().StorageURLs())
	for name, wrong := range map[string]string{
		"storage-url": "files", "storage-url-us": "s3://key:hunter2@bucket", "storage-url-sg": "s3://", "public-url": "eu.example.com",
		"max-image-pixels": "0", "strip-gps": "perhaps", "file-url-ttl": "0s", "max-file-bytes": "0",
	} {
		_, err := sources{flags: []string{"--" + name, wrong}}.load(t)
		require.ErrorContains(t, err, "flag --"+name, wrong)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

// TestReadme checks that README.md contains the output of `plaza config --markdown`.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	require.Contains(t, string(readme), config.Markdown(), "replace the table by the output of: plaza config --markdown")
}

func FuzzSize(f *testing.F) {
	for _, seed := range []string{"1", "1KiB", "1MiB", "1024GiB", "-1", "9223372036854775807GiB", "KiB", " 1 MiB"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var size, again config.Size
		if size.UnmarshalText([]byte(text)) != nil {
			return
		}
		require.Positive(t, int64(size))
		shown, err := size.MarshalText()
		require.NoError(t, err)
		require.NoError(t, again.UnmarshalText(shown))
		require.Equal(t, size, again)
	})
}
