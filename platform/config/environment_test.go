package config_test

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/telemetry"
)

func TestCheckEnvironment(t *testing.T) {
	t.Parallel()
	service := []string{
		"PLAZA_EU_SERVICE_HOST=10.0.0.1", "PLAZA_EU_SERVICE_PORT=8080", "PLAZA_EU_SERVICE_PORT_HTTP=8080", "PLAZA_EU_PORT=tcp://10.0.0.1:8080",
		"PLAZA_EU_PORT_8080_TCP=tcp://10.0.0.1:8080", "PLAZA_EU_PORT_8080_TCP_PROTO=tcp", "PLAZA_EU_PORT_8080_TCP_PORT=8080",
		"PLAZA_EU_PORT_8080_TCP_ADDR=10.0.0.1",
	}
	for name, c := range map[string]struct {
		environ []string
		want    string
	}{
		"settings": {[]string{
			"PLAZA_LISTEN=:1", "PLAZA_DIRECTORY_KEY_FILE=/x", "PLAZA_CONFIG=/y", "PATH=/bin", "XPLAZA_Y=1",
			"PLAZA=1",
		}, ""},
		"a Service": {service, ""},
		"a Service's port": {
			[]string{"PLAZA_EU_PORT=tcp://10.0.0.1:8080"},
			"PLAZA_EU_PORT: is not a setting; plaza config --markdown lists all",
		},
		"typing error": {[]string{"PLAZA_LOG_LEVL=info"}, "PLAZA_LOG_LEVL: is not a setting; did you mean PLAZA_LOG_LEVEL?"},
		"empty":        {[]string{"PLAZA_LISTENN="}, "PLAZA_LISTENN: is not a setting; did you mean PLAZA_LISTEN?"},
		"two that are near": {
			[]string{"PLAZA_STORAGE_URL_XY=x"},
			"PLAZA_STORAGE_URL_XY: is not a setting; did you mean PLAZA_STORAGE_URL_EU or PLAZA_STORAGE_URL_SG or PLAZA_STORAGE_URL_US?",
		},
		"a letter missing":  {[]string{"PLAZA_ISTEN=1"}, "PLAZA_ISTEN: is not a setting; did you mean PLAZA_LISTEN?"},
		"a letter too much": {[]string{"PLAZA_XLISTEN=1"}, "PLAZA_XLISTEN: is not a setting; did you mean PLAZA_LISTEN?"},
		"three errors":      {[]string{"PLAZA_LISTENXYZ=1"}, "PLAZA_LISTENXYZ: is not a setting; did you mean PLAZA_LISTEN?"},
		"four errors":       {[]string{"PLAZA_LISTENWXYZ=1"}, "PLAZA_LISTENWXYZ: is not a setting; plaza config --markdown lists all"},
		"the first of two": {
			[]string{"PLAZA_BOGUS=1", "PLAZA_ANOTHER_ONE=1"},
			"PLAZA_ANOTHER_ONE: is not a setting; plaza config --markdown lists all",
		},
		"nothing like it": {[]string{"PLAZA_BOGUS=1"}, "PLAZA_BOGUS: is not a setting; plaza config --markdown lists all"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := config.CheckEnvironment(c.environ)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			var wrong *config.Error
			require.ErrorAs(t, err, &wrong)
			require.EqualError(t, err, c.want)
		})
	}
}

// TestStrength checks secrets at the limit and one past it.
func TestStrength(t *testing.T) {
	t.Parallel()
	for secret, strong := range map[telemetry.Secret]bool{
		"abcdeabcdeabcdea": true, "abcdeabcdeabcde": false, "abcdabcdabcdabcd": false, "x": false, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": false,
		"9f86d081884c7d65": true,
	} {
		for name, into := range map[string]func(*config.Config) *telemetry.Secret{
			"directory-key": func(c *config.Config) *telemetry.Secret { return &c.DirectoryKey },
			"media-key":     func(c *config.Config) *telemetry.Secret { return &c.MediaKey },
		} {
			c := complete(t)
			*into(&c) = secret
			if strong {
				require.NoError(t, c.CheckServe(), secret)
				continue
			}
			require.EqualError(t, c.CheckServe(), name+": must have at least 16 characters, 5 of them different; openssl rand -hex 32 makes one")
		}
	}
}

// complete returns a configuration that plaza serve accepts.
func complete(t *testing.T) config.Config {
	t.Helper()
	c, err := sources{flags: []string{
		"--region", "eu", "--network-id", "aaaaaaaaaaaaaaaaaaaaaaaa", "--database-url", "postgresql://db/plaza", "--server-keys-file", "a",
		"--api-keys-file", "b", "--signing-keys-file", "c", "--directory-key", "0123456789abcdef",
	}}.load(t)
	require.NoError(t, err)
	require.NoError(t, c.CheckServe())
	return c
}

func TestSecretArguments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want int
	}{
		"none":               {[]string{"--listen", ":1"}, 0},
		"by file":            {[]string{"--directory-key-file", "/x"}, 0},
		"key":                {[]string{"--directory-key", "hunter2"}, 1},
		"both keys":          {[]string{"--directory-key", "hunter2", "--media-key", "hunter2"}, 2},
		"URL":                {[]string{"--database-url", "postgresql://plaza:hunter2@db/plaza"}, 1},
		"password in query":  {[]string{"--database-url-eu", "postgresql://db/plaza?password=hunter2"}, 1},
		"URL without secret": {[]string{"--database-url", "postgresql://plaza@db/plaza"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
			config.AddFlags(flags)
			require.NoError(t, flags.Parse(c.args))
			warnings := config.SecretArguments(flags)
			require.Len(t, warnings, c.want)
			for _, warning := range warnings {
				require.NotContains(t, warning, "hunter2")
				require.Regexp(t, `^flag --[a-z-]+: other users .*; use --[a-z-]+-file or PLAZA_[A-Z_]+_FILE$`, warning)
			}
		})
	}
}
