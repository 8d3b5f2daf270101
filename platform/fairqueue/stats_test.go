package fairqueue

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// TestStats lets two uses wait for the only slot, of which one gives up.
func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(1)
		release, err := q.Acquire(t.Context())
		require.NoError(t, err)
		require.Equal(t, Stats{}, q.Stats())
		impatient, giveUp := context.WithCancel(t.Context())
		go func() { _, _ = q.Acquire(impatient) }()
		go func() {
			second, err := q.Acquire(t.Context())
			if err == nil {
				second()
			}
		}()
		synctest.Wait()
		require.Equal(t, Stats{Waiting: 2, Waited: 2}, q.Stats())
		giveUp()
		synctest.Wait()
		require.Equal(t, Stats{Waiting: 1, Waited: 2}, q.Stats())
		release()
		synctest.Wait()
		require.Equal(t, Stats{Waited: 2}, q.Stats())
	})
}
