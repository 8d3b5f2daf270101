package room

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/service/internal/live"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// The results of events that do not change the state.
const (
	same    = "same"
	refused = "refused"
)

// TestTransitions tests each event in each state against the table in the package documentation.
func TestTransitions(t *testing.T) {
	t.Parallel()
	states := []string{"idle", "live", "waitingReconnect", "ended", "recorded", "terminated", "error"}
	table := map[string][7]string{
		live.Started:    {"live", same, "live", refused, refused, refused, refused},
		interrupted:     {refused, "waitingReconnect", same, refused, refused, refused, refused},
		live.Stopped:    {refused, "ended", "ended", same, same, refused, refused},
		live.Recorded:   {refused, refused, refused, "recorded", same, refused, refused},
		live.Failed:     {"error", "error", "error", refused, refused, refused, same},
		live.Terminated: {"terminated", "terminated", "terminated", refused, refused, same, refused},
		stopping:        {"ended", "ended", "ended", same, same, refused, refused},
	}
	require.Len(t, transitions, len(table), "every event")
	for event, row := range table {
		for i, state := range states {
			changes, err := transitions[event].Next(event, state)
			got := same
			switch {
			case err != nil:
				got = refused
			case changes:
				got = transitions[event].To
			}
			require.Equal(t, row[i], got, "%s in the state %s", event, state)
		}
	}
}

func TestEveryOpenStateCanEnd(t *testing.T) {
	t.Parallel()
	for _, state := range openStates {
		for _, event := range []string{stopping, live.Failed, live.Terminated} {
			changes, err := transitions[event].Next(event, state)
			require.NoError(t, err)
			require.True(t, changes, "%s in the state %s", event, state)
		}
	}
}

func TestRecordingsOfRoom(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		list []*plazav1.RoomPlayback
		want int
	}{
		"none":                       {nil, 0},
		"one":                        {[]*plazav1.RoomPlayback{{Url: "a", ThumbnailUrl: "t"}}, 1},
		"two":                        {[]*plazav1.RoomPlayback{{Url: "a"}, {Url: "b"}}, 2},
		"one without an address":     {[]*plazav1.RoomPlayback{{ThumbnailUrl: "t"}}, 0},
		"the second without one":     {[]*plazav1.RoomPlayback{{Url: "a"}, {}}, 0},
		"an element that is not set": {[]*plazav1.RoomPlayback{nil}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := recordingsOf(test.list)
			require.Len(t, got, test.want)
			require.Equal(t, test.want == 0, err != nil)
		})
	}
}
