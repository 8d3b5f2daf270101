package db

import (
	"cmp"
	"fmt"
	"slices"
)

// SharedTable is a table whose rows many transactions update. A transaction locks all rows of such tables that it
// updates before its other statements, in the order of the tables and of the rows' keys. Otherwise concurrent
// transactions would read first, fail once they write, and repeat that as long as there are many of them; and those that
// update several rows would wait for each other.
type SharedTable struct {
	Name string
	// Lock locks the rows whose ids are $2; nil if all statements that update the table come first.
	Lock *Statement
	// IsSharded is true if the last part of the key is the shard of a count.
	IsSharded bool

	place int
}

var sharedTables []*SharedTable

// Share registers the shared tables in the order of the locks, and returns them by name. It must be called once.
func Share(tables ...*SharedTable) map[string]*SharedTable {
	byName := map[string]*SharedTable{}
	for i, t := range tables {
		t.place = i
		byName[t.Name] = t
	}
	sharedTables = tables
	return byName
}

// SharedTables returns the shared tables in the order of the locks.
func SharedTables() []*SharedTable { return slices.Clone(sharedTables) }

// Update is the declaration of which rows of a shared table a statement updates.
type Update struct {
	Table *SharedTable
	// Key are the positions of the arguments with the row's key. A list of ids means several rows.
	Key []int
	// IsFirst is true if the statement locks the row by updating it before all other statements.
	IsFirst bool
	// Unlocked says why the rows are not locked before; empty if they are.
	Unlocked string
}

// Updates declares that the statement updates the row of a shared table whose id is the argument $id, or children of that
// row. The transaction locks it before its other statements.
func (s *Statement) Updates(t *SharedTable, id int) *Statement {
	s.Update = &Update{Table: t, Key: []int{id}}
	return s
}

// UpdatesFirst declares that the statement updates the row of a shared table whose key is in the arguments $key, and
// that it depends on no earlier statement of its transaction. It is sent before the others and thereby locks the row.
func (s *Statement) UpdatesFirst(t *SharedTable, key ...int) *Statement {
	s.Update = &Update{Table: t, Key: key, IsFirst: true}
	return s
}

// UpdatesUnlocked declares that the statement updates rows of a shared table that are not locked before, and why.
func (s *Statement) UpdatesUnlocked(t *SharedTable, why string) *Statement {
	s.Update = &Update{Table: t, Unlocked: why}
	return s
}

// RowKey identifies a row of a shared table.
type RowKey struct {
	Table *SharedTable
	Key   string
}

func compareRows(a, b RowKey) int {
	return cmp.Or(cmp.Compare(a.Table.place, b.Table.place), cmp.Compare(a.Key, b.Key))
}

// rows returns the rows that the step updates and that must be locked.
func (s *Step) rows() []RowKey {
	u := s.statement.Update
	if u == nil || u.Unlocked != "" {
		return nil
	}
	if len(u.Key) > 1 {
		return s.rowsByParts(u)
	}
	var rows []RowKey
	for _, id := range s.idsOf(u.Key[0]) {
		if id != "" {
			rows = append(rows, RowKey{u.Table, id})
		}
	}
	return rows
}

// rowsByParts is rows for a key of several arguments, of which the first one may be a list.
func (s *Step) rowsByParts(u *Update) []RowKey {
	var rest []byte
	for _, n := range u.Key[1:] {
		rest = fmt.Append(rest, "\x00", s.args[n-1])
	}
	var rows []RowKey
	for _, id := range s.idsOf(u.Key[0]) {
		rows = append(rows, RowKey{u.Table, id + string(rest)})
	}
	return rows
}

// idsOf returns the argument $n, which is an id or a list of ids.
func (s *Step) idsOf(n int) []string {
	if ids, isList := s.args[n-1].([]string); isList {
		return ids
	}
	return []string{fmt.Sprint(s.args[n-1])}
}

// inLockOrder returns the steps of a transaction in the order in which they are sent: statements that lock the rows it
// updates, those that lock a row by updating it, and the others.
func inLockOrder(steps []Step, home string) []Step {
	first, rest, rows := splitFirst(steps)
	if len(first)+len(rows) == 0 {
		return steps
	}
	leading := leadingUpdates(rest, rows)
	if leading > 0 && (len(first) == 0 || compareRows(rows[len(rows)-1], first[0].rows()[0]) < 0) {
		return slices.Concat(rest[:leading], first, rest[leading:])
	}
	locked := make([]Step, 0, len(steps)+len(sharedTables))
	for _, t := range sharedTables {
		of := func(s Step) bool { return s.statement.Update.Table == t }
		firstOfTable := slices.DeleteFunc(slices.Clone(first), func(s Step) bool { return !of(s) })
		if ids := idsToLock(t, rows, firstOfTable); len(ids) > 0 {
			locked = append(locked, Step{statement: t.Lock, args: []any{home, ids}})
		}
		locked = append(locked, firstOfTable...)
	}
	return append(locked, rest...)
}

// firstRow returns the row that a transaction with these steps locks first, other than the counts.
func firstRow(steps []Step) (first RowKey, ok bool) {
	for i := range steps {
		for _, row := range steps[i].rows() {
			if !row.Table.IsSharded && (!ok || compareRows(row, first) < 0) {
				first, ok = row, true
			}
		}
	}
	return first, ok
}

// splitFirst separates the steps that lock a row by updating it, in the order of the rows, and returns the rows that
// must be locked otherwise.
func splitFirst(steps []Step) (first, rest []Step, rows []RowKey) {
	rest = make([]Step, 0, len(steps))
	for _, s := range steps {
		if u := s.statement.Update; u != nil && u.IsFirst {
			first = append(first, s)
			continue
		}
		rest = append(rest, s)
		rows = append(rows, s.rows()...)
	}
	slices.SortStableFunc(first, func(a, b Step) int { return compareRows(a.rows()[0], b.rows()[0]) })
	slices.SortFunc(rows, compareRows)
	rows = slices.Compact(rows)
	return first, rest, slices.DeleteFunc(rows, func(r RowKey) bool {
		return slices.ContainsFunc(first, func(s Step) bool { return slices.Contains(s.rows(), r) })
	})
}

// leadingUpdates returns how many steps at the beginning update all of rows in their order, which makes locks
// superfluous; 0 if they do not.
func leadingUpdates(steps []Step, rows []RowKey) int {
	if len(rows) > len(steps) {
		return 0
	}
	for i, row := range rows {
		if !slices.Equal(steps[i].rows(), []RowKey{row}) {
			return 0
		}
	}
	return len(rows)
}

// idsToLock returns the ids of the rows of a table for its lock statement. It includes the rows that first updates, so
// that all rows of the table are locked in one order.
func idsToLock(t *SharedTable, rows []RowKey, first []Step) []string {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r RowKey) bool { return r.Table != t })
	if len(rows) == 0 {
		return nil
	}
	var ids []string
	for _, s := range first {
		rows = append(rows, s.rows()...)
	}
	for _, r := range rows {
		ids = append(ids, r.Key)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
