// Package webhooks is the stage that keeps the webhooks and the pre-hook of the servers equal to the spec. It compares digests that
// every server reports with those of the spec and its Secrets, pushes them to the regions that differ, and reports how the deliveries
// go. Names, addresses and reasons are shown, secrets never.
package webhooks

import (
	"context"
	"errors"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
func (Stage) Run(ctx context.Context, p *stage.Pass) stage.Outcome {
	switch {
	case p.Network.NetworkID == "":
		return stage.False(v1alpha1.ReasonWaitingForKeys, "Webhooks wait for the network's identity; see KeysReady.")
	case p.Refused != "" && hasHooks(p.SN):
		return stage.False(v1alpha1.ReasonNotAllowed, p.Refused)
	}
	r := &run{pass: p, before: p.Status.Webhooks, refused: map[string]string{}}
	if !r.readSpec(ctx) {
		return r.out
	}
	if outdated := p.RegionsWhere(r.differs); len(outdated) > 0 && !p.SN.Spec.Paused {
		r.push(ctx, outdated)
	}
	r.setStatus()
	r.summarize()
	return r.out
}

// hasHooks reports whether the spec has webhooks or a pre-hook.
func hasHooks(sn *v1alpha1.SocialNetwork) bool {
	return len(sn.Spec.Webhooks) > 0 || sn.Spec.PreHook != nil
}

// run is one run of the stage.
type run struct {
	pass    *stage.Pass
	out     stage.Outcome
	before  []v1alpha1.WebhookStatus
	want    platformclient.Hooks
	digests map[string]string // of the webhooks of the spec, by name
	prehook string            // digest of the pre-hook of the spec; empty without one

	pushed   bool              // at least one region answered
	failed   []string          // errors of pushes
	rejected bool              // a region rejected the request; a retry does not help
	mu       sync.Mutex        // guards refused during pushes
	refused  map[string]string // why servers refuse a webhook, by name; that of the pre-hook is empty
}

// known reports whether a report has the hooks that its server runs now.
func known(r stage.ServerReport) bool { return whyUnknown(r) == "" }

// whyUnknown returns why the hooks of a server are not known, or "" if they are.
func whyUnknown(r stage.ServerReport) string {
	switch {
	case r.Err != nil:
		return r.Err.Error()
	case r.Status.Hooks == nil:
		return unsupported
	case r.Status.Hooks.Error != "":
		return r.Status.Hooks.Error
	case r.Status.Hooks.AsOf.IsZero():
		return "the webhooks were not read yet"
	}
	return ""
}

// unsupported is why the hooks of a server of an earlier version are not known.
const unsupported = "its version has no webhooks"

// differs reports whether a server runs other webhooks or another pre-hook than the spec's.
func (r *run) differs(report stage.ServerReport) bool {
	if !known(report) {
		return false
	}
	hooks := report.Status.Hooks
	return len(hooks.Webhooks) != len(r.digests) || hooks.PrehookDigest != r.prehook ||
		slices.ContainsFunc(hooks.Webhooks, func(w statusz.Webhook) bool { return r.digests[w.Name] != w.Digest })
}

// isRetry reports whether an earlier pass pushed the hooks already, and this one reads back that not all servers run them.
func (r *run) isRetry() bool {
	c := meta.FindStatusCondition(r.pass.Status.Conditions, v1alpha1.ConditionWebhooksApplied)
	return c != nil && c.ObservedGeneration == r.pass.SN.Generation && c.Status == metav1.ConditionFalse
}

// push sends the hooks to one server of each region. A region that cannot be reached receives them from the others.
func (r *run) push(ctx context.Context, codes []v1alpha1.RegionCode) {
	errs, err := r.pass.Push(ctx, codes, r.pushTo)
	if err != nil {
		r.failed = append(r.failed, err.Error())
		r.out.RequeueAfter(stage.PushInterval)
		return
	}
	for i, err := range errs {
		if err == nil {
			r.pushed = true
			continue
		}
		r.failed = append(r.failed, "region "+string(codes[i])+": "+err.Error())
		var response *platformclient.ResponseError
		r.rejected = r.rejected || (errors.As(err, &response) && response.Permanent())
	}
	switch {
	case r.rejected || len(r.refused) > 0:
	case r.isRetry():
		r.out.RequeueAfter(stage.PushInterval)
	default:
		r.out.RequeueAfter(stage.ReadBackDelay)
	}
}

func (r *run) pushTo(ctx context.Context, code v1alpha1.RegionCode, token keyring.Secret) error {
	refused, err := r.pass.ClusterOf(code).Servers.PushHooks(ctx, r.pass.Receiver(code, known), token, r.want)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range refused {
		r.refused[one.Name] = r.pass.Redact(one.Reason)
	}
	return err
}
