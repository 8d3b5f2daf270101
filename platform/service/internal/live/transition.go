package live

import (
	"fmt"
	"slices"

	"github.com/plaza-social/plaza/platform/fail"
)

// Events that the media server reports. Flagged changes no state.
const (
	Started    = "started"
	Stopped    = "stopped"
	Recorded   = "recorded"
	Failed     = "failed"
	Terminated = "terminated"
	Flagged    = "flagged"
)

// Transition is the change of state that an event makes.
type Transition struct {
	From []string // the states that it starts from
	To   string
	Name string // of the realtime event that reports it
	// Repeated are the states, in addition to To, in which the event was handled before: a report that is late or repeated changes
	// nothing in them.
	Repeated []string
}

// Next reports whether an event changes a state. It is an error if the event is not allowed in the state.
func (t Transition) Next(event, state string) (changes bool, err error) {
	switch {
	case slices.Contains(t.From, state):
		return true, nil
	case state == t.To, slices.Contains(t.Repeated, state):
		return false, nil
	}
	return false, BadTransition(event, state)
}

// BadTransition is the error for an event that is not allowed in a state.
func BadTransition(event, state string) error {
	return fail.New(fail.CodeBadRequest, fmt.Sprintf("%s is not possible in the state %s", event, state))
}
