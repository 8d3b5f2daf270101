package push_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/push"
	"github.com/plaza-social/plaza/platform/telemetry"
)

var message = push.Message{
	ID: "02a4f19c7d3be5608142c97d", Title: "Alice", Body: "Mentioned you in a post",
	Data: map[string]string{"postId": "02a4f19c7d3be5608142c97e"},
}

func now() time.Time { return time.Date(2026, 11, 23, 18, 0, 0, 0, time.UTC) }

// google is a fake of Google's token endpoint and of FCM.
type google struct {
	*httptest.Server

	key    *rsa.PrivateKey
	tokens atomic.Int64
	sent   chan map[string]any
	answer http.HandlerFunc // to messages; nil accepts them
}

func newGoogle(t *testing.T) *google {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	g := &google{key: key, sent: make(chan map[string]any, 10)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", g.token)
	mux.HandleFunc("POST /v1/projects/climbers/messages:send", g.send)
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	return g
}

// token issues an access token for an assertion that the key of the service account signed.
func (g *google) token(w http.ResponseWriter, r *http.Request) {
	var claims jwt.MapClaims
	_, err := jwt.ParseWithClaims(r.FormValue("assertion"), &claims, func(*jwt.Token) (any, error) { return &g.key.PublicKey, nil })
	if err != nil || r.FormValue("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" || claims["iss"] != "push@climbers.example" ||
		claims["scope"] != "https://www.googleapis.com/auth/firebase.messaging" || claims["aud"] != g.URL+"/token" {
		http.Error(w, `{"error": "invalid_grant"}`, http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"access_token": "access-%d", "token_type": "Bearer", "expires_in": 3600}`, g.tokens.Add(1))
}

func (g *google) send(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer access-1" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	g.sent <- body
	if g.answer != nil {
		g.answer(w, r)
		return
	}
	fmt.Fprint(w, `{"name": "projects/climbers/messages/1"}`)
}

// credentials returns the JSON of the service account.
func (g *google) credentials(t *testing.T) telemetry.Secret {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(g.key)
	require.NoError(t, err)
	raw, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "climbers", "client_email": "push@climbers.example", "private_key_id": "k1",
		"token_uri":   g.URL + "/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	require.NoError(t, err)
	return telemetry.Secret(raw)
}

func senderOf(t *testing.T, provider string, o push.Options) push.Sender {
	t.Helper()
	o.Now = now
	senders, err := push.Senders(o)
	require.NoError(t, err)
	require.Equal(t, []string{provider}, push.Names(senders))
	return senders[provider]
}

func TestFCM(t *testing.T) {
	t.Parallel()
	g := newGoogle(t)
	sender := senderOf(t, push.FCM, push.Options{FCMCredentials: g.credentials(t), FCMURL: g.URL})
	for range 3 {
		require.NoError(t, sender.Send(t.Context(), "device-1", message))
		require.Equal(t, map[string]any{"message": map[string]any{
			"token": "device-1", "notification": map[string]any{"title": "Alice", "body": "Mentioned you in a post"},
			"data":    map[string]any{"postId": "02a4f19c7d3be5608142c97e"},
			"android": map[string]any{"priority": "HIGH", "ttl": "86400s", "notification": map[string]any{"tag": message.ID}},
		}}, <-g.sent)
	}
	require.EqualValues(t, 1, g.tokens.Load(), "the access token is used until it expires")
}

func TestFCMFailures(t *testing.T) {
	t.Parallel()
	detail := func(fields string) string {
		return `{"error": {"code": 400, "status": "INVALID_ARGUMENT", "details": [` + fields + `]}}`
	}
	for name, test := range map[string]struct {
		status int
		header string
		body   string
		want   push.SendError
	}{
		"unregistered": {404, "", detail(`{"errorCode": "UNREGISTERED"}`), push.SendError{Outcome: push.Gone, Reason: "UNREGISTERED"}},
		"other sender": {
			403, "", detail(`{"errorCode": "SENDER_ID_MISMATCH"}`),
			push.SendError{Outcome: push.Gone, Reason: "SENDER_ID_MISMATCH"},
		},
		"malformed token": {
			400, "", detail(`{"errorCode": "INVALID_ARGUMENT"}, {"fieldViolations": [{"field": "message.token"}]}`),
			push.SendError{Outcome: push.Gone, Reason: "INVALID_ARGUMENT"},
		},
		"malformed data": {
			400, "", detail(`{"errorCode": "INVALID_ARGUMENT"}, {"fieldViolations": [{"field": "message.data"}]}`),
			push.SendError{Outcome: push.Refused, Reason: "INVALID_ARGUMENT"},
		},
		"too many": {
			429, "90", detail(`{"errorCode": "QUOTA_EXCEEDED"}`),
			push.SendError{Outcome: push.Later, Reason: "QUOTA_EXCEEDED", After: 90 * time.Second},
		},
		"unavailable": {
			503, "Mon, 23 Nov 2026 18:05:00 GMT", "",
			push.SendError{Outcome: push.Later, Reason: "status 503", After: 5 * time.Minute},
		},
		"broken": {500, "", "not JSON", push.SendError{Outcome: push.Later, Reason: "status 500"}},
		"expired access": {
			401, "", `{"error": {"code": 401, "status": "UNAUTHENTICATED"}}`,
			push.SendError{Outcome: push.Later, Reason: "UNAUTHENTICATED"},
		},
		"no project": {403, "", "", push.SendError{Outcome: push.Refused, Reason: "status 403"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGoogle(t)
			g.answer = func(w http.ResponseWriter, _ *http.Request) {
				if test.header != "" {
					w.Header().Set("Retry-After", test.header)
				}
				w.WriteHeader(test.status)
				fmt.Fprint(w, test.body)
			}
			sender := senderOf(t, push.FCM, push.Options{FCMCredentials: g.credentials(t), FCMURL: g.URL})
			var failure *push.SendError
			require.ErrorAs(t, sender.Send(t.Context(), "device-1", message), &failure)
			require.Equal(t, test.want, *failure)
		})
	}
}

// TestFCMWithoutAccess checks that a message waits while Google issues no access token, and while FCM does not answer. The failures do
// not contain addresses.
func TestFCMWithoutAccess(t *testing.T) {
	t.Parallel()
	g, other := newGoogle(t), newGoogle(t)
	g.key = other.key // Google knows another key
	sender := senderOf(t, push.FCM, push.Options{FCMCredentials: credentialsOf(t, other, g.URL), FCMURL: g.URL})
	require.NoError(t, sender.Send(t.Context(), "device-1", message))
	<-g.sent
	wrong := senderOf(t, push.FCM, push.Options{FCMCredentials: credentialsOf(t, newGoogle(t), g.URL), FCMURL: g.URL})
	require.Equal(t, &push.SendError{Outcome: push.Later, Reason: "no access token for FCM"}, wrong.Send(t.Context(), "device-1", message))
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	require.Equal(t, &push.SendError{Outcome: push.Later, Reason: "the provider does not answer in time"},
		sender.Send(late, "device-1", message))
	g.Close()
	require.Equal(t, &push.SendError{Outcome: push.Later, Reason: "the provider does not answer"},
		sender.Send(t.Context(), "device-1", message))
}

// TestRedirectsAreNotFollowed has the provider redirect to another one, which must not receive the message.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	g, other := newGoogle(t), newGoogle(t)
	g.answer = func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/v1/projects/climbers/messages:send", http.StatusTemporaryRedirect)
	}
	sender := senderOf(t, push.FCM, push.Options{FCMCredentials: g.credentials(t), FCMURL: g.URL})
	require.Equal(t, &push.SendError{Outcome: push.Refused, Reason: "status 307"}, sender.Send(t.Context(), "device-1", message))
	require.Empty(t, other.sent)
}

// credentialsOf returns the credentials of g's key with the token endpoint of another server.
func credentialsOf(t *testing.T, g *google, address string) telemetry.Secret {
	t.Helper()
	var account map[string]string
	require.NoError(t, json.Unmarshal([]byte(g.credentials(t).Reveal()), &account))
	account["token_uri"] = address + "/token"
	raw, err := json.Marshal(account)
	require.NoError(t, err)
	return telemetry.Secret(raw)
}
