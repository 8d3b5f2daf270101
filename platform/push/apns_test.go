package push

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/telemetry"
)

// apple is a fake of APNs: it speaks HTTP/2 over TLS.
type apple struct {
	*httptest.Server

	key      *ecdsa.PrivateKey
	requests chan *http.Request
	bodies   chan map[string]any
	status   int
	reason   string
	header   http.Header
}

func newApple(t *testing.T) *apple {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	a := &apple{key: key, requests: make(chan *http.Request, 10), bodies: make(chan map[string]any, 10), status: http.StatusOK}
	a.Server = httptest.NewUnstartedServer(a)
	a.EnableHTTP2 = true
	a.StartTLS()
	t.Cleanup(a.Close)
	return a
}

func (a *apple) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	_ = json.NewDecoder(r.Body).Decode(&body)
	a.requests <- r
	a.bodies <- body
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	if a.reason != "" {
		fmt.Fprintf(w, `{"reason": %q}`, a.reason)
	}
}

// sender returns a sender that trusts the certificate of the fake.
func (a *apple) sender(t *testing.T, now func() time.Time) *apns {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(a.key)
	require.NoError(t, err)
	sender, err := newAPNs(Options{
		APNsKey:   telemetry.Secret(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		APNsKeyID: "KEY1234567", APNsTeamID: "TEAM123456", APNsTopic: "example.climbers", APNsURL: a.URL, Now: now,
	})
	require.NoError(t, err)
	own, ok := sender.(*apns)
	require.True(t, ok)
	transport, ok := own.client.Transport.(*http.Transport)
	require.True(t, ok)
	served, ok := a.Client().Transport.(*http.Transport)
	require.True(t, ok)
	transport.TLSClientConfig = served.TLSClientConfig.Clone()
	transport.TLSClientConfig.NextProtos = nil // the sender must ask for HTTP/2 itself
	return own
}

const deviceToken = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"

var sample = Message{
	ID: "02a4f19c7d3be5608142c97d", Title: "Alice", Body: "Reacted to your post",
	Data: map[string]string{"postId": "1", "aps": "not ours"},
}

func TestAPNs(t *testing.T) {
	t.Parallel()
	a := newApple(t)
	at := time.Unix(1_795_456_800, 0)
	sender := a.sender(t, func() time.Time { return at })
	var first string
	for _, passed := range []time.Duration{0, 50*time.Minute - time.Second, 2 * time.Second} {
		at = at.Add(passed)
		require.NoError(t, sender.Send(t.Context(), deviceToken, sample))
		r := <-a.requests
		require.Equal(t, 2, r.ProtoMajor)
		require.Equal(t, "/3/device/"+deviceToken, r.URL.Path)
		want := map[string]string{
			"Apns-Topic": "example.climbers", "Apns-Push-Type": "alert", "Apns-Priority": "10", "Apns-Collapse-Id": sample.ID,
			"Apns-Expiration": strconv.FormatInt(at.Add(24*time.Hour).Unix(), 10),
		}
		for name, value := range want {
			require.Equal(t, value, r.Header.Get(name), name)
		}
		issuedAt := a.requireToken(t, r.Header.Get("Authorization"))
		if first == "" {
			first = r.Header.Get("Authorization")
			require.Equal(t, at.Unix(), issuedAt)
		}
		require.Equal(t, passed != 2*time.Second, first == r.Header.Get("Authorization"), "a token is used for 50 minutes")
		require.Equal(t, map[string]any{
			"aps":    map[string]any{"alert": map[string]any{"title": "Alice", "body": "Reacted to your post"}, "sound": "default"},
			"postId": "1",
		}, <-a.bodies)
	}
}

// requireToken checks a provider token and returns when it was issued.
func (a *apple) requireToken(t *testing.T, header string) int64 {
	t.Helper()
	text, ok := strings.CutPrefix(header, "bearer ")
	require.True(t, ok)
	var claims jwt.MapClaims
	token, err := jwt.NewParser(jwt.WithoutClaimsValidation(), jwt.WithValidMethods([]string{"ES256"})).
		ParseWithClaims(text, &claims, func(*jwt.Token) (any, error) { return &a.key.PublicKey, nil })
	require.NoError(t, err)
	require.Equal(t, "KEY1234567", token.Header["kid"])
	require.Equal(t, "TEAM123456", claims["iss"])
	require.NotContains(t, claims, "exp", "Apple refuses it")
	issued, ok := claims["iat"].(float64)
	require.True(t, ok)
	return int64(issued)
}

func TestAPNsFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		reason string
		header http.Header
		want   SendError
	}{
		"unregistered":   {410, "Unregistered", nil, SendError{Outcome: Gone, Reason: "Unregistered"}},
		"bad token":      {400, "BadDeviceToken", nil, SendError{Outcome: Gone, Reason: "BadDeviceToken"}},
		"expired":        {403, "ExpiredToken", nil, SendError{Outcome: Gone, Reason: "ExpiredToken"}},
		"gone by status": {410, "", nil, SendError{Outcome: Gone, Reason: "status 410"}},
		"timeout":        {408, "", http.Header{"Retry-After": {"5"}}, SendError{Outcome: Later, Reason: "status 408", After: 5 * time.Second}},
		"expired key":    {403, "ExpiredProviderToken", nil, SendError{Outcome: Later, Reason: "ExpiredProviderToken"}},
		"with a delay":   {400, "BadTopic", http.Header{"Retry-After": {"5"}}, SendError{Outcome: Refused, Reason: "BadTopic"}},
		"other app":      {400, "DeviceTokenNotForTopic", nil, SendError{Outcome: Gone, Reason: "DeviceTokenNotForTopic"}},
		"too large":      {413, "PayloadTooLarge", nil, SendError{Outcome: Refused, Reason: "PayloadTooLarge"}},
		"wrong key":      {403, "InvalidProviderToken", nil, SendError{Outcome: Later, Reason: "InvalidProviderToken"}},
		"too many": {
			429, "TooManyRequests",
			http.Header{"Retry-After": {"30"}},
			SendError{Outcome: Later, Reason: "TooManyRequests", After: 30 * time.Second},
		},
		"shutdown":        {503, "Shutdown", nil, SendError{Outcome: Later, Reason: "Shutdown"}},
		"without a cause": {500, "", nil, SendError{Outcome: Later, Reason: "status 500"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApple(t)
			a.status, a.reason, a.header = test.status, test.reason, test.header
			require.Equal(t, &test.want, a.sender(t, time.Now).Send(t.Context(), deviceToken, sample))
		})
	}
	a := newApple(t)
	require.Equal(t, &SendError{Outcome: Gone, Reason: "the token is not hexadecimal"},
		a.sender(t, time.Now).Send(t.Context(), "../../admin", sample))
	require.Empty(t, a.requests)
}

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"FCM":              {FCMCredentials: "{}"},
		"APNs":             {APNsKey: "not a key"},
		"Web Push":         {WebKey: "not a key"},
		"Web Push subject": {WebKey: "dGhpcnR5LXR3by1ieXRlcy1vZi1hLXByaXZhdGUta2V5"},
	} {
		_, err := Senders(o)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "not a key")
	}
	a := newApple(t)
	der, err := x509.MarshalPKCS8PrivateKey(a.key)
	require.NoError(t, err)
	complete := Options{
		APNsKey: telemetry.Secret(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), APNsKeyID: "k", APNsTeamID: "t",
		APNsTopic: "a",
	}
	senders, err := Senders(complete)
	require.NoError(t, err)
	require.Equal(t, []string{APNs}, Names(senders), "the providers without credentials are off")
	for name, change := range map[string]func(*Options){
		"key id": func(o *Options) { o.APNsKeyID = "" }, "team id": func(o *Options) { o.APNsTeamID = "" },
		"topic": func(o *Options) { o.APNsTopic = "" },
	} {
		o := complete
		change(&o)
		_, err := Senders(o)
		require.ErrorIs(t, err, errAPNsSettings, name)
	}
}

