package rules

import (
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

func (c *check) insert(insert *tree.Insert) {
	if insert.OnConflict.IsUpsertAlias() {
		c.brokenf(RuleConflict, "UPSERT is CockroachDB's own syntax")
		return
	}
	c.known(insert.Table)
	c.insertHome(insert)
	if insert.OnConflict != nil {
		c.conflict(insert)
	}
}

func (c *check) known(target tree.TableExpr) {
	if name := targetName(target); c.schema.tables[name] == nil {
		c.brokenf(RuleTable, "no migration makes table %s", name)
	}
}

// insertHome checks that every new row explicitly has the home of the statement.
func (c *check) insertHome(insert *tree.Insert) {
	if len(insert.Columns) == 0 {
		c.brokenf(RuleInsert, "INSERT names its columns")
		return
	}
	at := slices.Index(insert.Columns, tree.Name(homeColumn))
	if at < 0 {
		c.brokenf(RuleOneHome, "INSERT sets no home")
		return
	}
	for _, row := range newRows(insert.Rows.Select) {
		if at >= len(row) || !c.home.is(row[at]) {
			c.brokenf(RuleOneHome, "INSERT gives home another value than %s", c.home)
		}
	}
}

// newRows returns the expressions of each row of VALUES or of each SELECT of a union.
func newRows(s tree.SelectStatement) []tree.Exprs {
	switch n := s.(type) {
	case *tree.ParenSelect:
		return newRows(n.Select.Select)
	case *tree.ValuesClause:
		return n.Rows
	case *tree.UnionClause:
		return append(newRows(n.Left.Select), newRows(n.Right.Select)...)
	case *tree.SelectClause:
		row := make(tree.Exprs, 0, len(n.Exprs))
		for _, e := range n.Exprs {
			row = append(row, e.Expr)
		}
		return []tree.Exprs{row}
	}
	return []tree.Exprs{nil}
}

func (c *check) conflict(insert *tree.Insert) {
	on := insert.OnConflict
	switch {
	case on.Constraint != "":
		c.brokenf(RuleConflict, "ON CONFLICT ON CONSTRAINT is not supported by every version: name the columns")
	case len(on.Columns) == 0:
		c.brokenf(RuleConflict, "ON CONFLICT without columns checks every unique index in every region")
	case on.Columns[0] != homeColumn:
		c.brokenf(RuleConflict, "ON CONFLICT starts with home, as its index does")
	}
	if on.ArbiterPredicate != nil {
		c.brokenf(RuleConflict, "a partial unique index is checked in every region")
	}
	values, ok := insert.Rows.Select.(*tree.ValuesClause)
	if !ok || len(values.Rows) != 1 {
		c.brokenf(RuleConflict, "ON CONFLICT with anything but one row of VALUES looks in every region")
	}
	c.setList(on.Exprs)
}
