package rules

import (
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treecmp"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/types"
)

// The rules for the statements of the schema.
const (
	// RuleHomeFirst is broken by a key or an index that does not start with home and would therefore be read in every
	// region.
	RuleHomeFirst Rule = "home-first"
	// RuleFullUnique is broken by a unique index that is partial or has a nullable column: CockroachDB checks such
	// indexes in every region even if they start with home.
	RuleFullUnique Rule = "full-unique"
	// RuleNamed is broken by a constraint without a name: the engines generate different names, and errors are
	// identified by the name.
	RuleNamed Rule = "named"
	// RuleLocality is broken by a table that is not REGIONAL BY ROW AS region from the start.
	RuleLocality Rule = "locality"
	// RuleRegion is broken by a region column that is not computed from home, or that has a value for unknown homes.
	RuleRegion Rule = "region"
	// RuleHome is broken by a table whose home is nullable or not restricted to the known homes.
	RuleHome Rule = "home"
	// RulePortable is broken by a definition that only one engine supports, or that is unsafe on a live table.
	RulePortable Rule = "portable"
	// RuleIdempotent is broken by a migration that fails if it runs again.
	RuleIdempotent Rule = "idempotent"
)

const regionColumn = "region"

func (c *check) createTable(node *tree.CreateTable) {
	if !node.IfNotExists {
		c.brokenf(RuleIdempotent, "write CREATE TABLE IF NOT EXISTS")
	}
	if node.As() || node.PartitionByTable != nil || node.StorageParams != nil || node.Persistence.IsTemporary() {
		c.brokenf(RulePortable, "a table has columns and constraints: no AS, PARTITION BY, WITH or TEMPORARY")
	}
	c.locality(node.Locality)
	t := c.schema.add(node)
	var hasKey, hasHome, hasRegion, hasHomeCheck bool
	for _, def := range node.Defs {
		switch d := def.(type) {
		case *tree.ColumnTableDef:
			c.columnDef(d)
			hasHome = hasHome || d.Name == homeColumn
			hasRegion = hasRegion || d.Name == regionColumn
			hasHomeCheck = hasHomeCheck || checksHome(d)
		case *tree.UniqueConstraintTableDef:
			c.unique(t, d)
			hasKey = hasKey || d.PrimaryKey
		case *tree.IndexTableDef:
			c.index("INDEX", *d)
		case *tree.ForeignKeyConstraintTableDef:
			c.foreignKey(d)
		case *tree.CheckConstraintTableDef:
			c.named(d.Name, "CHECK")
			hasHomeCheck = hasHomeCheck || mentionsHomeAnywhere(d.Expr)
		default:
			c.brokenf(RulePortable, "%q is CockroachDB's own syntax", tree.AsString(def))
		}
	}
	c.require(hasKey, RuleHomeFirst, "a table has a named PRIMARY KEY (home, …)")
	c.require(hasHome, RuleHome, "a table has a column home")
	c.require(hasHomeCheck, RuleHome, "a CHECK names the homes that there are: PostgreSQL has nothing else to refuse others")
	c.require(hasRegion, RuleRegion, "a table has a column region, computed from home")
}

func (c *check) require(ok bool, rule Rule, message string) {
	if !ok {
		c.brokenf(rule, "%s", message)
	}
}

func (c *check) locality(locality *tree.Locality) {
	switch {
	case locality == nil:
		c.brokenf(RuleLocality, "CREATE TABLE says LOCALITY REGIONAL BY ROW AS region: a later change is unsafe")
	case locality.LocalityLevel == tree.LocalityLevelGlobal:
		c.brokenf(RuleLocality, "a GLOBAL table hangs when the primary region is away")
	case locality.LocalityLevel != tree.LocalityLevelRow || locality.RegionalByRowColumn != regionColumn:
		c.brokenf(RuleLocality, "the locality is REGIONAL BY ROW AS region")
	}
}

func (c *check) columnDef(d *tree.ColumnTableDef) {
	c.columnType(d)
	c.columnConstraints(d)
	if d.HasOnUpdateExpr() || d.HasColumnFamily() || d.Computed.Virtual {
		c.brokenf(RulePortable, "column %s: no ON UPDATE, FAMILY or VIRTUAL", d.Name)
	}
	switch d.Name {
	case homeColumn:
		c.homeDef(d)
	case regionColumn:
		c.regionDef(d)
	}
}

func (c *check) columnType(d *tree.ColumnTableDef) {
	if d.IsSerial || d.GeneratedIdentity.IsGeneratedAsIdentity {
		c.brokenf(RulePortable, "column %s: ids come from the program, not from a sequence", d.Name)
		return
	}
	if t, ok := d.Type.(*types.T); ok {
		c.integer(t)
		if t.Family() == types.CollatedStringFamily {
			c.brokenf(RuleCollate, "column %s: text is ordered by its bytes without COLLATE", d.Name)
		}
	}
}

