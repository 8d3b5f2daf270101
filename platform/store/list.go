package store

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/plaza-social/plaza/platform/store/db"
)

// Orders of lists, descending first.
var (
	createdOrders = [2]db.Order{{Name: "CreatedDesc", Desc: true}, {Name: "CreatedAsc"}}
	updatedOrders = [2]db.Order{{Name: "UpdatedDesc", Desc: true}, {Name: "UpdatedAsc"}}
	nameOrders    = [2]db.Order{{Name: "NameDesc", Desc: true}, {Name: "NameAsc"}}
	plainOrders   = [2]db.Order{{Name: "Desc", Desc: true}, {Name: "Asc"}} // for lists with only one order
)

// directions contains the statements of a list in both directions.
type directions struct{ desc, asc *db.Statement }

// inBoth registers the statements of a list in both directions.
func inBoth(orders [2]db.Order, register func(db.Order) *db.Statement) directions {
	return directions{register(orders[0]), register(orders[1])}
}

func (d directions) in(desc bool) *db.Statement { return pick(desc, d.desc, d.asc) }

// by registers the statements of a list in the order of a column.
func by(orders [2]db.Order, column string, register func(o db.Order, column string) *db.Statement) directions {
	return inBoth(orders, func(o db.Order) *db.Statement { return register(o, column) })
}

// timeLists contains the statements of a list that can be ordered by created_at and by updated_at.
type timeLists struct{ created, updated directions }

// byTime registers the statements of a list in the four orders by time.
func byTime(register func(o db.Order, column string) *db.Statement) timeLists {
	return timeLists{by(createdOrders, "created_at", register), by(updatedOrders, "updated_at", register)}
}

func (l timeLists) in(byUpdate, desc bool) *db.Statement {
	return pick(byUpdate, l.updated, l.created).in(desc)
}

// source is what a list consists of: rows in the order of a column, which is given to its methods, and of the id.
type source struct {
	name    string // of the statements
	columns string // of the rows
	zeros   string // a value for each of the columns; of lists with pages
	from    string // the FROM clause and conditions that have an index
	filter  string // further conditions, which have no index; each begins with AND
	first   string // a column that precedes the others in the order; usually empty
	id      string // the column of the id; empty for id
	after   int    // the number of the first argument of the position, which that of the limit follows
	args    int    // the number of arguments; of lists with windows
	// wrap wraps the statement of rows in an order; nil for none.
	wrap func(inner, order string) string
}

// list registers the statement of the first rows that match the filter.
func (s source) list(o db.Order, column string) *db.Statement {
	from, limit := s.rowsAfter(o, column)
	inner := fmt.Sprintf(`SELECT %s FROM %s%s ORDER BY %s LIMIT $%d::bigint`, s.columns, from, s.filter, s.order(o, column), limit)
	return db.Register(s.name+o.Name, s.wrapped(inner, ` ORDER BY `+o.By("p."+column, "p.id")))
}

// rowsAfter returns the FROM clause with the condition of the position, and the number of the argument of the limit.
func (s source) rowsAfter(o db.Order, column string) (from string, limit int) {
	if column == segmentColumn {
		return fmt.Sprintf(`%s AND segment %s $%d::bigint`, s.from, pick(o.Desc, `<`, `>`), s.after), s.after + 1
	}
	key, id := fmt.Sprintf("$%d::%s", s.after, pick(isName(column), "text", "timestamptz")), fmt.Sprintf("$%d", s.after+1)
	return s.from + ` AND ` + o.After(column, s.idColumn(), key, id), s.after + 2
}

func (s source) order(o db.Order, column string) string {
	order := o.By(column, s.idColumn())
	if column == segmentColumn {
		order = column + pick(o.Desc, " DESC", "")
	}
	if s.first != "" {
		return s.first + pick(o.Desc, " DESC, ", ", ") + order
	}
	return order
}

func (s source) idColumn() string { return cmp.Or(s.id, "id") }

func (s source) wrapped(inner, order string) string {
	if s.wrap == nil {
		return inner
	}
	return s.wrap(inner, order)
}

// segmentColumn is the column that lists of messages are ordered by. No two messages of a list have the same segment.
const segmentColumn = "segment"

// isName reports whether a column has the keys of names. The other columns that lists are ordered by have times.
func isName(column string) bool { return strings.HasSuffix(column, "name_key") }

// lookup returns the lists registered for key. It panics if there are none, which is a programming error.
func lookup[K comparable, V any](lists map[K]V, key K) V {
	l, ok := lists[key]
	if !ok {
		panic(fmt.Sprintf("store: no statement for %+v", key))
	}
	return l
}

func pick[T any](condition bool, yes, no T) T {
	if condition {
		return yes
	}
	return no
}
