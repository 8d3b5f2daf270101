package platformclient

import (
	"context"
	"net/http"
	"strings"

	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/platform/statusz"
)

// Hooks are the webhooks and the pre-hook to push. Their settings contain secrets.
type Hooks struct {
	Webhooks []statusz.HookSettings
	Prehook  *statusz.HookSettings // nil if there is none
}

// Refusal is why servers refuse a webhook or the pre-hook, whose name is empty.
type Refusal struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// managedWebhook and managedPrehook are the bodies of the platform's operations.
type managedWebhook struct {
	Name    string   `json:"name"`
	URL     string   `json:"url"`
	Events  []string `json:"events"`
	Secret  string   `json:"secret"`
	Enabled bool     `json:"isEnabled"`
}

type managedPrehook struct {
	URL           string   `json:"callbackUrl"`
	DefaultAction string   `json:"defaultAction"`
	Events        []string `json:"events"`
	TimeoutMS     int      `json:"timeout"`
	Secret        string   `json:"secret"`
	Enabled       bool     `json:"isEnabled"`
}

// PushHooks sets the webhooks and the pre-hook of the network.
func (h *HTTP) PushHooks(ctx context.Context, server Server, token keyring.Secret, hooks Hooks) ([]Refusal, error) {
	refused, err := h.pushWebhooks(ctx, server, token, hooks.Webhooks)
	if err != nil {
		return nil, err
	}
	reason, err := h.pushPrehook(ctx, server, token, hooks.Prehook)
	if err == nil && reason != "" {
		refused = append(refused, Refusal{Reason: reason})
	}
	return refused, err
}

func (h *HTTP) pushWebhooks(ctx context.Context, server Server, token keyring.Secret, all []statusz.HookSettings) ([]Refusal, error) {
	body := struct {
		Webhooks []managedWebhook `json:"webhooks"`
	}{[]managedWebhook{}}
	for _, s := range all {
		body.Webhooks = append(body.Webhooks, managedWebhook{Name: s.Name, URL: s.URL, Events: s.Events, Secret: s.Secret, Enabled: s.Enabled})
	}
	var response struct {
		Webhooks []struct {
			Name string `json:"name"`
		} `json:"webhooks"`
		Refused []Refusal `json:"refused"`
	}
	if err := h.call(ctx, server, http.MethodPut, statusz.WebhooksPath, token, body, &response); err != nil {
		return nil, err
	}
	if len(response.Webhooks)+len(response.Refused) != len(all) {
		return nil, &ResponseError{Status: http.StatusOK, Reason: "it has other webhooks than the request"}
	}
	return response.Refused, nil
}

// pushPrehook returns why the server refuses the pre-hook, or "".
func (h *HTTP) pushPrehook(ctx context.Context, server Server, token keyring.Secret, s *statusz.HookSettings) (string, error) {
	var body struct {
		Prehook *managedPrehook `json:"prehook,omitempty"`
	}
	if s != nil {
		body.Prehook = &managedPrehook{
			URL: s.URL, DefaultAction: s.DefaultAction, Events: s.Events, TimeoutMS: s.TimeoutMS, Secret: s.Secret, Enabled: s.Enabled,
		}
	}
	var response struct {
		Prehook *struct{} `json:"prehook"`
		Refused string    `json:"refused"`
	}
	if err := h.call(ctx, server, http.MethodPut, statusz.PrehookPath, token, body, &response); err != nil {
		return "", err
	}
	if response.Prehook == nil {
		return "", &ResponseError{Status: http.StatusOK, Reason: "it has no pre-hook"}
	}
	return strings.TrimSpace(response.Refused), nil
}
