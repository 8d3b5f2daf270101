package delivery_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/delivery"
	"github.com/plaza-social/plaza/platform/seal"
	"github.com/plaza-social/plaza/platform/store"
)

// TestManagedHooks checks that every setting of the operator's hooks has a part in their digests.
func TestManagedHooks(t *testing.T) {
	sealer, err := seal.New([]byte("0123456789abcdef0123456789abcdef"))
	require.NoError(t, err)
	d := &delivery.Dispatcher{Options: delivery.Options{Sealer: sealer}}
	hook := store.Webhook{
		ID: "h", Name: "audit", URL: "https://a.example", Events: []string{"post.created"}, IsEnabled: true,
		IsManaged: true, Secret: sealer.Seal("h", "s"),
	}
	ask := store.PrehookSettings{
		URL: "https://b.example", Events: []string{"post.shouldCreate"}, IsEnabled: true, DefaultAction: "deny", TimeoutMS: 300, IsManaged: true,
		Secret: sealer.Seal(delivery.PrehookID, "s"),
	}
	digests := func(h store.Webhook, p store.PrehookSettings) [2]string {
		found, err := d.Managed([]store.Webhook{{ID: "own", Name: "of an administrator"}, h}, store.Settings{Prehook: p}, []byte("key"))
		require.NoError(t, err)
		require.Len(t, found.Webhooks, 1)
		return [2]string{found.Webhooks[0].Digest, found.PrehookDigest}
	}
	first := digests(hook, ask)
	for name, change := range map[string]func(*store.Webhook){
		"name": func(h *store.Webhook) { h.Name = "other" }, "url": func(h *store.Webhook) { h.URL += "/x" },
		"events":  func(h *store.Webhook) { h.Events = nil },
		"enabled": func(h *store.Webhook) { h.IsEnabled = false }, "secret": func(h *store.Webhook) { h.Secret = sealer.Seal("h", "t") },
	} {
		changed := hook
		change(&changed)
		got := digests(changed, ask)
		require.NotEqual(t, first[0], got[0], name)
		require.Equal(t, first[1], got[1], name)
	}
	for name, change := range map[string]func(*store.PrehookSettings){
		"url": func(p *store.PrehookSettings) { p.URL += "/x" }, "events": func(p *store.PrehookSettings) { p.Events = nil },
		"enabled": func(p *store.PrehookSettings) { p.IsEnabled = false }, "action": func(p *store.PrehookSettings) { p.DefaultAction = "allow" },
		"timeout": func(p *store.PrehookSettings) { p.TimeoutMS = 200 },
		"secret":  func(p *store.PrehookSettings) { p.Secret = sealer.Seal(delivery.PrehookID, "t") },
	} {
		changed := ask
		change(&changed)
		got := digests(hook, changed)
		require.Equal(t, first[0], got[0], name)
		require.NotEqual(t, first[1], got[1], name)
	}
}
