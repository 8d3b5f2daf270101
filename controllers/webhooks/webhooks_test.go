package webhooks_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/controllers/stagetest"
	"github.com/plaza-social/plaza/controllers/webhooks"
	"github.com/plaza-social/plaza/platform/statusz"
)

// Secrets of the hooks, in which no other text occurs.
const (
	crmSecret = "crm-hush-hush-hush-hush-hush"
	askSecret = "ask-hush-hush-hush-hush-hush"
)

// newHarness returns a network of two regions with keys, two webhooks and a pre-hook, whose servers run none of them.
func newHarness(t *testing.T) *stagetest.Harness {
	t.Helper()
	h := stagetest.New(t, v1alpha1.RegionUS, v1alpha1.RegionEU)
	h.SettleKeys()
	h.TakeEvents()
	h.SN.Status.NetworkID = "0123456789abcdef01234567"
	h.CreateSecret("crm", map[string]string{render.HookKey: crmSecret + "\n", "other": "other"})
	h.CreateSecret("ask", map[string]string{render.HookKey: askSecret})
	h.SN.Spec.Webhooks = []v1alpha1.Webhook{
		{
			Name: "crm", URL: "https://crm.example.com/", SecretRef: v1alpha1.LocalSecretReference{Name: "crm"}, Events: []string{"post.created"},
			Enabled: true,
		},
		{Name: "index", URL: "https://index.example.com/", SecretRef: v1alpha1.LocalSecretReference{Name: "ask"}},
	}
	h.SN.Spec.PreHook = &v1alpha1.PreHook{
		URL: "https://ask.example.com/", SecretRef: v1alpha1.LocalSecretReference{Name: "ask"}, Timeout: "1.5s", DefaultAction: "Deny",
		Enabled: true,
	}
	h.Servers.Hooks = map[v1alpha1.RegionCode]*statusz.Hooks{}
	for code := range h.Servers.Pods {
		h.Servers.Hooks[code] = &statusz.Hooks{Enabled: true, AsOf: stagetest.Start}
	}
	h.Servers.UnreachableAPIs = map[string]bool{}
	return h
}

// takePushes returns the number of pushes since the last call.
func takePushes(h *stagetest.Harness) int {
	n := len(h.Servers.Pushes)
	h.Servers.Pushes = nil
	return n
}

// settled returns a harness whose servers run the hooks of the spec.
func settled(t *testing.T) *stagetest.Harness {
	t.Helper()
	h := newHarness(t)
	h.Run(webhooks.Stage{})
	require.Equal(t, v1alpha1.ReasonWebhooksRun, h.Run(webhooks.Stage{}).Reason)
	takePushes(h)
	return h
}

// TestHooksArePushed pushes the hooks to each region once, with their secrets, and reads them back.
func TestHooksArePushed(t *testing.T) {
	h := newHarness(t)
	first := h.Run(webhooks.Stage{})
	require.Equal(t, v1alpha1.ReasonWebhooksPushed, first.Reason)
	require.Equal(t, "The webhooks and the pre-hook were pushed; not every server in us and eu reports them yet.", first.Message)
	require.Equal(t, time.Second, first.Requeue)
	require.Equal(t, 2, takePushes(h))
	require.Equal(t, platformclient.Hooks{
		Webhooks: []statusz.HookSettings{
			{Name: "crm", URL: "https://crm.example.com/", Events: []string{"post.created"}, Enabled: true, Secret: crmSecret},
			{Name: "index", URL: "https://index.example.com/", Secret: askSecret},
		},
		Prehook: &statusz.HookSettings{URL: "https://ask.example.com/", Enabled: true, DefaultAction: "deny", TimeoutMS: 1500, Secret: askSecret},
	}, h.Servers.PushedHooks)
	second := h.Run(webhooks.Stage{})
	require.Equal(t, metav1.ConditionTrue, second.Status)
	require.Equal(t, "All 4 servers in 2 regions run the spec's 2 webhooks and pre-hook.", second.Message)
	require.Zero(t, takePushes(h), "they are equal by content")
	require.Zero(t, second.Requeue)
	require.Equal(t, []v1alpha1.WebhookStatus{{Name: "crm", Applied: true}, {Name: "index", Applied: true}}, h.SN.Status.Webhooks)
	for _, name := range []string{"crm", "ask"} {
		require.Equal(t, "true", h.Secret(name).Labels[render.LabelWatched], "a change of the Secret starts a pass")
	}
	text, err := json.Marshal(h.SN.Status)
	require.NoError(t, err)
	require.NotContains(t, string(text)+strings.Join(h.Events, ""), "hush")
}

