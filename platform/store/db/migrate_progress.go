package db

import (
	"sync"
	"time"
)

// Progress is the progress of a migration.
type Progress struct {
	State   ProgressState
	Step    int           // counted from 1; 0 before the first one
	Total   int           // the number of steps
	Name    string        // of the step's file, or of what the migration waits for
	Elapsed time.Duration // since the start of the migration
}

// ProgressState says why a migration reports its progress.
type ProgressState string

// The states of a migration.
const (
	StepDone    ProgressState = "step"
	StepRunning ProgressState = "running" // the step takes long
	StepWaiting ProgressState = "waiting" // between steps, for what has no step
)

// reporter reports the progress of a migration: every step that is done, and the current one whenever nothing was
// reported for an interval.
type reporter struct {
	mu      sync.Mutex
	now     Progress
	report  func(Progress)
	started time.Time
	ticker  *time.Ticker
	every   time.Duration
	ended   chan struct{}
	stopped chan struct{}
}

func newReporter(opts MigrateOptions, total int) *reporter {
	r := &reporter{
		now: Progress{Total: total}, report: opts.Progress, started: time.Now(), every: opts.test.every,
		ticker: time.NewTicker(opts.test.every), ended: make(chan struct{}), stopped: make(chan struct{}),
	}
	go r.repeat()
	return r
}

// stop ends the reports. None is made after it has returned.
func (r *reporter) stop() {
	r.ticker.Stop()
	close(r.ended)
	<-r.stopped
}

func (r *reporter) repeat() {
	defer close(r.stopped)
	for {
		select {
		case <-r.ended:
			return
		case <-r.ticker.C:
			r.mu.Lock()
			r.send()
			r.mu.Unlock()
		}
	}
}

// begin notes that a step has started.
func (r *reporter) begin(step int, name string) { r.set(StepRunning, step, name) }

// waiting notes what the migration waits for.
func (r *reporter) waiting(name string) { r.set(StepWaiting, -1, name) }

func (r *reporter) set(state ProgressState, step int, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if step >= 0 {
		r.now.Step = step
	}
	r.now.State, r.now.Name = state, name
}

// done reports the current step as done.
func (r *reporter) done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now.State = StepDone
	r.send()
	r.now.State, r.now.Name = StepWaiting, "the next step"
}

func (r *reporter) send() {
	if r.now.State == "" {
		return
	}
	r.ticker.Reset(r.every)
	r.now.Elapsed = time.Since(r.started)
	r.report(r.now)
}
