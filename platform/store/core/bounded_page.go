package core

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/store/db"
)

// lookAhead is how many rows a statement of a page looks at, at most, for each row of the page. It is small because the filters of
// these lists select nearly all rows. If the page is not full after them, the home continues in windows.
var lookAhead = Pick(defence.Off(defence.ListWindows), math.MaxInt32, 4)

// Page registers the statement of the first rows that match the filter. If there are further rows although the page is not full,
// another row follows, whose id is empty.
//
// The limit of both parts keeps the second one from being read if the page is full. If a database reads them in another order, the
// page may lack its last row, which is why it continues after the rows that it has.
func (s Source) Page(o db.Order, column string) *db.Statement {
	from, limit := s.rowsAfter(o, column)
	inner := fmt.Sprintf(`(SELECT %[1]s FROM (
				SELECT %[1]s, COALESCE(true%[5]s, false) AS matches FROM %[4]s ORDER BY %[3]s LIMIT %[7]d * $%[6]d::bigint) AS rows
			WHERE matches ORDER BY %[3]s LIMIT $%[6]d::bigint)
		UNION ALL (SELECT %[2]s FROM (SELECT 1 FROM %[4]s ORDER BY %[3]s OFFSET %[7]d * $%[6]d::bigint - 1 LIMIT 1) AS further)
		LIMIT $%[6]d::bigint`, s.Columns, s.Zeros, s.order(o, column), from, s.Filter, limit, lookAhead)
	return db.Register(s.Name+o.Name, s.wrapped(inner, ""))
}

// ReadPage queues the statement of a page and, if it does not fill the page although there are further rows, the windows
// that follow. It stores the rows in into, in no particular order, when the batch has run.
func ReadPage[T any](r *ReadBatch, statement *db.Statement, desc bool, at func(T) Position, w Windows[T], into *[]T) {
	part := new([]T)
	r.Add(w.Home, statement, db.Rows(part), w.Args(w.After, w.Limit)...)
	r.Then(func() {
		if slices.Contains(r.Missing(), w.Home) {
			return
		}
		continues := false
		for _, row := range *part {
			p := at(row)
			if p.ID == "" {
				continues = true
				continue
			}
			*into = append(*into, row)
			w.Limit--
			if comparePositions(p, w.After) < 0 == desc { // the furthest one
				w.After = p
			}
		}
		if continues {
			ReadWindows(r, w, into)
		}
	})
}

// comparePositions compares positions of one list.
func comparePositions(a, b Position) int {
	return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.ID, b.ID))
}