// TestHooksOfTheSpecAreFollowed changes each part of the spec and of the Secrets: it is pushed.
func TestHooksOfTheSpecAreFollowed(t *testing.T) {
	for name, change := range map[string]func(h *stagetest.Harness){
		"address":         func(h *stagetest.Harness) { h.SN.Spec.Webhooks[0].URL = "https://other.example.com/" },
		"events":          func(h *stagetest.Harness) { h.SN.Spec.Webhooks[0].Events = nil },
		"disabled":        func(h *stagetest.Harness) { h.SN.Spec.Webhooks[0].Enabled = false },
		"removed":         func(h *stagetest.Harness) { h.SN.Spec.Webhooks = h.SN.Spec.Webhooks[:1] },
		"all removed":     func(h *stagetest.Harness) { h.SN.Spec.Webhooks, h.SN.Spec.PreHook = nil, nil },
		"prehook address": func(h *stagetest.Harness) { h.SN.Spec.PreHook.URL = "https://other.example.com/" },
		"prehook events":  func(h *stagetest.Harness) { h.SN.Spec.PreHook.Events = []string{"post.created"} },
		"prehook off":     func(h *stagetest.Harness) { h.SN.Spec.PreHook.Enabled = false },
		"prehook Secret":  func(h *stagetest.Harness) { h.SN.Spec.PreHook.SecretRef.Name = "crm" },
		"default action":  func(h *stagetest.Harness) { h.SN.Spec.PreHook.DefaultAction = "Allow" },
		"time":            func(h *stagetest.Harness) { h.SN.Spec.PreHook.Timeout = "1s" },
		"without prehook": func(h *stagetest.Harness) { h.SN.Spec.PreHook = nil },
		"another Secret":  func(h *stagetest.Harness) { h.SN.Spec.Webhooks[0].SecretRef.Name = "ask" },
		"its content": func(h *stagetest.Harness) {
			h.EditSecret("crm", func(s *corev1.Secret) { s.Data[render.HookKey] = []byte("another-hush-hush-hush-hush") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := settled(t)
			change(h)
			first := h.Run(webhooks.Stage{})
			require.Equal(t, v1alpha1.ReasonWebhooksPushed, first.Reason)
			require.Equal(t, time.Second, first.Requeue, "it is no retry")
			require.Equal(t, 2, takePushes(h))
			require.Equal(t, metav1.ConditionTrue, h.Run(webhooks.Stage{}).Status)
			require.Zero(t, takePushes(h))
		})
	}
}

// TestHooksThatCannotBePushed runs two passes.
func TestHooksThatCannotBePushed(t *testing.T) {
	for name, c := range map[string]struct {
		given         func(h *stagetest.Harness)
		reason        v1alpha1.Reason // after the second pass
		status        metav1.ConditionStatus
		message       string
		pushes        int // of both passes
		pending       string
		requeue       time.Duration // of the second pass
		refused       string        // of the first webhook
		secondApplied bool
	}{
		"missing Secret": {
			given: func(h *stagetest.Harness) { h.DeleteSecret("crm") }, reason: v1alpha1.ReasonSecretMissing, status: metav1.ConditionFalse,
			message: "Secret crm does not exist in the namespace", requeue: 3 * time.Second,
		},
		"Secret without the key": {
			given: func(h *stagetest.Harness) {
				h.EditSecret("ask", func(s *corev1.Secret) { delete(s.Data, render.HookKey) })
			},
			reason: v1alpha1.ReasonSecretIncomplete, status: metav1.ConditionFalse, message: "Secret ask has no key secret.",
		},
		"paused": {
			given: func(h *stagetest.Harness) { h.SN.Spec.Paused = true }, reason: v1alpha1.ReasonPausedBySpec, status: metav1.ConditionFalse,
			message: "Servers in us and eu do not run", pending: "push the webhooks and the pre-hook to us and eu",
		},
		"refused by the servers": {
			given: func(h *stagetest.Harness) {
				h.Servers.Refused = []platformclient.Refusal{
					{Name: "crm", Reason: "url: the address is not public " + crmSecret},
					{Reason: "events: \"x\""},
				}
			},
			reason: v1alpha1.ReasonWebhooksRefused, status: metav1.ConditionFalse, pushes: 4,
			message: `The servers refuse the pre-hook: events: "x"; webhook crm: url: the address is not public [secret].`,
			refused: "url: the address is not public [secret]", secondApplied: true,
		},
		"rejected": {
			given: func(h *stagetest.Harness) {
				h.Servers.PushError = &platformclient.ResponseError{Status: 422, Code: 500000}
			},
			reason: v1alpha1.ReasonWebhooksRefused, status: metav1.ConditionFalse, message: "The webhooks were rejected: region us: ", pushes: 4,
		},
		"rejected for now": {
			given:  func(h *stagetest.Harness) { h.Servers.PushError = &platformclient.ResponseError{Status: 503} },
			reason: v1alpha1.ReasonWebhooksPushFailed, status: metav1.ConditionFalse, pushes: 4, requeue: 5 * time.Second,
		},
		"unreachable": {
			given: func(h *stagetest.Harness) {
				h.Servers.UnreachableAPIs = map[string]bool{"10.0.0.0": true, "10.0.1.0": true}
			},
			reason: v1alpha1.ReasonWebhooksPushFailed, status: metav1.ConditionFalse, message: "connection refused; region eu: ", pushes: 4,
			requeue: 5 * time.Second,
		},
		"one region is unreachable and gets them by replication": {
			given:  func(h *stagetest.Harness) { h.Servers.UnreachableAPIs["10.0.0.0"] = true },
			reason: v1alpha1.ReasonWebhooksRun, status: metav1.ConditionTrue, pushes: 2, secondApplied: true,
		},
		"no server": {
			given:  func(h *stagetest.Harness) { clear(h.Servers.Pods) },
			reason: v1alpha1.ReasonNoServers, status: metav1.ConditionUnknown, message: "No server is ready in us and eu.",
		},
		"a server that cannot read": {
			given: func(h *stagetest.Harness) {
				h.Run(webhooks.Stage{})
				takePushes(h)
				h.Servers.Pods[v1alpha1.RegionEU][1].Hooks = &statusz.Hooks{Error: "connection lost", AsOf: stagetest.Start}
			},
			reason: v1alpha1.ReasonServersSilent, status: metav1.ConditionUnknown, message: "pod acme-eu-1: connection lost", secondApplied: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			c.given(h)
			h.Run(webhooks.Stage{})
			second := h.Run(webhooks.Stage{})
			require.Empty(t, second.Errors)
			require.Equal(t, c.reason, second.Reason, second.Message)
			require.Equal(t, c.status, second.Status)
			require.Contains(t, second.Message, c.message)
			require.Equal(t, c.pushes, takePushes(h))
			require.Equal(t, c.pending, strings.Join(h.SN.Status.PendingChanges, "; "))
			require.Equal(t, c.requeue, second.Requeue)
			if len(h.SN.Status.Webhooks) > 0 {
				require.Equal(t, c.refused, h.SN.Status.Webhooks[0].Refused)
				require.Equal(t, c.secondApplied, h.SN.Status.Webhooks[1].Applied)
			}
			require.NotContains(t, second.Message, "hush")
		})
	}
}

