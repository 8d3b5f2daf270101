// Package webhooks is the stage that keeps the webhooks and the pre-hook of the servers equal to the spec, and reports how the
// deliveries go. It compares digests, which do not show the secrets. Names, addresses and reasons are shown, secrets never.
package webhooks

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/platform/statusz"
)

// Stage applies spec.webhooks and spec.preHook.
type Stage struct{}

// Condition returns WebhooksApplied.
func (Stage) Condition() string { return v1alpha1.ConditionWebhooksApplied }

// Run compares the servers with the spec and pushes the webhooks and the pre-hook where they differ.
func (s Stage) Run(ctx context.Context, p *stage.Pass) stage.Outcome {
	switch {
	case p.Network.NetworkID == "":
		return stage.False(v1alpha1.ReasonWaitingForKeys, "Webhooks wait for the network's identity; see KeysReady.")
	case p.Refused != "" && hasHooks(p.SN):
		return stage.False(v1alpha1.ReasonNotAllowed, p.Refused)
	}
	r := &run{before: p.Status.Webhooks}
	r.Sync = stage.Sync{Pass: p, Settings: stage.Settings{
		Condition: s.Condition(), Refused: v1alpha1.ReasonWebhooksRefused, PushFailed: v1alpha1.ReasonWebhooksPushFailed,
		Pushed: v1alpha1.ReasonWebhooksPushed, Noun: "webhooks", Name: "webhooks and the pre-hook",
		Read: read, Differ: r.differ, Push: r.push,
	}}
	if !r.readSpec(ctx) {
		return r.Out
	}
	r.Push(ctx)
	r.setStatus()
	r.summarize()
	return r.Out
}

// hasHooks reports whether the spec has webhooks or a pre-hook.
func hasHooks(sn *v1alpha1.SocialNetwork) bool {
	return len(sn.Spec.Webhooks) > 0 || sn.Spec.PreHook != nil
}

// run is one run of the stage.
type run struct {
	stage.Sync

	before  []v1alpha1.WebhookStatus
	want    platformclient.Hooks
	digests map[string]string // of the webhooks of the spec, by name
	prehook string            // digest of the pre-hook of the spec; empty without one
}

// read returns when a server read its hooks, and why it could not.
func read(report stage.ServerReport) (time.Time, string) {
	if report.Status.Hooks == nil {
		return time.Time{}, ""
	}
	return report.Status.Hooks.AsOf, report.Status.Hooks.Error
}

// differ reports whether a server runs other webhooks or another pre-hook than the spec's.
func (r *run) differ(report stage.ServerReport) bool {
	hooks := report.Status.Hooks
	return len(hooks.Webhooks) != len(r.digests) || hooks.PrehookDigest != r.prehook ||
		slices.ContainsFunc(hooks.Webhooks, func(w statusz.Webhook) bool { return r.digests[w.Name] != w.Digest })
}

func (r *run) push(
	ctx context.Context, servers platformclient.Servers, to platformclient.Server, token keyring.Secret,
) ([]platformclient.Refusal, error) {
	return servers.PushHooks(ctx, to, token, r.want)
}
