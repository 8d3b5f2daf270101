package delivery

import (
	"github.com/plaza-social/plaza/platform/statusz"
	"github.com/plaza-social/plaza/platform/store/network"
)

// Managed returns what the operator can compare with its configuration, with digests that depend on the directory key.
func (d *Dispatcher) Managed(list []network.Webhook, settings network.Settings, directoryKey []byte) (statusz.Hooks, error) {
	found := statusz.Hooks{Enabled: settings.IsWebhookEnabled, Webhooks: []statusz.Webhook{}}
	for _, h := range list {
		if !h.IsManaged {
			continue
		}
		secret, err := d.Sealer.Open(h.ID, h.Secret)
		if err != nil {
			return statusz.Hooks{}, err
		}
		found.Webhooks = append(found.Webhooks, statusz.Webhook{Name: h.Name, Deliveries: d.deliveries(h.ID), Digest: statusz.HookSettings{
			Name: h.Name, URL: h.URL, Events: h.Events, Enabled: h.IsEnabled, Secret: secret,
		}.Hash(directoryKey)})
	}
	p := settings.Prehook
	if !p.IsManaged {
		return found, nil
	}
	secret, err := d.Sealer.Open(PrehookID, p.Secret)
	found.PrehookDigest = statusz.HookSettings{
		URL: p.URL, Events: p.Events, Enabled: p.IsEnabled, DefaultAction: p.DefaultAction, TimeoutMS: p.TimeoutMS, Secret: secret,
	}.Hash(directoryKey)
	return found, err
}

// deliveries returns the deliveries to a webhook that this server works on.
func (d *Dispatcher) deliveries(webhookID string) []statusz.Deliveries {
	var out []statusz.Deliveries
	for _, s := range d.States() {
		if s.WebhookID == webhookID {
			out = append(out, statusz.Deliveries{Home: s.Home.String(), Oldest: s.Oldest, Dead: s.Dead, Failed: s.Failed})
		}
	}
	return out
}
