package conformance

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// fakeFCM is a push provider that behaves by the token of the device.
type fakeFCM struct {
	*httptest.Server

	stop chan struct{}
	mu   sync.Mutex
	asks map[string]int // by token
}

func newFakeFCM(t *testing.T) *fakeFCM {
	t.Helper()
	f := &fakeFCM{stop: make(chan struct{}), asks: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token": "a", "token_type": "Bearer", "expires_in": 3600}`)
	})
	mux.HandleFunc("POST /v1/projects/climbers/messages:send", f.send)
	f.Server = httptest.NewServer(mux)
	t.Cleanup(func() { close(f.stop); f.Close() })
	return f
}

func (f *fakeFCM) send(w http.ResponseWriter, r *http.Request) {
	var body struct{ Message struct{ Token string } }
	_ = json.NewDecoder(r.Body).Decode(&body)
	f.mu.Lock()
	f.asks[body.Message.Token]++
	asked := f.asks[body.Message.Token]
	f.mu.Unlock()
	switch token := body.Message.Token; {
	case token == "gone":
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error": {"status": "NOT_FOUND", "details": [{"errorCode": "UNREGISTERED"}]}}`)
	case token == "later" && asked == 1:
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	case token == "slow":
		<-f.stop
	}
}

func (f *fakeFCM) asked(token string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asks[token]
}

func (f *fakeFCM) configure(t *testing.T) apptest.Option {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	raw, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "climbers", "client_email": "push@climbers.example", "token_uri": f.URL + "/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	require.NoError(t, err)
	return apptest.WithConfig(func(cfg *config.Config) {
		cfg.PushFCMCredentials, cfg.PushFCMURL = telemetry.Secret(raw), config.BaseURL(f.URL)
	})
}

// TestPushProviders checks that a token which the provider does not know any more is removed, that a message which it does not accept
// is sent again, and that a provider which does not answer delays neither requests nor other providers.
func TestPushProviders(t *testing.T) {
	t.Parallel()
	f := newFakeFCM(t)
	n := apptest.Start(t, f.configure(t))
	author := n.NewUser(t, region.US, "author")
	community := newCommunity(t, author, object{"displayName": "Climbers"})
	device := func(platform, token string) {
		t.Helper()
		c := n.NewUser(t, region.US, token)
		join(t, community, c)
		c.Do(t, http.MethodPost, devicePath, object{"platform": platform, "token": token}).OK(t)
	}
	device("android", "gone")
	device("android", "later")
	post := func(text string) { newPost(t, author, community, object{"data": object{"text": text}}) }
	eventually := func(done func() bool, what string) {
		t.Helper()
		require.Eventually(t, done, apptest.Patience, 20*time.Millisecond, what)
	}
	post("first")
	eventually(func() bool { return f.asked("gone") == 1 && f.asked("later") == 2 }, "the second attempt")
	device("android", "slow")
	device("ios", "aa")
	post("second")
	eventually(func() bool { return f.asked("slow") == 1 && f.asked("later") == 3 }, "the second message")
	eventually(func() bool { return len(pushesOn(t, n, region.US, "aa")) == 1 }, "another provider")
	require.Equal(t, 1, f.asked("gone"), "the token was removed")
}
