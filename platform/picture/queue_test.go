package picture_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/picture"
)

// patience is how long tests wait for what must happen. Only a test that fails waits that long.
const patience = 2 * time.Minute

// decoder decodes the images of a queue when the test says so.
type decoder struct {
	t       *testing.T
	queue   *picture.Queue
	started chan string   // the names of images, in the order of their start
	next    chan struct{} // lets one image finish
	all     sync.WaitGroup
	present int
}

func newDecoder(t *testing.T, limits picture.QueueLimits) *decoder {
	t.Helper()
	return &decoder{t: t, queue: picture.NewQueue(limits), started: make(chan string, 1000), next: make(chan struct{})}
}

// upload decodes an image of a user as soon as the queue admits it, and returns when it is queued or in progress.
func (d *decoder) upload(user, name string, pixels int64) {
	d.t.Helper()
	d.present++
	gate := d.queue.Of(user)
	d.all.Go(func() {
		if err := gate.Acquire(d.t.Context(), pixels); err != nil {
			d.started <- err.Error()
			return
		}
		d.started <- name
		<-d.next
		gate.Release(pixels)
	})
	d.await()
}

// await waits until the queue has taken notice of uploads and finished images.
func (d *decoder) await() {
	d.t.Helper()
	require.Eventually(d.t, func() bool { return d.queue.Present() == d.present }, patience, time.Millisecond)
}

func (d *decoder) requireStarts(names ...string) {
	d.t.Helper()
	var started []string
	for range names {
		started = append(started, <-d.started)
	}
	require.ElementsMatch(d.t, names, started)
	require.Empty(d.t, d.started)
}

// finish lets one image finish, after which others start.
func (d *decoder) finish(thenStarts ...string) {
	d.t.Helper()
	d.next <- struct{}{}
	d.present--
	d.await()
	d.requireStarts(thenStarts...)
}

// TestQueueIsFair checks that the image of a user waits for one image of a user with many.
func TestQueueIsFair(t *testing.T) {
	d := newDecoder(t, picture.QueueLimits{Pixels: 50, Images: 8, WaitingPerUser: 30, Waiting: 100})
	for i := range 24 {
		d.upload("many", fmt.Sprint("many ", i), 50)
	}
	d.requireStarts("many 0")
	d.upload("one", "one 0", 1)
	d.upload("other", "other 0", 1)
	d.upload("one", "one 1", 1)
	d.finish("many 1") // it was next when the others came
	d.finish("one 0", "other 0")
	d.finish()
	d.finish("many 2")
	d.finish("one 1")
	for i := 3; i < 24; i++ {
		d.finish(fmt.Sprint("many ", i))
	}
	d.finish()
	d.all.Wait()
}

func TestQueueLimits(t *testing.T) {
	d := newDecoder(t, picture.QueueLimits{Pixels: 10, Images: 2, WaitingPerUser: 2, Waiting: 3})
	d.upload("a", "a 0", 4)
	d.upload("a", "a 1", 4)
	d.requireStarts("a 0", "a 1")
	d.upload("a", "a 2", 1) // would fit, but there are as many images as processors
	d.upload("a", "a 3", 100)
	ctx := t.Context()
	require.ErrorIs(t, d.queue.Of("a").Acquire(ctx, 1), picture.ErrUserQueueFull)
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, d.queue.Of("c").Acquire(canceled, 1), context.Canceled, "it leaves the queue")
	d.upload("b", "b 0", 1)
	require.ErrorIs(t, d.queue.Of("c").Acquire(ctx, 1), picture.ErrQueueFull)
	d.finish("a 2")
	d.finish("b 0")
	d.finish()
	d.finish("a 3") // larger than the limit, so alone
	d.finish()
	d.all.Wait()
}
