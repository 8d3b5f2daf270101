package picture

import "time"

// Present returns the number of images that wait or are in progress.
func (q *Queue) Present() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.total + q.images
}

// SetTimeBudget changes the time in which an image must be decoded until the returned function is called.
func SetTimeBudget(budget time.Duration) (restore func()) {
	before := timeBudget
	timeBudget = budget
	return func() { timeBudget = before }
}

// Pixels returns width times height.
func (e *TooManyPixelsError) Pixels() int64 { return int64(e.Width) * int64(e.Height) }
