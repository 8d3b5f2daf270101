package acceptance

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/platform/statusz"
)

const (
	hookSecret    = "hush-hush-hush-hush-hush"
	changedSecret = "changed-hush-hush-hush-hush"
)

// withHooks returns a network with a webhook and a pre-hook, whose secrets are in the Secret hooks.
func withHooks(t *testing.T) *v1alpha1.SocialNetwork {
	t.Helper()
	sn := sample(t, "socialnetwork")
	ref := v1alpha1.LocalSecretReference{Name: "hooks"}
	sn.Spec.Webhooks = []v1alpha1.Webhook{{Name: "crm", URL: "https://crm.example.com/", SecretRef: ref, Enabled: true}}
	sn.Spec.PreHook = &v1alpha1.PreHook{URL: "https://ask.example.com/", SecretRef: ref, Enabled: true}
	return sn
}

// TestWebhooksOfTheSpec applies a webhook and a pre-hook, waits for their Secret, follows its changes without another trigger, and
// removes them. No secret is in the status, the events or the log.
func TestWebhooksOfTheSpec(t *testing.T) {
	o := start(t)
	o.up(withHooks(t))
	o.setDirectoryKey()
	generation := o.deployment("acme", "us").Generation
	missing := o.condition("acme", v1alpha1.ConditionWebhooksApplied, "False", v1alpha1.ReasonSecretMissing)
	require.Contains(t, missing.Message, "Secret hooks does not exist")

	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "hooks", Namespace: o.namespace},
		StringData: map[string]string{render.HookKey: hookSecret},
	}
	require.NoError(t, o.client.Create(t.Context(), secret))
	o.condition("acme", v1alpha1.ConditionWebhooksApplied, "True", v1alpha1.ReasonWebhooksRun)
	require.Equal(t, []string{hookSecret, hookSecret}, o.pushedSecrets())
	require.Equal(t, statusz.HookSettings{
		URL: "https://ask.example.com/", DefaultAction: "allow", TimeoutMS: 3000, Enabled: true, Secret: hookSecret,
	}, *o.servers.pushedHooks().Prehook, "the defaults of the CRD")

	o.editSecret("hooks", func(s *corev1.Secret) { s.Data[render.HookKey] = []byte(changedSecret) })
	o.eventually("the changed secret",
		func() string { return notEqual(strings.Join(o.pushedSecrets(), " "), changedSecret+" "+changedSecret) })
	o.eventually("the status of the webhook", func() string {
		status := get(o, &v1alpha1.SocialNetwork{}, "acme").Status.Webhooks
		return notEqual(fmt.Sprint(status), fmt.Sprint([]v1alpha1.WebhookStatus{{Name: "crm", Applied: true}}))
	})
	o.condition("acme", v1alpha1.ConditionWebhooksApplied, "True", v1alpha1.ReasonWebhooksRun)

	o.edit("acme", func(sn *v1alpha1.SocialNetwork) { sn.Spec.Webhooks, sn.Spec.PreHook = nil, nil })
	o.condition("acme", v1alpha1.ConditionWebhooksApplied, "True", v1alpha1.ReasonNoWebhooks)
	require.Empty(t, o.pushedSecrets())
	require.Equal(t, generation, o.deployment("acme", "us").Generation, "the pods were not replaced")
	o.requireNoSecret("hush")
}

// pushedSecrets returns the secrets of the hooks that were pushed last.
func (o *operator) pushedSecrets() []string {
	var secrets []string
	hooks := o.servers.pushedHooks()
	for _, w := range hooks.Webhooks {
		secrets = append(secrets, w.Secret)
	}
	if hooks.Prehook != nil {
		secrets = append(secrets, hooks.Prehook.Secret)
	}
	return secrets
}

// setDirectoryKey gives the servers the key with which they compute digests, and makes them report that they run no hooks.
func (o *operator) setDirectoryKey() {
	o.t.Helper()
	identity := get(o, &corev1.Secret{}, render.IdentitySecret("acme"))
	o.servers.setDirectoryKey(identity.Data[keyring.DirectoryKeyFile])
}

// requireNoSecret fails if a text is in the status, the events or the log of the operator.
func (o *operator) requireNoSecret(text string) {
	o.t.Helper()
	status, err := json.Marshal(get(o, &v1alpha1.SocialNetwork{}, "acme").Status)
	require.NoError(o.t, err)
	require.NotContains(o.t, string(status), text)
	events, err := json.Marshal(o.events())
	require.NoError(o.t, err)
	require.NotContains(o.t, string(events), text)
	require.NotContains(o.t, logged.text(), text)
}
