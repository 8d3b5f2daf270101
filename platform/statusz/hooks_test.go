package statusz_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/statusz"
)

// TestHookHash checks that the hash changes with each setting and with the key, and does not depend on the order of the events.
func TestHookHash(t *testing.T) {
	t.Parallel()
	key := []byte("directory key")
	base := func() statusz.HookSettings {
		return statusz.HookSettings{
			Name: "n", URL: "https://a.example", Events: []string{"b", "a"}, Enabled: true, DefaultAction: "allow", TimeoutMS: 5, Secret: "s",
		}
	}
	require.Equal(t, "f7ac59e9253f6b94a309607f5c64c3b1cd36c77132da6e7c0d3b8ea413e249a7", base().Hash(key),
		"other versions of the operator compute the same")
	seen := map[string]string{base().Hash([]byte("another key")): "key"}
	for name, change := range map[string]func(s *statusz.HookSettings){
		"none":   func(*statusz.HookSettings) {},
		"name":   func(s *statusz.HookSettings) { s.Name = "m" },
		"url":    func(s *statusz.HookSettings) { s.URL = "https://b.example" },
		"events": func(s *statusz.HookSettings) { s.Events = s.Events[:1] },
		"off":    func(s *statusz.HookSettings) { s.Enabled = false },
		"action": func(s *statusz.HookSettings) { s.DefaultAction = "deny" },
		"time":   func(s *statusz.HookSettings) { s.TimeoutMS = 6 },
		"secret": func(s *statusz.HookSettings) { s.Secret = "t" },
	} {
		settings := base()
		change(&settings)
		hash := settings.Hash(key)
		require.Len(t, hash, 64)
		require.NotContains(t, seen, hash, name)
		seen[hash] = name
	}
	ordered := base()
	ordered.Events = []string{"a", "b", "a"}
	require.Equal(t, base().Hash(key), ordered.Hash(key))
	none, empty := base(), base()
	none.Events, empty.Events = nil, []string{}
	require.Equal(t, none.Hash(key), empty.Hash(key))
}

// TestWantedLevel checks the level that a request leads to.
func TestWantedLevel(t *testing.T) {
	t.Parallel()
	level := statusz.LogLevel{Current: "debug", Configured: "info"}
	require.Equal(t, []string{"info", "warn"}, []string{level.Wanted(""), level.Wanted("warn")})
}

// TestFindWebhook finds a webhook by its name, and none in a status without hooks.
func TestFindWebhook(t *testing.T) {
	t.Parallel()
	hooks := &statusz.Hooks{Webhooks: []statusz.Webhook{{Name: "a", Digest: "1"}, {Name: "b", Digest: "2"}}}
	require.Equal(t, "2", hooks.Find("b").Digest)
	require.Nil(t, hooks.Find("c"))
	hooks = nil
	require.Nil(t, hooks.Find("a"))
}