// TestFirstPushAfterAChange fails in one region when the spec changes: the other region gets the hooks, and the servers copy them.
func TestFirstPushAfterAChange(t *testing.T) {
	h := newHarness(t)
	h.SN.Spec.Paused = true
	require.Equal(t, v1alpha1.ReasonPausedBySpec, h.Run(webhooks.Stage{}).Reason)
	h.SN.Spec.Paused, h.SN.Generation = false, h.SN.Generation+1
	h.Servers.UnreachableAPIs["10.0.0.0"] = true
	result := h.Run(webhooks.Stage{})
	require.Equal(t, v1alpha1.ReasonWebhooksPushed, result.Reason, result.Message)
	require.Equal(t, v1alpha1.ReasonWebhooksRun, h.Run(webhooks.Stage{}).Reason)
}

// TestDeletedSecretKeepsTheWebhook deletes the Secret of a webhook that the servers run: nothing is pushed that would remove it with
// the events that wait.
func TestDeletedSecretKeepsTheWebhook(t *testing.T) {
	h := settled(t)
	h.DeleteSecret("crm")
	require.Equal(t, v1alpha1.ReasonSecretMissing, h.Run(webhooks.Stage{}).Reason)
	require.Zero(t, takePushes(h))
	require.NotNil(t, h.Servers.Hooks[v1alpha1.RegionEU].Find("crm"))
}

