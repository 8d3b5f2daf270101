package rules

import (
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// source is one table in FROM, or the target of a change.
type source struct {
	table string
	alias string
}

// block is one level of a query: its tables and the aliases that have the condition `home = $1`. Nested queries are
// separate blocks.
type block struct {
	sources []source
	pinned  map[string]bool
	hinted  []*tree.AliasedTableExpr
}

// block collects the tables of one level and checks that each has the condition on home.
func (c *check) block(tables tree.TableExprs, where *tree.Where) *block {
	b := &block{pinned: map[string]bool{}}
	for _, table := range tables {
		c.addTable(b, table)
	}
	if where != nil {
		c.addConditions(b, where.Expr, b.sources)
	}
	c.partialHints(b.hinted, where)
	for _, s := range b.sources {
		if !b.pinned[s.alias] {
			c.brokenf(RuleOneHome, "table %s has no condition `home = %s` of its own", s.table, c.home)
		}
	}
	return b
}

func (c *check) addTable(b *block, table tree.TableExpr) {
	switch t := table.(type) {
	case *tree.AliasedTableExpr:
		c.addAliased(b, t)
	case *tree.TableName:
		c.addSource(b, t, "")
	case *tree.ParenTableExpr:
		c.addTable(b, t.Expr)
	case *tree.JoinTableExpr:
		c.addJoin(b, t)
	case *tree.Subquery, *tree.RowsFromExpr: // subqueries are separate blocks, and the rows of functions have no home
	default:
		c.brokenf(RuleTable, "%q is no table of PostgreSQL", tree.AsString(table))
	}
}

func (c *check) addAliased(b *block, t *tree.AliasedTableExpr) {
	if c.indexHint(t) {
		b.hinted = append(b.hinted, t)
	}
	if name, ok := t.Expr.(*tree.TableName); ok {
		c.addSource(b, name, string(t.As.Alias))
		return
	}
	c.addTable(b, t.Expr)
}

// addSource adds a table of the schema. Common table expressions and system tables have no home.
func (c *check) addSource(b *block, name *tree.TableName, alias string) {
	table := name.Table()
	switch {
	case name.ExplicitSchema && slices.Contains(systemSchemas, name.Schema()):
		return
	case !name.ExplicitSchema && c.ctes[table]:
		return
	case c.schema.tables[table] == nil:
		c.brokenf(RuleTable, "no migration makes table %s", table)
		return
	}
	if alias == "" {
		alias = table
	}
	b.sources = append(b.sources, source{table: table, alias: alias})
}

var systemSchemas = []string{"pg_catalog", "information_schema", "crdb_internal"}

// addJoin adds both sides. In an outer join, the ON condition does not restrict the rows of the preserved side.
func (c *check) addJoin(b *block, join *tree.JoinTableExpr) {
	if join.Hint != "" {
		c.brokenf(RuleTable, "a join hint is CockroachDB's own syntax")
	}
	from := len(b.sources)
	c.addTable(b, join.Left)
	middle := len(b.sources)
	c.addTable(b, join.Right)
	on, ok := join.Cond.(*tree.OnJoinCond)
	if !ok {
		return
	}
	switch join.JoinType {
	case tree.AstFull:
	case tree.AstLeft:
		c.addConditions(b, on.Expr, b.sources[middle:])
	case tree.AstRight:
		c.addConditions(b, on.Expr, b.sources[from:middle])
	default:
		c.addConditions(b, on.Expr, b.sources[from:])
	}
}

// addConditions records which sources have a conjunct of e on home. An unqualified home belongs to the only table.
func (c *check) addConditions(b *block, e tree.Expr, sources []source) {
	for _, condition := range conjuncts(e) {
		qualifier, ok := c.pin(condition)
		if ok && qualifier == "" && len(b.sources) == 1 {
			qualifier = b.sources[0].alias
		}
		if ok && slices.ContainsFunc(sources, func(s source) bool { return s.alias == qualifier }) {
			b.pinned[qualifier] = true
		}
	}
}
