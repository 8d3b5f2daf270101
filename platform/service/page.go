package service

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Page merges rows from several homes into one page. Each home must have returned up to one row more than the limit,
// in the direction desc, which already takes a backward cursor into account. at returns the sort key of a row: the
// list is ordered by key if byName is set and by time otherwise, then by id.
func Page[T any](c page.Cursor, rows []T, byName, desc bool, at func(T) (t time.Time, key, id string)) ([]T, *plazav1.Paging) {
	slices.SortFunc(rows, compare(byName, desc, at))
	return page.Window(c, rows[:min(len(rows), c.Limit+1)], at)
}

// After returns the rows after a position in the order of Page.
func After[T any](rows []T, position T, byName, desc bool, at func(T) (t time.Time, key, id string)) []T {
	order := compare(byName, desc, at)
	return slices.DeleteFunc(rows, func(row T) bool { return order(row, position) <= 0 })
}

func compare[T any](byName, desc bool, at func(T) (t time.Time, key, id string)) func(a, b T) int {
	return func(a, b T) int {
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
	}
}
