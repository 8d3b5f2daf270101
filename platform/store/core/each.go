package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// eachSizes are the usual numbers of branches.
var eachSizes = []int{1, 4, 16}

// Each are statements that read the first rows of each of some values, such as the last message of each subchannel: one
// branch of UNION ALL for each value. With LATERAL (… LIMIT …) instead, CockroachDB would read all rows of each value.
type Each struct {
	sizes      []int
	statements []*db.Statement // by sizes
	padding    any             // a value without rows, for branches that are not needed
}

// ForEach registers the statements. In the text of a branch, {value} is the value and {n} its number from 0; the other
// arguments are $2 to $(args+1). rest is the order and the limit of all rows, which are also those of each branch.
func ForEach(name string, args int, padding any, branch, rest string) Each {
	return ForEachIn(eachSizes, name, args, padding, branch, rest)
}

// ForEachIn is ForEach with numbers of branches.
func ForEachIn(sizes []int, name string, args int, padding any, branch, rest string) Each {
	e := Each{padding: padding, sizes: sizes}
	for _, size := range sizes {
		branches := make([]string, size)
		for i := range branches {
			value := "$" + strconv.Itoa(args+2+i)
			branches[i] = strings.NewReplacer("{value}", value, "{n}", strconv.Itoa(i)+"::bigint").Replace(branch)
		}
		sql := branches[0]
		if size > 1 {
			sql = "(" + strings.Join(branches, ") UNION ALL (") + ")" + rest
		}
		e.statements = append(e.statements, db.Register(fmt.Sprintf("%s%d", name, size), sql))
	}
	return e
}

// EachPart queues the statements for values and calls rows with the position of the first value of each statement, which must
// return the scan function for its rows.
func EachPart[V any](r *ReadBatch, home region.Code, e Each, values []V, rows func(first int) func(pgx.Rows) error, args ...any) {
	most := e.sizes[len(e.sizes)-1]
	for first := 0; first < len(values); first += most {
		part := values[first:min(len(values), first+most)]
		size := slices.IndexFunc(e.sizes, func(size int) bool { return size >= len(part) })
		all := slices.Clone(args)
		for i := range e.sizes[size] {
			if i < len(part) {
				all = append(all, part[i])
			} else {
				all = append(all, e.padding)
			}
		}
		r.Add(home, e.statements[size], rows(first), all...)
	}
}

// ReadEach queues the statements for ids of any homes and appends the rows to into when the batch has run.
func ReadEach[T any](r *ReadBatch, ids []string, e Each, into *[]T, args ...any) {
	for home, ids := range r.ByHome(ids) {
		ReadEachAt(r, home, ids, e, into, args...)
	}
}

// ReadEachAt is ReadEach for values at one home.
func ReadEachAt[T, V any](r *ReadBatch, home region.Code, values []V, e Each, into *[]T, args ...any) {
	EachPart(r, home, e, values, func(int) func(pgx.Rows) error {
		part := new([]T)
		r.Then(func() { *into = append(*into, *part...) })
		return db.Rows(part)
	}, args...)
}
