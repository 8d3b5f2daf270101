package rules

import (
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treecmp"
)

// The rules for statements that read or change rows.
const (
	// RuleStatement is broken by a statement other than SELECT, INSERT, UPDATE and DELETE.
	RuleStatement Rule = "statement"
	// RuleTable is broken by a table that no migration creates, and by CockroachDB-specific syntax for tables.
	RuleTable Rule = "table"
	// RuleConflict is broken by ON CONFLICT unless it only checks one region: with one row of VALUES and a list of
	// columns that starts with home.
	RuleConflict Rule = "on-conflict"
	// RuleInsert is broken by INSERT without a list of columns.
	RuleInsert Rule = "insert-columns"
	// RuleLimit is broken by UPDATE or DELETE with LIMIT or ORDER BY, which PostgreSQL does not support.
	RuleLimit Rule = "change-limit"
	// RuleReturning is broken by RETURNING NOTHING.
	RuleReturning Rule = "returning"
	// RuleAsOf is broken by AS OF SYSTEM TIME in a statement: it takes no parameter and belongs in BEGIN.
	RuleAsOf Rule = "as-of-system-time"
	// RuleTwice is broken by a statement that changes one table twice.
	RuleTwice Rule = "changed-twice"
	// RuleLocking is broken by locks weaker than FOR UPDATE, which lock nothing on some versions.
	RuleLocking Rule = "locking"
	// RuleApplyJoin is broken by SQL that CockroachDB plans and runs again for every row, see apply_join.go.
	RuleApplyJoin Rule = "apply-join"
	// RuleMoveHome is broken by an update of home, which would move the row to another jurisdiction.
	RuleMoveHome Rule = "move-home"
)

// query checks a statement that reads or changes rows.
func (c *check) query(ast tree.Statement) {
	switch ast.(type) {
	case *tree.Select, *tree.ParenSelect, *tree.Insert, *tree.Update, *tree.Delete:
	default:
		c.brokenf(RuleStatement, "%s is neither SELECT, INSERT, UPDATE nor DELETE", ast.StatementTag())
		return
	}
	c.collectCTEs(ast)
	c.homeComparisons(ast)
	c.changedTwice(ast)
	walk(ast, func(node any, path []any) {
		c.queryNode(node)
		c.applyJoins(node, path)
	})
}

func (c *check) queryNode(node any) {
	switch n := node.(type) {
	case *tree.Select:
		c.locking(n)
		c.nullOrder(n)
	case *tree.SelectClause:
		c.asOf(&n.From)
		c.block(n.From.Tables, n.Where)
	case *tree.Insert:
		c.insert(n)
	case *tree.Update:
		c.update(n)
	case *tree.Delete:
		c.deletion(n)
	case *tree.ReturningNothing:
		c.brokenf(RuleReturning, "RETURNING NOTHING is CockroachDB's own syntax")
	}
}

// collectCTEs records the names of common table expressions. They must differ from the names of tables, so that a name
// is unambiguous in the statement.
func (c *check) collectCTEs(ast tree.Statement) {
	c.ctes = map[string]bool{}
	walk(ast, func(node any, _ []any) {
		if cte, ok := node.(*tree.CTE); ok {
			name := string(cte.Name.Alias)
			if c.schema.tables[name] != nil {
				c.brokenf(RuleTable, "the common table expression %s hides the table of that name", name)
			}
			c.ctes[name] = true
		}
	})
}

func (c *check) asOf(from *tree.From) {
	if from.AsOf.Expr != nil {
		c.brokenf(RuleAsOf, "stale reads are chosen in BEGIN: AS OF SYSTEM TIME takes no parameter")
	}
}

func (c *check) locking(s *tree.Select) {
	for _, item := range s.Locking {
		if item.Strength != tree.ForUpdate && item.Strength != tree.ForNoKeyUpdate {
			c.brokenf(RuleLocking, "%s locks nothing on some versions: use FOR UPDATE", strings.TrimSpace(item.Strength.String()))
		}
	}
}

