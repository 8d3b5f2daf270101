package conformance

import (
	"net/http"
	"testing"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const webhooksPath = "/api/v3/network-settings/webhooks"

func webhookRows() []row {
	create := func(t *testing.T, g *fixture) object {
		t.Helper()
		removeWebhook(t, g.n.Admin(region.EU), "created")
		return object{"url": "https://hooks.example.com/", "name": "created", "isEnabled": false}
	}
	// Each operation has a webhook of its own, of which a network can have ten.
	on := func(name string) func(*testing.T, *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			return object{"webhookId": disabledWebhook(t, g.n.Admin(region.EU), name)}
		}
	}
	enable := func(*testing.T, *fixture) object { return object{"webhookEnabled": true} }
	managed := func(*testing.T, *fixture) object { // of an event that does not happen
		return object{"webhooks": []object{{
			"name": apptest.UserID("hook"), "url": "https://hooks.example.com/", "events": []string{"user.deleted"},
			"secret": "a secret of some length and more",
		}}}
	}
	prehook := func(t *testing.T, g *fixture) object {
		t.Helper()
		g.n.Admin(region.EU).Do(t, http.MethodPut, managedPrehookPath, object{}).OK(t)
		return object{"enabled": false}
	}
	managedPrehook := func(*testing.T, *fixture) object { // a change that leaves the pre-hook off
		return object{"prehook": object{
			"callbackUrl": "https://hooks.example.com/" + apptest.UserID("ask"), "defaultAction": "allow", "timeout": 100, "isEnabled": false,
			"secret": "a secret of some length and more",
		}}
	}
	return []row{
		{procedure: "WebhookService/GetWebhookSettings", request: noFields, want: adminsOnly},
		{procedure: "WebhookService/UpdateWebhookSettings", request: enable, want: adminsOnly},
		{procedure: "WebhookService/ListWebhooks", request: noFields, want: adminsOnly},
		{procedure: "WebhookService/CreateWebhook", request: create, want: adminsOnly},
		{procedure: "WebhookService/GetWebhook", request: on("get"), want: adminsOnly},
		{procedure: "WebhookService/UpdateWebhook", request: on("update"), want: adminsOnly},
		{procedure: "WebhookService/DeleteWebhook", request: on("delete"), want: adminsOnly},
		{procedure: "WebhookService/ReplaceManagedWebhooks", request: managed, want: adminsOnly},
		{procedure: "WebhookService/ListWebhookDeliveries", request: on("deliveries"), want: adminsOnly},
		{procedure: "WebhookService/ReplayWebhookDeliveries", request: on("replay"), want: adminsOnly},
		{procedure: "PrehookService/GetPrehook", request: noFields, want: adminsOnly},
		{procedure: "PrehookService/UpdatePrehook", request: prehook, want: adminsOnly},
		{procedure: "PrehookService/ReplaceManagedPrehook", request: managedPrehook, want: adminsOnly},
	}
}

// webhookCalled returns the id of the webhook with a name, or an empty text.
func webhookCalled(t *testing.T, admin *apptest.Client, name string) string {
	t.Helper()
	for _, w := range admin.Do(t, http.MethodGet, webhooksPath, nil).OK(t).List(t, "webhooks") {
		if hook, _ := w.(map[string]any); hook["name"] == name {
			return hook["webhookId"].(string)
		}
	}
	return ""
}

func removeWebhook(t *testing.T, admin *apptest.Client, name string) {
	t.Helper()
	if id := webhookCalled(t, admin, name); id != "" {
		admin.Do(t, http.MethodDelete, webhooksPath+"/"+id, nil).OK(t)
	}
}

// disabledWebhook returns the id of the webhook with a name, which it creates if there is none.
func disabledWebhook(t *testing.T, admin *apptest.Client, name string) string {
	t.Helper()
	if id := webhookCalled(t, admin, name); id != "" {
		return id
	}
	r := admin.Do(t, http.MethodPost, webhooksPath, object{"url": "https://hooks.example.com/", "name": name, "isEnabled": false})
	return r.OK(t).String(t, "webhook.webhookId")
}
