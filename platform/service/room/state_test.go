package room

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/service/internal/live/livetest"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// TestTransitions tests each event in each state against the table in the package documentation.
func TestTransitions(t *testing.T) {
	t.Parallel()
	const same, refused = livetest.Same, livetest.Refused
	states := []string{"idle", "live", "waitingReconnect", "ended", "recorded", "terminated", "error"}
	livetest.RequireTransitions(t, transitions, states, map[string][]string{
		live.Started:    {"live", same, "live", refused, refused, refused, refused},
		interrupted:     {refused, "waitingReconnect", same, refused, refused, refused, refused},
		live.Stopped:    {refused, "ended", "ended", same, same, refused, refused},
		live.Recorded:   {refused, refused, refused, "recorded", same, refused, refused},
		live.Failed:     {"error", "error", "error", refused, refused, refused, same},
		live.Terminated: {"terminated", "terminated", "terminated", refused, refused, same, refused},
		stopping:        {"ended", "ended", "ended", same, same, refused, refused},
	}, openStates, []string{stopping, live.Failed, live.Terminated})
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
