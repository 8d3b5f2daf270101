package steps

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
)

func TestAddCount(t *testing.T) {
	t.Parallel()
	var stored []byte
	stored = AddCount(stored, "posts", 0)
	require.Empty(t, stored)
	stored = AddCount(stored, "posts", 2)
	stored = AddCount(stored, "files", 1)
	stored = AddCount(stored, "posts", 3)
	require.JSONEq(t, `{"posts":5,"files":1}`, string(stored))
	require.Equal(t, map[string]int32{"posts": 5, "files": 1}, Counts(stored))
}

// TestNames checks that every step has a successor, and that unknown names restart a job.
func TestNames(t *testing.T) {
	t.Parallel()
	all := []Step{{Kind: "posts", Home: region.US}, {Kind: "posts", Home: region.EU}, {Kind: "files", Home: region.US}}
	for i := range all {
		require.Equal(t, i, indexOf(all, all[i].Name()))
		require.Equal(t, i+1, indexOf(all, nameAfter(all, i)))
	}
	require.Zero(t, indexOf(all, ""), "a job starts at the first step")
	require.Zero(t, indexOf(all, "a step of an older version"))
}

// TestPosition checks that a position of a step that does not exist is not one of the first step, and that one of the first step is.
func TestPosition(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{"": {"x"}, "posts us": {"x"}, "a step of another version": nil} {
		var got [][]string
		progress := &lifecycle.Progress{Step: name, Position: []string{"x"}}
		job := &Job{
			Progress: progress, Now: time.Now, Count: func(string, int32) {}, Eager: true,
			Save: func(context.Context) error { return nil }, Finish: func(context.Context) error { return nil },
			Steps: []Step{{Kind: "posts", Home: region.US, Page: func(_ context.Context, after []string) (Result, error) {
				got = append(got, after)
				return Result{Position: []string{"y"}, Last: len(got) == 2}, nil
			}}},
		}
		require.NoError(t, job.Advance(t.Context()))
		require.Equal(t, [][]string{want, {"y"}}, got, name)
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for attempts, seconds := range map[int64]int{1: 2, 2: 4, 8: 256, 9: 300, 1000: 300} {
		require.Equal(t, time.Duration(seconds)*time.Second, Backoff(attempts), attempts)
	}
}

// TestAttempts checks when a job whose pages fail is due, that a page that succeeds ends the count, and that an attempt that the
// server ends does not count.
func TestAttempts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	ctx, cancel := context.WithCancel(t.Context())
	failed := errors.New("failed")
	var errs []error // of the next pages
	progress := &lifecycle.Progress{}
	job := &Job{
		Progress: progress, Now: func() time.Time { return now }, Count: func(string, int32) {}, Eager: true,
		Save: func(context.Context) error { return nil }, Finish: func(context.Context) error { return nil },
		Steps: []Step{{Kind: "posts", Home: region.US, Page: func(context.Context, []string) (Result, error) {
			err := errs[0]
			errs = errs[1:]
			return Result{}, err
		}}},
	}
	for i, pages := range [][]error{{failed}, {failed}, {nil, nil, failed}} {
		errs = pages
		require.ErrorIs(t, job.Advance(ctx), failed)
		attempts := []int64{1, 2, 1}[i]
		require.Equal(t, attempts, progress.Attempts, i)
		require.Equal(t, now.Add(Backoff(attempts)), progress.DueAt, i)
	}
	cancel()
	errs = []error{failed}
	require.ErrorIs(t, job.Advance(ctx), failed)
	require.Equal(t, int64(1), progress.Attempts)
	require.Equal(t, now.Add(Lease), progress.DueAt, "the lease ends")
}
