// Package steps runs background work that takes many steps, such as the erasure and the export of a user.
//
// Each step processes the rows of one kind in one home, a page at a time. The progress is stored after each page, so
// that another server can continue, and it doubles as a lease: no other server works on a job before it is due.
package steps

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
)

const (
	// Lease is how long a server keeps a job that it works on without progress.
	Lease = time.Minute
	// maxBackoff limits the time between two attempts while a home is unavailable.
	maxBackoff = 5 * time.Minute
	// nameEnd is the name of the step after the last one. Released versions have stored it.
	nameEnd = "outboxes"
)

// Step is the work on one kind of rows in one home.
type Step struct {
	Kind string
	Home region.Code
	// Page processes a page of rows after a position, which is empty at the start.
	Page func(ctx context.Context, after []string) (Result, error)
}

// Name identifies the step in the stored progress.
func (s Step) Name() string { return s.Kind + " " + s.Home.String() }

// Result is the result of processing a page of rows.
type Result struct {
	Position []string // key of the last row
	Last     bool     // whether the page was the last one of the step
	Rows     int32    // number of rows that concerned the job
}

// Job is a job in progress.
type Job struct {
	Progress *lifecycle.Progress
	Steps    []Step
	Now      func() time.Time
	// Count adds to the number of processed rows of a kind.
	Count func(kind string, rows int32)
	// Save stores the progress. It fails with store.ErrConflict if another server has stored one since it was read.
	Save func(ctx context.Context) error
	// Eager is whether there are no pauses between pages, because users wait for the job.
	Eager bool
	// Finish is called after the last step, and stores the progress. An error postpones it.
	Finish func(ctx context.Context) error
}

// Advance takes the remaining steps. An error postpones the job, with the progress made so far. Advance leaves the job
// to another server that works on it.
func (j *Job) Advance(ctx context.Context) error {
	err := j.Renew(ctx)
	for err == nil {
		var done bool
		if done, err = j.next(ctx); done {
			break
		}
	}
	switch {
	case err == nil, errors.Is(err, core.ErrConflict):
		return nil
	case ctx.Err() != nil:
		return err // the lease ends
	}
	j.Progress.Attempts++
	j.Progress.DueAt = j.Now().Add(Backoff(j.Progress.Attempts))
	if saveErr := j.Save(ctx); saveErr != nil {
		return saveErr
	}
	return err
}

// Continue takes a due job as far as advance gets, and reports whether there was one. due reads the job in a state that has been due for
// the longest time; those in the first of states come first.
func Continue[T any, S ~string](
	ctx context.Context, rows *store.Store, states []S, due func(reads *store.ReadBatch, state S, into **T),
	advance func(context.Context, *T) error,
) (more bool, err error) {
	found := make([]*T, len(states))
	reads := rows.NewReadBatch()
	for i, state := range states {
		due(reads, state, &found[i])
	}
	if err := reads.Run(ctx); err != nil {
		return false, err
	}
	i := slices.IndexFunc(found, func(job *T) bool { return job != nil })
	if i < 0 {
		return false, nil
	}
	return true, advance(ctx, found[i])
}

// Renew stores the progress, and makes sure that no other server works on the job for the duration of the lease.
func (j *Job) Renew(ctx context.Context) error {
	j.Progress.DueAt = j.Now().Add(Lease)
	return j.Save(ctx)
}

// next processes a page of the current step and stores the progress, or finishes the job after the last one.
func (j *Job) next(ctx context.Context) (done bool, err error) {
	began := time.Now()
	i := indexOf(j.Steps, j.Progress.Step)
	if i == len(j.Steps) {
		return true, j.Finish(ctx)
	}
	if j.Progress.Step != "" && j.Progress.Step != j.Steps[i].Name() {
		j.Progress.Step, j.Progress.Position = j.Steps[i].Name(), nil // they are of a step of another version
	}
	result, err := j.Steps[i].Page(ctx, j.Progress.Position)
	if err != nil {
		return false, err
	}
	j.Count(j.Steps[i].Kind, result.Rows)
	j.Progress.Position, j.Progress.Attempts = result.Position, 0
	if result.Last {
		j.Progress.Step, j.Progress.Position = nameAfter(j.Steps, i), nil
	}
	if err := j.Renew(ctx); err != nil {
		return false, err
	}
	if j.Eager {
		return false, nil
	}
	return false, pause(ctx, min(time.Since(began), Lease/4))
}

// pause waits as long as the last page took, so that a job uses about half of a connection, and for a part of the lease at most.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// indexOf returns the index of a step, 0 for an empty or unknown name, and len(all) for nameEnd.
func indexOf(all []Step, name string) int {
	if name == nameEnd {
		return len(all)
	}
	return max(0, slices.IndexFunc(all, func(s Step) bool { return s.Name() == name }))
}

func nameAfter(all []Step, i int) string {
	if i+1 == len(all) {
		return nameEnd
	}
	return all[i+1].Name()
}

// Backoff returns the time after a number of failed attempts before the next one.
func Backoff(attempts int64) time.Duration {
	return min(time.Second<<min(attempts, 10), maxBackoff)
}
