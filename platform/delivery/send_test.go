package delivery

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/publicnet"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/seal"
	"github.com/plaza-social/plaza/platform/store/network"
)

// TestReasons checks which reason of a failed request administrators see.
func TestReasons(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"address":         {fmt.Errorf("%w: 10.0.0.1:80", publicnet.ErrAddress), "address"},
		"end of time":     {context.DeadlineExceeded, "timeout"},
		"timeout":         {os.ErrDeadlineExceeded, "timeout"},
		"slow resolver":   {&net.DNSError{IsTimeout: true}, "timeout"},
		"unknown name":    {&net.DNSError{IsNotFound: true}, "name"},
		"certificate":     {&tls.CertificateVerificationError{Err: x509.HostnameError{}}, "tls"},
		"authority":       {x509.UnknownAuthorityError{}, "tls"},
		"no TLS":          {tls.RecordHeaderError{}, "tls"},
		"anything else":   {errors.New("connection refused"), "connection"},
		"end of response": {errors.New("unexpected EOF"), "connection"},
	} {
		require.Equal(t, tc.want, reasonOf(&url.Error{Op: "Post", URL: "https://example.com", Err: tc.err}), name)
	}
}

// TestCheckSecret checks the secrets that others choose. Those with the prefix must contain a key.
func TestCheckSecret(t *testing.T) {
	t.Parallel()
	for secret, want := range map[string]string{
		strings.Repeat("x", MinSecret):                  "",
		strings.Repeat("x", MaxSecret):                  "",
		NewSecret():                                     "",
		strings.Repeat("x", MinSecret-1):                "the secret must have 24 to 200 characters",
		strings.Repeat("x", MaxSecret+1):                "the secret must have 24 to 200 characters",
		secretPrefix + strings.Repeat("*", MinSecret):   "the secret must have base64 after whsec_",
		secretPrefix + strings.Repeat("a", MinSecret-1): "the secret must have base64 after whsec_",
	} {
		err := CheckSecret(secret)
		if want == "" {
			require.NoError(t, err, secret)
		} else {
			require.EqualError(t, err, want)
		}
	}
}

// TestOutcomeOfARound checks why the attempts of a round failed, unless one of them succeeded.
func TestOutcomeOfARound(t *testing.T) {
	t.Parallel()
	row := func(state, failed string) network.WebhookDelivery {
		return network.WebhookDelivery{State: state, Error: failed}
	}
	delivered, waiting, dead := row(network.DeliveryDelivered, ""), row(network.DeliveryWaiting, "status"), row(network.DeliveryDead, "size")
	require.Equal(t, "size", failureOf([]chain{{waiting}, {dead}}))
	require.Empty(t, failureOf([]chain{{waiting}, {delivered, waiting}}))
	require.Empty(t, failureOf(nil))
	require.Equal(t, []string{"failed", "delivered", "dead"},
		[]string{resultOf(waiting.State), resultOf(delivered.State), resultOf(dead.State)})
}

// TestPauses checks how many objects a round attempts after rounds without a success, and for how long there is none.
func TestPauses(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	waiting, delivered := chain{{State: network.DeliveryWaiting}}, chain{{State: network.DeliveryDelivered}}
	var b breaker
	require.Equal(t, dueLimit, b.limit(now))
	b.observe([]chain{waiting}, now)
	require.Equal(t, dueLimit, b.limit(now), "it can be the event")
	b.observe([]chain{waiting, waiting}, now)
	for i, seconds := range []int{1, 2, 4, 8, 16, 32, 60, 60, 60} {
		pause := time.Duration(seconds) * time.Second
		require.Zero(t, b.limit(now.Add(pause-1)), i)
		now = now.Add(pause)
		require.Equal(t, probes, b.limit(now), i)
		b.observe([]chain{waiting}, now)
	}
	b.observe([]chain{waiting, delivered}, now)
	require.Equal(t, breaker{}, b)
}

// TestNewAddress forgets the failures of a receiver when the webhook has got another address.
func TestNewAddress(t *testing.T) {
	t.Parallel()
	sealer, err := seal.New([]byte("key"))
	require.NoError(t, err)
	q := &queue{Dispatcher: &Dispatcher{Options: Options{Sealer: sealer}}}
	hook := network.Webhook{ID: region.NewID(region.EU), URL: "https://old.example.com", ChangedAt: time.Unix(1, 0)}
	hook.Secret = sealer.Seal(hook.ID, "first secret")
	require.NoError(t, q.use(hook))
	require.Equal(t, "first secret", q.secret)
	q.breaker.failures = 3
	hook.ChangedAt, hook.Secret = time.Unix(2, 0), sealer.Seal(hook.ID, "second secret")
	require.NoError(t, q.use(hook))
	require.Equal(t, []any{"second secret", 3}, []any{q.secret, q.breaker.failures}, "the receiver is the same")
	hook.ChangedAt, hook.URL = time.Unix(3, 0), "https://new.example.com"
	require.NoError(t, q.use(hook))
	require.Zero(t, q.breaker.failures)
	require.Equal(t, hook.URL, q.hook.URL)
}

// TestOrderOfStates sorts states by webhook and home.
func TestOrderOfStates(t *testing.T) {
	t.Parallel()
	d := &Dispatcher{}
	for _, state := range []State{{Home: region.US, WebhookID: "a"}, {Home: region.EU, WebhookID: "b"}, {Home: region.EU, WebhookID: "a"}} {
		d.states.Store(queueKey{state.Home, state.WebhookID}, state)
	}
	require.Equal(t, []State{{Home: region.EU, WebhookID: "a"}, {Home: region.US, WebhookID: "a"}, {Home: region.EU, WebhookID: "b"}},
		d.States())
}
