package rules

import (
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// CockroachDB turns a correlated subquery into a join if it can, and otherwise into an apply join, which plans and runs the subquery
// for every row: https://www.cockroachlabs.com/docs/stable/subqueries#correlated-subqueries. What decides is in
// pkg/sql/opt/norm/decorrelate_funcs.go and rules/decorrelate.opt of cockroachdb/cockroach.

// applyJoins rejects what becomes an apply join.
func (c *check) applyJoins(node any, path []any) {
	switch n := node.(type) {
	case *tree.Select:
		c.lateralLimit(n, path)
	case *tree.RowsFromExpr:
		c.lateralRows(n, "the rows of a function")
	case *tree.ValuesClause:
		if isLateral(path) {
			c.lateralRows(n, "VALUES")
		}
	case *tree.FuncExpr:
		if s := innermost(path); n.Filter != nil && isLateral(path) && s != nil && c.hasOuterColumn(n.Filter, s) {
			c.brokenf(RuleApplyJoin, "%q: with a column of another table in FILTER, LATERAL runs for every row: join and group instead",
				cut(tree.AsString(n)))
		}
	case *tree.Subquery:
		if c.hasOuterColumn(n, n) && isConditional(n, path) {
			c.brokenf(RuleApplyJoin, "%q runs for every row, because it is evaluated on a condition: join its table, with LIMIT 1 in LATERAL",
				cut(tree.AsString(n)))
		}
	}
}

func isLateral(path []any) bool {
	return slices.ContainsFunc(path, func(ancestor any) bool {
		t, ok := ancestor.(*tree.AliasedTableExpr)
		return ok && t.Lateral
	})
}

// lateralLimit rejects a query with a limit in LATERAL, other than LIMIT 1 without an order, which is used for single rows.
func (c *check) lateralLimit(s *tree.Select, path []any) {
	if !isLateral(path) || s.Limit == nil || s.Limit.Count == nil {
		return
	}
	if len(s.OrderBy) > 0 || tree.AsString(s.Limit.Count) != "1" {
		c.brokenf(RuleApplyJoin, "LATERAL with LIMIT reads all rows of the inner query: number the branches of a UNION ALL instead")
	}
}

// lateralRows rejects rows in FROM that are made of the columns of other tables.
func (c *check) lateralRows(rows any, what string) {
	walk(rows, func(node any, _ []any) {
		if name, ok := node.(*tree.UnresolvedName); ok {
			c.brokenf(RuleApplyJoin, "%s with the column %s are made for every row: join constants, and use CASE", what, name)
		}
	})
}

// isConditional reports whether an expression is evaluated only if others have a value: in a branch of CASE, in its second and later
// conditions, or in the second and later arguments of COALESCE.
func isConditional(node any, path []any) bool {
	child := node
	for _, ancestor := range slices.Backward(path) {
		switch a := ancestor.(type) {
		case *tree.Select:
			return false
		case *tree.CaseExpr:
			if child == any(a.Else) || len(a.Whens) > 0 && isLater(a.Whens, child) {
				return true
			}
		case *tree.When:
			if child == any(a.Val) {
				return true
			}
		case *tree.CoalesceExpr:
			if child != any(a.Exprs[0]) {
				return true
			}
		}
		child = ancestor
	}
	return false
}

func isLater(whens []*tree.When, child any) bool {
	return slices.ContainsFunc(whens[1:], func(w *tree.When) bool { return child == any(w) })
}

// innermost returns the subquery that contains a node, nil if there is none.
func innermost(path []any) *tree.Subquery {
	for _, ancestor := range slices.Backward(path) {
		if s, ok := ancestor.(*tree.Subquery); ok {
			return s
		}
	}
	return nil
}

// hasOuterColumn reports whether an expression in a subquery, or the subquery itself, has a column of a table around it.
func (c *check) hasOuterColumn(expression any, s *tree.Subquery) bool {
	own, columns := map[string]bool{}, map[string]bool{}
	walk(s, func(node any, _ []any) {
		switch n := node.(type) {
		case *tree.AliasedTableExpr:
			own[string(n.As.Alias)] = true
			for _, column := range n.As.Cols {
				columns[string(column.Name)] = true
			}
		case *tree.TableName:
			own[n.Table()] = true
			if t := c.schema.tables[n.Table()]; t != nil {
				for column := range t.columns {
					columns[column] = true
				}
			}
		case *tree.SelectExpr:
			columns[string(n.As)] = true
		}
	})
	return contains(expression, func(n *tree.UnresolvedName) bool {
		table, column := n.Parts[1], n.Parts[0]
		return !n.Star && (table != "" && !own[table] || table == "" && !columns[column])
	})
}

// cut returns the beginning of a text for a message.
func cut(text string) string {
	if len(text) > maxQuoted {
		return text[:maxQuoted] + "…"
	}
	return text
}
