package webhooks

import (
	"bytes"
	"context"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/platform/statusz"
)

// readSpec reads the Secrets of the spec's hooks and reports whether they are complete; otherwise it sets the condition. Nothing is
// pushed then: a webhook whose Secret is missing keeps what waits for delivery.
func (r *run) readSpec(ctx context.Context) bool {
	key, err := directoryKey(ctx, r.Pass)
	if err != nil {
		r.Out.SetCondition(metav1.ConditionUnknown, v1alpha1.ReasonWaitingForKeys, "Webhooks wait for the network's identity; see KeysReady.")
		return false
	}
	r.digests = map[string]string{}
	spec := &r.Pass.SN.Spec
	for _, w := range spec.Webhooks {
		settings := statusz.HookSettings{Name: w.Name, URL: w.URL, Events: w.Events, Enabled: w.Enabled}
		if !r.readSecret(ctx, w.SecretRef.Name, &settings) {
			return false
		}
		r.want.Webhooks = append(r.want.Webhooks, settings)
		r.digests[w.Name] = settings.Hash(key)
	}
	if spec.PreHook != nil {
		settings := prehookSettings(spec.PreHook)
		if !r.readSecret(ctx, spec.PreHook.SecretRef.Name, &settings) {
			return false
		}
		r.want.Prehook, r.prehook = &settings, settings.Hash(key)
	}
	return true
}

func prehookSettings(p *v1alpha1.PreHook) statusz.HookSettings {
	timeout := p.Timeout.Or(3 * time.Second)
	return statusz.HookSettings{
		URL: p.URL, Events: p.Events, Enabled: p.Enabled, DefaultAction: strings.ToLower(p.DefaultAction), TimeoutMS: int(timeout.Milliseconds()),
	}
}

// readSecret sets the secret of a hook. It reports whether there is one; otherwise it sets the condition.
func (r *run) readSecret(ctx context.Context, name string, into *statusz.HookSettings) bool {
	secret := r.Out.ReadSecret(ctx, r.Pass, r.Pass.Own(), name, "", render.HookKey)
	if secret == nil {
		return false
	}
	into.Secret = strings.TrimSpace(string(secret.Data[render.HookKey]))
	return true
}

// directoryKey returns the key that servers and operator derive the digests of hooks with.
func directoryKey(ctx context.Context, p *stage.Pass) ([]byte, error) {
	identity, err := p.Own().UserSecret(ctx, render.IdentitySecret(p.SN.Name))
	if err != nil {
		return nil, err
	}
	return bytes.TrimSpace(identity.Data[keyring.DirectoryKeyFile]), nil
}
