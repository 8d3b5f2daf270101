package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/plaza-social/plaza/platform/region"
)

// Placement is where a database keeps our tables' rows, against what was asked for.
type Placement struct {
	Engine Engine
	Tables int // how many tables the program has
	// Elsewhere are the tables whose rows are not pinned as asked. One without a name is about the database as a whole.
	Elsewhere []TablePlacement
}

// TablePlacement is what a table has instead of what was asked for, in words.
type TablePlacement struct {
	Table string
	Has   string
}

// ErrNoPlacement is returned for an engine that keeps every row in one place.
var ErrNoPlacement = errors.New("PostgreSQL has no placement of rows")

// querier is the part of a database that the check needs.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// CheckPlacement asks the database where our tables' rows are, and changes nothing. It opens a connection of its own, and
// takes as long as the database needs to list its ranges: bound ctx, and do not call it for a request. On PostgreSQL the
// error is ErrNoPlacement.
func CheckPlacement(ctx context.Context, address string, l Layout) (Placement, error) {
	db, err := openSQL(address)
	if err != nil {
		return Placement{}, err
	}
	defer db.Close()
	engine, err := engineOf(ctx, db)
	if err != nil {
		return Placement{}, err
	}
	p := Placement{Engine: engine, Tables: len(ourTables())}
	if engine != CockroachDB {
		return p, ErrNoPlacement
	}
	p.Elsewhere, err = elsewhere(ctx, db, l)
	return p, err
}

// What the check asks, of the database that it is connected to.
const (
	sqlDatabaseRegions = `SELECT region, "primary"::STRING FROM [SHOW REGIONS FROM DATABASE]`
	sqlSurvivalGoal    = `SELECT survival_goal, '' FROM [SHOW SURVIVAL GOAL FROM DATABASE]`
	sqlLocalities      = `SELECT table_name, COALESCE(locality, '') FROM [SHOW TABLES]`
	sqlRegionColumns   = `SELECT table_name, COALESCE(generation_expression, '') FROM information_schema.columns WHERE column_name = 'region'`
)

// PlacementStatements returns what CheckPlacement sends to CockroachDB, for the check against its grammar.
func PlacementStatements() []string {
	return []string{sqlDatabaseRegions, sqlSurvivalGoal, sqlLocalities, sqlRegionColumns, rangesStatement("posts")}
}

// elsewhere returns what is not as asked, the database first, then the tables in the order of the migrations.
func elsewhere(ctx context.Context, db querier, l Layout) ([]TablePlacement, error) {
	regions, err := pairs(ctx, db, sqlDatabaseRegions)
	if err != nil {
		return nil, fmt.Errorf("read the database's regions: %w", err)
	}
	goals, err := pairs(ctx, db, sqlSurvivalGoal)
	if err != nil {
		return nil, fmt.Errorf("read what the database survives: %w", err)
	}
	found := databasePlacement(regions, slices.Collect(maps.Keys(goals)), l)
	tables, err := pairs(ctx, db, sqlLocalities)
	if err != nil {
		return nil, fmt.Errorf("read the tables' localities: %w", err)
	}
	columns, err := pairs(ctx, db, sqlRegionColumns)
	if err != nil {
		return nil, fmt.Errorf("read the tables' region columns: %w", err)
	}
	for _, table := range ourTables() {
		has := tablePlacement(tables, columns, table, l.Localities)
		if has == "" {
			if has, err = rangePlacement(ctx, db, table, l.Localities); err != nil {
				return nil, fmt.Errorf("read the ranges of %s: %w", table, err)
			}
		}
		if has != "" {
			found = append(found, TablePlacement{Table: table, Has: has})
		}
	}
	return found, nil
}

// databasePlacement returns what the database as a whole has that it should not have.
func databasePlacement(regions map[string]string, goals []string, l Layout) []TablePlacement {
	var found []TablePlacement
	localities, survive := l.Localities, l.Survive
	for _, code := range region.All() {
		primary, there := regions[localities[code]]
		switch {
		case !there:
			found = append(found, TablePlacement{Has: fmt.Sprintf("the database has no region %s (for %s)", localities[code], code)})
		case code == l.primary() && primary != "true":
			found = append(found, TablePlacement{Has: fmt.Sprintf("the primary region is not %s (for %s)", localities[code], code)})
		}
	}
	if survive == "" {
		survive = "zone"
	}
	if !slices.Equal(goals, []string{survive}) {
		found = append(found, TablePlacement{Has: fmt.Sprintf("the database survives the loss of a %s, not of a %s", strings.Join(goals, ","), survive)})
	}
	return found
}

// tablePlacement returns what a table's definition has that it should not have, or nothing.
func tablePlacement(tables, columns map[string]string, table string, localities map[region.Code]string) string {
	locality, there := tables[table]
	switch {
	case !there:
		return "no such table"
	case locality != "REGIONAL BY ROW AS region" && locality != `REGIONAL BY ROW AS "region"`:
		if locality == "" {
			return "no locality"
		}
		return locality
	}
	for _, code := range region.All() {
		if at := homeRegion(columns[table], code); at != localities[code] {
			return fmt.Sprintf("rows of %s in %q, not in %q", code, at, localities[code])
		}
	}
	return ""
}

// caseArm finds what a home's rows are computed to: WHEN home = 'eu':::STRING THEN 'europe-west1':::…, with or without
// the type annotations and parentheses that versions of the database print.
var caseArm = regexp.MustCompile(`WHEN\s+\(?\s*home\s*=\s*'([a-z]+)'[^']*THEN\s+\(?\s*'([^']+)'`)

func homeRegion(expression string, code region.Code) string {
	for _, arm := range caseArm.FindAllStringSubmatch(expression, -1) {
		if arm[1] == string(code) {
			return arm[2]
		}
	}
	return ""
}

// rangePlacement returns how many of a table's ranges are led from outside their region, in words, or nothing.
func rangePlacement(ctx context.Context, db querier, table string, localities map[region.Code]string) (string, error) {
	n, err := misplacedRangesOf(ctx, db, table, localities)
	if err != nil || n == 0 {
		return "", err
	}
	return fmt.Sprintf("%d ranges outside their region", n), nil
}

// pairs reads two columns of text, the first as the key.
func pairs(ctx context.Context, db querier, query string) (map[string]string, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := map[string]string{}
	for rows.Next() {
		var key, value string
		if err := rows.Scan(&key, &value); err != nil {
			return nil, err
		}
		found[key] = value
	}
	return found, rows.Err()
}
