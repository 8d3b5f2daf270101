package db

import (
	"fmt"
	"regexp"
	"strings"
	"testing/fstest"

	"github.com/pressly/goose/v3"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/migrations"
)

// RenderedMigration is one schema migration rendered for an engine.
type RenderedMigration struct {
	Version int64
	Name    string
	SQL     string
}

// RenderedMigrations returns all schema migrations for engine in order. On CockroachDB each is one statement. On
// PostgreSQL, a table and its indexes are several statements, which are sent together and take effect together.
func RenderedMigrations(engine Engine) []RenderedMigration {
	return rendered(engine, DefaultLocalities())
}

// MigrationsWithoutRegions returns the schema migrations of a CockroachDB without regions.
func MigrationsWithoutRegions() []RenderedMigration { return rendered(CockroachDB, nil) }

func rendered(engine Engine, localities map[region.Code]string) []RenderedMigration {
	var all []RenderedMigration
	for _, name := range migrationNames() {
		version, err := goose.NumericComponent(name)
		if err != nil {
			panic(err) // the files are embedded and tested
		}
		sql, err := renderFile(name, engine, localities)
		if err != nil {
			panic(err)
		}
		all = append(all, RenderedMigration{Version: version, Name: strings.TrimSuffix(name, ".sql"), SQL: sql})
	}
	return all
}

// TargetVersion returns the schema version that this program requires.
func TargetVersion() int64 { return migrations.Target() }

func migrationNames() []string { return migrations.Names() }

// gooseHeader separates a file's annotations from its SQL.
const gooseHeader = "-- +goose Up\n"

// renderFiles returns the files for goose, which sends the SQL of each as one. Without localities, rows have no region.
func renderFiles(engine Engine, localities map[region.Code]string) (fstest.MapFS, error) {
	out := fstest.MapFS{}
	for _, name := range migrationNames() {
		sql, err := renderFile(name, engine, localities)
		if err != nil {
			return nil, err
		}
		text := "-- +goose NO TRANSACTION\n" + gooseHeader + "-- +goose StatementBegin\n" + sql + "-- +goose StatementEnd\n"
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out, nil
}

func renderFile(name string, engine Engine, localities map[region.Code]string) (string, error) {
	raw, err := migrations.Files.ReadFile(name)
	if err != nil {
		return "", err
	}
	_, sql, _ := strings.Cut(string(raw), gooseHeader)
	if engine == CockroachDB {
		if sql, err = inlineIndexes(sql); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	regionColumn, locality := placementClauses(engine, localities)
	return strings.NewReplacer("{{region}}", regionColumn, "{{locality}}", locality, "{{search_path}}",
		searchPathClause(engine)).Replace(sql), nil
}

// searchPathClause returns the clause of a function that fixes what its names mean. CockroachDB has no such clause: it looks up
// the names in the body of a function when the function is created.
func searchPathClause(engine Engine) string {
	if engine == CockroachDB {
		return ""
	}
	return " SET search_path = pg_catalog, pg_temp"
}

var (
	createIndex = regexp.MustCompile(`CREATE (UNIQUE )?INDEX IF NOT EXISTS (\w+) ON \w+ (\([^;]*);\n`)
	comments    = regexp.MustCompile(`(?m)^--.*\n`)
)

// endOfTable is the end of a table's definition.
const endOfTable = "\n){{locality}};\n"

// inlineIndexes moves the indexes of a new table into its definition. CockroachDB creates each index of an existing table
// in the background, which takes about a second, and recommends one statement for each change of the schema. PostgreSQL
// has no such clause.
func inlineIndexes(sql string) (string, error) {
	table, indexes, found := strings.Cut(sql, endOfTable)
	if !found {
		return sql, nil
	}
	indexes = comments.ReplaceAllString(indexes, "")
	if rest := createIndex.ReplaceAllString(indexes, ""); rest != "" {
		return "", fmt.Errorf("only CREATE INDEX IF NOT EXISTS and CREATE UNIQUE INDEX IF NOT EXISTS may follow a table, not %q", rest)
	}
	return table + createIndex.ReplaceAllString(indexes, ",\n  ${1}INDEX $2 $3") + endOfTable, nil
}

// placementClauses returns the column and the table clause that place a row in its home. The CASE has no ELSE, so that
// inserting a row of an unknown home fails instead of storing it in another region.
func placementClauses(engine Engine, localities map[region.Code]string) (regionColumn, locality string) {
	if engine != CockroachDB || localities == nil {
		return "", ""
	}
	var cases strings.Builder
	for _, code := range region.All() {
		fmt.Fprintf(&cases, " WHEN home = '%s' THEN '%s'", code, strings.ReplaceAll(localities[code], "'", "''"))
	}
	return ",\n  region crdb_internal_region NOT VISIBLE NOT NULL AS (CASE" + cases.String() + " END) STORED",
		" LOCALITY REGIONAL BY ROW AS region"
}
