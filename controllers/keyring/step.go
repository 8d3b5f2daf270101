package keyring

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// DefaultRotateEvery is the time from one rotation to the next where the spec names none.
const DefaultRotateEvery = 720 * time.Hour

// MaxKeys is how many keys a file has at most before a rotation waits for one of them to end.
const MaxKeys = 16

// skew is how far two clocks may be apart before a time that lies too far ahead is put right.
const skew = 5 * time.Minute

// Input is what a step of the state machine decides on.
type Input struct {
	// Content is the server-keys.json of the Secret; the zero Secret where there is none.
	Content Secret
	// Annotations are the Secret's.
	Annotations map[string]string
	// RotateEvery is the time from one rotation to the next, Overlap how long an old key is accepted beside the active one.
	RotateEvery time.Duration
	Overlap     time.Duration
	// Now is the time, and Random where keys come from.
	Now    time.Time
	Random io.Reader
	// Request is the value of the annotation that asks for a rotation; empty where nobody does.
	Request string
	// Verified is the id of the key that every server of the region said to accept, see Candidate.
	Verified string
	// Paused lets nothing happen but that keys whose time is over are removed.
	Paused bool
}

// Result is what a step decided.
type Result struct {
	// Changed tells that Content and Annotations have to be written.
	Changed bool
	Content Secret
	// Annotations are all those of the list that Annotations returns; some are empty.
	Annotations map[string]string
	// Keys are the keys that are accepted now, newest first.
	Keys []KeyState
	// LastRotation is when the active key became active; NextRotation when the next rotation is due, which may be in the past while
	// one is under way. Zero: not known yet.
	LastRotation time.Time
	NextRotation time.Time
	// Due is when a step has something to do again though nothing else changed; zero: never.
	Due time.Time
	// Events tell what happened in this step; Waits what would happen if the network were not paused.
	Events []Event
	Waits  []Event
}

// KeyState is how one key stands.
type KeyState struct {
	ID       string
	State    v1alpha1.KeyState
	NotAfter time.Time // zero: no end
}

// Event is something that happened to a key.
type Event struct {
	Type  EventType
	KeyID string
	Until time.Time // when the key ends, for Retiring
}

// EventType is what happened.
type EventType string

// What happens to keys.
const (
	Created         EventType = "Created"         // the first key was made
	RotationStarted EventType = "RotationStarted" // a new key was put beside the active one
	KeyAdopted      EventType = "KeyAdopted"      // a key that was put in by hand is to be the active one
	KeyActivated    EventType = "KeyActivated"    // every server accepts the key: it is the one to use
	KeyRetiring     EventType = "KeyRetiring"     // the key ends at Until
	KeyRevoked      EventType = "KeyRevoked"      // the key's time is over, and it was removed
)

// String says what happened in words.
func (e Event) String() string {
	switch e.Type {
	case Created:
		return fmt.Sprintf("the first server key %s was made", e.KeyID)
	case RotationStarted:
		return fmt.Sprintf("a rotation started with the new server key %s", e.KeyID)
	case KeyAdopted:
		return fmt.Sprintf("the server key %s, put in by hand, is to be the active one", e.KeyID)
	case KeyActivated:
		return fmt.Sprintf("every server accepts the server key %s: it is the active one", e.KeyID)
	case KeyRetiring:
		return fmt.Sprintf("the server key %s is accepted until %s", e.KeyID, e.Until.UTC().Format(time.RFC3339))
	case KeyRevoked:
		return fmt.Sprintf("the server key %s is over and was removed", e.KeyID)
	default:
		return string(e.Type) + " " + e.KeyID
	}
}

// Candidate returns the key that the servers of the region are to be asked about: the pending one, else the active one. It is
// not found where a step has to make one first; the error is a *BrokenError.
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

// Step decides what happens to the keys of one region. A broken file is a *BrokenError, and nothing is to be written then.
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
	result.Waits = waits
	return result, nil
}

