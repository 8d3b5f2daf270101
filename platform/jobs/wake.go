package jobs

import (
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/region"
)

// Wake makes the polls of homes happen when there is work, before their interval has elapsed. The zero value is ready for use.
type Wake struct {
	mu    sync.Mutex
	homes map[region.Code]*alarm
}

// alarm is the next time at which a home is woken.
type alarm struct {
	due   time.Time // zero if there is none
	timer *time.Timer
	woken chan struct{}
}

// After makes the home be polled when d has elapsed. A home has one such time, the earliest: what it does not find then, it finds
// at its interval.
func (w *Wake) After(home region.Code, d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a, due := w.alarm(home), time.Now().Add(d)
	if !a.due.IsZero() && !due.Before(a.due) {
		return
	}
	if a.timer != nil {
		a.timer.Stop()
	}
	a.due = due
	a.timer = time.AfterFunc(d, func() { w.ring(a, due) })
}

// ring wakes the home, unless an earlier time has replaced this one.
func (w *Wake) ring(a *alarm, due time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !a.due.Equal(due) {
		return
	}
	a.due = time.Time{}
	select {
	case a.woken <- struct{}{}:
	default: // it is woken already
	}
}

func (w *Wake) alarm(home region.Code) *alarm {
	if w.homes == nil {
		w.homes = map[region.Code]*alarm{}
	}
	if w.homes[home] == nil {
		w.homes[home] = &alarm{woken: make(chan struct{}, 1)}
	}
	return w.homes[home]
}

// of returns the channel that receives when the home is woken; nil if w is nil.
func (w *Wake) of(home region.Code) <-chan struct{} {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.alarm(home).woken
}
