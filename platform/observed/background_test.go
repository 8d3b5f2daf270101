package observed_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/telemetry"
)

type object = map[string]any

// receivers are a webhook and a push provider. They refuse the first request of a trace and keep the headers of all.
type receivers struct {
	*httptest.Server

	mu      sync.Mutex
	parents map[string][]string // headers traceparent, by path
}

const (
	webhookPath = "/webhook"
	fcmPath     = "/v1/projects/climbers/messages:send"
)

func newReceivers(t *testing.T) *receivers {
	t.Helper()
	r := &receivers{parents: map[string][]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token": "a", "token_type": "Bearer", "expires_in": 3600}`)
	})
	mux.HandleFunc("POST "+webhookPath, r.receive)
	mux.HandleFunc("POST "+fcmPath, r.receive)
	r.Server = httptest.NewServer(mux)
	t.Cleanup(r.Close)
	return r
}

func (r *receivers) receive(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	parent := request.Header.Get("Traceparent")
	if !strings.Contains(parent, traceID) {
		return
	}
	r.parents[request.URL.Path] = append(r.parents[request.URL.Path], parent)
	if len(r.parents[request.URL.Path]) == 1 {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// received returns the headers of the requests to a path.
func (r *receivers) received(path string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.parents[path]...)
}

// options configure servers that send pushes and webhooks to the receivers.
func (r *receivers) options(t *testing.T) apptest.Option {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	account, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "climbers", "client_email": "push@climbers.example", "token_uri": r.URL + "/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	require.NoError(t, err)
	return apptest.WithConfig(func(cfg *config.Config) {
		cfg.WebhookNetworks = config.Networks{netip.MustParsePrefix("127.0.0.0/8")}
		cfg.PushFCMCredentials, cfg.PushFCMURL = telemetry.Secret(account), config.BaseURL(r.URL)
	})
}

// TestTracesOfBackgroundWork follows a request to what it leaves to others: the stream of an event, and a webhook and a push that succeed
// at the second attempt. All of it is in the trace of the request, and the receivers are told.
func TestTracesOfBackgroundWork(t *testing.T) {
	c, r := startCollector(t), newReceivers(t)
	n := apptest.Start(t, r.options(t))
	n.Admin(region.EU).Do(t, http.MethodPost, "/api/v3/network-settings/webhooks", object{
		"url": r.URL + webhookPath, "name": "posts", "events": []string{"v3.post.didCreate"},
	}).OK(t)
	alice, bob := n.NewUser(t, region.EU, "alice"), n.NewUser(t, region.EU, "bob")
	community := alice.NewCommunity(t)
	bob.Join(t, community)
	bob.Do(t, http.MethodPost, "/v1/notification", object{"platform": "android", "token": "bob"}).OK(t)
	events := bob.ConnectMQTT(t).RequireSubscribe(t,
		alice.Do(t, http.MethodGet, "/api/v3/communities/"+community, nil).OK(t).String(t, "communities.0.path")+"/#")
	alice.With("traceparent", "00-"+traceID+"-"+spanID+"-01").NewPost(t, community)
	events.Until(t, "post.created")

	requireAttempts(t, c, "webhook post.created", r, webhookPath)
	requireAttempts(t, c, "push fcm", r, fcmPath)
	spans := c.await(t, traceID, "publish post.created", "deliver realtime", "transaction")
	require.NotEmpty(t, spans["publish post.created"].GetParentSpanId())
}

// requireAttempts waits for two attempts in the trace of the request, the first of which failed. The receiver was told each of them, as the
// parent of what it does.
func requireAttempts(t *testing.T, c *collector, name string, r *receivers, path string) {
	t.Helper()
	attempts := c.awaitAttempts(t, name, 2)
	parents := r.received(path)
	require.Len(t, parents, 2, name)
	for i, attempt := range attempts {
		require.Equal(t, i == 0, attempt.GetStatus().GetCode() == trace.Status_STATUS_CODE_ERROR, name)
		require.Equal(t, fmt.Sprintf("00-%s-%s-01", traceID, hex.EncodeToString(attempt.GetSpanId())), parents[i], name)
		require.Contains(t, attribute(attempt, "plaza.attempts"), strconv.Itoa(i), name)
		require.Equal(t, attempts[0].GetParentSpanId(), attempt.GetParentSpanId(), name)
	}
}
