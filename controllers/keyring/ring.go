package keyring

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// The annotations of a Secret with server keys.
const (
	AnnotationActive   = "plaza.social/active-key"       // id of the active key
	AnnotationPending  = "plaza.social/pending-key"      // id of the pending key, or empty
	AnnotationRetiring = "plaza.social/retiring-keys"    // ids of the keys that a rotation ended, separated by spaces
	AnnotationRotated  = "plaza.social/rotated-at"       // when the active key became active, RFC 3339
	AnnotationRequest  = "plaza.social/rotation-request" // the last rotation request that was handled
	AnnotationWaiting  = "plaza.social/rotation-waiting" // "true" when the request came while a rotation was under way
	maxRequestLength   = 63                              // a longer request is stored as its digest
	waiting            = "true"
)

// Annotations returns the names of the annotations that this package writes.
func Annotations() []string {
	return []string{AnnotationActive, AnnotationPending, AnnotationRetiring, AnnotationRotated, AnnotationRequest, AnnotationWaiting}
}

// ring is the parsed content of a Secret with server keys.
type ring struct {
	keys     File
	active   string // id, or empty
	pending  string // id, or empty
	retiring []string
	rotated  time.Time // zero means unknown
	request  string
	waiting  bool

	lost string // id of a pending key that was removed from the file, or that was given a notAfter
}

func readRing(content Secret, annotations map[string]string) (*ring, error) {
	keys, err := ParseFile(content)
	if err != nil {
		return nil, err
	}
	r := &ring{keys: keys, request: annotations[AnnotationRequest], waiting: annotations[AnnotationWaiting] == waiting}
	r.active = r.endless(annotations[AnnotationActive])
	if pending := annotations[AnnotationPending]; pending != "" && pending != r.active {
		r.pending = r.endless(pending)
		if r.pending == "" {
			r.lost = pending
		}
	}
	for id := range strings.FieldsSeq(annotations[AnnotationRetiring]) {
		if _, found := keys.Find(id); found && id != r.active && id != r.pending && !slices.Contains(r.retiring, id) {
			r.retiring = append(r.retiring, id)
		}
	}
	// An invalid time counts as unknown; the next activation sets it.
	r.rotated, _ = time.Parse(time.RFC3339, annotations[AnnotationRotated])
	return r, nil
}

// endless returns id if the file has a key with this id and without notAfter, and otherwise "".
func (r *ring) endless(id string) string {
	if entry, found := r.keys.Find(id); found && entry.NotAfter.IsZero() {
		return id
	}
	return ""
}

// successor returns the first key of the file that could become active: one that was added by hand, or one of a Secret
// that was restored without its annotations.
func (r *ring) successor() string {
	for _, entry := range r.keys {
		if entry.NotAfter.IsZero() && !slices.Contains(r.retiring, entry.ID) {
			return entry.ID
		}
	}
	return ""
}

func (r *ring) clone() *ring {
	other := *r
	other.keys, other.retiring = slices.Clone(r.keys), slices.Clone(r.retiring)
	return &other
}

// annotations returns all annotations, including empty ones: an annotation that an apply leaves out may stay in the
// Secret if it has another owner as well.
func (r *ring) annotations() map[string]string {
	all := map[string]string{
		AnnotationActive: r.active, AnnotationPending: r.pending + r.lost, AnnotationRequest: r.request,
		AnnotationRetiring: strings.Join(r.retiring, " "), AnnotationRotated: "", AnnotationWaiting: "",
	}
	if !r.rotated.IsZero() {
		all[AnnotationRotated] = r.rotated.UTC().Format(time.RFC3339)
	}
	if r.waiting {
		all[AnnotationWaiting] = waiting
	}
	return all
}

// states returns the keys that are accepted at now, in the order of the file.
func (r *ring) states(now time.Time) []KeyState {
	var states []KeyState
	for _, entry := range r.keys {
		state := KeyState{ID: entry.ID, State: v1alpha1.KeyRetiring, NotAfter: entry.NotAfter}
		switch {
		case !entry.ValidAt(now):
			continue
		case entry.ID == r.active:
			state.State = v1alpha1.KeyActive
		case entry.ID == r.pending:
			state.State = v1alpha1.KeyPending
		}
		states = append(states, state)
	}
	return states
}

// requestOf returns a request in the form in which it is stored.
func requestOf(value string) string {
	if len(value) <= maxRequestLength && visibleASCII(value) {
		return value
	}
	digest := sha256.Sum256([]byte(value))
	return "sha256-" + hex.EncodeToString(digest[:16])
}
