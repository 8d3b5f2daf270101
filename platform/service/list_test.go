package service

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

func TestLists(t *testing.T) {
	for _, c := range []struct{ list, distinct, sorted []string }{
		{nil, nil, nil},
		{[]string{}, nil, nil},
		{[]string{"b"}, []string{"b"}, []string{"b"}},
		{[]string{"b", "a", "b", "", "a"}, []string{"b", "a", ""}, []string{"", "a", "b"}},
	} {
		require.Equal(t, c.distinct, Distinct(c.list))
		require.Equal(t, c.sorted, SortedSet(c.list))
	}
}

func TestFind(t *testing.T) {
	users := []store.User{{ID: "a"}, {ID: "b", DisplayName: "first"}, {ID: "b"}}
	require.Same(t, &users[1], UserByID(users, "b"))
	require.Nil(t, UserByID(users, "c"))
	require.Nil(t, UserByID(nil, "a"))
}

func TestReplaceList(t *testing.T) {
	current := []int{1}
	require.Equal(t, []int{2}, ReplaceList([]int{2}, current, nil, "list"), "a list replaces")
	require.Equal(t, current, ReplaceList(nil, current, nil, "list"), "an absent list does not")
	require.Equal(t, current, ReplaceList(nil, current, []string{"other"}, "list"))
	require.Empty(t, ReplaceList(nil, current, []string{"other", "list"}, "list"), "a cleared one does")
	require.Equal(t, []int{2}, ReplaceList([]int{2}, current, []string{"list"}, "list"))
}

func TestFilters(t *testing.T) {
	yes, no := true, false
	require.Equal(t, []store.Flagged{store.FlaggedAny, store.FlaggedOnly, store.FlaggedNone}, []store.Flagged{FlaggedOf(nil), FlaggedOf(&yes), FlaggedOf(&no)})
	require.Equal(t, []store.Deleted{store.DeletedAny, store.DeletedOnly, store.DeletedNone}, []store.Deleted{DeletedOf(nil), DeletedOf(&yes), DeletedOf(&no)})
	for sortBy, want := range map[string]Order{
		"": {Desc: true}, "lastCreated": {Desc: true}, "firstCreated": {}, "lastUpdated": {ByUpdate: true, Desc: true}, "firstUpdated": {ByUpdate: true},
	} {
		require.Equal(t, want, OrderOf(sortBy), sortBy)
	}
}

type row struct {
	id   string
	name string
	at   time.Time
}

func TestPage(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 11, 20, 0, minute, 0, 0, time.UTC) }
	a, b, c, d := region.NewID(region.EU)[:2]+"a", "01b", "01c", "01d"
	rows := []row{{b, "y", at(2)}, {d, "x", at(2)}, {a, "z", at(1)}, {c, "w", at(3)}}
	key := func(r row) (time.Time, string, string) { return r.at, r.name, r.id }
	for _, tc := range []struct {
		name         string
		byName, desc bool
		limit        int
		want         []string
		next         bool
	}{
		{"by time", false, false, 10, []string{a, b, d, c}, false},
		{"by time, descending", false, true, 10, []string{c, d, b, a}, false},
		{"by name", true, false, 10, []string{c, d, b, a}, false},
		{"by name, descending", true, true, 10, []string{a, b, d, c}, false},
		{"first page", false, true, 3, []string{c, d, b}, true},
		{"full page", false, true, 4, []string{c, d, b, a}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			found, paging := Page(page.Cursor{Limit: tc.limit}, append([]row(nil), rows...), tc.byName, tc.desc, key)
			var ids []string
			for _, r := range found {
				ids = append(ids, r.id)
			}
			require.Equal(t, tc.want, ids)
			require.Equal(t, tc.next, paging.GetNext() != "")
		})
	}
}

func TestRetryOnConflict(t *testing.T) {
	conflicts := func(n int) (func() (int, error), *int) {
		tries := 0
		return func() (int, error) {
			if tries++; tries <= n {
				return 0, fmt.Errorf("commit: %w", ErrConflict)
			}
			return tries, nil
		}, &tries
	}
	t.Run("succeeds after conflicts", func(t *testing.T) {
		attempt, _ := conflicts(3)
		got, err := RetryOnConflict(t.Context(), attempt)
		require.NoError(t, err)
		require.Equal(t, 4, got)
	})
	t.Run("gives up", func(t *testing.T) {
		attempt, tries := conflicts(1000)
		_, err := RetryOnConflict(t.Context(), attempt)
		require.ErrorIs(t, err, fail.Conflict())
		require.Equal(t, maxConflictRetries+1, *tries)
	})
	t.Run("stops when the context is done", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		attempt, tries := conflicts(1000)
		_, err := RetryOnConflict(ctx, attempt)
		require.ErrorIs(t, err, fail.Conflict())
		require.Equal(t, 1, *tries)
	})
	t.Run("returns other errors", func(t *testing.T) {
		other := errors.New("other")
		_, err := RetryOnConflict(t.Context(), func() (int, error) { return 0, other })
		require.ErrorIs(t, err, other)
	})
}

func TestRequestOfAdministrator(t *testing.T) {
	r := &Request{Caller: &auth.Caller{Kind: auth.Admin}}
	require.Nil(t, r.User())
	require.Empty(t, r.UserRows())
	require.ErrorIs(t, r.RequireUser(), errNoAccount)
	require.ErrorIs(t, RequireAccount(r.Caller), errNoAccount)
	require.NoError(t, RequireAccount(&auth.Caller{Kind: auth.User}))
}

// TestAfterRun tests that the steps of a request run in order, after the caller is confirmed, and stop at the first
// error.
func TestAfterRun(t *testing.T) {
	newRequest := func() (*Request, *[]string) {
		r, steps := &Request{ReadBatch: (&store.Store{}).NewReadBatch()}, &[]string{}
		r.AfterRun(func(context.Context) error { *steps = append(*steps, "first"); return nil })
		return r, steps
	}
	ctx := auth.WithCaller(t.Context(), &auth.Caller{Kind: auth.Admin})
	r, steps := newRequest()
	refused := errors.New("refused")
	r.AfterRun(func(context.Context) error { *steps = append(*steps, "second"); return refused })
	r.AfterRun(func(context.Context) error { *steps = append(*steps, "third"); return nil })
	require.ErrorIs(t, r.Run(ctx), refused)
	require.Equal(t, []string{"first", "second"}, *steps)

	r, steps = newRequest()
	require.Equal(t, fail.CodeUnauthorized, fail.From(r.Run(t.Context())).Code)
	require.Empty(t, *steps, "an anonymous caller gets no further")
}

func TestResponses(t *testing.T) {
	require.True(t, Success().GetSuccess())
	require.Equal(t, "success", StatusSuccess().GetStatus())
	require.True(t, StatusSuccess().GetSuccess() && StatusSuccess().GetData().GetSuccess())
	require.Equal(t, region.SG, HomeOf(region.NewID(region.SG)))
	require.Empty(t, HomeOf("not an id"))
	require.Zero(t, Millis().Nanosecond()%int(time.Millisecond))
}
