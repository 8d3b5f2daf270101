package delivery_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/delivery"
	"github.com/plaza-social/plaza/platform/seal"
	"github.com/plaza-social/plaza/platform/store/network"
)

// TestManagedHooks checks that every setting of the operator's hooks has a part in their digests.
func TestManagedHooks(t *testing.T) {
	sealer, err := seal.New([]byte("0123456789abcdef0123456789abcdef"))
	require.NoError(t, err)
	d := &delivery.Dispatcher{Options: delivery.Options{Sealer: sealer}}
	hook := network.Webhook{
		ID: "h", Name: "audit", URL: "https://a.example", Events: []string{"post.created"}, IsEnabled: true,
		IsManaged: true, Secret: sealer.Seal("h", "s"),
	}
	ask := network.PrehookSettings{
		URL: "https://b.example", Events: []string{"post.shouldCreate"}, IsEnabled: true, DefaultAction: "deny", TimeoutMS: 300, IsManaged: true,
		Secret: sealer.Seal(delivery.PrehookID, "s"),
	}
	digests := func(h network.Webhook, p network.PrehookSettings) [2]string {
		found, err := d.Managed([]network.Webhook{{ID: "own", Name: "of an administrator"}, h}, network.Settings{Prehook: p}, []byte("key"))
		require.NoError(t, err)
		require.Len(t, found.Webhooks, 1)
		return [2]string{found.Webhooks[0].Digest, found.PrehookDigest}
	}
	first := digests(hook, ask)
	for name, change := range map[string]func(*network.Webhook){
		"name": func(h *network.Webhook) { h.Name = "other" }, "url": func(h *network.Webhook) { h.URL += "/x" },
		"events":  func(h *network.Webhook) { h.Events = nil },
		"enabled": func(h *network.Webhook) { h.IsEnabled = false }, "secret": func(h *network.Webhook) { h.Secret = sealer.Seal("h", "t") },
	} {
		changed := hook
		change(&changed)
		got := digests(changed, ask)
		require.NotEqual(t, first[0], got[0], name)
		require.Equal(t, first[1], got[1], name)
	}
	for name, change := range map[string]func(*network.PrehookSettings){
		"url": func(p *network.PrehookSettings) { p.URL += "/x" }, "events": func(p *network.PrehookSettings) { p.Events = nil },
		"enabled": func(p *network.PrehookSettings) { p.IsEnabled = false },
		"action":  func(p *network.PrehookSettings) { p.DefaultAction = "allow" },
		"timeout": func(p *network.PrehookSettings) { p.TimeoutMS = 200 },
		"secret":  func(p *network.PrehookSettings) { p.Secret = sealer.Seal(delivery.PrehookID, "t") },
	} {
		changed := ask
		change(&changed)
		got := digests(hook, changed)
		require.Equal(t, first[0], got[0], name)
		require.NotEqual(t, first[1], got[1], name)
	}
}
