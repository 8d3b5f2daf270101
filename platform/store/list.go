package store

import (
	"fmt"

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

// timeLists contains the statements of a list that can be ordered by created_at and by updated_at.
type timeLists struct{ created, updated directions }

// byTime registers the statements of a list in the four orders by time.
func byTime(register func(o db.Order, column string) *db.Statement) timeLists {
	return timeLists{
		inBoth(createdOrders, func(o db.Order) *db.Statement { return register(o, "created_at") }),
		inBoth(updatedOrders, func(o db.Order) *db.Statement { return register(o, "updated_at") }),
	}
}

func (l timeLists) in(byUpdate, desc bool) *db.Statement {
	return pick(byUpdate, l.updated, l.created).in(desc)
}

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
