package rules

import (
	"fmt"
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// Construct is SQL that CockroachDB's grammar accepts, and that its planner refuses or evaluates differently from PostgreSQL.
type Construct struct {
	Name   Rule
	Why    string // what CockroachDB does, and what to write instead
	Source string // the documentation, issue or source file that says so

	found func(at place) bool
}

// place is a node of a statement with its ancestors, the nearest last.
type place struct {
	schema *Schema
	node   any
	path   []any
}

// parent returns the nearest ancestor apart from parentheses around expressions; nil if there is none.
func (p place) parent() any {
	for _, ancestor := range slices.Backward(p.path) {
		if _, ok := ancestor.(*tree.ParenExpr); !ok {
			return ancestor
		}
	}
	return nil
}

// isNested reports whether the node is in a subquery or a WITH part.
func (p place) isNested() bool { return inside[*tree.Subquery](p.path) || inside[*tree.CTE](p.path) }

// isRoot reports whether the node is the statement.
func (p place) isRoot() bool { return len(p.path) == 0 }

// Constructs returns all constructs that the rules refuse.
func Constructs() []Construct {
	return slices.Concat(withConstructs, lockConstructs, parameterConstructs, typeConstructs, operatorConstructs, routineConstructs,
		indexConstructs, columnConstructs)
}

var constructs = Constructs()

// construct reports each construct at a node.
func (c *check) construct(at place) {
	for _, k := range constructs {
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
