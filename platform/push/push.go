// Package push sends notifications to devices through the services of their makers: FCM (HTTP v1), APNs (HTTP/2 with provider
// tokens) and Web Push (RFC 8030 with VAPID). It keeps no state: package notification decides what is sent, and when it is sent
// again.
package push

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/telemetry"
)

// The providers of push notifications.
const (
	FCM     = "fcm"
	APNs    = "apns"
	WebPush = "webpush"
)

// Providers are all providers.
var Providers = []string{APNs, FCM, WebPush}

// Lifetime is how long a provider keeps a notification for a device that it does not reach, and how long Plaza tries to hand it over.
const Lifetime = 24 * time.Hour

// Message is a notification to a device.
type Message struct {
	// ID is the same when the message is sent again: the device then shows it once.
	ID    string            `json:"id"`
	Title string            `json:"title"`
	Body  string            `json:"body"`
	Data  map[string]string `json:"data"`
}

// Sender sends a message to the device with a token. It returns nil or a *SendError.
type Sender interface {
	Send(ctx context.Context, token string, m Message) error
}

// Outcome is what a failure means.
type Outcome string

// The outcomes of failures.
const (
	// Gone: the token is not valid, and never will be.
	Gone Outcome = "gone"
	// Later: the provider may accept the message later.
	Later Outcome = "later"
	// Refused: the provider will never accept the message.
	Refused Outcome = "refused"
)

// SendError is why a message was not sent.
type SendError struct {
	Outcome Outcome
	Reason  string        // of the provider; without tokens and texts
	After   time.Duration // when the provider wants to be asked again; 0 if it does not say
}

// Error implements error.
func (f *SendError) Error() string { return fmt.Sprintf("push %s: %s", f.Outcome, f.Reason) }

// Options configure the providers. One without credentials is off.
type Options struct {
	FCMCredentials telemetry.Secret // JSON of a service account
	FCMURL         string

	APNsKey    telemetry.Secret // PEM of an EC key (.p8)
	APNsKeyID  string
	APNsTeamID string
	APNsTopic  string // the app's bundle id
	APNsURL    string

	WebKey      telemetry.Secret // VAPID private key, base64url
	WebSubject  string           // a mail address or an https URL, for the operators of push services
	WebNetworks []netip.Prefix   // networks whose push services are used although their addresses are not public

	// Timeout is the time limit of a request to a provider; none when zero.
	Timeout time.Duration
	// Local receives the messages of providers without credentials; may be nil.
	Local *Local
	Now   func() time.Time
}

// Senders returns the senders of the configured providers.
func Senders(o Options) (map[string]Sender, error) {
	senders := map[string]Sender{}
	if o.Local != nil {
		for _, provider := range Providers {
			senders[provider] = o.Local.of(provider)
		}
	}
	for provider, open := range map[string]func(Options) (Sender, error){FCM: newFCM, APNs: newAPNs, WebPush: newWebPush} {
		sender, err := open(o)
		if err != nil {
			return nil, fmt.Errorf("push notifications by %s: %w", provider, err)
		}
		if sender != nil {
			senders[provider] = sender
		}
	}
	return senders, nil
}

// Names returns the names of the providers of senders, sorted.
func Names(senders map[string]Sender) []string { return slices.Sorted(maps.Keys(senders)) }
