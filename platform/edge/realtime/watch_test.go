package realtime

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
)

func TestPositions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]positions{
		"":               nil,
		"eu-4":           {region.EU: 4},
		"eu-4.sg-7.us-0": {region.EU: 4, region.SG: 7, region.US: 0},
	} {
		got, err := parsePositions(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		require.Equal(t, text, got.String())
	}
	for _, text := range []string{".", "eu-4.", ".eu-4", "eu-4.eu-4", "eu-4 sg-7", "eu-4.xx-7", "eu"} {
		_, err := parsePositions(text)
		require.Equal(t, fail.KindValidation, fail.From(err).Kind, text)
	}
}

// TestWatchQueue tests the queue of a stream that has joined the log of the EU after 10, and cannot join that of the US yet, where its
// client has received the events up to 5.
func TestWatchQueue(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		act    func(*watch)
		queue  []int64
		seen   string
		reason string
	}{
		"empty":                         {func(*watch) {}, nil, "eu-10.us-5", ""},
		"at the limit":                  {func(w *watch) { pushTo(w, region.EU, 11, 12) }, []int64{11, 12}, "eu-12.us-5", ""},
		"one past the limit":            {func(w *watch) { pushTo(w, region.EU, 11, 12, 13) }, []int64{11, 12}, "eu-12.us-5", endSlow},
		"read by the stream itself":     {func(w *watch) { pushTo(w, region.EU, 10, 11) }, []int64{11}, "eu-11.us-5", ""},
		"delivered twice":               {func(w *watch) { pushTo(w, region.EU, 11, 12, 11, 12) }, []int64{11, 12}, "eu-12.us-5", ""},
		"a home before the join":        {func(w *watch) { pushTo(w, region.SG, 1); w.advance(region.SG, 1) }, nil, "eu-10.us-5", ""},
		"a home that has answered":      {func(w *watch) { pushTo(w, region.US, 9) }, nil, "eu-10.us-5", endUnavailable},
		"the position of that home":     {func(w *watch) { w.advance(region.US, 9) }, nil, "eu-10.us-5", ""},
		"a home without a position":     {func(w *watch) { w.joinLater(region.SG, -1) }, nil, "eu-10.us-5", ""},
		"a home that stopped answering": {func(w *watch) { w.joinLater(region.EU, 8) }, nil, "eu-8.us-5", ""},
		"events of others":              {func(w *watch) { pushTo(w, region.EU, 11); w.advance(region.EU, 20) }, []int64{11}, "eu-20.us-5", ""},
		"an older position":             {func(w *watch) { pushTo(w, region.EU, 12); w.advance(region.EU, 11) }, []int64{12}, "eu-12.us-5", ""},
		"no position after the end": {
			func(w *watch) { pushTo(w, region.EU, 11, 12, 13); w.advance(region.EU, 20) },
			[]int64{11, 12},
			"eu-12.us-5", endSlow,
		},
		"nothing after the end": {func(w *watch) { w.end(endToken); pushTo(w, region.EU, 11) }, nil, "eu-10.us-5", endToken},
		"the first reason":      {func(w *watch) { w.end(endSession); w.end(endShutdown) }, nil, "eu-10.us-5", endSession},
		"a slow client, then shut down": {
			func(w *watch) { pushTo(w, region.EU, 11, 12, 13); w.end(endShutdown) },
			[]int64{11, 12},
			"eu-12.us-5", endSlow,
		},
		"room after the client has read": {func(w *watch) {
			pushTo(w, region.EU, 11, 12)
			w.take()
			pushTo(w, region.EU, 13)
		}, []int64{13}, "eu-13.us-5", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWatch(nil, 2)
			w.join(region.EU, 10)
			w.joinLater(region.US, 5)
			test.act(w)
			frames, seen, reason := w.take()
			var numbers []int64
			for _, f := range frames {
				numbers = append(numbers, f.seq)
			}
			require.Equal(t, test.queue, numbers)
			require.Equal(t, test.seen, seen.String())
			require.Equal(t, test.reason, reason)
			frames, _, _ = w.take()
			require.Empty(t, frames, "each frame is sent once")
		})
	}
}

func pushTo(w *watch, home region.Code, numbers ...int64) {
	for _, seq := range numbers {
		w.push(watchFrame{home: home, seq: seq})
	}
}

func TestWildcards(t *testing.T) {
	t.Parallel()
	for filter, want := range map[string]bool{
		"a/b": true, "a/#": true, "a/+/b": true, "a/+": true, "#": true, "a/#/b": false, "a/b#": false, "a/+b": false, "a/b+/c": false,
		"a/##": false,
	} {
		require.Equal(t, want, validWildcards(filter), filter)
	}
}

// FuzzParsePositions checks that an accepted Last-Event-ID of a stream of topics names each home at most once, and is equal to the id of
// its positions.
func FuzzParsePositions(f *testing.F) {
	for _, id := range []string{"", "eu-4.sg-7.us-0", "eu-1.eu-2", "eu-1.", ".", "us-+7"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		p, err := parsePositions(id)
		if err != nil || p == nil {
			require.True(t, err != nil || id == "")
			return
		}
		again, err := parsePositions(p.String())
		require.NoError(t, err)
		require.Equal(t, p, again)
	})
}
