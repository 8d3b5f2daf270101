package picture

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLeaveAfterAdmission gives up an upload at the moment at which its image is admitted: the next image takes its place.
func TestLeaveAfterAdmission(t *testing.T) {
	t.Parallel()
	q := NewQueue(QueueLimits{Pixels: 10, Images: 1, WaitingPerUser: 2, Waiting: 2})
	admitted, err := q.enter("a", 10)
	require.NoError(t, err)
	<-admitted.admitted
	next, err := q.enter("b", 10)
	require.NoError(t, err)
	q.leave("a", admitted)
	<-next.admitted
	require.Equal(t, 1, q.Present())
	q.release(10)
	require.Equal(t, [2]int64{}, [2]int64{q.pixels, int64(q.images)})
}

// TestQueueAtItsLimits admits images that have as many pixels as the limit together, and lets as many wait as may.
func TestQueueAtItsLimits(t *testing.T) {
	t.Parallel()
	q := NewQueue(QueueLimits{Pixels: 10, Images: 3, WaitingPerUser: 1, Waiting: 1})
	for range 2 {
		t5, err := q.enter("a", 5)
		require.NoError(t, err)
		<-t5.admitted
	}
	_, err := q.enter("a", 1)
	require.NoError(t, err)
	_, err = q.enter("a", 1)
	require.ErrorIs(t, err, ErrUserQueueFull)
	_, err = q.enter("b", 1)
	require.ErrorIs(t, err, ErrQueueFull)
	require.Equal(t, 3, q.Present())
}

// TestScanLimit reads as many scans as a JPEG may have, and one more.
func TestScanLimit(t *testing.T) {
	t.Parallel()
	read := func(scans int) error {
		_, err := io.Copy(io.Discard, &scanLimit{source: bytes.NewReader(bytes.Repeat([]byte{0xff, markerSOS}, scans))})
		return err
	}
	require.NoError(t, read(maxScans))
	require.ErrorIs(t, read(maxScans+1), errScans)
}