// TestSendersOfProviders checks where messages are sent by default, and that the credentials of a provider end the use of the local sender
// for it.
func TestSendersOfProviders(t *testing.T) {
	t.Parallel()
	a := newApple(t)
	der, err := x509.MarshalPKCS8PrivateKey(a.key)
	require.NoError(t, err)
	o := Options{
		APNsKey: telemetry.Secret(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), APNsKeyID: "k", APNsTeamID: "t",
		APNsTopic:      "a",
		FCMCredentials: `{"type": "service_account", "project_id": "climbers", "client_email": "a@example.com", "private_key": "k", "token_uri": "https://example.com"}`,
		Local:          NewLocal(time.Now, slog.New(slog.DiscardHandler)), Timeout: 3 * time.Second,
	}
	for name, tc := range map[string]struct{ apns, fcm, wantAPNs, wantFCM string }{
		"default": {"", "", "https://api.push.apple.com/3/device/", "https://fcm.googleapis.com/v1/projects/climbers/messages:send"},
		"addresses": {
			"https://a.example/", "https://f.example/", "https://a.example/3/device/",
			"https://f.example/v1/projects/climbers/messages:send",
		},
	} {
		o.APNsURL, o.FCMURL = tc.apns, tc.fcm
		senders, err := Senders(o)
		require.NoError(t, err, name)
		ofApple, ok := senders[APNs].(*apns)
		require.True(t, ok, name)
		ofGoogle, ok := senders[FCM].(*fcm)
		require.True(t, ok, name)
		require.IsType(t, localSender{}, senders[WebPush], name)
		require.Equal(t, []string{tc.wantAPNs, tc.wantFCM}, []string{ofApple.address, ofGoogle.address}, name)
		require.Equal(t, []time.Duration{o.Timeout, o.Timeout}, []time.Duration{ofApple.client.Timeout, ofGoogle.client.Timeout}, name)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 18, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "0": 0, "-7": 0, "soon": 0, "99999999999": 0,
		"Mon, 23 Nov 2026 18:00:30 GMT": 30 * time.Second, "Mon, 23 Nov 2026 17:59:30 GMT": 0,
	} {
		require.Equal(t, want, retryAfter(value, now), value)
	}
	for status, want := range map[int]bool{199: false, 200: true, 204: true, 299: true, 300: false} {
		require.Equal(t, want, answer{status: status}.ok(), status)
	}
}
