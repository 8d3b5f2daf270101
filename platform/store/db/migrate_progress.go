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
	every   time.Duration
	timer   *time.Timer // of the next report of the current step
	stopped bool
}

func newReporter(opts MigrateOptions, total int) *reporter {
	r := &reporter{now: Progress{Total: total}, report: opts.Progress, started: time.Now(), every: opts.test.every}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = time.AfterFunc(r.every, r.repeat)
	return r
}

// stop ends the reports. None is made after it has returned.
func (r *reporter) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer.Stop()
	r.stopped = true
}

// repeat reports the current step.
func (r *reporter) repeat() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		r.send()
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
	r.timer.Reset(r.every)
	if r.now.State == "" {
		return
	}
	r.now.Elapsed = time.Since(r.started)
	r.report(r.now)
}
