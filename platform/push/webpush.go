package push

import (
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/SherClockHolmes/webpush-go"

	"github.com/plaza-social/plaza/platform/publicnet"
)

// maxWebRecord is the size to which messages are padded, so that their length tells nothing. Push services accept 4,096 bytes.
const maxWebRecord = 3072

// webPush sends messages to the push services of browsers. The subscriptions of users contain the addresses of the services, so
// that only public addresses are connected to, unless they are configured.
type webPush struct {
	client  *http.Client
	public  string
	private string
	subject string
	now     func() time.Time
}

var errWebKey = errors.New("the key must be a VAPID private key: 32 bytes in base64url; and the subject a mail address or an https URL")

// newWebPush returns the sender, or nil without a key.
func newWebPush(o Options) (Sender, error) {
	if o.WebKey == "" {
		return nil, nil // the provider is off
	}
	private := strings.TrimRight(strings.TrimSpace(o.WebKey.Reveal()), "=")
	public, err := publicWebKey(private)
	if err != nil || o.WebSubject == "" {
		return nil, errWebKey
	}
	return &webPush{
		client: newClient(publicnet.Dialer(o.WebNetworks, nil, o.Timeout)), public: public, private: private,
		subject: strings.TrimPrefix(o.WebSubject, "mailto:"), now: o.Now, // the library adds it
	}, nil
}

// publicWebKey returns the public key of a private key.
func publicWebKey(private string) (string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(private)
	if err != nil {
		return "", err
	}
	key, err := ecdh.P256().NewPrivateKey(raw)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()), nil
}

// ParseSubscription returns the address of the push service of a browser's subscription, which is the token of Web Push.
func ParseSubscription(token string) (*webpush.Subscription, error) {
	var s webpush.Subscription
	if err := json.Unmarshal([]byte(token), &s); err != nil {
		return nil, errSubscription
	}
	endpoint, err := url.Parse(s.Endpoint)
	if err != nil || endpoint.Scheme != "https" || endpoint.Host == "" || endpoint.User != nil || s.Keys.Auth == "" || s.Keys.P256dh == "" {
		return nil, errSubscription
	}
	return &s, nil
}

var errSubscription = errors.New("must be the JSON of a PushSubscription, with an https endpoint and its keys")

func (w *webPush) Send(ctx context.Context, token string, m Message) error {
	subscription, err := ParseSubscription(token)
	if err != nil {
		return &SendError{Outcome: Gone, Reason: "the subscription is not valid"}
	}
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	response, err := webpush.SendNotificationWithContext(ctx, body, subscription, &webpush.Options{
		HTTPClient: tracedClient{w.client}, RecordSize: maxWebRecord, Subscriber: w.subject, Topic: webTopic(m.ID), TTL: int(Lifetime.Seconds()),
		Urgency: webpush.UrgencyHigh, VAPIDPublicKey: w.public, VAPIDPrivateKey: w.private,
	})
	if err != nil {
		return w.unsent(err)
	}
	defer response.Body.Close()
	answer, err := readAnswer(response)
	if err != nil || answer.ok() {
		return err
	}
	return w.failure(answer)
}

// webTopic returns the header by which a message that is sent again replaces the first one: up to 32 characters of base64url.
func webTopic(id string) string { return id[:min(len(id), 32)] }

// unsent returns the failure of a request that was not made or not answered.
func (w *webPush) unsent(err error) error {
	if refused, ok := errors.AsType[*url.Error](err); ok {
		if errors.Is(err, publicnet.ErrAddress) {
			return &SendError{Outcome: Gone, Reason: "the address of the push service is not public"}
		}
		return unanswered(refused)
	}
	if errors.Is(err, webpush.ErrMaxPadExceeded) {
		return &SendError{Outcome: Refused, Reason: "the message is too long"}
	}
	return &SendError{Outcome: Gone, Reason: "the keys of the subscription are not valid"}
}

func (w *webPush) failure(a answer) error {
	switch {
	case a.status == http.StatusNotFound, a.status == http.StatusGone:
		return a.failure(Gone, "", w.now())
	case a.later():
		return a.failure(Later, "", w.now())
	}
	return a.failure(Refused, "", w.now())
}
