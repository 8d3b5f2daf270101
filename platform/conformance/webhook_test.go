package conformance

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
)

const (
	prehookPath        = "/api/v3/network-settings/prehook"
	managedPath        = "/api/v3/network-settings/managed-webhooks"
	managedPrehookPath = "/api/v3/network-settings/managed-prehook"
)

// hookReceiver is a server of the app's. It answers what answer returns.
type hookReceiver struct {
	*httptest.Server
	mu     sync.Mutex
	calls  []hookCall
	answer func(hookCall) (int, any)
}

type hookCall struct {
	header http.Header
	raw    []byte
	body   map[string]any
}

func newHookReceiver(t *testing.T, answer func(hookCall) (int, any)) *hookReceiver {
	t.Helper()
	r := &hookReceiver{answer: answer}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		raw, _ := io.ReadAll(req.Body)
		call := hookCall{header: req.Header, raw: raw}
		_ = json.Unmarshal(raw, &call.body)
		r.mu.Lock()
		r.calls = append(r.calls, call)
		r.mu.Unlock()
		status, text := http.StatusOK, any(object{})
		if r.answer != nil {
			status, text = r.answer(call)
		}
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(text)
	}))
	t.Cleanup(r.Close)
	return r
}

// all returns the calls so far.
func (r *hookReceiver) all() []hookCall {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// await waits for a call about an event and an object that satisfies a condition.
func (r *hookReceiver) await(t *testing.T, event string, matches func(hookCall) bool) hookCall {
	t.Helper()
	var found hookCall
	require.Eventually(t, func() bool {
		all := r.all()
		i := slices.IndexFunc(all, func(c hookCall) bool { return c.body["event"] == event && matches(c) })
		if i >= 0 {
			found = all[i]
		}
		return i >= 0
	}, apptest.Patience, 10*time.Millisecond, event)
	return found
}

// has returns the condition that a collection of the data has an object whose field has a value.
func has(collection, field string, value any) func(hookCall) bool {
	return func(c hookCall) bool {
		data, _ := c.body["data"].(map[string]any)
		rows, _ := data[collection].([]any)
		return slices.ContainsFunc(rows, func(row any) bool {
			fields, _ := row.(map[string]any)
			return fields[field] == value
		})
	}
}

func hookNetwork(t *testing.T) *apptest.Network {
	t.Helper()
	return apptest.Start(t, apptest.WithConfig(func(cfg *config.Config) {
		cfg.WebhookNetworks = config.Networks{netip.MustParsePrefix("127.0.0.0/8")}
	}))
}

// TestWebhook follows events of two homes to a receiver.
func TestWebhook(t *testing.T) {
	t.Parallel()
	n, r := hookNetwork(t), newHookReceiver(t, nil)
	admin := n.Admin(region.EU)
	created := admin.Do(t, http.MethodPost, webhooksPath, object{"url": r.URL + "/all", "name": "all"}).OK(t)
	id, secret := created.String(t, "webhook.webhookId"), created.String(t, "secret")
	require.Regexp(t, `^whsec_[A-Za-z0-9+/]{43}=$`, secret)
	for _, path := range []string{webhooksPath, webhooksPath + "/" + id} {
		text := string(admin.Do(t, http.MethodGet, path, nil).OK(t).Body)
		require.NotContains(t, text, secret)
	}
	admin.Do(t, http.MethodPut, webhooksPath+"/"+id, object{"isEnabled": true}).OK(t)
	for _, home := range []region.Code{region.EU, region.SG} {
		author := n.SignIn(t, home, apptest.UserID("author"))
		community := author.NewCommunity(t)
		post := author.NewPost(t, community)
		comment := author.NewComment(t, post)
		r.await(t, "v3.community.didCreate", has("communities", "communityId", community))
		call := r.await(t, "v3.post.didCreate", has("posts", "postId", post))
		requireSignature(t, secret, call)
		r.await(t, "v3.comment.didCreate", has("comments", "commentId", comment))
		author.Do(t, http.MethodPut, "/api/v4/posts/"+post, object{"data": object{"text": "edited"}}).OK(t)
		r.await(t, "v3.post.didUpdate", has("posts", "postId", post))
		author.Do(t, http.MethodDelete, "/api/v4/posts/"+post, nil).OK(t)
		r.await(t, "v3.post.didDelete", has("posts", "postId", post))
	}
	log := admin.Do(t, http.MethodGet, webhooksPath+"/"+id+"/deliveries?state=delivered&options[limit]=3", nil).OK(t)
	require.Len(t, log.List(t, "deliveries"), 3)
	rest := admin.Do(t, http.MethodGet, webhooksPath+"/"+id+"/deliveries?state=delivered&options[token]="+log.String(t, "paging.next"),
		nil).OK(t)
	require.NotEmpty(t, rest.List(t, "deliveries"))
	require.NotEqual(t, log.Get(t, "deliveries.0.deliveryId"), rest.Get(t, "deliveries.0.deliveryId"))
	require.Equal(t, 200, log.Int(t, "deliveries.0.status"))
	for _, call := range r.all() {
		require.NotContains(t, string(call.raw), secret)
	}
}

// requireSignature verifies a delivery without the code that signs it.
func requireSignature(t *testing.T, secret string, call hookCall) {
	t.Helper()
	sign := func(key []byte, text string) string {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(text))
		return base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	key, err := base64.StdEncoding.DecodeString(secret[len("whsec_"):])
	require.NoError(t, err)
	signed := call.header.Get("webhook-id") + "." + call.header.Get("webhook-timestamp") + "." + string(call.raw)
	require.Equal(t, "v1,"+sign(key, signed), call.header.Get("webhook-signature"))
	require.Equal(t, sign([]byte(secret), string(call.raw)), call.header.Get("x-amity-signature"))
}

// TestWebhookSettings covers the limits, what is refused, and the switches.
func TestWebhookSettings(t *testing.T) {
	t.Parallel()
	n := hookNetwork(t)
	admin, user := n.Admin(region.US), n.SignIn(t, region.US, "ordinary")
	hook := object{"url": "https://hooks.example.com/plaza", "isEnabled": false}
	var ids []string
	for i := range 10 {
		at := []region.Code{region.US, region.EU, region.SG}[i%3]
		ids = append(ids, admin.At(at).Do(t, http.MethodPost, webhooksPath, hook).OK(t).String(t, "webhook.webhookId"))
	}
	requireFailure(t, invalid("webhooks: a network can have at most 10"), admin.Do(t, http.MethodPost, webhooksPath, hook))
	require.Equal(t, ids, admin.At(region.SG).Do(t, http.MethodGet, webhooksPath, nil).OK(t).Strings(t, "webhooks", "webhookId"))
	for _, c := range []*apptest.Client{user, n.Anonymous(region.US)} {
		require.NotEqual(t, http.StatusOK, c.Do(t, http.MethodGet, webhooksPath, nil).Status)
		require.NotEqual(t, http.StatusOK, c.Do(t, http.MethodDelete, webhooksPath+"/"+ids[0], nil).Status)
	}
	admin.Do(t, http.MethodDelete, webhooksPath+"/"+ids[0], nil).OK(t)
	for url, message := range map[string]string{
		"ftp://example.com": "url: must be", "http://10.0.0.1/": "url: the address is not public",
		"http://[::1]/":                 "url: the address is not public",
		"http://169.254.169.254/latest": "url: the address is not public", "https://user:pw@example.com/": "url: must be",
		"http://8.8.8.8:22/": "url: the address is not public",
	} {
		requireFailure(t, invalid(message), admin.Do(t, http.MethodPost, webhooksPath, object{"url": url}))
	}
	requireFailure(t, invalid(`events: "post.invented" is not the name of an event`),
		admin.Do(t, http.MethodPost, webhooksPath, object{"url": "https://example.com", "events": []string{"post.invented"}}))
	renewed := admin.Do(t, http.MethodPut, webhooksPath+"/"+ids[1], object{"events": []string{"post.created"}, "regenerateSecret": true}).OK(t)
	require.NotEmpty(t, renewed.String(t, "secret"))
	require.Equal(t, []any{"post.created"}, renewed.List(t, "webhook.events"))
	settings := "/api/v3/network-settings/webhook"
	require.Equal(t, map[string]any{"enabled": true}, admin.Do(t, http.MethodGet, settings, nil).OK(t).JSON(t))
	require.Equal(t, map[string]any{"enabled": false}, admin.Do(t, http.MethodPut, settings, object{"webhookEnabled": false}).OK(t).JSON(t))
	require.Equal(t, map[string]any{"enabled": false}, admin.At(region.SG).Do(t, http.MethodGet, settings, nil).OK(t).JSON(t))
}

// TestManagedWebhooks replaces the operator's webhooks.
func TestManagedWebhooks(t *testing.T) {
	t.Parallel()
	n := hookNetwork(t)
	admin := n.Admin(region.US)
	replace := func(hooks ...object) *apptest.Response {
		return admin.Do(t, http.MethodPut, managedPath, object{"webhooks": hooks}).OK(t)
	}
	one := object{"name": "one", "url": "https://one.example.com", "events": []string{}, "secret": "a secret of some length and more"}
	two := object{
		"name": "two", "url": "https://two.example.com", "events": []string{"post.created"},
		"secret": "another secret of some length",
	}
	first := replace(one, two)
	require.Equal(t, []string{"one", "two"}, first.Strings(t, "webhooks", "name"))
	require.NotContains(t, string(first.Body), "a secret of some")
	again := replace(one, two)
	require.Equal(t, first.JSON(t), again.JSON(t), "nothing changed")
	r := replace(with(one, object{"url": "https://other.example.com"}),
		object{"name": "bad", "url": "http://10.0.0.1", "secret": "another secret of some length"},
		object{"name": "short", "url": "https://example.com", "secret": "short"})
	require.Equal(t, first.Get(t, "webhooks.0.webhookId"), r.Get(t, "webhooks.0.webhookId"))
	require.Equal(t, []string{"one"}, r.Strings(t, "webhooks", "name"))
	require.Equal(t, []string{"bad", "short"}, r.Strings(t, "refused", "name"))
	require.Equal(t, "the secret must have 24 to 200 characters", r.String(t, "refused.1.reason"))
	id := r.String(t, "webhooks.0.webhookId")
	require.Equal(t, 403, admin.Do(t, http.MethodDelete, webhooksPath+"/"+id, nil).Status)
	require.Equal(t, 403, admin.Do(t, http.MethodPut, webhooksPath+"/"+id, object{"isEnabled": false}).Status)
	require.Equal(t, false, replace(with(one, object{"isEnabled": false})).Get(t, "webhooks.0.isEnabled"))
	require.Equal(t, true, replace(one).Get(t, "webhooks.0.isEnabled"))

	// Webhooks of administrators count.
	admin.Do(t, http.MethodPost, webhooksPath, object{"url": "https://own.example.com"}).OK(t)
	const most = 10
	var all []object
	for i := range most {
		all = append(all, with(one, object{"name": fmt.Sprint("hook-", i)}))
	}
	r = replace(all...)
	require.Len(t, r.List(t, "webhooks"), most-1)
	require.Equal(t, []string{fmt.Sprint("hook-", most-1)}, r.Strings(t, "refused", "name"))
}

// TestManagedWebhooksInSeveralRegions creates the same webhooks in all regions concurrently, as the operator does: there is one of each.
func TestManagedWebhooksInSeveralRegions(t *testing.T) {
	t.Parallel()
	n := hookNetwork(t)
	hook := object{"name": "one", "url": "https://one.example.com", "secret": "a secret of some length and more"}
	ids := make([]string, len(region.All()))
	var all sync.WaitGroup
	for i, code := range region.All() {
		all.Go(func() {
			r := n.Admin(code).Do(t, http.MethodPut, managedPath, object{"webhooks": []object{hook}})
			ids[i] = r.OK(t).String(t, "webhooks.0.webhookId")
		})
	}
	all.Wait()
	require.Equal(t, []string{ids[0], ids[0], ids[0]}, ids)
}

// TestManagedPrehook sets, changes and removes the operator's pre-hook, which administrators cannot change.
func TestManagedPrehook(t *testing.T) {
	t.Parallel()
	n := hookNetwork(t)
	admin := n.Admin(region.EU)
	own := admin.Do(t, http.MethodPut, prehookPath, object{"enabled": true, "callbackUrl": "https://own.example.com"}).OK(t)
	require.False(t, own.Get(t, "isManaged").(bool))
	replace := func(prehook any) *apptest.Response {
		return admin.Do(t, http.MethodPut, managedPrehookPath, object{"prehook": prehook}).OK(t)
	}
	require.Equal(t, "https://own.example.com", replace(nil).String(t, "prehook.callbackUrl"), "which the operator did not set")
	same := object{"secret": own.String(t, "secretKey")}
	for _, field := range []string{"callbackUrl", "defaultAction", "events", "timeout"} {
		same[field] = own.Get(t, field)
	}
	require.True(t, replace(same).Bool(t, "prehook.isManaged"), "the operator takes over a pre-hook with the same settings")
	hook := object{
		"callbackUrl": "https://ask.example.com", "defaultAction": "deny", "events": []string{"post.shouldCreate", "comment.shouldCreate"},
		"timeout": 500,
		"secret":  "a secret of some length and more",
	}
	first := replace(hook)
	require.NotContains(t, string(first.Body), "a secret of some")
	want := map[string]any{
		"enabled": true, "callbackUrl": "https://ask.example.com", "defaultAction": "deny",
		"events":  []any{"post.shouldCreate", "comment.shouldCreate"},
		"timeout": 500.0, "isManaged": true,
	}
	require.Equal(t, want, first.Get(t, "prehook"))
	require.Equal(t, want, replace(hook).Get(t, "prehook"))
	for reason, change := range map[string]object{
		"callbackUrl: the address is not public":    {"callbackUrl": "http://10.0.0.1"},
		"events: \"x\" is not the name of an event": {"events": []string{"x"}},
		"the secret must have 24 to 200 characters": {"secret": "short"}, "callbackUrl: must be set": {"callbackUrl": ""},
	} {
		refused := replace(with(hook, change))
		require.Contains(t, refused.String(t, "refused"), reason)
		require.Equal(t, want, refused.Get(t, "prehook"), "it stays as it was")
	}
	stored := func() string { return queryText(t, n, "SELECT max(value::text) FROM settings WHERE name = 'prehook'") }
	unchanged := stored()
	replace(hook)
	require.Equal(t, unchanged, stored(), "nothing is written if nothing changed")
	for field, value := range map[string]any{
		"timeout": 700.0, "defaultAction": "allow", "events": []any{"post.shouldCreate"}, "callbackUrl": "https://other.example.com",
	} {
		require.Equal(t, value, replace(with(hook, object{field: value})).Get(t, "prehook."+field))
		require.Equal(t, want, replace(hook).Get(t, "prehook"))
	}
	before := stored()
	replace(with(hook, object{"secret": "another secret of some length"}))
	require.NotEqual(t, before, stored())
	require.Equal(t, 403, admin.Do(t, http.MethodPut, prehookPath, object{"enabled": false}).Status)
	require.False(t, replace(with(hook, object{"isEnabled": false})).Get(t, "prehook.enabled").(bool))
	removed := replace(nil)
	require.False(t, removed.Get(t, "prehook.isManaged").(bool))
	require.False(t, removed.Get(t, "prehook.enabled").(bool))
	admin.Do(t, http.MethodPut, prehookPath, object{"enabled": true, "callbackUrl": "https://own.example.com"}).OK(t)
	requireFailure(t, invalid("prehook.timeout"),
		admin.Do(t, http.MethodPut, managedPrehookPath, object{"prehook": with(hook, object{"timeout": 5000})}))
}

// TestPrehookSettings changes the settings one by one: those that a request does not name stay as they are.
func TestPrehookSettings(t *testing.T) {
	t.Parallel()
	admin := hookNetwork(t).Admin(region.EU)
	put := func(fields object) *apptest.Response { return admin.Do(t, http.MethodPut, prehookPath, fields) }
	want := object{"enabled": false, "callbackUrl": "", "defaultAction": "allow", "events": []any{}, "isManaged": false}
	require.Subset(t, admin.Do(t, http.MethodGet, prehookPath, nil).OK(t).JSON(t), want)
	requireFailure(t, invalid("callbackUrl"), put(object{"enabled": true}))
	secret := ""
	for _, change := range []object{
		{"callbackUrl": "https://ask.example.com"},
		{"enabled": true},
		{"defaultAction": "deny"},
		{"events": []any{"post.shouldCreate"}},
		{"timeout": 300.0},
		{"enabled": false},
	} {
		want = with(want, change)
		r := put(change).OK(t)
		require.Subset(t, r.JSON(t), want)
		require.Equal(t, secret == "", r.Has(t, "secretKey"), "the key is shown when it is made")
		secret = "made"
		require.Subset(t, admin.Do(t, http.MethodGet, prehookPath, nil).OK(t).JSON(t), want)
	}
	regenerated := put(object{"regenerateKey": true}).OK(t).String(t, "secretKey")
	require.NotEqual(t, regenerated, put(object{"regenerateKey": true}).OK(t).String(t, "secretKey"))
	requireFailure(t, invalid("events"), put(object{"events": []string{"post.shouldCreate"}, "allEvents": true}))
	requireFailure(t, invalid("events"), put(object{"events": []string{"post.invented"}}))
	requireFailure(t, invalid("callbackUrl"), put(object{"callbackUrl": "http://10.0.0.1"}))
	require.Subset(t, put(object{"allEvents": true}).OK(t).JSON(t), with(want, object{"events": []any{}}))
}

// TestPrehook lets a pre-hook allow, change and deny what users do.
func TestPrehook(t *testing.T) {
	t.Parallel()
	n := hookNetwork(t)
	r := newHookReceiver(t, func(c hookCall) (int, any) {
		data, _ := c.body["data"].(map[string]any)
		text := fmt.Sprint(data["text"], data["data"])
		switch {
		case c.body["eventName"] == "user.shouldSignIn" && data["userId"] == "unwanted":
			return 200, object{"action": "deny", "message": "Not today"}
		case text == "" || !strings.Contains(text, "rude"):
			return 200, object{"action": "allow"}
		case strings.Contains(text, "very"):
			return 200, object{"action": "deny", "message": "Be kind"}
		}
		return 200, object{"action": "allow", "data": object{"data": object{"text": "polite"}, "targetId": "elsewhere"}}
	})
	admin := n.Admin(region.EU)
	author := n.SignIn(t, region.EU, "author")
	community := author.NewCommunity(t)
	set := admin.Do(t, http.MethodPut, prehookPath, object{"enabled": true, "callbackUrl": r.URL, "defaultAction": "deny"}).OK(t)
	secret := set.String(t, "secretKey")
	require.False(t, admin.Do(t, http.MethodGet, prehookPath, nil).OK(t).Has(t, "secretKey"))
	create := func(text string) *apptest.Response {
		return author.Do(t, http.MethodPost, "/api/v4/posts",
			object{"targetType": "community", "targetId": community, "data": object{"text": text}})
	}
	require.Eventually(t, func() bool {
		create("hello").OK(t)
		return len(r.all()) > 0
	}, apptest.Patience, 50*time.Millisecond)
	call := r.all()[0]
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(call.raw)
	require.Equal(t, hex.EncodeToString(mac.Sum(nil)), call.header.Get("x-signature"))
	require.Equal(t, "post.shouldCreate", call.body["eventName"])
	require.Equal(t, "author", call.body["actor"].(map[string]any)["userId"])
	require.Empty(t, call.header.Get("Traceparent"), "the request had no trace")
	trace := "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	author.With("Traceparent", trace).Do(t, http.MethodPost, "/api/v4/posts",
		object{"targetType": "community", "targetId": community, "data": object{"text": "traced"}}).OK(t)
	calls := r.all()
	require.Equal(t, trace, calls[len(calls)-1].header.Get("Traceparent"))
	changed := create("rude")
	require.Equal(t, "polite", changed.OK(t).String(t, "posts.0.data.text"))
	require.Equal(t, community, changed.String(t, "posts.0.targetId"), "which a pre-hook cannot change")
	code, message := create("very rude").Error(t)
	require.Equal(t, []any{400300, "Be kind"}, []any{code, message})
	code, message = n.Anonymous(region.EU).With("X-API-Key", n.APIKey).Do(t, http.MethodPost, "/api/v3/sessions",
		object{"userId": "unwanted", "deviceId": "d", "authToken": n.AuthToken(t, "unwanted")}).Error(t)
	require.Equal(t, []any{400300, "Not today"}, []any{code, message})
	for _, c := range r.all() {
		require.NotContains(t, string(c.raw), "authToken")
	}
	asked := len(r.all())
	admin.Do(t, http.MethodPost, "/api/v3/communities", object{"displayName": "very rude"}) // administrators are not asked about
	require.Len(t, r.all(), asked)
	r.Close()
	for range 7 { // of which the last ones are not sent
		code, message = create("hello").Error(t)
		require.Equal(t, []any{400300, "The request could not be checked"}, []any{code, message})
	}
	admin.Do(t, http.MethodPut, prehookPath, object{"defaultAction": "allow"}).OK(t)
	require.Eventually(t, func() bool { return create("hello").Status == 200 }, apptest.Patience, 50*time.Millisecond)
}
