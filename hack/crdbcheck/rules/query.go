package rules

import (
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treecmp"
)

// The rules for queries.
const (
	// RuleStatement requires SELECT, INSERT, UPDATE or DELETE.
	RuleStatement Rule = "statement"
	// RuleTable forbids tables that no migration creates, and CockroachDB's extensions for tables.
	RuleTable Rule = "table"
	// RuleConflict forbids forms of ON CONFLICT that access several regions. One row of VALUES and a list of columns is
	// allowed.
	RuleConflict Rule = "on-conflict"
	// RuleInsert requires a list of columns in INSERT.
	RuleInsert Rule = "insert-columns"
	// RuleLimit forbids LIMIT and ORDER BY in UPDATE and DELETE, which PostgreSQL does not support.
	RuleLimit Rule = "change-limit"
	// RuleReturning forbids RETURNING NOTHING.
	RuleReturning Rule = "returning"
	// RuleAsOf forbids AS OF SYSTEM TIME in queries: it accepts no parameter and belongs in BEGIN.
	RuleAsOf Rule = "as-of-system-time"
	// RuleTwice forbids modifying a table twice in one statement.
	RuleTwice Rule = "changed-twice"
	// RuleLocking forbids locks weaker than FOR UPDATE, which have no effect on some versions.
	RuleLocking Rule = "locking"
	// RuleMoveHome forbids changing home: it would move the row to another jurisdiction.
	RuleMoveHome Rule = "move-home"
)

// query checks a query.
func (c *check) query(ast tree.Statement) {
	switch ast.(type) {
	case *tree.Select, *tree.ParenSelect, *tree.Insert, *tree.Update, *tree.Delete:
	default:
		c.violationf(RuleStatement, "%s is not SELECT, INSERT, UPDATE or DELETE", ast.StatementTag())
		return
	}
	c.collectCTEs(ast)
	c.homeComparisons(ast)
	c.changedTwice(ast)
	walk(ast, func(node any, _ []any) bool {
		c.queryNode(node)
		return true
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
		c.violationf(RuleReturning, "PostgreSQL has no RETURNING NOTHING")
	}
}

// collectCTEs collects the names of common table expressions. They must not shadow tables, so that a name has the same
// meaning in the whole statement.
func (c *check) collectCTEs(ast tree.Statement) {
	c.ctes = map[string]bool{}
	walk(ast, func(node any, _ []any) bool {
		if cte, ok := node.(*tree.CTE); ok {
			name := string(cte.Name.Alias)
			if c.schema.tables[name] != nil {
				c.violationf(RuleTable, "the common table expression %s shadows a table", name)
			}
			c.ctes[name] = true
		}
		return true
	})
}

func (c *check) asOf(from *tree.From) {
	if from.AsOf.Expr != nil {
		c.violationf(RuleAsOf, "AS OF SYSTEM TIME must be in BEGIN, because it accepts no parameter")
	}
}

func (c *check) locking(s *tree.Select) {
	for _, item := range s.Locking {
		if item.Strength != tree.ForUpdate && item.Strength != tree.ForNoKeyUpdate {
			c.violationf(RuleLocking, "%s has no effect on some versions: use FOR UPDATE", strings.TrimSpace(item.Strength.String()))
		}
	}
}

// changedTwice rejects statements that modify a table in two places: an error on CockroachDB, and undefined order on
// PostgreSQL.
func (c *check) changedTwice(ast tree.Statement) {
	times := map[string]int{}
	walk(ast, func(node any, _ []any) bool {
		if target := changeTarget(node); target != nil {
			name := targetName(target)
			if times[name]++; times[name] == 2 {
				c.violationf(RuleTwice, "table %s is modified twice in one statement", name)
			}
		}
		return true
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
		c.violationf(RuleLimit, "PostgreSQL has no UPDATE with LIMIT or ORDER BY")
	}
	c.setList(u.Exprs)
	c.block(append(tree.TableExprs{u.Table}, u.From...), u.Where)
}

func (c *check) deletion(d *tree.Delete) {
	if d.Limit != nil || len(d.OrderBy) > 0 || d.Batch != nil {
		c.violationf(RuleLimit, "PostgreSQL has no DELETE with LIMIT, ORDER BY or BATCH")
	}
	c.block(append(tree.TableExprs{d.Table}, d.Using...), d.Where)
}

func (c *check) setList(exprs tree.UpdateExprs) {
	for _, e := range exprs {
		for _, name := range e.Names {
			if name == homeColumn {
				c.violationf(RuleMoveHome, "SET home would move the row to another region")
			}
		}
	}
}

// nullOrder rejects orders by nullable columns unless the statement excludes NULL or defines its position.
func (c *check) nullOrder(s *tree.Select) {
	clause, ok := s.Select.(*tree.SelectClause)
	if !ok {
		return
	}
	quiet := &check{schema: c.schema, home: c.home, ctes: c.ctes} // discards violations, which are reported elsewhere
	b := quiet.block(clause.From.Tables, clause.Where)
	tested := map[string]bool{}
	if clause.Where != nil {
		nullTests(clause.Where.Expr, tested)
	}
	for _, order := range s.OrderBy {
		if order.Expr == nil {
			continue
		}
		nullTests(order.Expr, tested)
		name, ok := stripParens(order.Expr).(*tree.UnresolvedName)
		if ok && c.nullable(b, name) && !tested[tree.AsString(name)] {
			c.violationf(RuleNulls, "%s may be NULL, and NULL sorts first on CockroachDB: use `%s IS NULL, %s`", name, name, name)
		}
	}
}

// nullTests adds the columns that e, or a conjunct of it, tests for NULL.
func nullTests(e tree.Expr, tested map[string]bool) {
	switch n := stripParens(e).(type) {
	case *tree.AndExpr:
		nullTests(n.Left, tested)
		nullTests(n.Right, tested)
	case *tree.IsNullExpr:
		tested[tree.AsString(stripParens(n.Expr))] = true
	case *tree.IsNotNullExpr:
		tested[tree.AsString(stripParens(n.Expr))] = true
	case *tree.ComparisonExpr:
		if isNullTest(n) {
			tested[tree.AsString(stripParens(n.Left))] = true
		}
	}
}

func isNullTest(n *tree.ComparisonExpr) bool {
	switch n.Operator.Symbol {
	case treecmp.IsDistinctFrom, treecmp.IsNotDistinctFrom:
		return n.Right == tree.DNull
	}
	return false
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
