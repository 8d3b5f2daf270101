package keyring

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/platform/control"
)

// The authority of a network's control calls is rotated like server keys: a new one is Pending, trusted but issuing nothing, until
// every server trusts it; it is Active then, and the previous one is Retiring, trusted until the overlap ends. Certificates that the
// active authority did not issue, or that end soon, are replaced.

// AuthoritiesFile is the file with the authorities of a network and their private keys, newest first.
const AuthoritiesFile = "authorities.pem"

// The times of authorities and certificates. A certificate is always valid for longer than renewBefore, because an authority
// issues none in the last activateBefore of its life.
const (
	authorityLifetime   = 365 * 24 * time.Hour
	authorityRotation   = 180 * 24 * time.Hour // from the creation of an authority to that of the next
	authorityOverlap    = 24 * time.Hour
	activateBefore      = 60 * 24 * time.Hour // the pending authority becomes active although not all servers are known to trust it
	certificateLifetime = 90 * 24 * time.Hour
	renewBefore         = 30 * 24 * time.Hour
)

// AuthorityInput is the input of StepAuthority.
type AuthorityInput struct {
	// Content is the AuthoritiesFile of the Secret; the zero Secret if there is none. Annotations are those of the Secret.
	Content     Secret
	Annotations map[string]string
	NetworkID   string
	Now         time.Time
	Random      io.Reader
	// Request is the value of the annotation that requests a rotation, or empty.
	Request string
	// Trusted is the id of the authority that every server trusts; see NewestAuthority.
	Trusted string
}

// Authorities are those of a network after a step.
type Authorities struct {
	// Changed reports whether Content and Annotations must be written.
	Changed     bool
	Content     Secret
	Annotations map[string]string
	// Active issues certificates; All are trusted, newest first.
	Active *control.Authority
	All    []*control.Authority
	// Due is when the next step is needed if nothing else changes.
	Due time.Time
	// Events are the changes of this step.
	Events []AuthorityEvent
}

// AuthorityEvent is a change of an authority.
type AuthorityEvent struct {
	Reason v1alpha1.Reason
	ID     string
}

// String returns a description of the change.
func (e AuthorityEvent) String() string {
	switch e.Reason {
	case v1alpha1.ReasonKeysCreated:
		return "created the authority of control calls " + e.ID
	case v1alpha1.ReasonRotationStarted:
		return "started a rotation with the new authority of control calls " + e.ID
	case v1alpha1.ReasonKeyActivated:
		return "the authority of control calls " + e.ID + " issues the certificates now"
	default:
		return "the authority of control calls " + e.ID + " is no longer trusted"
	}
}

// NewestAuthority returns the id of the authority that servers must trust before it becomes active, or "" for invalid content.
func NewestAuthority(content Secret) string {
	if all, err := control.ParseAuthorities([]byte(content.Reveal())); err == nil && len(all) > 0 {
		return all[0].ID()
	}
	return ""
}

// StepAuthority computes the next state of a network's authorities. If the file is invalid, it returns a *BrokenError, and nothing
// must be written.
func StepAuthority(in AuthorityInput) (Authorities, error) {
	all, err := control.ParseAuthorities([]byte(in.Content.Reveal()))
	if err != nil {
		return Authorities{}, &BrokenError{Reason: err.Error()}
	}
	m := &authorities{AuthorityInput: in, all: slices.Clone(all)}
	m.Request = requestOf(in.Request)
	if err := m.run(); err != nil {
		return Authorities{}, err
	}
	return m.result(all)
}

type authorities struct {
	AuthorityInput

	all     []*control.Authority // newest first
	active  *control.Authority
	rotated time.Time
	request string
	events  []AuthorityEvent
}

func (m *authorities) run() error {
	m.request = m.Annotations[AnnotationRequest]
	m.rotated, _ = time.Parse(time.RFC3339, m.Annotations[AnnotationRotated]) // an invalid time counts as long ago
	if m.rotated.After(m.Now) {
		m.rotated = seconds(m.Now)
	}
	m.expire()
	if m.active = m.find(m.Annotations[AnnotationActive]); m.active == nil && len(m.all) > 0 {
		m.active = m.all[len(m.all)-1] // the annotations were lost: the oldest is trusted for the longest time
	}
	if m.active == nil {
		m.request = m.Request // the first is a new one already
		return m.add(v1alpha1.ReasonKeysCreated)
	}
	m.activate()
	m.retire()
	return m.rotate()
}

func (m *authorities) find(id string) *control.Authority {
	if i := slices.IndexFunc(m.all, func(a *control.Authority) bool { return a.ID() == id }); i >= 0 {
		return m.all[i]
	}
	return nil
}

// pending returns the authority that follows the active one, or nil.
func (m *authorities) pending() *control.Authority {
	if m.all[0] == m.active {
		return nil
	}
	return m.all[0]
}

