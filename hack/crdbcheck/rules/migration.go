package rules

import (
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/parser"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/types"
)

// migration checks one migration and applies it to the schema.
func (c *check) migration(ast tree.Statement) {
	switch n := ast.(type) {
	case *tree.CreateTable:
		c.createTable(n)
	case *tree.CreateIndex:
		c.createIndex(n)
	case *tree.AlterTable:
		c.alterTable(n)
	case *tree.CreateRoutine:
		c.routine(n)
	case *tree.DropIndex:
		c.require(n.IfExists, RuleIdempotent, "write DROP INDEX IF EXISTS")
		for _, index := range n.IndexList {
			c.schema.dropIndex(string(index.Index))
		}
	case *tree.DropTable:
		c.require(n.IfExists, RuleIdempotent, "write DROP TABLE IF EXISTS")
		for i := range n.Names {
			delete(c.schema.tables, n.Names[i].Table())
		}
	case *tree.AlterTableLocality:
		c.brokenf(RuleLocality, "SET LOCALITY on a live table makes concurrent changes fail: CREATE TABLE says it")
	case *tree.Insert, *tree.Update, *tree.Delete:
		c.query(ast)
	default:
		c.brokenf(RuleStatement, "%s is no step of a schema", ast.StatementTag())
	}
}

// routine checks a function and its statements, which CockroachDB plans when the function is created.
func (c *check) routine(n *tree.CreateRoutine) {
	c.require(n.Replace, RuleIdempotent, "write CREATE OR REPLACE FUNCTION")
	for _, statement := range c.routineStatements(n) {
		c.expressions(statement, n)
		c.changedTwice(statement)
	}
	c.schema.routines[strings.ToLower(n.Name.Object())] = true
}

// routineStatements returns the statements of a function whose body is a text of SQL; construct.go refuses other functions.
func (c *check) routineStatements(n *tree.CreateRoutine) []tree.Statement {
	if language(n) != tree.RoutineLangSQL {
		return nil
	}
	var body []tree.Statement
	for _, option := range n.Options {
		text, ok := option.(tree.RoutineBodyStr)
		if !ok {
			continue
		}
		statements, err := parser.ParseWithInt(string(text), types.Int4)
		if err != nil {
			c.brokenf(RuleParse, "function %s: %s", n.Name.Object(), oneLine(err.Error()))
			return nil
		}
		for _, s := range statements {
			body = append(body, s.AST)
		}
	}
	return body
}

// language returns the language of a function, SQL by default.
func language(n *tree.CreateRoutine) tree.RoutineLanguage {
	for _, option := range n.Options {
		if l, ok := option.(tree.RoutineLanguage); ok {
			return l
		}
	}
	return tree.RoutineLangSQL
}

func (c *check) createIndex(node *tree.CreateIndex) {
	c.require(node.IfNotExists, RuleIdempotent, "write CREATE INDEX IF NOT EXISTS")
	c.index("INDEX", tree.IndexTableDef{
		Name: node.Name, Columns: node.Columns, Sharded: node.Sharded, PartitionByIndex: node.PartitionByIndex, StorageParams: node.StorageParams,
	})
	t := c.schema.tables[node.Table.Table()]
	c.require(t != nil, RuleTable, "no migration makes table "+node.Table.Table())
	if node.Unique {
		c.fullUnique(t, "UNIQUE INDEX "+string(node.Name), node.Columns, node.Predicate)
	}
	if t == nil {
		return
	}
	t.addIndex(node.Name, node.Columns)
	if node.Unique {
		t.uniques[string(node.Name)] = node.Columns
	}
	if node.Predicate != nil {
		t.predicates[string(node.Name)] = node.Predicate
	}
}

func (c *check) alterTable(node *tree.AlterTable) {
	t := c.schema.tables[node.Table.Parts[0]]
	if t == nil {
		c.brokenf(RuleTable, "no migration makes table %s", node.Table.Parts[0])
		return
	}
	c.require(len(node.Cmds) == 1, RuleIdempotent, "one change per step: several are not atomic on CockroachDB")
	for _, command := range node.Cmds {
		c.alter(t, command)
	}
}

func (c *check) alter(t *table, command tree.AlterTableCmd) {
	switch n := command.(type) {
	case *tree.AlterTableAddColumn:
		c.addColumn(t, n)
	case *tree.AlterTableDropColumn:
		c.require(n.IfExists, RuleIdempotent, "write DROP COLUMN IF EXISTS")
		delete(t.columns, string(n.Column))
	case *tree.AlterTableAddConstraint:
		c.addConstraint(t, n)
	case *tree.AlterTableDropConstraint:
		c.require(n.IfExists, RuleIdempotent, "write DROP CONSTRAINT IF EXISTS")
		c.require(t.uniques[string(n.Constraint)] == nil, RulePortable, "the engines drop a unique constraint in different ways: keep it")
	case *tree.AlterTableSetNotNull:
		t.setNullable(n.Column, false)
	case *tree.AlterTableDropNotNull:
		c.require(!t.inUnique(n.Column), RuleFullUnique, "a unique constraint has this column: every region would be checked")
		t.setNullable(n.Column, true)
	case *tree.AlterTableSetDefault, *tree.AlterTableValidateConstraint:
	default:
		c.brokenf(RulePortable, "%q is not safe while the previous version still runs", tree.AsString(command))
	}
}

// addColumn checks that a new column is compatible with existing rows and with the previous version of the program.
func (c *check) addColumn(t *table, n *tree.AlterTableAddColumn) {
	c.require(n.IfNotExists, RuleIdempotent, "write ADD COLUMN IF NOT EXISTS")
	d := n.ColumnDef
	c.columnDef(d)
	notNull := d.Nullable.Nullability == tree.NotNull
	if notNull && !d.HasDefaultExpr() && !d.IsComputed() {
		c.brokenf(RulePortable, "column %s: NOT NULL without DEFAULT fails on the rows that are there", d.Name)
	}
	t.columns[string(d.Name)] = newColumn(d)
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
