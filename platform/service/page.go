package service

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Page makes one page of rows that were read in several pieces, each with one more than the limit and in the direction
// desc, which is already turned for cursors that go back. at gives a row's place in the list; with byName the key goes
// before the time.
func Page[T any](c page.Cursor, rows []T, byName, desc bool, at func(T) (t time.Time, key, id string)) ([]T, *plazav1.Paging) {
	slices.SortFunc(rows, func(a, b T) int {
		aTime, aKey, aID := at(a)
		bTime, bKey, bID := at(b)
		order := cmp.Or(aTime.Compare(bTime), strings.Compare(aID, bID))
		if byName {
			order = cmp.Or(strings.Compare(aKey, bKey), strings.Compare(aID, bID))
		}
		if desc {
			return -order
		}
		return order
	})
	return page.Window(c, rows[:min(len(rows), c.Limit+1)], at)
}
