package rules

import (
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/types"
)

// Schema contains the properties of tables and functions that the rules for statements need.
type Schema struct {
	tables   map[string]*table
	routines map[string]bool
}

type table struct {
	columns    map[string]column
	primary    tree.IndexElemList
	uniques    map[string]tree.IndexElemList // the columns of each unique constraint and index by name
	predicates map[string]tree.Expr          // of the partial indexes by name
	indexes    map[string][]string           // the columns of the primary key, the unique constraints and the indexes by name
}

type column struct {
	nullable bool
	computed bool
	family   types.Family
}

func newSchema() *Schema { return &Schema{tables: map[string]*table{}, routines: map[string]bool{}} }

func newColumn(d *tree.ColumnTableDef) column {
	family := types.AnyFamily
	if t, ok := d.Type.(*types.T); ok {
		family = t.Family()
	}
	return column{nullable: d.Nullable.Nullability != tree.NotNull && !d.PrimaryKey.IsPrimaryKey, computed: d.IsComputed(), family: family}
}

// Tables returns the number of tables.
func (s *Schema) Tables() int { return len(s.tables) }

// add adds a table unless it exists, like IF NOT EXISTS.
func (s *Schema) add(node *tree.CreateTable) *table {
	t := &table{
		columns: map[string]column{}, uniques: map[string]tree.IndexElemList{}, predicates: map[string]tree.Expr{},
		indexes: map[string][]string{},
	}
	for _, def := range node.Defs {
		switch d := def.(type) {
		case *tree.ColumnTableDef:
			t.columns[string(d.Name)] = newColumn(d)
		case *tree.UniqueConstraintTableDef:
			t.uniques[string(d.Name)] = d.Columns
			t.addIndex(d.Name, d.Columns)
			if d.PrimaryKey {
				t.primary = d.Columns
				t.setNotNull(d.Columns)
			}
		case *tree.IndexTableDef:
			t.addIndex(d.Name, d.Columns)
			if d.Predicate != nil {
				t.predicates[string(d.Name)] = d.Predicate
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
		t.setNullable(e.Column, false)
	}
}

func (t *table) setNullable(name tree.Name, nullable bool) {
	if c, ok := t.columns[string(name)]; ok {
		c.nullable = nullable
		t.columns[string(name)] = c
	}
}

func (t *table) addIndex(name tree.Name, columns tree.IndexElemList) {
	for _, e := range columns {
		t.indexes[string(name)] = append(t.indexes[string(name)], string(e.Column))
	}
}

// dropIndex forgets an index.
func (s *Schema) dropIndex(name string) {
	for _, t := range s.tables {
		delete(t.predicates, name)
		delete(t.indexes, name)
	}
}

// isUnique reports whether name is a unique constraint or index of a table.
func (s *Schema) isUnique(name string) bool {
	for _, t := range s.tables {
		if t.uniques[name] != nil {
			return true
		}
	}
	return false
}

// isComputed reports whether a column called name is computed.
func (s *Schema) isComputed(name string) bool {
	for _, t := range s.tables {
		if t.columns[name].computed {
			return true
		}
	}
	return false
}

// familyOf returns the type of the columns called name, and AnyFamily if there are none or they differ.
func (s *Schema) familyOf(name string) types.Family {
	found := types.AnyFamily
	for _, t := range s.tables {
		c, ok := t.columns[name]
		if !ok {
			continue
		}
		if found != types.AnyFamily && found != c.family {
			return types.AnyFamily
		}
		found = c.family
	}
	return found
}

// columnsIn returns the names of the columns in an expression.
func columnsIn(e tree.Expr) []string {
	var names []string
	walk(e, func(node any, _ []any) {
		if name, ok := node.(*tree.UnresolvedName); ok {
			names = append(names, name.Parts[0])
		}
	})
	return names
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
