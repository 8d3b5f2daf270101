package groupcommit_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/groupcommit"
)

var errOdd = errors.New("odd")

// queue returns a queue whose first group waits for release, and the groups that were processed.
func queue(q *groupcommit.Queue[string, int]) (groups *[][]int, release chan struct{}) {
	groups, release = new([][]int), make(chan struct{})
	q.Commit = func(_ context.Context, _ string, items []int) []error {
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
		queue *groupcommit.Queue[string, int]
		want  [][]int
	}{
		"of one":         {&groupcommit.Queue[string, int]{Max: 1, MaxWaiting: 10}, [][]int{{0}, {1}, {2}, {3}, {4}}},
		"at the limit":   {&groupcommit.Queue[string, int]{Max: 4, MaxWaiting: 10}, [][]int{{0}, {1, 2, 3, 4}}},
		"past the limit": {&groupcommit.Queue[string, int]{Max: 3, MaxWaiting: 10}, [][]int{{0}, {1, 2, 3}, {4}}},
		"by size": {
			&groupcommit.Queue[string, int]{Max: 3, MaxWaiting: 10, Size: func(i int) int { return i }},
			[][]int{{0}, {1, 2}, {3}, {4}},
		},
		"limited waiting": {&groupcommit.Queue[string, int]{Max: 4, MaxWaiting: 3}, [][]int{{0}, {1, 2, 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				groups, release := queue(test.queue)
				for i := range 5 {
					refused := !test.queue.Go(t.Context(), "key", i)
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
		q := &groupcommit.Queue[string, int]{Max: 10, MaxWaiting: 1}
		groups, release := queue(q)
		require.True(t, q.Go(t.Context(), "key", 0))
		synctest.Wait()
		impatient, cancel := context.WithCancel(t.Context())
		result := make(chan error)
		go func() { result <- q.Add(impatient, "key", 2) }()
		synctest.Wait()
		require.ErrorIs(t, q.Add(t.Context(), "key", 4), groupcommit.ErrFull)
		cancel()
		require.ErrorIs(t, <-result, context.Canceled)
		close(release)
		synctest.Wait()
		require.Equal(t, [][]int{{0}, {2}}, *groups, "an item is processed although its caller has left")
		require.NoError(t, q.Add(t.Context(), "key", 6))
		require.ErrorIs(t, q.Add(t.Context(), "key", 7), errOdd)
	})
}

// TestErrorsOfAGroup checks that the caller of each item of a group gets the error of that item.
func TestErrorsOfAGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &groupcommit.Queue[string, int]{Max: 10, MaxWaiting: 10}
		groups, release := queue(q)
		require.True(t, q.Go(t.Context(), "key", 0))
		synctest.Wait()
		errs := make([]error, 5)
		var callers sync.WaitGroup
		for i := range errs {
			callers.Go(func() { errs[i] = q.Add(t.Context(), "key", i) })
			synctest.Wait()
		}
		close(release)
		callers.Wait()
		require.Equal(t, [][]int{{0}, {0, 1, 2, 3, 4}}, *groups)
		require.Equal(t, []error{nil, errOdd, nil, errOdd, nil}, errs)
	})
}

// TestKeys checks that the groups of a key do not wait for those of another one, and that each key has a limit of its own.
func TestKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		q := &groupcommit.Queue[string, int]{Max: 10, MaxWaiting: 1, Commit: func(_ context.Context, key string, _ []int) []error {
			if key == "held" {
				<-release
			}
			return nil
		}}
		require.True(t, q.Go(t.Context(), "held", 0))
		synctest.Wait()
		require.True(t, q.Go(t.Context(), "held", 1))
		require.False(t, q.Go(t.Context(), "held", 2))
		require.NoError(t, q.Add(t.Context(), "free", 3))
		close(release)
	})
}

// TestSlots checks that groups of several keys do not exceed the slots, and that items that arrive while it waits join a waiting group.
func TestSlots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &groupcommit.Queue[string, int]{Max: 10, MaxWaiting: 10, Slots: make(chan struct{}, 1)}
		groups, release := queue(q)
		for i, key := range []string{"a", "b", "b"} {
			require.True(t, q.Go(t.Context(), key, i))
			synctest.Wait()
		}
		require.Empty(t, *groups)
		close(release)
		synctest.Wait()
		require.Equal(t, [][]int{{0}, {1, 2}}, *groups)
	})
}

// TestDropsLeft checks that items are dropped whose callers have left.
func TestDropsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &groupcommit.Queue[string, int]{Max: 10, MaxWaiting: 10, DropsLeft: true}
		groups, release := queue(q)
		require.True(t, q.Go(t.Context(), "key", 0))
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, q.Add(ctx, "key", 2), context.Canceled)
		require.True(t, q.Go(t.Context(), "key", 4))
		close(release)
		synctest.Wait()
		require.Equal(t, [][]int{{0}, {4}}, *groups)
	})
}

// TestUsers checks that the first items of all users come before the second ones.
func TestUsers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := &groupcommit.Queue[string, int]{Max: 2, MaxWaiting: 10, User: func(i int) string { return strconv.Itoa(i % 2) }}
		groups, release := queue(q)
		for _, i := range []int{0, 2, 4, 6, 1, 3} {
			require.True(t, q.Go(t.Context(), "key", i))
			synctest.Wait()
		}
		close(release)
		synctest.Wait()
		require.Equal(t, [][]int{{0}, {2, 1}, {4, 3}, {6}}, *groups)
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
		q := &groupcommit.Queue[string, int]{Max: 10, MaxWaiting: 10, Commit: func(ctx context.Context, _ string, _ []int) []error {
			<-release
			ends, values = append(ends, ctx.Err()), append(values, ctx.Value(name{}))
			return nil
		}}
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), name{}, "first"))
		require.True(t, q.Go(ctx, "key", 0))
		synctest.Wait()
		cancel()
		close(release)
		require.NoError(t, q.Add(t.Context(), "key", 1))
		require.Equal(t, []error{nil, nil}, ends)
		require.Equal(t, "first", values[0])
	})
}
