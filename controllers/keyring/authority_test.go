package keyring_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/platform/control"
)

const controlName = "eu.0123456789abcdef01234567.control.plaza.internal"

// calls is a network with one server, which trusts the authorities that it was given last.
type calls struct {
	t       *testing.T
	in      keyring.AuthorityInput
	last    keyring.Authorities
	server  keyring.Certificate
	trusted []*control.Authority
	events  []v1alpha1.Reason
}

func newCalls(t *testing.T) *calls {
	t.Helper()
	c := &calls{t: t, in: keyring.AuthorityInput{
		NetworkID: "0123456789abcdef01234567", Now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), Random: rand.Reader,
	}}
	c.step()
	return c
}

// step runs a step and issues the certificate of the server.
func (c *calls) step() {
	c.t.Helper()
	var err error
	c.last, err = keyring.StepAuthority(c.in)
	require.NoError(c.t, err)
	c.in.Content, c.in.Annotations = c.last.Content, c.last.Annotations
	for _, event := range c.last.Events {
		c.events = append(c.events, event.Reason)
	}
	c.server, err = c.last.Certify(c.in.Random, c.server, controlName, control.Server, c.in.Now)
	require.NoError(c.t, err)
}

// read makes the server read its files.
func (c *calls) read() {
	c.trusted = c.last.All
	c.in.Trusted = c.trusted[0].ID()
}

func (c *calls) takeEvents() []v1alpha1.Reason {
	events := c.events
	c.events = nil
	return events
}

func (c *calls) issuer() string {
	c.t.Helper()
	parsed, err := control.ParseCredentials(c.server.Certificate, c.server.Key, c.server.Authorities)
	require.NoError(c.t, err)
	for _, a := range c.last.All {
		if a.Issued(parsed.Certificate.Leaf) {
			return a.ID()
		}
	}
	require.Fail(c.t, "an authority that is not trusted issued the certificate")
	return ""
}

func TestAuthorityRotates(t *testing.T) {
	for name, begin := range map[string]func(*calls){
		"schedule": func(c *calls) { c.in.Now = c.in.Now.Add(180 * day) },
		"request":  func(c *calls) { c.in.Request = "now" },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCalls(t)
			require.Equal(t, []v1alpha1.Reason{v1alpha1.ReasonKeysCreated}, c.takeEvents())
			c.read()
			first := c.last.Active.ID()
			require.Equal(t, first, c.issuer())
			require.Equal(t, c.in.Now.Add(180*day), c.last.Due)
			c.step()
			require.False(t, c.last.Changed, "nothing to do")
			require.False(t, c.server.Renewed)

			begin(c)
			c.step()
			require.Equal(t, []v1alpha1.Reason{v1alpha1.ReasonRotationStarted}, c.takeEvents())
			require.Len(t, c.last.All, 2)
			require.Equal(t, first, c.last.Active.ID(), "the server does not trust the new one yet")
			require.Equal(t, first, c.issuer())
			c.step()
			require.False(t, c.last.Changed)

			c.read()
			c.step()
			require.Equal(t, []v1alpha1.Reason{v1alpha1.ReasonKeyActivated}, c.takeEvents())
			second := c.last.Active.ID()
			require.NotEqual(t, first, second)
			require.Equal(t, second, c.issuer())
			require.True(t, c.server.Renewed)
			require.Len(t, c.last.All, 2, "the old one is trusted during the overlap")
			require.Equal(t, c.in.Now.Add(day), c.last.Due)

			c.in.Now = c.in.Now.Add(day - time.Second)
			c.step()
			require.Len(t, c.last.All, 2)
			c.in.Now = c.in.Now.Add(time.Second)
			c.step()
			require.Equal(t, []v1alpha1.Reason{v1alpha1.ReasonKeyRevoked}, c.takeEvents())
			require.Len(t, c.last.All, 1)
			require.Equal(t, second, c.issuer())
			c.step()
			require.False(t, c.last.Changed)
		})
	}
}

// TestAuthorityWithoutAnswers checks that a server that is never heard of does not let the authority expire.
func TestAuthorityWithoutAnswers(t *testing.T) {
	c := newCalls(t)
	c.read()
	first, start := c.last.Active.ID(), c.in.Now
	for c.in.Now.Before(start.Add(3 * 365 * day)) {
		c.in.Now = c.in.Now.Add(day)
		c.step()
		require.True(t, c.in.Now.Add(29*day).Before(c.server.NotAfter), "certificates never end soon")
		require.LessOrEqual(t, len(c.last.All), 2)
		c.issuer()
		if c.in.Now.Before(start.Add(304 * day)) {
			require.Equal(t, first, c.last.Active.ID())
		}
	}
	require.NotEqual(t, first, c.last.Active.ID())
}

