package keyring

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// DefaultRotateEvery is the default time between two rotations.
const DefaultRotateEvery = 720 * time.Hour

// MaxKeys is the number of keys in a file from which a rotation waits for a key to expire.
const MaxKeys = 16

// skew is the clock skew that is tolerated before a time in the future is corrected.
const skew = 5 * time.Minute

// Input is the input of a step of the state machine.
type Input struct {
	// Kind is the kind of the keys; the zero Kind is that of server keys.
	Kind Kind
	// Content is the server-keys.json of the Secret; the zero Secret if there is none.
	Content Secret
	// Annotations are those of the Secret.
	Annotations map[string]string
	// RotateEvery is the time between two rotations; Overlap is how long an old key is accepted after its successor
	// became active.
	RotateEvery time.Duration
	Overlap     time.Duration
	// Now is the current time, and Random the source of new keys.
	Now    time.Time
	Random io.Reader
	// Request is the value of the annotation that requests a rotation, or empty.
	Request string
	// Revoke are the ids of the keys to remove now.
	Revoke []string
	// Verified is the id of the key that every server of the region accepts; see Candidate.
	Verified string
	// Paused allows only the removal of expired keys.
	Paused bool
}

// Result is the result of a step.
type Result struct {
	// Changed reports whether Content and Annotations must be written.
	Changed bool
	Content Secret
	// Annotations has a value, which may be empty, for each name that the function Annotations returns.
	Annotations map[string]string
	// Keys are the keys that are accepted now, newest first.
	Keys []KeyState
	// LastRotation is when the active key became active. NextRotation is when the next rotation is due; it may be in
	// the past during a rotation. Zero means unknown.
	LastRotation time.Time
	NextRotation time.Time
	// Due is when the next step is needed if nothing else changes; zero means never.
	Due time.Time
	// Events are the changes of this step; Pending are those that it would make if the network were not paused.
	Events  []Event
	Pending []Event
}

// KeyState is the state of one key.
type KeyState struct {
	ID       string
	State    v1alpha1.KeyState
	NotAfter time.Time // zero means never
}

// Event is a change of a key.
type Event struct {
	Kind   Kind
	Reason v1alpha1.Reason
	KeyID  string
	Until  time.Time // when the key expires, for ReasonKeyRetiring
	// Requested reports whether a key was revoked on request and not because it expired, for ReasonKeyRevoked.
	Requested bool
}

// String returns a description of the change.
func (e Event) String() string {
	switch e.Reason {
	case v1alpha1.ReasonKeysCreated:
		return fmt.Sprintf("created the first %s %s", e.Kind, e.KeyID)
	case v1alpha1.ReasonRotationStarted:
		return fmt.Sprintf("started a rotation with the new %s %s", e.Kind, e.KeyID)
	case v1alpha1.ReasonKeyAdopted:
		return fmt.Sprintf("the %s %s, which was added by hand, becomes the active one", e.Kind, e.KeyID)
	case v1alpha1.ReasonKeyActivated:
		return fmt.Sprintf("every server accepts the %s %s, which is active now", e.Kind, e.KeyID)
	case v1alpha1.ReasonKeyRetiring:
		return fmt.Sprintf("the %s %s is accepted until %s", e.Kind, e.KeyID, e.Until.UTC().Format(time.RFC3339))
	case v1alpha1.ReasonKeyRevoked:
		if e.Requested {
			return fmt.Sprintf("the %s %s was revoked on request", e.Kind, e.KeyID)
		}
		return fmt.Sprintf("the %s %s expired and was removed", e.Kind, e.KeyID)
	default:
		return string(e.Reason) + " " + e.KeyID
	}
}

// Candidate returns the key to ask the servers of the region about: the pending key, otherwise the active one. found is
// false if a step has to create a key first. The error is a *BrokenError.
func Candidate(content Secret, annotations map[string]string) (key Entry, found bool, err error) {
	r, err := readRing(content, annotations)
	if err != nil {
		return Entry{}, false, err
	}
	id := r.pending
	if id == "" && r.lost == "" {
		id = r.active
	}
	key, found = r.keys.Find(id)
	return key, found, nil
}

