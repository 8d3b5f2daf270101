package marker

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/groupcommit"
	"github.com/plaza-social/plaza/platform/region"
)

var fanOutFeed = fanOutKey{channelID: "c", feedID: "f"}

// heldFanOuts returns fan-outs, the messages of their runs, and a channel that lets a run return.
func heldFanOuts() (f *fanOuts, runs *[][]string, results chan error) {
	runs, results = new([][]string), make(chan error)
	f = newFanOuts(func(_ context.Context, _ fanOutKey, _ []region.Code, ids []string) (map[region.Code]error, error) {
		*runs = append(*runs, ids)
		return map[region.Code]error{region.EU: fail.NotFound()}, <-results
	})
	return f, runs, results
}

func TestMessagesShareTheNextFanOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, runs, results := heldFanOuts()
		calls := []*fanOutCall{
			{homes: []region.Code{region.US}, messageIDs: []string{"1"}},
			{homes: []region.Code{region.US}, messageIDs: []string{"2", "3"}},
			{homes: region.All(), messageIDs: []string{"4"}},
		}
		for _, c := range calls {
			require.True(t, f.Go(t.Context(), fanOutFeed, c))
			synctest.Wait()
		}
		results <- nil
		results <- nil
		synctest.Wait()
		require.Equal(t, [][]string{{"1"}, {"2", "3", "4"}}, *runs)
		require.Empty(t, calls[0].failed)
		require.Empty(t, calls[1].failed)
		require.ErrorIs(t, calls[2].failed[region.EU], fail.NotFound())
	})
}

func TestFanOutsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _, results := heldFanOuts()
		for i := range maxFanOutWaiting + 1 {
			require.True(t, f.Go(t.Context(), fanOutFeed, &fanOutCall{messageIDs: []string{"1"}}), "%d", i)
			synctest.Wait()
		}
		err := (&Service{}).deliver(t.Context(), f, events.MessagesCreated{ChannelID: "c", FeedID: "f", MessageIDs: []string{"one too many"}})
		require.ErrorIs(t, err, groupcommit.ErrFull)
		close(results)
	})
}

func TestNextFanOutIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, runs, results := heldFanOuts()
		half := make([]string, maxFanOutMessages/2)
		for i := range half {
			half[i] = string(rune('A' + i))
		}
		for _, ids := range [][]string{{"first"}, half, half, {"one too many"}} {
			require.True(t, f.Go(t.Context(), fanOutFeed, &fanOutCall{messageIDs: ids}))
			synctest.Wait()
		}
		close(results)
		synctest.Wait()
		require.Len(t, *runs, 3)
		require.Equal(t, []string{"one too many"}, (*runs)[2])
	})
}

func TestFanOutLeavesEndedDeliveriesToWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, runs, results := heldFanOuts()
		ended, end := context.WithCancel(t.Context())
		require.True(t, f.Go(t.Context(), fanOutFeed, &fanOutCall{messageIDs: []string{"first"}}))
		synctest.Wait()
		go func() { _ = f.Add(ended, fanOutFeed, &fanOutCall{messageIDs: []string{"1"}}) }()
		synctest.Wait()
		end()
		require.True(t, f.Go(t.Context(), fanOutFeed, &fanOutCall{messageIDs: []string{"2"}}))
		close(results)
		synctest.Wait()
		require.Equal(t, [][]string{{"first"}, {"2"}}, *runs)
	})
}
