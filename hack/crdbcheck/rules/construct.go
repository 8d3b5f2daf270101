package rules

import (
	"fmt"
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"

	"github.com/plaza-social/plaza/platform/store/db"
)

// Construct is SQL that CockroachDB's grammar accepts, and that its planner refuses or evaluates differently from PostgreSQL.
type Construct struct {
	Name    Rule
	Why     string     // what CockroachDB does, and what to write instead
	Source  string     // the documentation, issue or source file that says so
	Until   db.Release // the first release that does as PostgreSQL; zero if none is known
	Example string     // a statement that contains it
	Schema  bool       // Example is a migration

	found func(at place) bool
}

// IsRefused reports whether the rules refuse the construct: the oldest release that Plaza supports does not do as PostgreSQL.
func (k Construct) IsRefused() bool {
	return k.Until == (db.Release{}) || db.MinimumCockroachDB.Before(k.Until)
}

// release returns a release, such as v24.3.
func release(year, number int) db.Release { return db.Release{Year: year, Number: number} }

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

// isNested reports whether the node is in a subquery or a WITH part.
func (p place) isNested() bool {
	return slices.ContainsFunc(p.path, func(ancestor any) bool {
		switch ancestor.(type) {
		case *tree.Subquery, *tree.CTE:
			return true
		}
		return false
	})
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

// refused are the constructs that the rules refuse.
var refused = slices.DeleteFunc(Constructs(), func(k Construct) bool { return !k.IsRefused() })

// construct reports each construct at a node.
func (c *check) construct(at place) {
	for _, k := range refused {
		if k.found(at) {
			c.brokenf(k.Name, "%s%s (%s)", quoted(at.node), k.Why, k.Source)
		}
	}
}

// quoted returns the beginning of an expression for a message, and nothing for another node.
func quoted(node any) string {
	e, ok := node.(tree.Expr)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%q: ", cut(tree.AsString(e)))
}

const maxQuoted = 60 // bytes

// Contains reports whether a statement contains the construct, whether or not the rules refuse it. The statement must parse.
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