// changedTwice rejects a statement that changes a table in two places, which is an error on CockroachDB and has an
// undefined order on PostgreSQL.
func (c *check) changedTwice(ast tree.Statement) {
	times := map[string]int{}
	walk(ast, func(node any, _ []any) {
		if target := changeTarget(node); target != nil {
			name := targetName(target)
			if times[name]++; times[name] == 2 {
				c.brokenf(RuleTwice, "table %s is changed twice in one statement", name)
			}
		}
	})
}

func changeTarget(node any) tree.TableExpr {
	switch n := node.(type) {
	case *tree.Insert:
		return n.Table
	case *tree.Update:
		return n.Table
	case *tree.Delete:
		return n.Table
	}
	return nil
}

func targetName(target tree.TableExpr) string {
	switch t := target.(type) {
	case *tree.AliasedTableExpr:
		return targetName(t.Expr)
	case *tree.TableName:
		return t.Table()
	}
	return tree.AsString(target)
}

func (c *check) update(u *tree.Update) {
	if u.Limit != nil || len(u.OrderBy) > 0 {
		c.brokenf(RuleLimit, "UPDATE with LIMIT or ORDER BY is CockroachDB's own syntax")
	}
	c.setList(u.Exprs)
	c.block(append(tree.TableExprs{u.Table}, u.From...), u.Where)
}

func (c *check) deletion(d *tree.Delete) {
	if d.Limit != nil || len(d.OrderBy) > 0 || d.Batch != nil {
		c.brokenf(RuleLimit, "DELETE with LIMIT, ORDER BY or BATCH is CockroachDB's own syntax")
	}
	c.block(append(tree.TableExprs{d.Table}, d.Using...), d.Where)
}

func (c *check) setList(exprs tree.UpdateExprs) {
	for _, e := range exprs {
		for _, name := range e.Names {
			if name == homeColumn {
				c.brokenf(RuleMoveHome, "SET home moves the row to another region")
			}
		}
	}
}

// nullOrder rejects ORDER BY on a nullable column unless the statement orders or excludes NULL explicitly.
func (c *check) nullOrder(s *tree.Select) {
	clause, ok := s.Select.(*tree.SelectClause)
	if !ok {
		return
	}
	quiet := &check{schema: c.schema, home: c.home, ctes: c.ctes} // the block is checked separately
	b := quiet.block(clause.From.Tables, clause.Where)
	settled := map[string]bool{}
	if clause.Where != nil {
		nullTests(clause.Where.Expr, settled)
	}
	for _, order := range s.OrderBy {
		if order.Expr == nil {
			continue
		}
		nullTests(order.Expr, settled)
		name, ok := stripParens(order.Expr).(*tree.UnresolvedName)
		if ok && c.nullable(b, name) && !settled[tree.AsString(name)] {
			c.brokenf(RuleNulls, "%s may be NULL, and NULL sorts first on CockroachDB: write `%s IS NULL, %s`", name, name, name)
		}
	}
}

// nullTests adds the columns that e, or a conjunct of it, tests for NULL.
func nullTests(e tree.Expr, settled map[string]bool) {
	for _, condition := range conjuncts(e) {
		if tested := nullTested(condition); tested != nil {
			settled[tree.AsString(stripParens(tested))] = true
		}
	}
}

// nullTested returns the expression that e tests for NULL, nil if e is another expression.
func nullTested(e any) tree.Expr {
	switch n := e.(type) {
	case *tree.IsNullExpr:
		return n.Expr
	case *tree.IsNotNullExpr:
		return n.Expr
	case *tree.ComparisonExpr:
		symbol := n.Operator.Symbol
		if n.Right == tree.DNull && (symbol == treecmp.IsDistinctFrom || symbol == treecmp.IsNotDistinctFrom) {
			return n.Left
		}
	}
	return nil
}

func (c *check) nullable(b *block, name *tree.UnresolvedName) bool {
	for _, s := range b.sources {
		if name.Parts[1] != "" && name.Parts[1] != s.alias {
			continue
		}
		if column, ok := c.schema.tables[s.table].columns[name.Parts[0]]; ok {
			return column.nullable
		}
	}
	return false
}
