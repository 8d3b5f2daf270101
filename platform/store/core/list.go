package core

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/plaza-social/plaza/platform/store/db"
)

// Orders of lists, descending first.
var (
	CreatedOrders = [2]db.Order{{Name: "CreatedDesc", Desc: true}, {Name: "CreatedAsc"}}
	updatedOrders = [2]db.Order{{Name: "UpdatedDesc", Desc: true}, {Name: "UpdatedAsc"}}
	NameOrders    = [2]db.Order{{Name: "NameDesc", Desc: true}, {Name: "NameAsc"}}
	PlainOrders   = [2]db.Order{{Name: "Desc", Desc: true}, {Name: "Asc"}} // for lists with only one order
)

// Directions contains the statements of a list in both directions.
type Directions struct{ desc, asc *db.Statement }

// InBoth registers the statements of a list in both directions.
func InBoth(orders [2]db.Order, register func(db.Order) *db.Statement) Directions {
	return Directions{register(orders[0]), register(orders[1])}
}

// In returns the statement in a direction.
func (d Directions) In(desc bool) *db.Statement { return Pick(desc, d.desc, d.asc) }

// OrderedBy registers the statements of a list in the order of a column.
func OrderedBy(orders [2]db.Order, column string, register func(o db.Order, column string) *db.Statement) Directions {
	return InBoth(orders, func(o db.Order) *db.Statement { return register(o, column) })
}

// TimeLists contains the statements of a list that can be ordered by created_at and by updated_at.
type TimeLists struct{ created, updated Directions }

// OrderedByTime registers the statements of a list in the four orders by time.
func OrderedByTime(register func(o db.Order, column string) *db.Statement) TimeLists {
	return TimeLists{OrderedBy(CreatedOrders, "created_at", register), OrderedBy(updatedOrders, "updated_at", register)}
}

// In returns the statement in an order.
func (l TimeLists) In(byUpdate, desc bool) *db.Statement {
	return Pick(byUpdate, l.updated, l.created).In(desc)
}

// Source is what a list consists of: rows in the order of a column, which is given to its methods, and of the id.
type Source struct {
	Name    string // of the statements
	Columns string // of the rows
	Zeros   string // a value for each of the columns; of lists with pages
	From    string // the FROM clause and conditions that have an index
	Filter  string // further conditions, which have no index; each begins with AND
	First   string // a column that precedes the others in the order; usually empty
	ID      string // the column of the id; empty for id
	After   int    // the number of the first argument of the position, which that of the limit follows
	Args    int    // the number of arguments; of lists with windows
	// wrap wraps the statement of rows in an order; nil for none.
	Wrap func(inner, order string) string
}

// List registers the statement of the first rows that match the filter.
func (s Source) List(o db.Order, column string) *db.Statement {
	from, limit := s.rowsAfter(o, column)
	inner := fmt.Sprintf(`SELECT %s FROM %s%s ORDER BY %s LIMIT $%d::bigint`, s.Columns, from, s.Filter, s.order(o, column), limit)
	return db.Register(s.Name+o.Name, s.wrapped(inner, ` ORDER BY `+o.By("p."+column, "p.id")))
}

// rowsAfter returns the FROM clause with the condition of the position, and the number of the argument of the limit.
func (s Source) rowsAfter(o db.Order, column string) (from string, limit int) {
	if column == SegmentColumn {
		return fmt.Sprintf(`%s AND segment %s $%d::bigint`, s.From, Pick(o.Desc, `<`, `>`), s.After), s.After + 1
	}
	key, id := fmt.Sprintf("$%d::%s", s.After, Pick(IsName(column), "text", "timestamptz")), fmt.Sprintf("$%d", s.After+1)
	return s.From + ` AND ` + o.After(column, s.idColumn(), key, id), s.After + 2
}

func (s Source) order(o db.Order, column string) string {
	order := o.By(column, s.idColumn())
	if column == SegmentColumn {
		order = column + Pick(o.Desc, " DESC", "")
	}
	if s.First != "" {
		return s.First + Pick(o.Desc, " DESC, ", ", ") + order
	}
	return order
}

func (s Source) idColumn() string { return cmp.Or(s.ID, "id") }

func (s Source) wrapped(inner, order string) string {
	if s.Wrap == nil {
		return inner
	}
	return s.Wrap(inner, order)
}

// SegmentColumn is the column that lists of messages are ordered by. No two messages of a list have the same segment.
const SegmentColumn = "segment"

// IsName reports whether a column has the keys of names. The other columns that lists are ordered by have times.
func IsName(column string) bool { return strings.HasSuffix(column, "name_key") }

// Lookup returns the lists registered for key. It panics if there are none, which is a programming error.
func Lookup[K comparable, V any](lists map[K]V, key K) V {
	l, ok := lists[key]
	if !ok {
		panic(fmt.Sprintf("store: no statement for %+v", key))
	}
	return l
}

// Pick returns yes if the condition holds, and otherwise no.
func Pick[T any](condition bool, yes, no T) T {
	if condition {
		return yes
	}
	return no
}
