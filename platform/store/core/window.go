package core

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// listWindows are the numbers of rows among which a home looks for a page of a list with a filter that has no index: in
// the second window only if the first one does not fill the page. Then the page ends, with the rows that were found and
// a token for the rows after the windows.
var listWindows = []int{200, lastListWindow()}

func lastListWindow() int {
	if defence.Off(defence.ListWindows) {
		return math.MaxInt
	}
	return 19_800
}

// Position is the position of a row in a list.
type Position struct {
	Time    time.Time // the key of lists by time
	Key     string    // the key of lists by name
	ID      string
	Segment int64 // the key of lists of messages
}

// Stops returns the positions at which lists stopped, one for each home, although they have further rows and the page is
// not full.
func (r *ReadBatch) Stops() []Position { return r.stops }

// StopAt adds to the positions that Stops returns.
func (r *ReadBatch) StopAt(positions ...Position) { r.stops = append(r.stops, positions...) }

// positionOf returns the expressions of the position of a row in a list that is ordered by a column, and their order.
func positionOf(o db.Order, column, id string) (position, order string) {
	at, name, segment := `'0001-01-01 00:00:00+00'::timestamptz`, `''`, `0::bigint`
	switch {
	case column == SegmentColumn:
		segment, order = column, column+Pick(o.Desc, " DESC", "")
	case IsName(column):
		name, order = column, o.By("name", "id")
	default:
		at, order = column, o.By("at", "id")
	}
	return at + ` AS at, ` + name + ` AS name, ` + id + ` AS id, ` + segment + ` AS segment`, order
}

// windowRow is a row of a window: one that matches the filter, or the last one of the window.
type windowRow struct {
	Position
	Matches bool
	Total   int64 // the rows of the window
}

// Window registers the statement that looks for the rows of the list in a window, whose size is the argument after the others.
func (s Source) Window(o db.Order, column string) *db.Statement {
	position, order := positionOf(o, column, s.idColumn())
	from, limit := s.rowsAfter(o, column)
	return db.Register(s.Name+".window"+o.Name, fmt.Sprintf(`SELECT at, name, id, segment, matches, total FROM (
			SELECT at, name, id, segment, matches, count(*) OVER () AS total, row_number() OVER (ORDER BY %[2]s) AS place,
				sum(CASE WHEN matches THEN 1 ELSE 0 END) OVER (ORDER BY %[2]s) AS found
			FROM (SELECT %[1]s, COALESCE(true%[5]s, false) AS matches FROM %[4]s ORDER BY %[3]s LIMIT $%[7]d::bigint) AS rows) AS numbered
		WHERE place = total OR matches AND found <= $%[6]d::bigint ORDER BY %[2]s`,
		position, order, s.order(o, column), from, s.Filter, limit, s.Args+1))
}

// Windows is a list that a home reads window by window.
type Windows[T any] struct {
	Home      region.Code
	After     Position
	Limit     int
	Statement *db.Statement
	// args returns the arguments of the list after a position.
	Args func(after Position, limit int) []any
	// rows queues the read of the rows at some positions, unless it can make them from the positions.
	Rows func(found []Position, into *[]T)
}

// ReadWindows queues the statements of a list and appends the rows to into, in no particular order, when the batch has run.
func ReadWindows[T any](r *ReadBatch, w Windows[T], into *[]T) { w.look(r, listWindows, nil, into) }

// look looks for the rows that a page still lacks in the first of some windows, and then in the others.
func (w Windows[T]) look(r *ReadBatch, sizes []int, found []Position, into *[]T) {
	part := new([]windowRow)
	r.Add(w.Home, w.Statement, db.Rows(part), append(w.Args(w.After, w.Limit-len(found)), sizes[0])...)
	r.Then(func() {
		if slices.Contains(r.Missing(), w.Home) {
			return
		}
		for _, row := range *part {
			if row.Matches && len(found) < w.Limit {
				found = append(found, row.Position)
			}
		}
		if len(*part) == 0 || (*part)[0].Total < int64(sizes[0]) || len(found) == w.Limit {
			w.read(r, found, nil, into)
			return
		}
		if w.After = (*part)[len(*part)-1].Position; len(sizes) > 1 {
			w.look(r, sizes[1:], found, into)
			return
		}
		w.read(r, found, []Position{w.After}, into)
	})
}

// read queues the read of the rows that were found, and notes where the list stopped before the page was full.
func (w Windows[T]) read(r *ReadBatch, found, stop []Position, into *[]T) {
	r.StopAt(stop...)
	if len(found) == 0 {
		return
	}
	rows := new([]T)
	w.Rows(found, rows)
	finish := func() {
		if slices.Contains(r.Missing(), w.Home) {
			return
		}
		*into = append(*into, *rows...)
		if len(*rows) < len(found) && len(stop) == 0 { // some were changed in the meantime: rows that follow are not lost
			r.StopAt(found[len(found)-1])
		}
	}
	if r.Empty() { // the positions are all that the list needs
		finish()
		return
	}
	r.Then(finish)
}

// IDsAt returns the ids of rows.
func IDsAt(positions []Position) []string {
	ids := make([]string, len(positions))
	for i, p := range positions {
		ids[i] = p.ID
	}
	return ids
}

// RowsAt returns a function that reads the rows at some positions of a list and converts them, without those for which row
// returns false. read reads rows by id.
func RowsAt[T, R any](
	r *ReadBatch, read func(ids []string, into *[]T), row func(row T, at map[string]Position) (R, bool),
) func([]Position, *[]R) {
	return func(found []Position, into *[]R) {
		var rows []T
		at := make(map[string]Position, len(found))
		for _, p := range found {
			at[p.ID] = p
		}
		read(IDsAt(found), &rows)
		r.Then(func() {
			for _, one := range rows {
				if converted, ok := row(one, at); ok {
					*into = append(*into, converted)
				}
			}
		})
	}
}
