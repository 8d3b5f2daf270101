package conformance

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// auditChange is a target of an event with its values before and after.
type auditChange struct {
	Type, ID      string
	Before, After map[string]any
}

// changesOf returns the changes of the latest event of an operation, as administrators read them.
func changesOf(t *testing.T, admin *apptest.Client, operation string) []auditChange {
	t.Helper()
	var read struct {
		Events []struct{ Changes []auditChange }
	}
	found := admin.Do(t, http.MethodGet, auditPath+"?operation="+operation+"&options[limit]=1", nil).OK(t)
	require.NoError(t, json.Unmarshal(found.Body, &read))
	require.Len(t, read.Events, 1, operation)
	return read.Events[0].Changes
}

// TestWebhooksAreAudited checks the values before and after changes of webhooks and of the pre-hook, which contain no secrets.
func TestWebhooksAreAudited(t *testing.T) {
	t.Parallel()
	n := hookNetwork(t)
	admin := n.Admin(region.SG)
	hook := admin.Do(t, http.MethodPost, webhooksPath, object{"url": "https://one.example.com", "name": "one"}).OK(t)
	id := hook.String(t, "webhook.webhookId")
	values := map[string]any{
		"name": "one", "url": "https://one.example.com", "events": []any{}, "isManaged": false, "isEnabled": true,
		"isDeleted": false,
	}
	require.Equal(t, []auditChange{{Type: "webhook", ID: id, After: values}}, changesOf(t, admin, "WebhookService/CreateWebhook"))

	admin.Do(t, http.MethodPut, webhooksPath+"/"+id, object{"url": "https://two.example.com"}).OK(t)
	changed := with(values, object{"url": "https://two.example.com"})
	require.Equal(t, []auditChange{{Type: "webhook", ID: id, Before: values, After: changed}},
		changesOf(t, admin, "WebhookService/UpdateWebhook"))
	admin.Do(t, http.MethodDelete, webhooksPath+"/"+id, nil).OK(t)
	require.Equal(t, true, changesOf(t, admin, "WebhookService/DeleteWebhook")[0].After["isDeleted"])

	admin.Do(t, http.MethodPut, "/api/v3/network-settings/webhook", object{"webhookEnabled": false}).OK(t)
	settings := changesOf(t, admin, "WebhookService/UpdateWebhookSettings")
	require.Len(t, settings, 1)
	require.Equal(t, false, settings[0].After["isWebhookEnabled"])

	managed := object{"name": "managed", "url": "https://one.example.com", "events": []string{}, "secret": "a secret of some length and more"}
	admin.Do(t, http.MethodPut, "/api/v3/network-settings/managed-webhooks", object{"webhooks": []object{managed}}).OK(t)
	replaced := changesOf(t, admin, "WebhookService/ReplaceManagedWebhooks")
	require.Len(t, replaced, 1)
	require.Equal(t, "managed", replaced[0].After["name"])

	admin.Do(t, http.MethodPut, "/api/v3/network-settings/prehook", object{"callbackUrl": "https://pre.example.com"}).OK(t)
	prehook, ok := changesOf(t, admin, "PrehookService/UpdatePrehook")[0].After["prehook"].(map[string]any)
	require.True(t, ok)
	require.Equal(t, "https://pre.example.com", prehook["url"])
	require.NotContains(t, prehook, "secret")
}

// TestSecretsOfWebhooksAreStoredEncrypted searches the answer that is kept for an Idempotency-Key.
func TestSecretsOfWebhooksAreStoredEncrypted(t *testing.T) {
	t.Parallel()
	n := hookNetwork(t)
	admin, hook := n.Admin(region.EU).With("Idempotency-Key", "key"), object{"url": "https://hooks.example.com/plaza"}
	first := admin.Do(t, http.MethodPost, webhooksPath, hook).OK(t)
	secret := first.String(t, "secret")
	require.NotEmpty(t, secret)
	again := admin.At(region.SG).Do(t, http.MethodPost, webhooksPath, hook).OK(t)
	require.Equal(t, first.JSON(t), again.JSON(t))
	require.Equal(t, "true", again.Header.Get("Idempotency-Replayed"))

	conn := connectTo(t, n)
	var answers, plain int
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*), count(*) FILTER (WHERE position($1::bytea IN answer) > 0)
		FROM idempotency_keys WHERE answer IS NOT NULL`, []byte(secret)).Scan(&answers, &plain))
	require.Equal(t, 1, answers)
	require.Zero(t, plain, "answers with the secret in clear")
}
