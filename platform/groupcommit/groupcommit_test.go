package groupcommit_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/groupcommit"
)

var errOdd = errors.New("odd")

// queue returns a queue whose first group waits for release, and the groups that were processed.
func queue(q *groupcommit.Queue[int]) (groups *[][]int, release chan struct{}) {
	groups, release = new([][]int), make(chan struct{})
	q.Commit = func(_ context.Context, items []int) []error {
		if len(*groups) == 0 {
			<-release
		}
		*groups = append(*groups, items)
		errs := make([]error, len(items))
		for i, item := range items {
			if item%2 == 1 {
				errs[i] = errOdd
			}
		}
		return errs
	}
	return groups, release
}

func TestGroups(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		queue *groupcommit.Queue[int]
		want  [][]int
	}{
		"of one":          {&groupcommit.Queue[int]{Max: 1, MaxWaiting: 10}, [][]int{{0}, {1}, {2}, {3}, {4}}},
		"at the limit":    {&groupcommit.Queue[int]{Max: 4, MaxWaiting: 10}, [][]int{{0}, {1, 2, 3, 4}}},
		"past the limit":  {&groupcommit.Queue[int]{Max: 3, MaxWaiting: 10}, [][]int{{0}, {1, 2, 3}, {4}}},
		"by size":         {&groupcommit.Queue[int]{Max: 3, MaxWaiting: 10, Size: func(i int) int { return i }}, [][]int{{0}, {1, 2}, {3}, {4}}},
		"limited waiting": {&groupcommit.Queue[int]{Max: 4, MaxWaiting: 3}, [][]int{{0}, {1, 2, 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				groups, release := queue(test.queue)
				for i := range 5 {
					refused := !test.queue.Go(t.Context(), i)
					require.Equal(t, i == 4 && test.queue.MaxWaiting == 3, refused, "the first one does not wait")
					synctest.Wait()
				}
				close(release)
				synctest.Wait()
				require.Equal(t, test.want, *groups)
			})
		})
	}
}

func TestAdd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &groupcommit.Queue[int]{Max: 10, MaxWaiting: 1}
		groups, release := queue(q)
		require.True(t, q.Go(t.Context(), 0))
		synctest.Wait()
		impatient, cancel := context.WithCancel(t.Context())
		result := make(chan error)
		go func() { result <- q.Add(impatient, 2) }()
		synctest.Wait()
		require.ErrorIs(t, q.Add(t.Context(), 4), groupcommit.ErrFull)
		cancel()
		require.ErrorIs(t, <-result, context.Canceled)
		close(release)
		synctest.Wait()
		require.Equal(t, [][]int{{0}, {2}}, *groups, "an item is processed although its caller has left")
		require.NoError(t, q.Add(t.Context(), 6))
		require.ErrorIs(t, q.Add(t.Context(), 7), errOdd)
	})
}

// TestErrorsOfAGroup checks that the caller of each item of a group gets the error of that item.
func TestErrorsOfAGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &groupcommit.Queue[int]{Max: 10, MaxWaiting: 10}
		groups, release := queue(q)
		require.True(t, q.Go(t.Context(), 0))
		synctest.Wait()
		errs := make([]error, 5)
		var callers sync.WaitGroup
		for i := range errs {
			callers.Go(func() { errs[i] = q.Add(t.Context(), i) })
			synctest.Wait()
		}
		close(release)
		callers.Wait()
		require.Equal(t, [][]int{{0}, {0, 1, 2, 3, 4}}, *groups)
		require.Equal(t, []error{nil, errOdd, nil, errOdd, nil}, errs)
	})
}

func TestEach(t *testing.T) {
	t.Parallel()
	require.Nil(t, groupcommit.Each(nil, 3))
	require.Equal(t, []error{errOdd, errOdd}, groupcommit.Each(errOdd, 2))
}

type name struct{}

// TestContextOfAGroup checks that the end of the context of the caller who begins a group does not end the work for others.
func TestContextOfAGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var ends []error
		var values []any
		q := &groupcommit.Queue[int]{Max: 10, MaxWaiting: 10, Commit: func(ctx context.Context, _ []int) []error {
			<-release
			ends, values = append(ends, ctx.Err()), append(values, ctx.Value(name{}))
			return nil
		}}
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), name{}, "first"))
		require.True(t, q.Go(ctx, 0))
		synctest.Wait()
		cancel()
		close(release)
		require.NoError(t, q.Add(t.Context(), 1))
		require.Equal(t, []error{nil, nil}, ends)
		require.Equal(t, "first", values[0])
	})
}