// columnConstraints rejects the keys, unique constraints and references of a column, which cannot start with home.
func (c *check) columnConstraints(d *tree.ColumnTableDef) {
	if d.PrimaryKey.IsPrimaryKey || d.Unique.IsUnique {
		c.brokenf(RuleHomeFirst, "column %s: a key is a constraint of the table and starts with home", d.Name)
	}
	if d.HasFKConstraint() {
		c.brokenf(RuleHomeFirst, "column %s: a foreign key is a constraint of the table and starts with home", d.Name)
	}
	for _, check := range d.CheckExprs {
		c.named(check.ConstraintName, "CHECK of column "+string(d.Name))
	}
}

func (c *check) homeDef(d *tree.ColumnTableDef) {
	t, ok := d.Type.(*types.T)
	if !ok || t.Family() != types.StringFamily || d.Nullable.Nullability != tree.NotNull || d.HasDefaultExpr() || d.IsComputed() {
		c.brokenf(RuleHome, "home is TEXT NOT NULL, set by the program")
	}
}

func checksHome(d *tree.ColumnTableDef) bool {
	return d.Name == homeColumn && len(d.CheckExprs) > 0
}

func mentionsHomeAnywhere(e tree.Expr) bool {
	return contains(e, func(name *tree.UnresolvedName) bool { return name.Parts[0] == homeColumn })
}

// regionDef checks the region column: with NOT NULL and without ELSE, a row of an unknown home is rejected instead of
// being stored in a default region.
func (c *check) regionDef(d *tree.ColumnTableDef) {
	if typeName(d) != "crdb_internal_region" {
		c.brokenf(RuleRegion, "region is of type crdb_internal_region")
	}
	if d.Nullable.Nullability != tree.NotNull || !d.IsComputed() || d.Computed.Virtual {
		c.brokenf(RuleRegion, "region is NOT NULL and computed from home, STORED")
	}
	regions, ok := stripCasts(d.Computed.Expr).(*tree.CaseExpr)
	if !ok || regions.Else != nil || regions.Expr != nil || !onlyHomes(regions) {
		c.brokenf(RuleRegion, "region is CASE WHEN home = '…' THEN '…' … END, without ELSE")
	}
}

func typeName(d *tree.ColumnTableDef) string {
	if d.Type == nil {
		return ""
	}
	return d.Type.SQLString()
}

func onlyHomes(regions *tree.CaseExpr) bool {
	for _, when := range regions.Whens {
		comparison, ok := stripParens(when.Cond).(*tree.ComparisonExpr)
		if !ok || comparison.Operator.Symbol != treecmp.EQ {
			return false
		}
		if _, ok := isHome(comparison.Left); !ok {
			return false
		}
	}
	return true
}

func (c *check) named(name tree.Name, what string) {
	if name == "" {
		c.brokenf(RuleNamed, "%s has no name: each engine would make up its own", what)
	}
}

func (c *check) unique(t *table, d *tree.UniqueConstraintTableDef) {
	what := "UNIQUE"
	if d.PrimaryKey {
		what = "PRIMARY KEY"
	}
	c.index(what, d.IndexTableDef)
	if d.WithoutIndex {
		c.brokenf(RulePortable, "%s %s: columns only", what, d.Name)
	}
	c.fullUnique(t, what+" "+string(d.Name), d.Columns, d.Predicate)
}

// index checks what constraints, and indexes in the definition of a table, which PostgreSQL creates separately, have in common with
// other indexes.
func (c *check) index(what string, d tree.IndexTableDef) {
	c.named(d.Name, what)
	if d.Sharded != nil || d.PartitionByIndex != nil || d.StorageParams != nil {
		c.brokenf(RulePortable, "%s %s: columns only, no HASH, PARTITION BY or WITH", what, d.Name)
	}
	if len(d.Columns) == 0 || d.Columns[0].Column != homeColumn {
		c.brokenf(RuleHomeFirst, "%s %s does not start with home", what, d.Name)
	}
}

func (c *check) fullUnique(t *table, what string, columns tree.IndexElemList, predicate tree.Expr) {
	if predicate != nil {
		c.brokenf(RuleFullUnique, "%s is partial: every region would be checked", what)
	}
	for _, e := range columns {
		if e.Expr != nil {
			c.brokenf(RuleFullUnique, "%s has an expression: store it in a column", what)
			continue
		}
		if t != nil && t.columns[string(e.Column)].nullable {
			c.brokenf(RuleFullUnique, "%s has column %s, which may be NULL: every region would be checked", what, e.Column)
		}
	}
}

func (c *check) foreignKey(d *tree.ForeignKeyConstraintTableDef) {
	c.named(d.Name, "FOREIGN KEY")
	if len(d.FromCols) == 0 || d.FromCols[0] != homeColumn || len(d.ToCols) == 0 || d.ToCols[0] != homeColumn {
		c.brokenf(RuleHomeFirst, "FOREIGN KEY %s starts with home on both sides, written out", d.Name)
	}
}
