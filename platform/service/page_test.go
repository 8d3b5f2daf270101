package service

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/page"
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
