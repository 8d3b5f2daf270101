package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
)

// polls records for which lanes a job polls, and answers with the works of next.
type polls struct {
	mu   sync.Mutex
	at   []time.Duration // since the start
	of   [][]int64
	next map[int64]jobs.Work
	err  error
	log  bytes.Buffer
}

func (p *polls) job(start time.Time, wake *jobs.Wake) jobs.Job {
	return jobs.Job{
		Name: "test", Lanes: 3, Every: time.Minute, Wake: wake, Log: slog.New(slog.NewTextHandler(&p.log, nil)),
		Poll: func(_ context.Context, home region.Code, lanes []int64) (map[int64]jobs.Work, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.at, p.of = append(p.at, time.Since(start)), append(p.of, lanes)
			work := p.next
			p.next = nil
			if home != region.EU {
				return nil, errors.New("another home")
			}
			return work, p.err
		},
	}
}

// in runs f in a bubble together with a job, which is stopped afterwards.
func (p *polls) in(t *testing.T, f func(wake *jobs.Wake)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		wake := &jobs.Wake{}
		var ended sync.WaitGroup
		job := p.job(time.Now(), wake)
		ended.Go(func() { job.Run(ctx, region.EU) })
		synctest.Wait()
		f(wake)
		stop()
		ended.Wait()
	})
}

// elapse lets time pass in a bubble.
func elapse(d time.Duration) {
	time.Sleep(d) // of a bubble
}

// TestPoll reads for all idle lanes at once: immediately, at each interval, and when a lane has more.
func TestPoll(t *testing.T) {
	t.Parallel()
	held := make(chan struct{})
	var calls atomic.Int64
	p := &polls{next: map[int64]jobs.Work{
		0: func(ctx context.Context) (bool, error) { // until the job is stopped
			<-ctx.Done()
			close(held)
			return true, ctx.Err()
		},
		1: func(context.Context) (bool, error) { calls.Add(1); return true, nil },
		2: func(context.Context) (bool, error) { calls.Add(1); return true, errors.New("broken") },
	}}
	p.in(t, func(*jobs.Wake) {
		elapse(2*time.Minute + time.Second)
		p.mu.Lock()
		p.err = errors.New("no answer")
		p.mu.Unlock()
		elapse(time.Minute)
	})
	<-held
	require.EqualValues(t, 2, calls.Load())
	require.Equal(t, []time.Duration{0, 0, time.Minute, 2 * time.Minute, 3 * time.Minute}, p.at)
	require.Equal(t, []int64{0, 1, 2}, p.of[0])
	require.Contains(t, p.of[1], int64(1), "it may have more")
	for _, lanes := range p.of[2:] {
		require.Equal(t, []int64{1, 2}, lanes, "lane 0 is busy")
	}
	require.Equal(t, 2, strings.Count(p.log.String(), "job failed"), "not the lane that was stopped")
	require.Contains(t, p.log.String(), "job=test home=eu lane=2 error=broken")
	require.Contains(t, p.log.String(), `job=test home=eu error="no answer"`)
}

// TestNoLaneIsIdle polls for none while all are busy.
func TestNoLaneIsIdle(t *testing.T) {
	t.Parallel()
	busy := func(ctx context.Context) (bool, error) { <-ctx.Done(); return false, ctx.Err() }
	p := &polls{next: map[int64]jobs.Work{0: busy, 1: busy, 2: busy}}
	p.in(t, func(*jobs.Wake) { elapse(10 * time.Minute) })
	require.Equal(t, [][]int64{{0, 1, 2}}, p.of)
}

// TestWake polls before the interval has elapsed, at the earliest time that was asked for.
func TestWake(t *testing.T) {
	t.Parallel()
	p := &polls{}
	p.in(t, func(wake *jobs.Wake) {
		wake.After(region.US, time.Second)
		wake.After(region.EU, 30*time.Second)
		wake.After(region.EU, 10*time.Second)
		wake.After(region.EU, 20*time.Second)
		elapse(15 * time.Second)
		wake.After(region.EU, 0)
		elapse(time.Minute)
	})
	require.Equal(t, []time.Duration{0, 10 * time.Second, 15 * time.Second, time.Minute}, p.at)
}

// TestOnce runs every lane once, also after one that fails.
func TestOnce(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	var ran []int64
	work := func(lane int64, err error) jobs.Work {
		return func(context.Context) (bool, error) { ran = append(ran, lane); return true, err }
	}
	p := &polls{next: map[int64]jobs.Work{0: work(0, broken), 2: work(2, nil)}}
	require.ErrorIs(t, p.job(time.Now(), nil).Once(t.Context(), region.EU), broken)
	require.Equal(t, []int64{0, 2}, ran)
	require.Equal(t, [][]int64{{0, 1, 2}}, p.of)
	require.Error(t, p.job(time.Now(), nil).Once(t.Context(), region.SG))

	drained := jobs.Job{Lanes: 2, Drain: func(_ context.Context, _ region.Code, lane int64) (bool, error) {
		ran = append(ran, 10+lane)
		return true, broken
	}}
	require.ErrorIs(t, drained.Once(t.Context(), region.EU), broken)
	require.Equal(t, []int64{0, 2, 10, 11}, ran)
}
