package rules

import (
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// migration checks one statement of the schema and records what it changes.
func (c *check) migration(ast tree.Statement) {
	switch n := ast.(type) {
	case *tree.CreateTable:
		c.createTable(n)
	case *tree.CreateIndex:
		c.createIndex(n)
	case *tree.AlterTable:
		c.alterTable(n)
	case *tree.DropIndex:
		c.require(n.IfExists, RuleIdempotent, "use DROP INDEX IF EXISTS")
	case *tree.DropTable:
		c.require(n.IfExists, RuleIdempotent, "use DROP TABLE IF EXISTS")
		for i := range n.Names {
			delete(c.schema.tables, n.Names[i].Table())
		}
	case *tree.AlterTableLocality:
		c.violationf(RuleLocality, "SET LOCALITY makes concurrent writes fail: set the locality in CREATE TABLE")
	case *tree.Insert, *tree.Update, *tree.Delete:
		c.query(ast)
	default:
		c.violationf(RuleStatement, "%s is not allowed in a migration", ast.StatementTag())
	}
}

func (c *check) createIndex(node *tree.CreateIndex) {
	what := "INDEX " + string(node.Name)
	c.require(node.IfNotExists, RuleIdempotent, "use CREATE INDEX IF NOT EXISTS")
	c.require(node.Name != "", RuleNamed, "an index must have a name")
	if node.Sharded != nil || node.PartitionByIndex != nil || node.StorageParams != nil {
		c.violationf(RulePortable, "%s must not use HASH, PARTITION BY or WITH", what)
	}
	t := c.schema.tables[node.Table.Table()]
	c.require(t != nil, RuleTable, "no migration creates table "+node.Table.Table())
	c.homeFirst(what, node.Columns)
	if node.Unique {
		c.fullUnique(t, "UNIQUE "+what, node.Columns, node.Predicate)
	}
	if node.Unique && t != nil {
		t.uniques[string(node.Name)] = node.Columns
	}
}

func (c *check) alterTable(node *tree.AlterTable) {
	t := c.schema.tables[node.Table.Parts[0]]
	if t == nil {
		c.violationf(RuleTable, "no migration creates table %s", node.Table.Parts[0])
		return
	}
	c.require(len(node.Cmds) == 1, RuleIdempotent, "only one change per statement is allowed: several are not atomic on CockroachDB")
	for _, command := range node.Cmds {
		c.alter(t, command)
	}
}

func (c *check) alter(t *table, command tree.AlterTableCmd) {
	switch n := command.(type) {
	case *tree.AlterTableAddColumn:
		c.addColumn(t, n)
	case *tree.AlterTableDropColumn:
		c.require(n.IfExists, RuleIdempotent, "use DROP COLUMN IF EXISTS")
		delete(t.columns, string(n.Column))
	case *tree.AlterTableAddConstraint:
		c.addConstraint(t, n)
	case *tree.AlterTableDropConstraint:
		c.require(n.IfExists, RuleIdempotent, "use DROP CONSTRAINT IF EXISTS")
		c.require(t.uniques[string(n.Constraint)] == nil, RulePortable, "unique constraints cannot be dropped portably")
	case *tree.AlterTableSetNotNull:
		t.columns[string(n.Column)] = column{}
	case *tree.AlterTableDropNotNull:
		c.require(!t.inUnique(n.Column), RuleFullUnique, "the column is part of a unique constraint, which would then check every region")
		t.columns[string(n.Column)] = column{nullable: true}
	case *tree.AlterTableSetDefault, *tree.AlterTableValidateConstraint:
	default:
		c.violationf(RulePortable, "%q is unsafe while the previous version is running", tree.AsString(command))
	}
}

// addColumn checks a new column, with which existing rows and the previous version of the program must be compatible.
func (c *check) addColumn(t *table, n *tree.AlterTableAddColumn) {
	c.require(n.IfNotExists, RuleIdempotent, "use ADD COLUMN IF NOT EXISTS")
	d := n.ColumnDef
	c.columnDef(d)
	notNull := d.Nullable.Nullability == tree.NotNull
	if notNull && !d.HasDefaultExpr() && !d.IsComputed() {
		c.violationf(RulePortable, "column %s: NOT NULL requires DEFAULT because of existing rows", d.Name)
	}
	t.columns[string(d.Name)] = column{nullable: !notNull}
}

func (c *check) addConstraint(t *table, n *tree.AlterTableAddConstraint) {
	switch d := n.ConstraintDef.(type) {
	case *tree.UniqueConstraintTableDef:
		c.unique(t, d)
		t.uniques[string(d.Name)] = d.Columns
	case *tree.ForeignKeyConstraintTableDef:
		c.foreignKey(d)
	case *tree.CheckConstraintTableDef:
		c.named(d.Name, "CHECK")
	}
}