// TestDeliveries reports how the deliveries go.
func TestDeliveries(t *testing.T) {
	ago := func(d time.Duration) time.Time { return stagetest.Start.Add(-d) }
	for name, c := range map[string]struct {
		given  func(hooks *statusz.Hooks)
		reason v1alpha1.Reason
		text   string
		want   v1alpha1.WebhookStatus
	}{
		"recent": {
			given: func(hooks *statusz.Hooks) {
				hooks.Webhooks[0].Deliveries = []statusz.Deliveries{{Home: "us", Oldest: ago(59 * time.Second)}}
			},
			reason: v1alpha1.ReasonWebhooksRun, want: v1alpha1.WebhookStatus{Name: "crm", Applied: true},
		},
		"a minute old": {
			given: func(hooks *statusz.Hooks) {
				hooks.Webhooks[0].Deliveries = []statusz.Deliveries{{Home: "us", Oldest: ago(time.Minute)}}
			},
			reason: v1alpha1.ReasonWebhooksRun,
			want:   v1alpha1.WebhookStatus{Name: "crm", Applied: true, OldestUndelivered: new(metav1.NewTime(ago(time.Minute)))},
		},
		"late": {
			given: func(hooks *statusz.Hooks) {
				hooks.Webhooks[0].Deliveries = []statusz.Deliveries{{Home: "us", Oldest: ago(9 * time.Minute), Failed: "timeout"}}
			},
			reason: v1alpha1.ReasonWebhooksRun,
			want: v1alpha1.WebhookStatus{
				Name: "crm", Applied: true, OldestUndelivered: new(metav1.NewTime(ago(9 * time.Minute))), LastFailure: "timeout",
			},
		},
		"failing": {
			given: func(hooks *statusz.Hooks) {
				hooks.Webhooks[0].Deliveries = []statusz.Deliveries{
					{Home: "us", Oldest: ago(2 * time.Minute), Dead: 3}, {Home: "eu", Oldest: ago(10 * time.Minute), Failed: "status", Dead: 4},
				}
			},
			reason: v1alpha1.ReasonDeliveriesFailing, text: "Events wait for delivery to the webhooks crm (since 2026-11-21T08:50:00Z: status).",
			want: v1alpha1.WebhookStatus{
				Name: "crm", Applied: true, OldestUndelivered: new(metav1.NewTime(ago(10 * time.Minute))), LastFailure: "status", DeadLetters: 7,
			},
		},
		"failing without an answer": {
			given: func(hooks *statusz.Hooks) {
				for i := range hooks.Webhooks {
					hooks.Webhooks[i].Deliveries = []statusz.Deliveries{{Home: "eu", Oldest: ago(time.Hour), Dead: 2}, {Home: "eu", Dead: 1}}
				}
			},
			reason: v1alpha1.ReasonDeliveriesFailing,
			text:   "Events wait for delivery to the webhooks crm (since 2026-11-21T08:00:00Z) and index (since 2026-11-21T08:00:00Z).",
			want: v1alpha1.WebhookStatus{
				Name: "crm", Applied: true, OldestUndelivered: new(metav1.NewTime(ago(time.Hour))), DeadLetters: 2,
			},
		},
		"disabled by an administrator": {
			given:  func(hooks *statusz.Hooks) { hooks.Enabled = false },
			reason: v1alpha1.ReasonWebhooksDisabled, text: "disabled all webhooks", want: v1alpha1.WebhookStatus{Name: "crm", Applied: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := settled(t)
			c.given(h.Servers.Hooks[v1alpha1.RegionEU])
			result := h.Run(webhooks.Stage{})
			require.Equal(t, c.reason, result.Reason, result.Message)
			require.Contains(t, result.Message, c.text)
			require.Equal(t, c.want, h.SN.Status.Webhooks[0])
			require.Zero(t, takePushes(h))
		})
	}
}

