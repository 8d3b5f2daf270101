package push

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// tokenAge is how long a provider token is used. Apple accepts one for an hour, and not more than one every 20 minutes.
const tokenAge = 50 * time.Minute

// apns sends messages by the HTTP/2 interface of the Apple Push Notification service, with provider tokens.
type apns struct {
	client  *http.Client
	address string
	topic   string
	keyID   string
	teamID  string
	key     *ecdsa.PrivateKey
	now     func() time.Time

	mu       sync.Mutex
	token    string
	issuedAt time.Time
}

var errAPNsSettings = errors.New("the key must be the PEM of an EC key, and the key id, the team id and the topic must be set")

// newAPNs returns the sender, or nil without a key.
func newAPNs(o Options) (Sender, error) {
	if o.APNsKey == "" {
		return nil, nil // the provider is off
	}
	key, err := jwt.ParseECPrivateKeyFromPEM([]byte(o.APNsKey.Reveal()))
	if err != nil || o.APNsKeyID == "" || o.APNsTeamID == "" || o.APNsTopic == "" {
		return nil, errAPNsSettings
	}
	return &apns{
		client:  newClient(&net.Dialer{Timeout: o.Timeout}),
		address: strings.TrimRight(cmp.Or(o.APNsURL, "https://api.push.apple.com"), "/") + "/3/device/",
		topic:   o.APNsTopic, keyID: o.APNsKeyID, teamID: o.APNsTeamID, key: key, now: o.Now,
	}, nil
}

// providerToken returns the token of the requests.
func (a *apns) providerToken() (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if a.token != "" && now.Sub(a.issuedAt) < tokenAge {
		return a.token, nil
	}
	claims := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{"iss": a.teamID, "iat": now.Unix()})
	claims.Header["kid"] = a.keyID
	token, err := claims.SignedString(a.key)
	if err == nil {
		a.token, a.issuedAt = token, now
	}
	return token, err
}

// apnsToken is the form of device tokens, which become part of the path.
var apnsToken = regexp.MustCompile(`^[0-9A-Fa-f]{1,200}$`)

func (a *apns) Send(ctx context.Context, token string, m Message) error {
	if !apnsToken.MatchString(token) {
		return &SendError{Outcome: Gone, Reason: "the token is not hexadecimal"}
	}
	body, err := json.Marshal(apnsPayload(m))
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.address+token, bytes.NewReader(body))
	if err != nil {
		return err
	}
	provider, err := a.providerToken()
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"Authorization": "bearer " + provider, "Apns-Topic": a.topic, "Apns-Push-Type": "alert", "Apns-Priority": "10",
		"Apns-Collapse-Id": m.ID, "Apns-Expiration": strconv.FormatInt(a.now().Add(Lifetime).Unix(), 10), "Content-Type": "application/json",
	} {
		request.Header.Set(name, value)
	}
	answer, err := do(a.client, request)
	if err != nil || answer.ok() {
		return err
	}
	return a.failure(answer)
}

// apnsPayload returns the body of a request: the alert, and the data next to it.
func apnsPayload(m Message) map[string]any {
	payload := map[string]any{"aps": map[string]any{"alert": map[string]string{"title": m.Title, "body": m.Body}, "sound": "default"}}
	for name, value := range m.Data {
		if name != "aps" {
			payload[name] = value
		}
	}
	return payload
}

// apnsGone are the reasons for which a token is not used again.
var apnsGone = []string{"BadDeviceToken", "Unregistered", "ExpiredToken", "DeviceTokenNotForTopic"}

func (a *apns) failure(answer answer) error {
	var body struct {
		Reason string `json:"reason"`
	}
	_ = json.Unmarshal(answer.body, &body) // an error without a body is known by its status
	switch {
	case answer.status == http.StatusGone, slices.Contains(apnsGone, body.Reason):
		return answer.failure(Gone, body.Reason, a.now())
	case answer.later(), strings.HasSuffix(body.Reason, "ProviderToken"): // wrong credentials can be corrected
		return answer.failure(Later, body.Reason, a.now())
	}
	return answer.failure(Refused, body.Reason, a.now())
}
