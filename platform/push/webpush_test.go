package push

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/telemetry"
)

// browser is a fake of a browser and its push service.
type browser struct {
	*httptest.Server

	key      *ecdh.PrivateKey
	auth     []byte
	requests chan *http.Request
	bodies   chan []byte
	status   int
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	require.NoError(t, err)
	b := &browser{
		key: key, auth: []byte("sixteen bytes ok"), requests: make(chan *http.Request, 10), bodies: make(chan []byte, 10),
		status: http.StatusCreated,
	}
	b.Server = httptest.NewTLSServer(b)
	t.Cleanup(b.Close)
	return b
}

func (b *browser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	b.requests <- r
	b.bodies <- body
	w.Header().Set("Retry-After", "7")
	w.WriteHeader(b.status)
}

var b64 = base64.RawURLEncoding

func (b *browser) subscription() string {
	raw, _ := json.Marshal(map[string]any{
		"endpoint": b.URL + "/subscriptions/1", "expirationTime": nil,
		"keys": map[string]string{"p256dh": b64.EncodeToString(b.key.PublicKey().Bytes()), "auth": b64.EncodeToString(b.auth)},
	})
	return string(raw)
}

// sender returns a sender that trusts the certificate of the fake, and its VAPID key.
func (b *browser) sender(t *testing.T, allowed ...netip.Prefix) (*webPush, *ecdh.PrivateKey) {
	t.Helper()
	vapid, err := ecdh.P256().GenerateKey(rand.Reader)
	require.NoError(t, err)
	sender, err := newWebPush(Options{
		WebKey: telemetry.Secret(b64.EncodeToString(vapid.Bytes())), WebSubject: "mailto:ops@climbers.example", WebNetworks: allowed,
		Now: time.Now,
	})
	require.NoError(t, err)
	own, ok := sender.(*webPush)
	require.True(t, ok)
	transport, ok := own.client.Transport.(*http.Transport)
	require.True(t, ok)
	served, ok := b.Client().Transport.(*http.Transport)
	require.True(t, ok)
	transport.TLSClientConfig = served.TLSClientConfig
	return own, vapid
}

var loopback = netip.MustParsePrefix("127.0.0.0/8")

// decrypt decrypts a body as a browser does: RFC 8291 and RFC 8188.
func (b *browser) decrypt(t *testing.T, body []byte) []byte {
	t.Helper()
	salt, size, keyLength := body[:16], binary.BigEndian.Uint32(body[16:20]), int(body[20])
	sender, err := ecdh.P256().NewPublicKey(body[21 : 21+keyLength])
	require.NoError(t, err)
	secret, err := b.key.ECDH(sender)
	require.NoError(t, err)
	record := body[21+keyLength:]
	require.LessOrEqual(t, len(record), int(size))
	info := "WebPush: info\x00" + string(b.key.PublicKey().Bytes()) + string(sender.Bytes())
	ikm, err := hkdf.Key(sha256.New, secret, b.auth, info, 32)
	require.NoError(t, err)
	key, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: aes128gcm\x00", 16)
	require.NoError(t, err)
	nonce, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: nonce\x00", 12)
	require.NoError(t, err)
	block, err := aes.NewCipher(key)
	require.NoError(t, err)
	gcm, err := cipher.NewGCM(block)
	require.NoError(t, err)
	plain, err := gcm.Open(nil, nonce, record, nil)
	require.NoError(t, err)
	text, found := strings.CutSuffix(strings.TrimRight(string(plain), "\x00"), "\x02")
	require.True(t, found, "the last record ends with 2 and padding")
	return []byte(text)
}

func TestWebPush(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	sender, vapid := b.sender(t, loopback)
	require.NoError(t, sender.Send(t.Context(), b.subscription(), sample))
	r, body := <-b.requests, <-b.bodies
	var got Message
	require.NoError(t, json.Unmarshal(b.decrypt(t, body), &got))
	require.Equal(t, sample, got)
	for name, value := range map[string]string{"Content-Encoding": "aes128gcm", "Ttl": "86400", "Urgency": "high", "Topic": sample.ID} {
		require.Equal(t, value, r.Header.Get(name), name)
	}
	b.requireVAPID(t, vapid, r.Header.Get("Authorization"))
	require.NoError(t, sender.Send(t.Context(), b.subscription(), Message{ID: sample.ID, Title: "Short"}))
	require.Len(t, <-b.bodies, len(body), "the length of a message tells nothing")
}

