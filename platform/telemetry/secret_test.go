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
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	s := telemetry.Secret(hidden)
	values := map[string]any{
		"secret":         s,
		"secret pointer": &s,
		"struct":         holder{Key: s},
		"map":            map[string]telemetry.Secret{"key": s},
		"slice":          []telemetry.Secret{s},
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
}

func logged(format telemetry.LogFormat, v any) string {
	var out bytes.Buffer
	telemetry.NewLogger(&out, format, slog.LevelInfo).Info("a message", "value", v)
	return out.String()
}

func TestEmptySecretsStayVisiblyEmpty(t *testing.T) {
	t.Parallel()
	require.Empty(t, telemetry.Secret("").String())
}