// TestWithoutHooks asks nothing of the servers of a network without hooks, also of those of earlier versions.
func TestWithoutHooks(t *testing.T) {
	h := newHarness(t)
	h.SN.Spec.Webhooks, h.SN.Spec.PreHook = nil, nil
	h.Servers.Hooks[v1alpha1.RegionEU] = nil
	require.Equal(t, v1alpha1.ReasonNoWebhooks, h.Run(webhooks.Stage{}).Reason)
	require.Zero(t, takePushes(h))

	h.SN.Status.NetworkID = ""
	require.Equal(t, v1alpha1.ReasonWaitingForKeys, h.Run(webhooks.Stage{}).Reason)
}

// TestRefusedHooks pushes no hooks that the operator's restrictions do not allow.
func TestRefusedHooks(t *testing.T) {
	h := newHarness(t)
	h.SN.Spec.Paused = true
	h.Run(webhooks.Stage{})
	h.Pass.SN.Spec.Paused, h.Pass.Refused = false, "The operator does not allow it."
	require.Equal(t, stage.False(v1alpha1.ReasonNotAllowed, h.Pass.Refused), webhooks.Stage{}.Run(t.Context(), h.Pass))
	require.Zero(t, takePushes(h))
	h.Pass.SN.Spec.Webhooks = nil
	require.Equal(t, v1alpha1.ReasonNotAllowed, webhooks.Stage{}.Run(t.Context(), h.Pass).Reason, "there is a pre-hook")
	h.Pass.SN.Spec.PreHook = nil
	require.Equal(t, v1alpha1.ReasonNoWebhooks, webhooks.Stage{}.Run(t.Context(), h.Pass).Reason,
		"pods are refused, but there is nothing to push")
}

// TestDefaultTimeout checks the time that a pre-hook without one has.
func TestDefaultTimeout(t *testing.T) {
	h := newHarness(t)
	h.SN.Spec.PreHook.Timeout = ""
	h.Run(webhooks.Stage{})
	require.Equal(t, 3000, h.Servers.PushedHooks.Prehook.TimeoutMS)
}

// TestUnreadableHooks pushes nothing if a Secret cannot be read: servers would lose the hook.
func TestUnreadableHooks(t *testing.T) {
	for name, c := range map[string]struct {
		reason  v1alpha1.Reason
		message string
	}{
		"crm":           {v1alpha1.ReasonApplyFailed, "the cache is gone"},
		"ask":           {v1alpha1.ReasonApplyFailed, "the cache is gone"},
		"acme-identity": {v1alpha1.ReasonWaitingForKeys, "Webhooks wait for the network's identity; see KeysReady."},
	} {
		h := newHarness(t)
		h.Cache = stagetest.Unreadable{Client: h.Client, Prefix: name}
		result := h.Run(webhooks.Stage{})
		require.Equal(t, metav1.ConditionUnknown, result.Status, name)
		require.Equal(t, c.reason, result.Reason, name)
		require.Equal(t, c.message, result.Message, name)
		require.Zero(t, takePushes(h), name)
	}
}