// requireVAPID checks the header Authorization of RFC 8292.
func (b *browser) requireVAPID(t *testing.T, vapid *ecdh.PrivateKey, header string) {
	t.Helper()
	public := vapid.PublicKey().Bytes()
	text, found := strings.CutPrefix(header, "vapid t=")
	require.True(t, found)
	token, key, _ := strings.Cut(text, ",")
	require.Equal(t, "k="+b64.EncodeToString(public), strings.TrimSpace(key))
	verified, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), public)
	require.NoError(t, err)
	var claims jwt.MapClaims
	_, err = jwt.NewParser(jwt.WithValidMethods([]string{"ES256"}), jwt.WithExpirationRequired()).
		ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return verified, nil })
	require.NoError(t, err)
	require.Equal(t, b.URL, claims["aud"])
	require.Equal(t, "mailto:ops@climbers.example", claims["sub"])
}

func TestWebPushFailures(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]SendError{
		410: {Outcome: Gone, Reason: "status 410"}, 404: {Outcome: Gone, Reason: "status 404"},
		429: {Outcome: Later, Reason: "status 429", After: 7 * time.Second}, 502: {Outcome: Later, Reason: "status 502", After: 7 * time.Second},
		413: {Outcome: Refused, Reason: "status 413"}, 302: {Outcome: Refused, Reason: "status 302"},
	} {
		b := newBrowser(t)
		b.status = status
		sender, _ := b.sender(t, loopback)
		require.Equal(t, &want, sender.Send(t.Context(), b.subscription(), sample), status)
	}
	b := newBrowser(t)
	sender, _ := b.sender(t, loopback)
	long := sample
	long.Body = strings.Repeat("x", maxWebRecord)
	require.Equal(t, &SendError{Outcome: Refused, Reason: "the message is too long"}, sender.Send(t.Context(), b.subscription(), long))
	require.Equal(t, &SendError{Outcome: Gone, Reason: "the subscription is not valid"}, sender.Send(t.Context(), "token", sample))
	wrong := strings.Replace(b.subscription(), b64.EncodeToString(b.key.PublicKey().Bytes()), "YQ", 1)
	require.Equal(t, &SendError{Outcome: Gone, Reason: "the keys of the subscription are not valid"}, sender.Send(t.Context(), wrong, sample))
	b.Close()
	require.Equal(t, &SendError{Outcome: Later, Reason: "the provider does not answer"}, sender.Send(t.Context(), b.subscription(), sample))
}

// TestWebPushOnlyToPublicAddresses checks that a subscription does not make the server send requests into its own network.
func TestWebPushOnlyToPublicAddresses(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	sender, _ := b.sender(t)
	require.Equal(t, &SendError{Outcome: Gone, Reason: "the address of the push service is not public"},
		sender.Send(t.Context(), b.subscription(), sample))
	require.Empty(t, b.requests)
}

func TestParseSubscription(t *testing.T) {
	t.Parallel()
	for _, token := range []string{
		"", "token", `{}`, `{"endpoint": "http://push.example/1", "keys": {"auth": "YQ", "p256dh": "YQ"}}`,
		`{"endpoint": "https://push.example/1", "keys": {}}`,
		`{"endpoint": "https://user@push.example/1", "keys": {"auth": "YQ", "p256dh": "YQ"}}`,
	} {
		_, err := ParseSubscription(token)
		require.ErrorIs(t, err, errSubscription, token)
	}
	got, err := ParseSubscription(`{"endpoint": "https://push.example/1", "keys": {"auth": "YQ", "p256dh": "YQ"}}`)
	require.NoError(t, err)
	require.Equal(t, "https://push.example/1", got.Endpoint)
}

// FuzzParseSubscription checks that only subscriptions with an https address and keys are accepted.
func FuzzParseSubscription(f *testing.F) {
	f.Add(`{"endpoint": "https://push.example.com/1", "keys": {"p256dh": "BA", "auth": "AA"}}`)
	f.Add(`{"endpoint": "https://user@push.example.com/", "keys": {}}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, token string) {
		subscription, err := ParseSubscription(token)
		if err != nil {
			return
		}
		require.True(t, strings.HasPrefix(strings.ToLower(strings.TrimSpace(subscription.Endpoint)), "https://"), subscription.Endpoint)
		require.NotEmpty(t, subscription.Keys.Auth)
		require.NotEmpty(t, subscription.Keys.P256dh)
	})
}