// Step computes the next state of a region's keys. If the file is invalid, it returns a *BrokenError, and nothing must
// be written.
func Step(in Input) (Result, error) {
	before, err := readRing(in.Content, in.Annotations)
	if err != nil {
		return Result{}, err
	}
	in.Request = requestOf(in.Request)
	done := &machine{Input: in, ring: before.clone()}
	done.revoke()
	next := &machine{Input: in, ring: done.ring.clone()}
	if err := next.run(); err != nil {
		return Result{}, err
	}
	var waits []Event
	if in.Paused {
		waits = next.events
	} else {
		done.ring, done.events = next.ring, append(done.events, next.events...)
	}
	result := done.result(before.keys)
	result.Pending = waits
	return result, nil
}

// machine is the state of one step.
type machine struct {
	Input
	*ring

	events []Event
}

func (m *machine) run() error {
	m.correctTimes()
	m.storeRequest()
	if err := m.repair(); err != nil {
		return err
	}
	m.activate()
	return m.rotate()
}

// revoke removes expired keys, which the servers refuse already, and those that are revoked on request.
func (m *machine) revoke() {
	kept := File{}
	for _, entry := range m.keys {
		if m.keeps(entry) {
			kept = append(kept, entry)
		}
	}
	if len(kept) == 0 && m.Paused { // servers do not start without keys, and a new key must wait
		return
	}
	for _, entry := range m.keys {
		if m.keeps(entry) {
			continue
		}
		m.events = append(m.events, Event{
			Kind: m.Kind, Reason: v1alpha1.ReasonKeyRevoked, KeyID: entry.ID, Until: entry.NotAfter, Requested: entry.ValidAt(m.Now),
		})
		m.retiring = without(m.retiring, entry.ID)
		switch entry.ID {
		case m.active:
			m.active = ""
		case m.pending:
			m.pending, m.lost = "", entry.ID // the rotation starts again
		}
	}
	m.keys = kept
}

// keeps reports whether a key stays in the file.
func (m *machine) keeps(entry Entry) bool {
	return entry.ValidAt(m.Now) && !slices.Contains(m.Revoke, entry.ID)
}

// correctTimes shortens times that are too far in the future, because of a clock that was set back, a shorter overlap,
// or an edit by hand.
func (m *machine) correctTimes() {
	if m.rotated.After(m.Now.Add(skew)) || (m.rotated.IsZero() && m.active != "") {
		m.rotated = seconds(m.Now)
	}
	for i, entry := range m.keys {
		if !slices.Contains(m.retiring, entry.ID) {
			continue
		}
		if entry.NotAfter.IsZero() || entry.NotAfter.After(m.Now.Add(m.Overlap+skew)) {
			m.retire(i)
		}
	}
}

// storeRequest stores a request, so that it is not lost during a rotation. Before the first key there is nothing to
// rotate.
func (m *machine) storeRequest() {
	if m.Request == "" || m.Request == m.request {
		return
	}
	m.request, m.waiting = m.Request, len(m.keys) > 0
}

// repair ensures that there is an active or a pending key.
func (m *machine) repair() error {
	lost := m.lost
	m.lost = ""
	if lost != "" && m.active != "" {
		return m.add(v1alpha1.ReasonRotationStarted)
	}
	if m.active != "" || m.pending != "" {
		return nil
	}
	if id := m.successor(); id != "" {
		m.pending = id
		m.event(v1alpha1.ReasonKeyAdopted, Entry{ID: id})
		return nil
	}
	if len(m.keys) == 0 && len(m.retiring) == 0 && m.rotated.IsZero() {
		return m.add(v1alpha1.ReasonKeysCreated)
	}
	m.waiting = false // this is a new key already
	return m.add(v1alpha1.ReasonRotationStarted)
}

