package presence

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/people"
)

// beat is a presence at a time after noon, which lasts for 90 seconds.
func beat(place, userID string, after time.Duration) people.Presence {
	at := servicetest.Noon.Add(after)
	return people.Presence{Place: place, UserID: userID, JoinedAt: at, Until: at.Add(90 * time.Second)}
}

// present returns who is in a place at a time after noon.
func present(t *testing.T, w *servicetest.World, place string, after time.Duration) []string {
	t.Helper()
	var rows []people.Presence
	var n int64
	reads := w.Store.NewReadBatch()
	reads.ListPresences(place, servicetest.Noon.Add(after), 10, &rows)
	reads.CountPresences(place, servicetest.Noon.Add(after), &n)
	require.NoError(t, reads.Run(t.Context()))
	require.EqualValues(t, len(rows), n)
	var found []string
	for _, p := range rows {
		found = append(found, fmt.Sprintf("%s since %s", p.UserID, p.JoinedAt.Sub(servicetest.Noon)))
	}
	return found
}

// TestPresences has heartbeats arrive at two servers.
func TestPresences(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	first, second := New(w.Deps), New(w.Deps)
	room := region.NewID(region.SG)
	flush := func(after time.Duration) {
		w.Set(servicetest.Noon.Add(after))
		for _, s := range []*Service{first, second} {
			more, err := s.store(t.Context(), region.SG)
			require.NoError(t, err)
			require.False(t, more)
		}
	}
	require.NoError(t, first.beats.add(region.SG, beat(room, "a", 0)))
	require.NoError(t, first.beats.add(region.SG, beat(room, "b", 0)))
	require.NoError(t, first.beats.add(region.SG, beat(room, "a", 10*time.Second)))
	require.Empty(t, present(t, w, room, 0), "a heartbeat stores nothing by itself")
	flush(20 * time.Second)
	require.Equal(t, []string{"a since 0s", "b since 0s"}, present(t, w, room, 20*time.Second))
	require.NoError(t, second.beats.add(region.SG, beat(room, "a", 70*time.Second)))
	flush(70 * time.Second)
	require.Equal(t, []string{"a since 0s"}, present(t, w, room, 91*time.Second), "b has sent no other heartbeat")
	require.NoError(t, second.beats.add(region.SG, beat(room, "b", 100*time.Second)))
	require.NoError(t, second.beats.add(region.SG, beat(room, "c", -95*time.Second)))
	flush(100 * time.Second)
	require.Equal(t, []string{"a since 0s", "b since 1m40s"}, present(t, w, room, 100*time.Second), "c has left before it was stored")

	sweep := func(after time.Duration) {
		w.Set(servicetest.Noon.Add(after))
		_, err := first.SweepJob().Drain(t.Context(), region.SG, 0)
		require.NoError(t, err)
	}
	sweep(161*time.Second + ended)
	require.Equal(t, []string{"b since 1m40s"}, present(t, w, room, 0), "a left and was removed")
	sweep(200*time.Second + ended)
	require.Empty(t, present(t, w, room, 0))
}

// TestHeartbeatsWaitForTheirHome keeps heartbeats that could not be stored, and later ones.
func TestHeartbeatsWaitForTheirHome(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	s := New(w.Deps)
	w.Set(servicetest.Noon)
	room := region.NewID(region.US)
	require.NoError(t, s.beats.add(region.US, beat(room, "a", 0)))
	w.FailAt(1)
	_, err := s.store(t.Context(), region.US)
	require.ErrorIs(t, err, servicetest.ErrLost)
	_, err = s.store(t.Context(), region.US)
	require.NoError(t, err)
	require.Len(t, present(t, w, room, 0), 1)
}

func TestHeartbeatsAreBounded(t *testing.T) {
	t.Parallel()
	var b beats
	for i := range maxPending {
		require.NoError(t, b.add(region.US, beat("room", strconv.Itoa(i), 0)))
	}
	require.ErrorIs(t, b.add(region.US, beat("room", "another", 0)), errTooMany)
	require.NoError(t, b.add(region.US, beat("room", "0", 0)), "a known user costs nothing")
	require.NoError(t, b.add(region.EU, beat("room", "another", 0)))
	taken, more := b.take(region.US, servicetest.Noon)
	require.Len(t, taken, maxPerStore)
	require.True(t, more)
	taken, more = b.take(region.US, servicetest.Noon.Add(2*time.Minute))
	require.Empty(t, taken)
	require.False(t, more)
}

func TestCountsAreBounded(t *testing.T) {
	t.Parallel()
	c := newCounts()
	at := servicetest.Noon
	c.Add("room", count{7, at})
	found, ok := c.get("room", at.Add(countAge-1))
	require.True(t, ok)
	require.EqualValues(t, 7, found.n)
	_, ok = c.get("room", at.Add(countAge))
	require.False(t, ok)
	for i := range maxCounts + 1 {
		c.Add(strconv.Itoa(i), count{1, at.Add(time.Second)})
	}
	require.LessOrEqual(t, c.Len(), maxCounts)
	_, ok = c.get(strconv.Itoa(maxCounts), at.Add(time.Second))
	require.True(t, ok)
}
