package service

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Page merges rows from several homes into one page. Each home must have returned up to one row more than the limit,
// in the direction desc, which already takes a backward cursor into account. at returns the sort key of a row: the
// list is ordered by key if byName is set and by time otherwise, then by id. stops are the positions up to which homes
// looked for rows, see store.ReadBatch.Stops: the page ends at the first of them unless it is full.
func Page[T any](c page.Cursor, rows []T, byName, desc bool, at func(T) (t time.Time, key, id string), stops ...store.Position) ([]T,
	*plazav1.Paging,
) {
	slices.SortFunc(rows, compare(byName, desc, at))
	switch {
	case len(rows)+len(stops) == 0 && c.Back:
		return rows, &plazav1.Paging{Next: page.Beginning(c.Limit, !desc).Token()}
	case len(stops) == 0:
		return page.Window(c, rows[:min(len(rows), c.Limit+1)], at)
	}
	stop := firstStop(stops, byName, desc)
	rows = upTo(rows, stop, byName, desc, at)
	if len(rows) > c.Limit {
		return page.Window(c, rows[:c.Limit+1], at)
	}
	return page.Stopped(c, rows, at, cursorAt(c, stop, byName))
}

// firstStop returns the stop that is the first one in the order of Page.
func firstStop(stops []store.Position, byName, desc bool) store.Position {
	return slices.MinFunc(stops, compare(byName, desc, keyOf))
}

func keyOf(p store.Position) (t time.Time, key, id string) { return p.Time, p.Key, p.ID }

// cursorAt returns the cursor after a position.
func cursorAt(c page.Cursor, p store.Position, byName bool) page.Cursor {
	at := page.Cursor{Limit: c.Limit, Time: p.Time, ID: p.ID}
	if byName {
		at.Key = p.Key
	}
	return at
}

// upTo returns the rows up to a position in the order of Page.
func upTo[T any](rows []T, end store.Position, byName, desc bool, at func(T) (t time.Time, key, id string)) []T {
	order := compare(byName, desc, keyOf)
	return slices.DeleteFunc(rows, func(row T) bool { return order(positionOf(row, at), end) > 0 })
}

func positionOf[T any](row T, at func(T) (t time.Time, key, id string)) (p store.Position) {
	p.Time, p.Key, p.ID = at(row)
	return p
}

// After returns the rows after the position of a cursor in the order of Page.
func After[T any](rows []T, from page.Cursor, byName, desc bool, at func(T) (t time.Time, key, id string)) []T {
	var start store.Position
	start.Time, start.Key, start.ID = from.Start(desc)
	order := compare(byName, desc, keyOf)
	return slices.DeleteFunc(rows, func(row T) bool { return order(positionOf(row, at), start) <= 0 })
}

// First returns the first rows in the order of Page, up to a limit. It sorts the rows.
func First[T any](rows []T, limit int, byName, desc bool, at func(T) (t time.Time, key, id string)) []T {
	slices.SortFunc(rows, compare(byName, desc, at))
	return rows[:min(len(rows), limit)]
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
