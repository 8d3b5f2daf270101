package rules

import (
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// Schema contains the properties of tables that the rules for statements need.
type Schema struct {
	tables map[string]*table
}

type table struct {
	columns map[string]column
	uniques map[string]tree.IndexElemList // the columns of each unique constraint and index by name
}

type column struct {
	nullable bool
}

func newSchema() *Schema { return &Schema{tables: map[string]*table{}} }

// Tables returns the number of tables.
func (s *Schema) Tables() int { return len(s.tables) }

// add adds a table unless it exists, like IF NOT EXISTS.
func (s *Schema) add(node *tree.CreateTable) *table {
	t := &table{columns: map[string]column{}, uniques: map[string]tree.IndexElemList{}}
	for _, def := range node.Defs {
		switch d := def.(type) {
		case *tree.ColumnTableDef:
			t.columns[string(d.Name)] = column{nullable: d.Nullable.Nullability != tree.NotNull && !d.PrimaryKey.IsPrimaryKey}
		case *tree.UniqueConstraintTableDef:
			t.uniques[string(d.Name)] = d.Columns
			if d.PrimaryKey {
				t.setNotNull(d.Columns)
			}
		}
	}
	if s.tables[node.Table.Table()] == nil {
		s.tables[node.Table.Table()] = t
	}
	return t
}

// setNotNull marks columns as NOT NULL; those of a primary key are so implicitly.
func (t *table) setNotNull(columns tree.IndexElemList) {
	for _, e := range columns {
		if _, ok := t.columns[string(e.Column)]; ok {
			t.columns[string(e.Column)] = column{}
		}
	}
}

// inUnique reports whether a unique constraint or index contains the column.
func (t *table) inUnique(name tree.Name) bool {
	for _, columns := range t.uniques {
		for _, e := range columns {
			if e.Column == name {
				return true
			}
		}
	}
	return false
}
