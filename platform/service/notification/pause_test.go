package notification

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/push"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
)

// TestPausesOfSlowUsers checks that the pauses of a user double up to the longest one, that attempts which were made together lead to one
// pause, and that the first pause after a fast attempt is short again.
func TestPausesOfSlowUsers(t *testing.T) {
	t.Parallel()
	s, now := newSlowUsers(time.Second), servicetest.Noon
	pause := func(took time.Duration) time.Duration {
		t.Helper()
		s.note(push.WebPush, "user", took, now)
		err := s.check(push.WebPush, "user", now)
		if err == nil {
			return 0
		}
		var paused *pausedError
		require.ErrorAs(t, err, &paused)
		require.NoError(t, s.check(push.WebPush, "other", now))
		require.NoError(t, s.check(push.FCM, "user", now), "users do not choose this provider")
		require.Error(t, s.check(push.WebPush, "user", paused.until.Add(-1)))
		require.NoError(t, s.check(push.WebPush, "user", paused.until))
		return paused.until.Sub(now)
	}
	require.Zero(t, pause(time.Second-1))
	for _, minutes := range []int{1, 2, 4, 8, 16, 30, 30} {
		want := time.Duration(minutes) * time.Minute
		require.Equal(t, want, pause(time.Second))
		require.Equal(t, want, pause(time.Second), "of the same time")
		require.Equal(t, want, pause(0), "of the same time, although it was fast")
		now = now.Add(want)
	}
	require.Zero(t, pause(0))
	require.Equal(t, firstPause, pause(time.Second))
	s.note(push.APNs, "elsewhere", time.Hour, now)
	require.NoError(t, s.check(push.WebPush, "elsewhere", now))
}
