package push

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
)

// fcmScope is the OAuth scope of sending messages.
const fcmScope = "https://www.googleapis.com/auth/firebase.messaging"

// fcm sends messages by the HTTP v1 interface of Firebase Cloud Messaging.
type fcm struct {
	client  *http.Client
	tokens  oauth2.TokenSource
	address string
	now     func() time.Time
}

var errProject = errors.New("the credentials must be the JSON of a service account, with project_id")

// newFCM returns the sender, or nil without credentials.
func newFCM(o Options) (Sender, error) {
	if o.FCMCredentials == "" {
		return nil, nil // the provider is off
	}
	raw := []byte(o.FCMCredentials.Reveal())
	var account struct {
		ProjectID string `json:"project_id"`
	}
	config, err := google.JWTConfigFromJSON(raw, fcmScope)
	if err != nil || json.Unmarshal(raw, &account) != nil || account.ProjectID == "" {
		return nil, errProject // the error of the parser could quote the key
	}
	client := newClient(&net.Dialer{Timeout: o.Timeout})
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, client)
	return &fcm{
		client: client, tokens: oauth2.ReuseTokenSource(nil, config.TokenSource(ctx)), now: o.Now,
		address: strings.TrimRight(cmp.Or(o.FCMURL, "https://fcm.googleapis.com"), "/") + "/v1/projects/" + account.ProjectID + "/messages:send",
	}, nil
}

type fcmMessage struct {
	Token        string            `json:"token"`
	Notification fcmNotification   `json:"notification"`
	Data         map[string]string `json:"data,omitempty"`
	Android      fcmAndroid        `json:"android"`
}

type fcmNotification struct {
	Title string `json:"title"`
	Body  string `json:"body"`
}

type fcmAndroid struct {
	Priority     string `json:"priority"`
	TTL          string `json:"ttl"`
	Notification struct {
		Tag string `json:"tag"` // a later notification with the tag replaces an earlier one
	} `json:"notification"`
}

func (f *fcm) Send(ctx context.Context, token string, m Message) error {
	access, err := f.tokens.Token()
	if err != nil {
		return &SendError{Outcome: Later, Reason: "no access token for FCM"}
	}
	message := fcmMessage{Token: token, Notification: fcmNotification{m.Title, m.Body}, Data: m.Data}
	message.Android.Priority, message.Android.TTL, message.Android.Notification.Tag = "HIGH", strconv.Itoa(int(Lifetime.Seconds()))+"s", m.ID
	body, err := json.Marshal(map[string]fcmMessage{"message": message})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	access.SetAuthHeader(request)
	answer, err := do(f.client, request)
	if err != nil || answer.ok() {
		return err
	}
	return f.failure(answer)
}

// fcmError is the body of an error.
type fcmError struct {
	Error struct {
		Status  string `json:"status"`
		Details []struct {
			ErrorCode       string `json:"errorCode"`
			FieldViolations []struct {
				Field string `json:"field"`
			} `json:"fieldViolations"`
		} `json:"details"`
	} `json:"error"`
}

// codes returns the codes of the error, and whether the token is the invalid argument.
func (e fcmError) codes() (codes []string, badToken bool) {
	for _, detail := range e.Error.Details {
		codes = append(codes, detail.ErrorCode)
		for _, violation := range detail.FieldViolations {
			badToken = badToken || violation.Field == "message.token"
		}
	}
	return codes, badToken
}

func (f *fcm) failure(a answer) error {
	var body fcmError
	_ = json.Unmarshal(a.body, &body) // an error without a body is known by its status
	codes, badToken := body.codes()
	reason := cmp.Or(append(codes, body.Error.Status)...)
	switch {
	case badToken, slices.Contains(codes, "UNREGISTERED"), slices.Contains(codes, "SENDER_ID_MISMATCH"):
		return a.failure(Gone, reason, f.now())
	case a.later(), a.status == http.StatusUnauthorized:
		return a.failure(Later, reason, f.now())
	}
	return a.failure(Refused, reason, f.now())
}
