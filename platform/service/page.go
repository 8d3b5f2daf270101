package service

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Page merges rows from several homes into one page. Each home must have returned up to one row more than the limit,
// in the direction desc, which already takes a backward cursor into account. at returns the sort key of a row: the
// list is ordered by key if byName is set and by time otherwise, then by id. stops are the positions up to which homes
// looked for rows, see store.ReadBatch.Stops: the page ends at the first of them unless it is full.
func Page[T any](c page.Cursor, rows []T, byName, desc bool, at func(T) (t time.Time, key, id string), stops ...core.Position) ([]T,
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
func firstStop(stops []core.Position, byName, desc bool) core.Position {
	return slices.MinFunc(stops, compare(byName, desc, keyOf))
}

func keyOf(p core.Position) (t time.Time, key, id string) { return p.Time, p.Key, p.ID }

// cursorAt returns the cursor after a position.
func cursorAt(c page.Cursor, p core.Position, byName bool) page.Cursor {
	at := page.Cursor{Limit: c.Limit, Time: p.Time, ID: p.ID}
	if byName {
		at.Key = p.Key
	}
	return at
}

// upTo returns the rows up to a position in the order of Page.
func upTo[T any](rows []T, end core.Position, byName, desc bool, at func(T) (t time.Time, key, id string)) []T {
	order := compare(byName, desc, keyOf)
	return slices.DeleteFunc(rows, func(row T) bool { return order(positionOf(row, at), end) > 0 })
}

func positionOf[T any](row T, at func(T) (t time.Time, key, id string)) (p core.Position) {
	p.Time, p.Key, p.ID = at(row)
	return p
}

// After returns the rows after the position of a cursor in the order of Page.
func After[T any](rows []T, from page.Cursor, byName, desc bool, at func(T) (t time.Time, key, id string)) []T {
	var start core.Position
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

// Merged is a list of rows from all homes, ordered by key if ByName is set and by time otherwise.
type Merged[T any] struct {
	Cursor page.Cursor
	ByName bool
	// Desc is the direction of reading, which takes a backward cursor into account.
	Desc bool
	// At returns the sort key of a row.
	At func(T) (t time.Time, key, id string)
	// Read queues the statements that read up to a page and one more row of each home, from the position of a cursor.
	Read func(reads *store.ReadBatch, from page.Cursor, into *[]T)
}

// Page reads a page. If homes do not answer, the page lacks their rows, and the next one begins with them if the homes
// answer again. If there are no other rows, the page is refused, unless it is the first one: clients would take it for the
// end of the list.
func (m Merged[T]) Page(ctx context.Context, d *Deps) ([]T, *plazav1.Paging, error) {
	late, err := m.readGap(ctx, d)
	switch {
	case err != nil:
		return nil, nil, err
	case len(late.rows) > m.Cursor.Limit:
		rows, paging := page.GapWindow(m.Cursor, late.rows, m.At)
		return rows, paging, nil
	case late.stop != nil:
		rows, paging := page.GapStopped(m.Cursor, late.rows, cursorAt(m.Cursor, *late.stop, m.ByName))
		return rows, paging, nil
	case late.answered: // the gap ends on this page
		m.Cursor.Gap = page.Gap{}
	}
	read, err := m.read(ctx, d, m.Cursor, nil)
	if err != nil {
		return nil, nil, err
	}
	missing, rows := slices.Concat(read.missing, m.Cursor.Gap.Homes), slices.Concat(late.rows, read.rows)
	if len(rows)+len(read.stops) == 0 && (!m.Cursor.Back || len(missing) > 0) {
		return nil, &plazav1.Paging{}, requireEnd(missing, m.Cursor.First())
	}
	rows, paging := Page(m.Cursor, rows, m.ByName, m.Desc, m.At, read.stops...)
	if m.Cursor.Back || len(missing) == 0 && (len(late.rows) < m.Cursor.Limit || paging.GetNext() == "") {
		return rows, paging, nil
	}
	next := m.after(rows, len(late.rows), read.stops)
	if len(missing) > 0 {
		next = m.Cursor.Missing(missing, next)
	}
	paging.Next = next.Token()
	return rows, paging, nil
}

// after returns the cursor after a page, the first rows of which, as many as late, were in the gap of the cursor.
func (m Merged[T]) after(rows []T, late int, stops []core.Position) page.Cursor {
	next := page.Cursor{Limit: m.Cursor.Limit, Time: m.Cursor.Time, Key: m.Cursor.Key, ID: m.Cursor.ID}
	if len(rows) < m.Cursor.Limit && len(stops) > 0 {
		next = cursorAt(next, firstStop(stops, m.ByName, m.Desc), m.ByName)
	} else if len(rows) > late {
		next.Time, next.Key, next.ID = m.At(rows[len(rows)-1])
	}
	if !m.ByName {
		next.Key = "" // some rows have both
	}
	return next
}

// gapRows are rows in the gap of a cursor.
type gapRows[T any] struct {
	answered bool           // whether all homes of the gap answered
	rows     []T            // sorted; one more than the limit if there are so many
	stop     *core.Position // where the homes stopped in the gap, nil if they did not
}

// readGap reads the rows in the gap of the cursor.
func (m Merged[T]) readGap(ctx context.Context, d *Deps) (gapRows[T], error) {
	if len(m.Cursor.Gap.Homes) == 0 {
		return gapRows[T]{answered: true}, nil
	}
	read, err := m.read(ctx, d, m.Cursor.GapStart(), m.Cursor.Gap.Homes)
	if err != nil || len(read.missing) > 0 {
		return gapRows[T]{}, err
	}
	gap, end := gapRows[T]{answered: true}, core.Position{Time: m.Cursor.Time, Key: m.Cursor.Key, ID: m.Cursor.ID}
	if len(read.stops) > 0 {
		if first := firstStop(read.stops, m.ByName, m.Desc); compare(m.ByName, m.Desc, keyOf)(first, end) < 0 {
			gap.stop, end = &first, first
		}
	}
	gap.rows = upTo(read.rows, end, m.ByName, m.Desc, m.At)
	slices.SortFunc(gap.rows, compare(m.ByName, m.Desc, m.At))
	return gap, nil
}

// homesRead is what homes returned of a list.
type homesRead[T any] struct {
	rows    []T
	stops   []core.Position // see store.ReadBatch.Stops
	missing []region.Code   // those that did not answer
}

// read reads rows from the position of a cursor, at some homes, or at all of them if homes is nil.
func (m Merged[T]) read(ctx context.Context, d *Deps, from page.Cursor, homes []region.Code) (homesRead[T], error) {
	var r homesRead[T]
	reads := d.Store.NewBestEffortBatch()
	reads.Only(homes)
	m.Read(reads, from, &r.rows)
	err := reads.Run(ctx)
	r.stops, r.missing = reads.Stops(), reads.Missing()
	return r, err
}

func unavailable(home region.Code) error {
	return fail.Unavailable(fmt.Sprintf("home region %s did not answer in time", home), nil)
}

// RequireEnd returns an error if a page without rows is not the end of its list, because a home did not answer reads.
func RequireEnd(reads *store.ReadBatch, isFirst bool) error {
	return requireEnd(reads.Missing(), isFirst)
}

func requireEnd(missing []region.Code, isFirst bool) error {
	if isFirst || len(missing) == 0 {
		return nil
	}
	return unavailable(missing[0])
}

// RequireHomes returns an error if one of ids, the primary rows of a response, is of a home that did not answer reads.
func (d *Deps) RequireHomes(reads *store.ReadBatch, ids []string) error {
	for _, id := range ids {
		if home := d.HomeOf(id); slices.Contains(reads.Missing(), home) {
			return unavailable(home)
		}
	}
	return nil
}
