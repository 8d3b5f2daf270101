package rules

import (
	"fmt"
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// Minimum is the oldest version of CockroachDB that the statements must work on, see db.MinimumCockroachDB.
const Minimum Version = 24_03

// Version is a version of CockroachDB: 100 times the year plus the number of the release.
type Version int

// String returns the version as its documentation writes it, such as v24.3.
func (v Version) String() string { return fmt.Sprintf("v%d.%d", v/100, v%100) }

// Construct is SQL that CockroachDB's grammar accepts, and that its planner refuses or evaluates differently from PostgreSQL.
type Construct struct {
	Name    Rule
	Why     string  // what CockroachDB does, and what to write instead
	Source  string  // the documentation, issue or source file that says so
	Until   Version // the first version that does as PostgreSQL; 0 if none is known
	Example string  // a statement that contains it
	Schema  bool    // Example is a migration

	found func(at place) bool
}

// place is a node of a statement with its ancestors, the nearest last.
type place struct {
	schema *Schema
	node   any
	path   []any
}

// ancestor returns the nth ancestor, 1 being the parent, skipping parentheses around expressions; nil if there is none.
func (p place) ancestor(n int) any {
	for _, ancestor := range slices.Backward(p.path) {
		if _, ok := ancestor.(*tree.ParenExpr); ok {
			continue
		}
		if n--; n == 0 {
			return ancestor
		}
	}
	return nil
}

// isRoot reports whether the node is the statement.
func (p place) isRoot() bool { return len(p.path) == 0 }

// Constructs returns all constructs that the rules know.
func Constructs() []Construct {
	var all []Construct
	for _, some := range [][]Construct{
		withConstructs, lockConstructs, parameterConstructs, typeConstructs, operatorConstructs, functionConstructs, routineConstructs, indexConstructs, columnConstructs,
	} {
		all = append(all, some...)
	}
	return all
}

// constructs are those that Minimum does not support.
var constructs = func() []Construct {
	var refused []Construct
	for _, construct := range Constructs() {
		if construct.Until == 0 || construct.Until > Minimum {
			refused = append(refused, construct)
		}
	}
	return refused
}()

// construct reports each construct at a node.
func (c *check) construct(at place) {
	for _, construct := range constructs {
		if construct.found(at) {
			c.brokenf(construct.Name, "%s%s (%s)", quoted(at.node), construct.Why, construct.Source)
		}
	}
}

// quoted returns the beginning of an expression for a message, and nothing for another node.
func quoted(node any) string {
	e, ok := node.(tree.Expr)
	if !ok {
		return ""
	}
	text := tree.AsString(e)
	if len(text) > maxQuoted {
		text = text[:maxQuoted] + "…"
	}
	return fmt.Sprintf("%q: ", text)
}

const maxQuoted = 60 // bytes

// Contains reports whether a statement contains the construct, whatever the minimum version is. The statement must parse.
func (k Construct) Contains(schema *Schema, sql string) (bool, error) {
	c := &check{schema: schema, home: &homeValue{}}
	ast, ok := c.parse(sql)
	if !ok {
		return false, fmt.Errorf("%v", c.violations)
	}
	found := false
	visit := func(node any, path []any) { found = found || k.found(place{schema, node, path}) }
	walk(ast, visit)
	if routine, ok := ast.(*tree.CreateRoutine); ok {
		for _, statement := range c.routineStatements(routine) {
			walk(statement, func(node any, path []any) { visit(node, slices.Concat([]any{routine}, path)) })
		}
	}
	return found, nil
}
