package page_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// row is row n of a list that is ordered by n.
type row int

func (r row) id() string { return fmt.Sprintf("02%022x", int(r)) }

func place(r row) (t time.Time, key, id string) {
	return noon.Add(time.Duration(r) * time.Second), "", r.id()
}

func TestWindow(t *testing.T) {
	t.Parallel()
	at := func(r row, back bool) page.Cursor { return page.Cursor{Limit: 2, Back: back, Time: noon, ID: r.id()} }
	first := page.Cursor{Limit: 2}
	for name, tc := range map[string]struct {
		cursor         page.Cursor
		read           []row // in the direction of the cursor
		want           []row
		next, previous row // zero for none
	}{
		"empty list":                  {first, nil, nil, 0, 0},
		"short list":                  {first, []row{1}, []row{1}, 0, 0},
		"list of one page":            {first, []row{1, 2}, []row{1, 2}, 0, 0},
		"first of several":            {first, []row{1, 2, 3}, []row{1, 2}, 2, 0},
		"in the middle":               {at(2, false), []row{3, 4, 5}, []row{3, 4}, 4, 3},
		"last, full":                  {at(2, false), []row{3, 4}, []row{3, 4}, 0, 3},
		"last, short":                 {at(2, false), []row{3}, []row{3}, 0, 3},
		"following rows deleted":      {at(2, false), nil, nil, 0, 0},
		"back into the middle":        {at(5, true), []row{4, 3, 2}, []row{3, 4}, 4, 3},
		"back to the first":           {at(3, true), []row{2, 1}, []row{1, 2}, 2, 0},
		"back to a first that shrank": {at(3, true), []row{2}, []row{2}, 2, 0},
		"preceding rows deleted":      {at(3, true), nil, nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, paging := page.Window(tc.cursor, slices.Clone(tc.read), place)
			require.Equal(t, tc.want, got)
			require.Equal(t, paging.GetPrevious(), paging.GetPrev())
			requireAt(t, paging.GetNext(), tc.next, false)
			requireAt(t, paging.GetPrevious(), tc.previous, true)
		})
	}
}

func TestStopped(t *testing.T) {
	t.Parallel()
	at := func(r row, back bool) page.Cursor {
		placed, _, id := place(r)
		return page.Cursor{Limit: 2, Back: back, Time: placed, ID: id}
	}
	first := page.Cursor{Limit: 2}
	for name, tc := range map[string]struct {
		cursor         page.Cursor
		read           []row // in the direction of the cursor
		stop           row
		want           []row
		next, previous row // zero for none
	}{
		"first page":                {first, []row{3}, 9, []row{3}, 9, 0},
		"first page without rows":   {first, nil, 9, nil, 9, 0},
		"in the middle":             {at(9, false), []row{12}, 20, []row{12}, 20, 12},
		"in the middle, full":       {at(9, false), []row{12, 13}, 20, []row{12, 13}, 20, 12},
		"in the middle, no rows":    {at(9, false), nil, 20, nil, 20, 20},
		"backward":                  {at(20, true), []row{18, 13}, 9, []row{13, 18}, 18, 9},
		"backward, no rows":         {at(20, true), nil, 9, nil, 9, 9},
		"the last row is the stop":  {at(9, false), []row{20}, 20, []row{20}, 20, 20},
		"the first row is the stop": {at(20, true), []row{9}, 9, []row{9}, 9, 9},
	} {
		t.Run(name, func(t *testing.T) {
			got, paging := page.Stopped(tc.cursor, slices.Clone(tc.read), place, at(tc.stop, false))
			require.Equal(t, tc.want, got)
			require.Equal(t, paging.GetPrevious(), paging.GetPrev())
			requireAt(t, paging.GetNext(), tc.next, false)
			requireAt(t, paging.GetPrevious(), tc.previous, true)
		})
	}
}

func requireAt(t *testing.T, token string, want row, back bool) {
	t.Helper()
	if want == 0 {
		require.Empty(t, token)
		return
	}
	c, err := page.ParseToken(token)
	require.NoError(t, err)
	at, _, id := place(want)
	require.Equal(t, page.Cursor{Limit: 2, Back: back, Time: at, ID: id}, c)
}

