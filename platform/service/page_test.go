package service

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/store/core"
)

type row struct {
	id   string
	name string
	at   time.Time
}

func TestPage(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 11, 20, 0, minute, 0, 0, time.UTC) }
	a, b, c, d := "01a", "01b", "01c", "01d"
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

// TestPageStops merges rows of homes of which some stopped: the page ends at the first of the positions unless it is full.
func TestPageStops(t *testing.T) {
	t.Parallel()
	at := func(minute int) time.Time { return time.Date(2026, 11, 20, 0, minute, 0, 0, time.UTC) }
	id := func(n int) string { return fmt.Sprintf("02%022d", n) }
	key := func(n int) (time.Time, string, string) { return at(n), "", id(n) }
	stops := func(minutes ...int) []core.Position {
		return Map(minutes, func(n int) core.Position { return core.Position{Time: at(n), ID: id(n)} })
	}
	for name, c := range map[string]struct {
		desc, back bool
		rows       []int
		stops      []core.Position
		want       []int
		next       int // zero for none
	}{
		"no stop":                {false, false, []int{2, 1}, nil, []int{1, 2}, 0},
		"rows before the stop":   {false, false, []int{2, 1}, stops(5), []int{1, 2}, 5},
		"rows after the stop":    {false, false, []int{9, 7, 1}, stops(5), []int{1}, 5},
		"the first of two stops": {false, false, []int{4, 1}, stops(5, 3), []int{1}, 3},
		"a full page":            {false, false, []int{4, 2, 1}, stops(5), []int{1, 2}, 2},
		"full beyond the stop":   {false, false, []int{8, 7, 1}, stops(5), []int{1}, 5},
		"no rows":                {false, false, nil, stops(5), nil, 5},
		"descending":             {true, false, []int{9, 7, 1}, stops(5, 3), []int{9, 7}, 5},
		"backward":               {true, true, []int{9, 7, 1}, stops(5), []int{7, 9}, 9},
		"backward in descending": {false, true, []int{9, 2}, stops(5), []int{2}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cursor := page.Cursor{Limit: 2, Back: c.back}
			rows, paging := Page(cursor, c.rows, false, c.desc, key, c.stops...)
			require.Equal(t, c.want, rows)
			if c.next == 0 {
				require.Empty(t, paging.GetNext())
				return
			}
			next, err := page.ParseToken(paging.GetNext())
			require.NoError(t, err)
			require.Equal(t, page.Cursor{Limit: 2, Time: at(c.next), ID: id(c.next)}, next)
		})
	}
}
