package rules

import (
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treecmp"
)

const (
	// RuleFullScan is broken by a condition that CockroachDB reads as several spans of an index, unless sessions forbid full scans.
	RuleFullScan Rule = "full-scan"
	// RuleHint is broken by a hint for an index that the table does not have, and by any hint but FORCE_INDEX.
	RuleHint Rule = "hint"
)

// The optimizer compares the cost of several spans with that of a scan of the whole table, and the scan wins in a table with few rows, or
// with few rows when its statistics were made. The scan waits for every region:
// https://www.cockroachlabs.com/docs/stable/cost-based-optimizer#control-whether-the-optimizer-creates-a-plan-with-a-full-scan, and
// cockroachdb/cockroach#71317.

// FullScans checks a statement of sessions that do not forbid full scans: see ForbidFullScans.
func FullScans(schema *Schema, statement Statement) []Violation {
	return inspect(schema, statement, func(c *check, ast tree.Statement) {
		indexed := c.indexedColumns(ast)
		walk(ast, func(node any, _ []any) {
			comparison, ok := node.(*tree.ComparisonExpr)
			if ok && hasSeveralSpans(comparison) && mentions(comparison.Left, indexed) {
				c.brokenf(RuleFullScan, "%q is several spans: a small table is read whole, in every region", cut(tree.AsString(comparison)))
			}
		})
	})
}

// ForbidFullScans reports whether the settings of a session forbid full scans, whatever the size of the table.
func ForbidFullScans(session []Statement) bool {
	set := map[string]string{}
	for _, s := range session {
		c := &check{}
		ast, _ := c.parse(s.SQL)
		if n, ok := ast.(*tree.SetVar); ok && !n.Local && len(n.Values) == 1 {
			set[strings.ToLower(n.Name)] = strings.Trim(tree.AsString(n.Values[0]), "'\"")
		}
	}
	return set["disallow_full_table_scans"] == "on" && set["large_full_scan_rows"] == "0"
}

// indexedColumns returns the columns of the indexes of the tables in a statement, apart from home.
func (c *check) indexedColumns(ast tree.Statement) map[string]bool {
	columns := map[string]bool{}
	walk(ast, func(node any, _ []any) {
		name, ok := node.(*tree.TableName)
		if !ok || c.schema.tables[name.Table()] == nil {
			return
		}
		for _, index := range c.schema.tables[name.Table()].indexes {
			for _, column := range index {
				columns[column] = column != homeColumn
			}
		}
	})
	return columns
}

// hasSeveralSpans reports whether the values that satisfy a comparison are not one range: = ANY, IN, and <>.
func hasSeveralSpans(n *tree.ComparisonExpr) bool {
	switch n.Operator.Symbol {
	case treecmp.Any, treecmp.Some, treecmp.All, treecmp.In, treecmp.NotIn, treecmp.NE:
		return true
	}
	return false
}

// mentions reports whether an operand, or an element of a row comparison, is one of the columns.
func mentions(e tree.Expr, columns map[string]bool) bool {
	switch n := stripParens(e).(type) {
	case *tree.Tuple:
		for _, e := range n.Exprs {
			if mentions(e, columns) {
				return true
			}
		}
	case *tree.UnresolvedName:
		return columns[n.Parts[0]]
	}
	return false
}

// indexHint checks the hint of a table, which comes from a comment in the text for both engines. It reports whether there is one for an
// index of the table.
func (c *check) indexHint(t *tree.AliasedTableExpr) bool {
	if t.IndexFlags == nil {
		return false
	}
	name, ok := t.Expr.(*tree.TableName)
	if !ok || c.schema.tables[name.Table()] == nil {
		return false // which is refused elsewhere
	}
	index := string(t.IndexFlags.Index)
	if index == "" || tree.AsString(t.IndexFlags) != "@"+index {
		c.brokenf(RuleHint, "the only hint is {FORCE_INDEX=…}")
		return false
	}
	if c.schema.tables[name.Table()].indexes[index] == nil {
		c.brokenf(RuleHint, "table %s has no index %s", name.Table(), index)
		return false
	}
	return true
}

// partialHints checks that statements with a hint for a partial index have its condition. CockroachDB refuses others: the index does
// not contain all rows that they need.
func (c *check) partialHints(hinted []*tree.AliasedTableExpr, where *tree.Where) {
	for _, t := range hinted {
		index := string(t.IndexFlags.Index)
		predicate := c.schema.tables[targetName(t)].predicates[index]
		if predicate == nil {
			continue
		}
		has := map[string]bool{}
		if where != nil {
			for _, condition := range conjuncts(where.Expr) {
				has[strings.TrimPrefix(tree.AsString(condition), string(t.As.Alias)+".")] = true
			}
		}
		for _, condition := range conjuncts(predicate) {
			if !has[tree.AsString(condition)] {
				c.brokenf(RuleHint, "index %s contains only rows with %s: add the condition", index, tree.AsString(condition))
			}
		}
	}
}

// conjuncts returns the conditions all of which an expression demands.
func conjuncts(e tree.Expr) []tree.Expr {
	e = stripParens(e)
	if and, ok := e.(*tree.AndExpr); ok {
		return append(conjuncts(and.Left), conjuncts(and.Right)...)
	}
	return []tree.Expr{e}
}
