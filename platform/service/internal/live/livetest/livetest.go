// Package livetest tests tables of transitions.
package livetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/service/internal/live"
)

// The results of events that do not change the state.
const (
	Same    = "same"
	Refused = "refused"
)

// RequireTransitions checks the result of each event in each state: the state that follows, Same or Refused. table has a row
// for each event, with the results in the order of states. Of the events in ending, each must end every state in open.
func RequireTransitions(t *testing.T, transitions map[string]live.Transition, states []string, table map[string][]string, open,
	ending []string,
) {
	t.Helper()
	require.Len(t, transitions, len(table), "every event")
	for event, row := range table {
		require.Len(t, row, len(states), event)
		for i, state := range states {
			require.Equal(t, row[i], resultOf(transitions[event], event, state), "%s in the state %s", event, state)
		}
	}
	for _, state := range open {
		for _, event := range ending {
			require.NotContains(t, append(open, Same, Refused), resultOf(transitions[event], event, state), "%s in the state %s", event, state)
		}
	}
}

func resultOf(transition live.Transition, event, state string) string {
	changes, err := transition.Next(event, state)
	switch {
	case err != nil:
		return Refused
	case changes:
		return transition.To
	}
	return Same
}
