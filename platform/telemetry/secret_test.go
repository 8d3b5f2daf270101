package telemetry_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/telemetry"
)

const hidden = "hunter2"

// holder contains a secret, which must stay hidden inside another value.
type holder struct {
	Key telemetry.Secret
	URL telemetry.SecretURL
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	s := telemetry.Secret(hidden)
	u := telemetry.SecretURL("postgresql://plaza:" + hidden + "@db:5432/plaza")
	values := map[string]any{
		"secret":         s,
		"secret pointer": &s,
		"url":            u,
		"url pointer":    &u,
		"struct":         holder{Key: s, URL: u},
		"map":            map[string]telemetry.Secret{"key": s},
		"slice":          []telemetry.SecretURL{u},
	}
	for name, v := range values {
		t.Run(name, func(t *testing.T) {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
				require.NotContains(t, fmt.Sprintf(verb, v), hidden, verb)
			}
			text, err := json.Marshal(v)
			require.NoError(t, err)
			require.NotContains(t, string(text), hidden)
			require.NotContains(t, logged(telemetry.LogJSON, v), hidden)
			require.NotContains(t, logged(telemetry.LogText, v), hidden)
		})
	}
	require.Equal(t, hidden, s.Reveal())
	require.Contains(t, u.Reveal(), hidden)
}

func logged(format telemetry.LogFormat, v any) string {
	var out bytes.Buffer
	telemetry.NewLogger(&out, format, slog.LevelInfo).Info("a message", "value", v)
	return out.String()
}

func TestEmptySecretsStayVisiblyEmpty(t *testing.T) {
	t.Parallel()
	require.Empty(t, telemetry.Secret("").String())
	require.Empty(t, telemetry.SecretURL("").String())
}

func TestSecretURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"postgresql://plaza@db/plaza":             "postgresql://plaza@db/plaza",
		"postgresql://plaza:pw@db/plaza":          "postgresql://plaza:redacted@db/plaza",
		"postgresql://db/plaza?password=pw&a=b":   "postgresql://db/plaza?a=b&password=redacted",
		"postgresql://db/plaza?sslpassword=pw":    "postgresql://db/plaza?sslpassword=redacted",
		"host=db password=pw":                     telemetry.Redacted,
		"postgresql://plaza:pw%zz@db:5432/broken": telemetry.Redacted,
	} {
		require.Equal(t, want, telemetry.SecretURL(in).String(), in)
	}
}
