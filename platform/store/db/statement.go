package db

import "slices"

// Statement is one SQL statement of the program.
//
// Every statement is registered under a name, so that hack/crdbcheck can check all of them against CockroachDB's grammar
// and a test can inspect the query plan of each. The text is the same on PostgreSQL and CockroachDB, and $1 is always the
// home.
type Statement struct {
	Name string
	SQL  string
	// Update declares which rows of a shared table the statement updates; nil if it updates none.
	Update *Update
}

var registry []*Statement

// Register registers a statement. It must be called during package initialization, and panics if the name is registered
// already.
func Register(name, sql string) *Statement {
	if slices.ContainsFunc(registry, func(s *Statement) bool { return s.Name == name }) {
		panic("db: statement registered twice: " + name)
	}
	s := &Statement{Name: name, SQL: sql}
	registry = append(registry, s)
	return s
}

// Statements returns every registered statement, in no particular order.
func Statements() []Statement {
	all := make([]Statement, 0, len(registry))
	for _, s := range registry {
		all = append(all, *s)
	}
	return all
}

// Queued is a statement with its arguments as a Batch or a Tx sends it.
type Queued struct {
	Statement *Statement
	SQL       string
	Args      []any // the home first
}
