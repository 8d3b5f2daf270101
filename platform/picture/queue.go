package picture

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"sync"
)

// Errors of a full queue.
var (
	// ErrUserQueueFull is returned to a user who has too many waiting images.
	ErrUserQueueFull = errors.New("the user has too many waiting images")
	// ErrQueueFull is returned if all users together have too many waiting images.
	ErrQueueFull = errors.New("too many images are waiting")
)

// QueueLimits are the limits of a Queue.
type QueueLimits struct {
	// Pixels limits the images in progress, and thereby their memory. A larger image is decoded alone.
	Pixels int64
	// Images limits the images in progress, which each use a processor.
	Images int
	// WaitingPerUser and Waiting limit the images that wait.
	WaitingPerUser, Waiting int
}

// Queue admits images to be decoded. It takes one image of each user with waiting images in turn, so that a user waits
// for one image of every other user at most.
type Queue struct {
	limits QueueLimits

	mu      sync.Mutex
	pixels  int64 // in progress
	images  int
	users   []string // with waiting images, the next one first
	waiting map[string][]*ticket
	total   int // of waiting
}

// ticket is a waiting image.
type ticket struct {
	pixels   int64
	admitted chan struct{} // closed when the image may be decoded
}

// NewQueue returns an empty queue.
func NewQueue(limits QueueLimits) *Queue {
	return &Queue{limits: limits, waiting: map[string][]*ticket{}}
}

// Of returns the gate for the images of a user.
func (q *Queue) Of(user string) Gate { return userGate{q, user} }

type userGate struct {
	queue *Queue
	user  string
}

// Acquire waits until an image may be decoded.
func (g userGate) Acquire(ctx context.Context, pixels int64) error {
	return g.queue.acquire(ctx, g.user, pixels)
}

// Release ends the decoding of an image.
func (g userGate) Release(pixels int64) { g.queue.release(pixels) }

func (q *Queue) acquire(ctx context.Context, user string, pixels int64) error {
	t, err := q.enter(user, pixels)
	if err != nil {
		return err
	}
	select {
	case <-t.admitted:
		return nil
	case <-ctx.Done():
		q.leave(user, t)
		return ctx.Err()
	}
}

// enter adds an image to the queue.
func (q *Queue) enter(user string, pixels int64) (*ticket, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case len(q.waiting[user]) >= q.limits.WaitingPerUser:
		return nil, ErrUserQueueFull
	case q.total >= q.limits.Waiting:
		return nil, ErrQueueFull
	}
	t := &ticket{pixels: pixels, admitted: make(chan struct{})}
	if len(q.waiting[user]) == 0 {
		q.users = append(q.users, user)
	}
	q.waiting[user] = append(q.waiting[user], t)
	q.total++
	q.admit()
	return t, nil
}

// leave removes an image whose upload was given up.
func (q *Queue) leave(user string, t *ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting[user], t)
	if i < 0 { // admitted in the meantime
		q.pixels, q.images = q.pixels-t.pixels, q.images-1
		q.admit()
		return
	}
	q.remove(user, i)
	if len(q.waiting[user]) == 0 {
		q.users = slices.DeleteFunc(q.users, func(u string) bool { return u == user })
	}
	q.admit()
}

// remove removes the waiting image i of a user.
func (q *Queue) remove(user string, i int) {
	q.waiting[user] = slices.Delete(q.waiting[user], i, i+1)
	if len(q.waiting[user]) == 0 {
		delete(q.waiting, user)
	}
	q.total--
}

// largeImage is the number of pixels from which on the memory of an image is returned before the next one is decoded.
// The garbage collector would otherwise let the memory of several of them accumulate.
const largeImage = 8_000_000

func (q *Queue) release(pixels int64) {
	if pixels >= largeImage {
		debug.FreeOSMemory()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pixels, q.images = q.pixels-pixels, q.images-1
	q.admit()
}

// admit admits images while the limits allow it. Images behind one that does not fit wait, so that large ones get their
// turn.
func (q *Queue) admit() {
	for len(q.users) > 0 {
		user := q.users[0]
		t := q.waiting[user][0]
		if q.images > 0 && (q.images >= q.limits.Images || q.pixels+t.pixels > q.limits.Pixels) {
			return
		}
		q.pixels, q.images = q.pixels+t.pixels, q.images+1
		q.remove(user, 0)
		q.users = q.users[1:]
		if len(q.waiting[user]) > 0 {
			q.users = append(q.users, user)
		}
		close(t.admitted)
	}
}
