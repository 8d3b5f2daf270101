package db

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Statement is one SQL statement of the program.
//
// Every statement is registered under a name, so that hack/crdbcheck can check all of them against CockroachDB's grammar
// and a test can inspect the query plan of each. The text is the same on PostgreSQL and CockroachDB, apart from hints, and $1 is
// always the home.
//
// A comment after the name of a table is a hint for CockroachDB: outbox /*@{FORCE_INDEX=outbox_due}*/. It is for statements that
// CockroachDB otherwise plans by statistics that do not tell the index from the primary key, such as those of a table that is usually
// empty.
type Statement struct {
	Name string
	// SQL is the text for PostgreSQL, without hints.
	SQL string
	// CockroachSQL is the text for CockroachDB.
	CockroachSQL string
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
	s := &Statement{Name: name, SQL: hint.ReplaceAllString(sql, ""), CockroachSQL: hint.ReplaceAllString(sql, "$1")}
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

var hint = regexp.MustCompile(` /\*(@\{[^}]*\})\*/`)

// on returns the text for the server of a connection.
func (s *Statement) on(conn *pgx.Conn) string {
	if reportsCockroach(conn) {
		return cmp.Or(s.CockroachSQL, s.SQL) // statements of tests are not registered
	}
	return s.SQL
}

// Queued is a statement with its arguments as a Batch or a Tx sends it.
type Queued struct {
	Statement *Statement
	SQL       string
	Args      []any // the home first
	// Callers are the program counters of the functions that queued the statement as a condition of its transaction. They are only
	// known with Config.Sent.
	Callers []uintptr
}
