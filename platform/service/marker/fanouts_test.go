package marker

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
)

func TestMessagesShareTheNextFanOut(t *testing.T) {
	runs, results := make(chan []string), make(chan error)
	f := &fanOuts{slots: make(chan struct{}, 1), waiting: map[fanOutKey][]fanOutCall{}, run: func(_ context.Context, _ fanOutKey, _ []region.Code, ids []string) (map[region.Code]error, error) {
		runs <- ids
		return map[region.Code]error{region.EU: fail.NotFound()}, <-results
	}}
	key, done := fanOutKey{channelID: "c", feedID: "f"}, make(chan fanOutResult, 3)
	require.True(t, f.enqueue(t.Context(), key, fanOutCall{[]region.Code{region.US}, []string{"1"}, nil, done}))
	require.Equal(t, []string{"1"}, <-runs)
	require.True(t, f.enqueue(t.Context(), key, fanOutCall{[]region.Code{region.US}, []string{"2", "3"}, nil, done}))
	require.True(t, f.enqueue(t.Context(), key, fanOutCall{region.All(), []string{"4"}, nil, done}))
	results <- nil
	require.Empty(t, (<-done).failed)
	require.Equal(t, []string{"2", "3", "4"}, <-runs)
	results <- nil
	require.Empty(t, (<-done).failed)
	require.ErrorIs(t, (<-done).failed[region.EU], fail.NotFound())
}

func TestFanOutsAreLimited(t *testing.T) {
	f := &fanOuts{waiting: map[fanOutKey][]fanOutCall{}}
	key, ended := fanOutKey{channelID: "c", feedID: "f"}, make(chan fanOutResult)
	f.waiting[key] = make([]fanOutCall, maxFanOutWaiting-1)
	require.True(t, f.enqueue(t.Context(), key, fanOutCall{[]region.Code{region.US}, []string{"last"}, nil, ended}))
	_, err := f.add(t.Context(), events.MessagesCreated{ChannelID: "c", FeedID: "f", MessageIDs: []string{"one too many"}}, region.All())
	require.ErrorIs(t, err, fail.Unavailable("", nil))
}

func TestNextFanOutIsLimited(t *testing.T) {
	key := fanOutKey{feedID: "f"}
	half := make([]string, maxFanOutMessages/2)
	f := &fanOuts{waiting: map[fanOutKey][]fanOutCall{key: {{messageIDs: half}, {messageIDs: half}, {messageIDs: []string{"one too many"}}}}}
	require.Len(t, f.next(key), 2)
	require.Len(t, f.next(key), 1)
	require.Empty(t, f.next(key))
}

func TestFanOutLeavesEndedDeliveriesToWorkers(t *testing.T) {
	key, ended := fanOutKey{feedID: "f"}, make(chan struct{})
	close(ended)
	f := &fanOuts{waiting: map[fanOutKey][]fanOutCall{key: {{messageIDs: []string{"1"}, ended: ended}, {messageIDs: []string{"2"}}}}}
	calls := f.next(key)
	require.Len(t, calls, 1)
	require.Equal(t, []string{"2"}, calls[0].messageIDs)
}
