package rules

import (
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

func (c *check) insert(insert *tree.Insert) {
	if insert.OnConflict.IsUpsertAlias() {
		c.violationf(RuleConflict, "PostgreSQL has no UPSERT")
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
		c.violationf(RuleTable, "no migration creates table %s", name)
	}
}

// insertHome checks that every new row is explicitly given the home of the statement.
func (c *check) insertHome(insert *tree.Insert) {
	if len(insert.Columns) == 0 {
		c.violationf(RuleInsert, "INSERT must list its columns")
		return
	}
	at := slices.Index(insert.Columns, tree.Name(homeColumn))
	if at < 0 {
		c.violationf(RuleOneHome, "INSERT must set home")
		return
	}
	for _, row := range newRows(insert.Rows.Select) {
		if at >= len(row) || !c.home.is(row[at]) {
			c.violationf(RuleOneHome, "INSERT must set home to %s", c.home)
		}
	}
}

// newRows returns the expressions of each row of VALUES, or of each SELECT list of a union.
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
		c.violationf(RuleConflict, "ON CONFLICT ON CONSTRAINT is not supported by all versions: list the columns")
	case len(on.Columns) == 0:
		c.violationf(RuleConflict, "ON CONFLICT without columns checks every unique index in every region")
	case on.Columns[0] != homeColumn:
		c.violationf(RuleConflict, "ON CONFLICT must start with home, like the index")
	}
	if on.ArbiterPredicate != nil {
		c.violationf(RuleConflict, "a partial unique index is checked in every region")
	}
	values, ok := insert.Rows.Select.(*tree.ValuesClause)
	if !ok || len(values.Rows) != 1 {
		c.violationf(RuleConflict, "ON CONFLICT for anything but a single row of VALUES checks every region")
	}
	c.setList(on.Exprs)
}
