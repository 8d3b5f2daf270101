package store

import "slices"

// Statement is one SQL text that the program can send.
//
// Every statement is registered under a name, so that hack/crdbcheck can hold all of them against CockroachDB's grammar,
// and a test can ask the database for the plan of each. The text is the same on both engines, and $1 is always the home.
type Statement struct {
	Name string
	SQL  string
}

var registry []*Statement

// stmt registers a statement. It runs while the package is initialised, so a name given twice shows at once.
func stmt(name, sql string) *Statement {
	if slices.ContainsFunc(registry, func(s *Statement) bool { return s.Name == name }) {
		panic("store: statement registered twice: " + name)
	}
	s := &Statement{Name: name, SQL: sql}
	registry = append(registry, s)
	return s
}

// Statements returns every statement that the program can send, in no particular order.
func Statements() []Statement {
	all := make([]Statement, 0, len(registry))
	for _, s := range registry {
		all = append(all, *s)
	}
	return all
}
