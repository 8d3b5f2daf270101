package app

import (
	"github.com/plaza-social/plaza/platform/delivery"
	"github.com/plaza-social/plaza/platform/statusz"
	"github.com/plaza-social/plaza/platform/store"
)

// managedHooks returns what the operator can compare with its configuration.
func (r *report) managedHooks(list []store.Webhook, settings store.Settings) (statusz.Hooks, error) {
	found := statusz.Hooks{Enabled: settings.IsWebhookEnabled, Webhooks: []statusz.Webhook{}}
	for _, h := range list {
		if !h.IsManaged {
			continue
		}
		secret, err := r.hooks.sealer.Open(h.ID, h.Secret)
		if err != nil {
			return statusz.Hooks{}, err
		}
		found.Webhooks = append(found.Webhooks, statusz.Webhook{Name: h.Name, Deliveries: r.deliveries(h.ID), Digest: r.hash(statusz.HookSettings{
			Name: h.Name, URL: h.URL, Events: h.Events, Enabled: h.IsEnabled, Secret: secret,
		})})
	}
	p := settings.Prehook
	if !p.IsManaged {
		return found, nil
	}
	secret, err := r.hooks.sealer.Open(delivery.PrehookID, p.Secret)
	found.PrehookDigest = r.hash(statusz.HookSettings{
		URL: p.URL, Events: p.Events, Enabled: p.IsEnabled, DefaultAction: p.DefaultAction, TimeoutMS: p.TimeoutMS, Secret: secret,
	})
	return found, err
}

func (r *report) hash(s statusz.HookSettings) string {
	return s.Hash([]byte(r.cfg.DirectoryKey.Reveal()))
}

// deliveries returns the deliveries to a webhook that this server works on.
func (r *report) deliveries(webhookID string) []statusz.Deliveries {
	var out []statusz.Deliveries
	for _, s := range r.hooks.dispatcher.States() {
		if s.WebhookID == webhookID {
			out = append(out, statusz.Deliveries{Home: s.Home.String(), Oldest: s.Oldest, Dead: s.Dead, Failed: s.Failed})
		}
	}
	return out
}