func TestCertificatesAreRenewed(t *testing.T) {
	c := newCalls(t)
	c.read()
	end := c.server.NotAfter
	require.Equal(t, c.in.Now.Add(90*day), end)
	require.Equal(t, end.Add(-30*day), c.server.Due())
	c.in.Now = c.server.Due().Add(-time.Second)
	c.step()
	require.False(t, c.server.Renewed)
	c.in.Now = c.in.Now.Add(time.Second)
	c.step()
	require.True(t, c.server.Renewed)
	require.Equal(t, c.in.Now.Add(90*day), c.server.NotAfter)

	other, err := c.last.Certify(rand.Reader, c.server, "us.x.control.plaza.internal", control.Server, c.in.Now)
	require.NoError(t, err)
	require.True(t, other.Renewed, "it has another name")
	broken, err := c.last.Certify(rand.Reader, keyring.Certificate{Certificate: c.server.Certificate, Key: []byte("x")}, controlName,
		control.Server, c.in.Now)
	require.NoError(t, err)
	require.True(t, broken.Renewed)
}

func TestAuthorityRepairs(t *testing.T) {
	c := newCalls(t)
	c.read()
	c.in.Request = "now"
	c.step()
	c.read()
	c.step() // the second is active, the first is still trusted
	second := c.last.Active.ID()
	c.in.Annotations, c.in.Trusted = nil, ""
	c.step()
	require.NotEqual(t, second, c.last.Active.ID(), "without annotations the oldest issues, until the newest is known to be trusted")
	c.read()
	c.step()
	require.Equal(t, second, c.last.Active.ID())

	c.in.Now = c.in.Now.Add(400 * day)
	c.step()
	require.Len(t, c.last.All, 1, "all had expired")
	require.NotEqual(t, second, c.last.Active.ID())

	valid := c.in.Content
	for _, text := range []string{"x", valid.Reveal() + "x", valid.Reveal()[:100]} {
		c.in.Content = keyring.NewSecret(text)
		_, err := keyring.StepAuthority(c.in)
		require.ErrorAs(t, err, new(*keyring.BrokenError))
		require.NotContains(t, err.Error(), "PRIVATE")
	}
}

// TestAuthorityRequests checks that each request to rotate the authority is handled once.
func TestAuthorityRequests(t *testing.T) {
	c := &calls{t: t, in: keyring.AuthorityInput{
		NetworkID: "0123456789abcdef01234567", Now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), Random: rand.Reader, Request: "first",
	}}
	c.step()
	c.read()
	c.step()
	require.Equal(t, []v1alpha1.Reason{v1alpha1.ReasonKeysCreated}, c.takeEvents(), "the first authority is a new one already")
	for _, request := range []string{strings.Repeat("ü", 100), "second"} {
		c.in.Request = request
		end := c.last.Active.Certificate.NotAfter
		c.step()
		require.Equal(t, []v1alpha1.Reason{v1alpha1.ReasonRotationStarted}, c.takeEvents())
		require.LessOrEqual(t, len(c.last.Annotations[keyring.AnnotationRequest]), 63)
		require.Equal(t, end.Add(-60*day), c.last.Due, "then it becomes active without the servers")
		c.read()
		c.step()
		c.in.Now = c.in.Now.Add(day)
		c.step()
		c.takeEvents()
		for _, next := range []string{request, ""} {
			c.in.Request = next
			c.step()
			require.Empty(t, c.takeEvents())
			require.Len(t, c.last.All, 1)
		}
	}
}

// TestAuthorityAfterAClockWasSetBack checks that the overlap of a rotation is not prolonged by a clock that was ahead.
func TestAuthorityAfterAClockWasSetBack(t *testing.T) {
	c := newCalls(t)
	c.read()
	c.in.Request = "now"
	c.step()
	c.read()
	c.step()
	require.Len(t, c.last.All, 2)
	c.in.Annotations[keyring.AnnotationRotated] = c.in.Now.Add(30 * day).Format(time.RFC3339)
	c.step()
	require.True(t, c.last.Changed)
	require.Equal(t, c.in.Now.Add(day), c.last.Due)
	c.in.Now = c.in.Now.Add(day)
	c.step()
	require.Len(t, c.last.All, 1)
}

// TestNewestAuthority checks which authority servers must trust before it becomes active.
func TestNewestAuthority(t *testing.T) {
	c := newCalls(t)
	first := c.last.Active.ID()
	require.Equal(t, first, keyring.NewestAuthority(c.in.Content))
	c.read()
	c.in.Request = "now"
	c.step()
	require.Equal(t, first, c.last.Active.ID())
	require.Equal(t, c.last.All[0].ID(), keyring.NewestAuthority(c.in.Content))
	require.NotEqual(t, first, keyring.NewestAuthority(c.in.Content))
	require.Empty(t, keyring.NewestAuthority(keyring.Secret{}))
	require.Empty(t, keyring.NewestAuthority(keyring.NewSecret(c.in.Content.Reveal()+"x")))
}