func (m *authorities) expire() {
	m.all = slices.DeleteFunc(m.all, func(a *control.Authority) bool { return !m.Now.Before(a.Certificate.NotAfter) })
}

func (m *authorities) activate() {
	next := m.pending()
	if next == nil || (m.Trusted != next.ID() && m.Now.Before(m.active.Certificate.NotAfter.Add(-activateBefore))) {
		return
	}
	m.active, m.rotated = next, seconds(m.Now)
	m.event(v1alpha1.ReasonKeyActivated, next)
}

// retire removes the authorities before the active one when the overlap ends.
func (m *authorities) retire() {
	i := slices.Index(m.all, m.active)
	if m.Now.Before(m.rotated.Add(authorityOverlap)) || i == len(m.all)-1 {
		return
	}
	for _, old := range m.all[i+1:] {
		m.event(v1alpha1.ReasonKeyRevoked, old)
	}
	m.all = m.all[:i+1]
}

// rotate starts a rotation if it is due or requested. A request during a rotation waits for its end.
func (m *authorities) rotate() error {
	if len(m.all) > 1 {
		return nil
	}
	requested := m.Request != "" && m.Request != m.request
	if !requested && m.Now.Before(m.created().Add(authorityRotation)) {
		return nil
	}
	m.request = cmp.Or(m.Request, m.request)
	return m.add(v1alpha1.ReasonRotationStarted)
}

// created returns when the active authority was created.
func (m *authorities) created() time.Time {
	return m.active.Certificate.NotAfter.Add(-authorityLifetime)
}

func (m *authorities) add(reason v1alpha1.Reason) error {
	created, err := control.NewAuthority(m.Random, m.NetworkID, m.Now, authorityLifetime)
	if err != nil {
		return err
	}
	m.all = slices.Insert(m.all, 0, created)
	if m.active == nil {
		m.active, m.rotated = created, seconds(m.Now)
	}
	m.event(reason, created)
	return nil
}

func (m *authorities) event(reason v1alpha1.Reason, a *control.Authority) {
	m.events = append(m.events, AuthorityEvent{reason, a.ID()})
}

func (m *authorities) result(before []*control.Authority) (Authorities, error) {
	r := Authorities{Content: m.Content, Active: m.active, All: m.all, Due: m.due(), Events: m.events, Annotations: map[string]string{
		AnnotationActive: m.active.ID(), AnnotationRotated: m.rotated.UTC().Format(time.RFC3339), AnnotationRequest: m.request,
	}}
	if !slices.Equal(m.all, before) {
		text, err := control.EncodeAuthorities(m.all)
		if err != nil {
			return Authorities{}, err
		}
		r.Content, r.Changed = NewSecret(string(text)), true
	}
	for name, value := range r.Annotations {
		r.Changed = r.Changed || m.Annotations[name] != value
	}
	return r, nil
}

// due returns when a rotation starts, or when the overlap of one ends. The pending authority waits for servers.
func (m *authorities) due() time.Time {
	switch {
	case m.pending() != nil:
		return m.active.Certificate.NotAfter.Add(-activateBefore)
	case len(m.all) > 1:
		return m.rotated.Add(authorityOverlap)
	default:
		return m.created().Add(authorityRotation)
	}
}

// Certificate is a certificate with its key and the authorities that its holder trusts.
type Certificate struct {
	Certificate, Key, Authorities []byte // PEM
	// NotAfter is the end of the certificate.
	NotAfter time.Time
	// Renewed reports whether the certificate is a new one.
	Renewed bool
}

// Due returns when the certificate is replaced.
func (c Certificate) Due() time.Time { return c.NotAfter.Add(-renewBefore) }

// Certify returns the certificate of a holder: the present one with the present authorities, or a new one if the present one is
// invalid, has another name, is not of the active authority, or ends soon.
func (a Authorities) Certify(random io.Reader, present Certificate, name string, usage control.Usage, now time.Time) (Certificate, error) {
	next := Certificate{Certificate: present.Certificate, Key: present.Key, Authorities: control.Bundle(a.All)}
	parsed, err := control.ParseCredentials(next.Certificate, next.Key, next.Authorities)
	if err == nil {
		leaf := parsed.Certificate.Leaf
		next.NotAfter = leaf.NotAfter
		if a.Active.Issued(leaf) && leaf.VerifyHostname(name) == nil && now.Before(next.Due()) && !now.Before(leaf.NotBefore) {
			return next, nil
		}
	}
	if next.Certificate, next.Key, err = a.Active.Issue(random, name, usage, now, certificateLifetime); err != nil {
		return Certificate{}, fmt.Errorf("issuing the certificate of %s: %w", name, err)
	}
	if parsed, err = control.ParseCredentials(next.Certificate, next.Key, next.Authorities); err != nil {
		return Certificate{}, err
	}
	next.NotAfter, next.Renewed = parsed.Certificate.Leaf.NotAfter, true
	return next, nil
}
