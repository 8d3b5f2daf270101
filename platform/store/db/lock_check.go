package db

import (
	"fmt"
	"regexp"
	"slices"
)

// CheckLocks returns an error if a transaction of these statements updates a row of a shared table that it has not locked
// before its other statements, if it locks rows in another order than that of the tables and keys, or if it updates rows of
// another table with the same statement in another order than that of their keys. Tests call it for every transaction.
func CheckLocks(sent []Queued) error {
	c := &lockCheck{}
	for _, q := range sent {
		if err := c.next(q); err != nil {
			return fmt.Errorf("%s: %w", q.Statement.Name, err)
		}
	}
	return nil
}

// lockCheck is the state of a transaction after some statements.
type lockCheck struct {
	locked []RowKey                // in the order of the locks
	began  bool                    // whether a statement that locks nothing was sent
	last   map[*Statement][]string // the key of the row that a statement updated last
}

func (c *lockCheck) next(q Queued) error {
	if table := lockedBy(q.Statement); table != nil {
		ids, _ := q.Args[1].([]string)
		return c.lock(RowKey{Table: table}, ids...)
	}
	step := Step{statement: q.Statement, args: q.Args}
	rows := step.rows()
	for _, row := range rows {
		if slices.Contains(c.locked, row) {
			continue
		}
		if err := c.lock(RowKey{Table: row.Table}, row.Key); err != nil {
			return err
		}
	}
	c.began = c.began || len(rows) == 0
	return c.updateInOrder(q)
}

// updates matches statements that update or delete existing rows.
var updates = regexp.MustCompile(`\b(UPDATE|DELETE FROM) [a-z_]+\b`)

// updateInOrder records the update of a row that is not shared. Transactions that update the same rows in different orders would wait
// for each other.
func (c *lockCheck) updateInOrder(q Queued) error {
	if q.Statement.Update != nil || !updates.MatchString(q.Statement.SQL) {
		return nil
	}
	key := keyOf(q.Args)
	if last := c.last[q.Statement]; slices.Compare(key, last) < 0 {
		return fmt.Errorf("the row %q is updated after the row %q", key, last)
	}
	if c.last == nil {
		c.last = map[*Statement][]string{}
	}
	c.last[q.Statement] = key
	return nil
}

// keyOf returns the texts with which the arguments of a statement begin, after the home: the key of the row.
func keyOf(args []any) []string {
	var key []string
	for _, a := range args[1:] {
		text, ok := a.(string)
		if !ok {
			break
		}
		key = append(key, text)
	}
	return key
}

// lock records locks of rows of a table.
func (c *lockCheck) lock(of RowKey, keys ...string) error {
	for _, key := range keys {
		row := RowKey{of.Table, key}
		switch {
		case c.began:
			return fmt.Errorf("the row %q of %s is locked after statements that lock nothing", key, row.Table.Name)
		case len(c.locked) > 0 && compareRows(row, c.locked[len(c.locked)-1]) < 0:
			last := c.locked[len(c.locked)-1]
			return fmt.Errorf("the row %q of %s is locked after the row %q of %s", key, row.Table.Name, last.Key, last.Table.Name)
		}
		c.locked = append(c.locked, row)
	}
	return nil
}

// lockedBy returns the table whose rows a statement locks; nil if it is not a lock statement.
func lockedBy(st *Statement) *SharedTable {
	for _, t := range sharedTables {
		if t.Lock == st {
			return t
		}
	}
	return nil
}
