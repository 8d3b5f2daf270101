package keyring

import (
	"time"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// Existing returns the states of the keys of a Secret that its owner rotates: keys without notAfter are Active, others
// are Retiring; if all keys have one, the key that expires last is Active. candidate is the key to ask the servers
// about. The error is a *BrokenError, also if no key is valid.
func Existing(content Secret, now time.Time) (states []KeyState, candidate Entry, err error) {
	file, err := ParseFile(content)
	if err != nil {
		return nil, Entry{}, err
	}
	best := -1
	for _, entry := range file {
		if !entry.ValidAt(now) {
			continue
		}
		state := KeyState{ID: entry.ID, State: v1alpha1.KeyRetiring, NotAfter: entry.NotAfter}
		if entry.NotAfter.IsZero() {
			state.State = v1alpha1.KeyActive
		}
		states = append(states, state)
		if best < 0 || later(entry.NotAfter, states[best].NotAfter) {
			best, candidate = len(states)-1, entry
		}
	}
	if best < 0 {
		return nil, Entry{}, &BrokenError{Reason: "it has no valid key"}
	}
	states[best].State = v1alpha1.KeyActive
	return states, candidate, nil
}

// later compares the expiry times of keys; zero is later than all others.
func later(a, b time.Time) bool {
	if a.IsZero() || b.IsZero() {
		return a.IsZero() && !b.IsZero()
	}
	return a.After(b)
}