// machine is one step.
type machine struct {
	Input
	*ring

	events []Event
}

func (m *machine) run() error {
	m.putTimesRight()
	m.takeRequest()
	if err := m.heal(); err != nil {
		return err
	}
	m.activate()
	return m.rotate()
}

// revoke removes keys whose time is over: the servers refuse them already.
func (m *machine) revoke() {
	kept := File{}
	for _, entry := range m.keys {
		if entry.ValidAt(m.Now) {
			kept = append(kept, entry)
		}
	}
	if len(kept) == 0 && m.Paused { // servers do not start with an empty file, and a new key has to wait
		return
	}
	for _, entry := range m.keys {
		if !entry.ValidAt(m.Now) {
			m.happened(KeyRevoked, entry)
			m.retiring = without(m.retiring, entry.ID)
		}
	}
	m.keys = kept
}

// putTimesRight shortens what a clock that went back, a shorter overlap or an edit by hand left too far ahead.
func (m *machine) putTimesRight() {
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

// takeRequest remembers a request, so that it is not lost while a rotation is under way. There is nothing to rotate before
// the first key.
func (m *machine) takeRequest() {
	if m.Request == "" || m.Request == m.request {
		return
	}
	m.request, m.waiting = m.Request, len(m.keys) > 0
}

// heal sees to it that there is a key that is, or is to become, the active one.
func (m *machine) heal() error {
	lost := m.lost
	m.lost = ""
	if lost != "" && m.active != "" {
		return m.add(RotationStarted)
	}
	if m.active != "" || m.pending != "" {
		return nil
	}
	if id := m.heir(); id != "" {
		m.pending = id
		m.happened(KeyAdopted, Entry{ID: id})
		return nil
	}
	if len(m.keys) == 0 && len(m.retiring) == 0 && m.rotated.IsZero() {
		return m.add(Created)
	}
	m.waiting = false // this is a new key already
	return m.add(RotationStarted)
}

// activate makes the pending key the active one, and lets every other key end, when every server accepts it. A key that follows
// on none ends none.
func (m *machine) activate() {
	if m.pending == "" || m.Verified != m.pending {
		return
	}
	follows := m.active != ""
	m.active, m.pending, m.rotated = m.pending, "", seconds(m.Now)
	m.happened(KeyActivated, Entry{ID: m.active})
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
	m.happened(KeyRetiring, m.keys[i])
}

// rotate starts a rotation that is due.
func (m *machine) rotate() error {
	if m.pending != "" || m.active == "" || len(m.keys) >= MaxKeys {
		return nil
	}
	if !m.waiting && m.Now.Before(m.rotated.Add(m.RotateEvery)) {
		return nil
	}
	m.waiting = false
	return m.add(RotationStarted)
}

// add puts a new pending key at the head of the file.
func (m *machine) add(what EventType) error {
	key, err := newKey(m.Random)
	if err != nil {
		return err
	}
	for range 10 {
		tail, err := draw(m.Random, 4)
		if err != nil {
			return err
		}
		id := "k-" + m.Now.UTC().Format("20060102") + "-" + hex.EncodeToString(tail)
		if _, taken := m.keys.Find(id); taken {
			continue
		}
		entry := Entry{ID: id, Key: key}
		m.keys = slices.Insert(m.keys, 0, entry)
		m.pending = id
		m.happened(what, entry)
		return nil
	}
	return errors.New("no randomness for a key: it repeats itself")
}

func (m *machine) happened(what EventType, entry Entry) {
	m.events = append(m.events, Event{Type: what, KeyID: entry.ID, Until: entry.NotAfter})
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

// due is when a key ends or a rotation starts. A rotation that waits for servers, or for a key to end, has no time.
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

// seconds is the time as it can be written down, never later.
func seconds(at time.Time) time.Time { return at.UTC().Truncate(time.Second) }

func without(ids []string, id string) []string {
	return slices.DeleteFunc(ids, func(other string) bool { return other == id })
}