// activate makes the pending key the active one if every server accepts it, and makes the other keys expire. Without a
// previous active key, the other keys stay.
func (m *machine) activate() {
	if m.pending == "" || m.Verified != m.pending {
		return
	}
	follows := m.active != ""
	m.active, m.pending, m.rotated = m.pending, "", seconds(m.Now)
	m.event(v1alpha1.ReasonKeyActivated, Entry{ID: m.active})
	if !follows {
		return
	}
	for i, entry := range m.keys {
		if entry.ID == m.active {
			continue
		}
		if !slices.Contains(m.retiring, entry.ID) {
			m.retiring = append(m.retiring, entry.ID)
		}
		if entry.NotAfter.IsZero() || entry.NotAfter.After(m.Now.Add(m.Overlap)) {
			m.retire(i)
		}
	}
}

func (m *machine) retire(i int) {
	m.keys[i].NotAfter = seconds(m.Now.Add(m.Overlap))
	m.event(v1alpha1.ReasonKeyRetiring, m.keys[i])
}

// rotate starts a rotation if it is due.
func (m *machine) rotate() error {
	if m.pending != "" || m.active == "" || len(m.keys) >= MaxKeys {
		return nil
	}
	if !m.waiting && m.Now.Before(m.rotated.Add(m.RotateEvery)) {
		return nil
	}
	m.waiting = false
	return m.add(v1alpha1.ReasonRotationStarted)
}

// add inserts a new pending key at the start of the file.
func (m *machine) add(reason v1alpha1.Reason) error {
	key, err := m.Kind.newKey(m.Random)
	if err != nil {
		return err
	}
	for range 10 {
		tail, err := draw(m.Random, 4)
		if err != nil {
			return err
		}
		id := cmp.Or(m.Kind.prefix, "k-") + m.Now.UTC().Format("20060102") + "-" + hex.EncodeToString(tail)
		if _, exists := m.keys.Find(id); exists {
			continue
		}
		entry := Entry{ID: id, Key: key}
		m.keys = slices.Insert(m.keys, 0, entry)
		m.pending = id
		m.event(reason, entry)
		return nil
	}
	return errors.New("generating a key id: the random source repeats itself")
}

func (m *machine) event(reason v1alpha1.Reason, entry Entry) {
	m.events = append(m.events, Event{Kind: m.Kind, Reason: reason, KeyID: entry.ID, Until: entry.NotAfter})
}

func (m *machine) result(before File) Result {
	r := Result{
		Content: m.Content, Annotations: m.annotations(), Keys: m.states(m.Now), LastRotation: m.rotated,
		NextRotation: m.nextRotation(), Due: m.due(), Events: m.events,
	}
	if !m.keys.equal(before) || m.Content.Reveal() == "" {
		r.Content, r.Changed = m.keys.Content(), len(m.keys) > 0
	}
	for name, value := range r.Annotations {
		r.Changed = r.Changed || (m.Input.Annotations[name] != value && !m.Paused)
	}
	return r
}

func (m *machine) nextRotation() time.Time {
	switch {
	case m.waiting:
		return m.Now
	case m.active == "" || m.rotated.IsZero():
		return time.Time{}
	default:
		return m.rotated.Add(m.RotateEvery)
	}
}

// due returns when a key expires or a rotation starts. A rotation that waits for servers, or for a key to expire, has
// no time.
func (m *machine) due() time.Time {
	var at time.Time
	for _, entry := range m.keys {
		if entry.ValidAt(m.Now) {
			at = earlier(at, entry.NotAfter)
		}
	}
	if m.pending == "" && len(m.keys) < MaxKeys && !m.Paused {
		at = earlier(at, m.nextRotation())
	}
	return at
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

// seconds rounds a time down to the second, the precision of the annotations.
func seconds(at time.Time) time.Time { return at.UTC().Truncate(time.Second) }

func without(ids []string, id string) []string {
	return slices.DeleteFunc(ids, func(other string) bool { return other == id })
}