// TestRefusalIsRemembered pauses a network after its servers have refused a webhook: the status still says why.
func TestRefusalIsRemembered(t *testing.T) {
	h := newHarness(t)
	h.Servers.Refused = []platformclient.Refusal{{Name: "index", Reason: "url: the address is not public"}}
	h.Run(webhooks.Stage{})
	h.SN.Spec.Paused = true
	require.Equal(t, v1alpha1.ReasonPausedBySpec, h.Run(webhooks.Stage{}).Reason)
	require.Equal(t, []v1alpha1.WebhookStatus{
		{Name: "crm", Applied: true}, {Name: "index", Refused: "url: the address is not public"},
	}, h.SN.Status.Webhooks)
	h.SN.Spec.Paused, h.Servers.Refused = false, nil
	h.Run(webhooks.Stage{})
	require.Empty(t, h.SN.Status.Webhooks[1].Refused, "it was pushed again, and is not refused")
	h.Run(webhooks.Stage{})
	require.Equal(t, []v1alpha1.WebhookStatus{{Name: "crm", Applied: true}, {Name: "index", Applied: true}}, h.SN.Status.Webhooks)
}

// TestNamesOfHooks checks how the condition names the hooks that run.
func TestNamesOfHooks(t *testing.T) {
	for names, change := range map[string]func(spec *v1alpha1.SocialNetworkSpec){
		"2 webhooks and pre-hook": func(*v1alpha1.SocialNetworkSpec) {},
		"webhook and pre-hook":    func(spec *v1alpha1.SocialNetworkSpec) { spec.Webhooks = spec.Webhooks[1:] },
		"2 webhooks":              func(spec *v1alpha1.SocialNetworkSpec) { spec.PreHook = nil },
		"pre-hook":                func(spec *v1alpha1.SocialNetworkSpec) { spec.Webhooks = nil },
	} {
		h := newHarness(t)
		change(&h.SN.Spec)
		h.Run(webhooks.Stage{})
		require.Equal(t, "All 4 servers in 2 regions run the spec's "+names+".", h.Run(webhooks.Stage{}).Message)
	}
}

// TestHooksThatServersHaveNotRead waits for a server that has not read its webhooks yet.
func TestHooksThatServersHaveNotRead(t *testing.T) {
	h := settled(t)
	read := h.Servers.Hooks[v1alpha1.RegionEU]
	h.Servers.Hooks[v1alpha1.RegionEU] = &statusz.Hooks{Enabled: true}
	result := h.Run(webhooks.Stage{})
	require.NotEqual(t, metav1.ConditionTrue, result.Status)
	require.Contains(t, result.Message, "the webhooks were not read yet")
	h.Servers.Hooks[v1alpha1.RegionEU] = read
	require.Equal(t, v1alpha1.ReasonWebhooksRun, h.Run(webhooks.Stage{}).Reason)
}

// TestWebhooksThatAreOff disables all webhooks of the spec: it does not matter that an administrator disabled them as well.
func TestWebhooksThatAreOff(t *testing.T) {
	h := newHarness(t)
	h.SN.Spec.Webhooks[0].Enabled = false
	h.Run(webhooks.Stage{})
	h.Servers.Hooks[v1alpha1.RegionEU].Enabled = false
	require.Equal(t, v1alpha1.ReasonWebhooksRun, h.Run(webhooks.Stage{}).Reason)
}

// TestMembersReceiveHooks pushes the hooks to one region, over the connection to its cluster.
func TestMembersReceiveHooks(t *testing.T) {
	for _, code := range []v1alpha1.RegionCode{v1alpha1.RegionUS, v1alpha1.RegionEU} {
		h := settled(t)
		h.Join(v1alpha1.RegionEU)
		h.Servers.Hooks[code] = &statusz.Hooks{Enabled: true, AsOf: stagetest.Start}
		require.Equal(t, v1alpha1.ReasonWebhooksPushed, h.Run(webhooks.Stage{}).Reason)
		require.Equal(t, 1, takePushes(h))
		require.Equal(t, v1alpha1.ReasonWebhooksRun, h.Run(webhooks.Stage{}).Reason)
	}
}