// read returns what a keyset query returns from a list of n rows: rows past the cursor, up to one more than its limit.
func read(n int, c page.Cursor) []row {
	var rows []row
	for r := row(1); int(r) <= n; r++ {
		past := c.First() || (!c.Back && r.id() > c.ID) || (c.Back && r.id() < c.ID)
		if past {
			rows = append(rows, r)
		}
	}
	if c.Back {
		slices.Reverse(rows)
	}
	return rows[:min(len(rows), c.Limit+1)]
}

// TestWalk walks lists of every length forwards and backwards: each row is seen once in each direction, in order.
func TestWalk(t *testing.T) {
	t.Parallel()
	for n := range 12 {
		for limit := 1; limit <= 4; limit++ {
			forth, last := walk(t, n, page.Cursor{Limit: limit}, (*plazav1.Paging).GetNext)
			require.Equal(t, read(n, page.Cursor{Limit: 100}), slices.Concat(forth...), "%d rows by %d", n, limit)
			if last == nil || last.GetPrevious() == "" {
				continue
			}
			c, err := page.ParseToken(last.GetPrevious())
			require.NoError(t, err)
			back, _ := walk(t, n, c, (*plazav1.Paging).GetPrevious)
			slices.Reverse(back)
			require.Equal(t, forth[:len(forth)-1], back, "%d rows by %d, back", n, limit)
		}
	}
}

func walk(t *testing.T, n int, c page.Cursor, onward func(*plazav1.Paging) string) (pages [][]row, last *plazav1.Paging) {
	t.Helper()
	for {
		rows, paging := page.Window(c, read(n, c), place)
		if len(rows) > 0 {
			pages = append(pages, rows)
		}
		token := onward(paging)
		if token == "" {
			return pages, paging
		}
		var err error
		c, err = page.ParseToken(token)
		require.NoError(t, err)
	}
}

// TestStart checks that every row follows the start of its list.
func TestStart(t *testing.T) {
	t.Parallel()
	for _, desc := range []bool{false, true} {
		at, key, id := page.Cursor{Limit: 10}.Start(desc)
		for _, r := range []struct {
			at  time.Time
			key string
		}{{time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC), " "}, {noon, "anna"}, {time.Date(9998, 1, 1, 0, 0, 0, 0, time.UTC), "\U0001F600zz"}} {
			require.Equal(t, desc, r.at.Before(at))
			require.Equal(t, desc, r.key < key)
		}
		require.Equal(t, desc, someID() < id)
	}
	c := page.Cursor{Limit: 10, Time: noon, Key: "anna", ID: someID()}
	at, key, id := c.Start(true)
	require.Equal(t, []any{c.Time, c.Key, c.ID}, []any{at, key, id})
}

// TestWindowOfNames checks that the tokens of a list by name have the names of the rows at the ends of the page.
func TestWindowOfNames(t *testing.T) {
	t.Parallel()
	c := page.Cursor{Limit: 2, Key: "a", ID: row(1).id(), Time: noon}
	_, paging := page.Window(c, []row{2, 3, 4}, func(r row) (time.Time, string, string) { return noon, string(rune('a' + r)), r.id() })
	next, err := page.ParseToken(paging.GetNext())
	require.NoError(t, err)
	previous, err := page.ParseToken(paging.GetPrevious())
	require.NoError(t, err)
	require.Equal(t, []string{"d", "c"}, []string{next.Key, previous.Key})
}

// TestBeginning checks that every row follows the beginning of its list, which is a position and not the first page.
func TestBeginning(t *testing.T) {
	t.Parallel()
	for _, desc := range []bool{false, true} {
		c := page.Beginning(7, desc)
		at, key, _ := page.Cursor{}.Start(desc)
		require.Equal(t, page.Cursor{Limit: 7, Time: at, Key: key, ID: region.FixedID(region.US)}, c)
		require.False(t, c.First())
		if !desc {
			parsed, err := page.ParseToken(c.Token())
			require.NoError(t, err)
			require.Equal(t, c, parsed)
		}
	}
}
