package db

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/plaza-social/plaza/platform/region"
)

// Placement is the result of CheckPlacement.
type Placement struct {
	Engine Engine
	Tables int // the number of tables
	// Misplaced are the tables whose rows are not placed according to the layout. An entry without a table concerns the
	// whole database.
	Misplaced []TablePlacement
}

// TablePlacement describes how the placement of a table deviates from the layout.
type TablePlacement struct {
	Table string
	Has   string // the actual placement
}

// The errors of CheckPlacement for databases that store all rows in one place.
var (
	ErrNoPlacement = errors.New("PostgreSQL has no placement of rows")
	ErrNotRegional = errors.New("the nodes of the CockroachDB cluster have no localities")
)

// CheckPlacement compares the placement of the rows with the layout. It only reads, on its own connection. Listing the
// ranges can take long: ctx should have a deadline, and requests must not call it. On PostgreSQL it returns
// ErrNoPlacement, and on a CockroachDB without regions ErrNotRegional.
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
	p := Placement{Engine: engine, Tables: len(Tables())}
	if engine != CockroachDB {
		return p, ErrNoPlacement
	}
	regional, err := isRegional(ctx, db, engine)
	if err != nil {
		return p, err
	}
	if !regional {
		return p, ErrNotRegional
	}
	p.Misplaced, err = misplaced(ctx, db, l)
	return p, err
}

// The queries of CheckPlacement.
const (
	sqlDatabaseRegions = `SELECT region, "primary"::STRING FROM [SHOW REGIONS FROM DATABASE]`
	sqlSurvivalGoal    = `SELECT survival_goal, '' FROM [SHOW SURVIVAL GOAL FROM DATABASE]`
	sqlLocalities      = `SELECT table_name, COALESCE(locality, '') FROM [SHOW TABLES]`
	sqlRegionColumns   = `SELECT table_name, COALESCE(generation_expression, '') FROM information_schema.columns WHERE column_name = 'region'`
)

// PlacementStatements returns the queries of CheckPlacement, for the check against CockroachDB's grammar.
func PlacementStatements() []string {
	return []string{
		sqlClusterRegions, sqlDatabaseRegions, sqlSurvivalGoal, sqlLocalities, sqlRegionColumns, sqlRegionOrder,
		rangesStatement("posts"),
	}
}

// misplaced returns the deviations from the layout: first of the database, then of the tables in the order of the
// migrations.
func misplaced(ctx context.Context, db querier, l Layout) ([]TablePlacement, error) {
	regions, err := pairs(ctx, db, sqlDatabaseRegions)
	if err != nil {
		return nil, fmt.Errorf("read the database's regions: %w", err)
	}
	goals, err := pairs(ctx, db, sqlSurvivalGoal)
	if err != nil {
		return nil, fmt.Errorf("read the survival goal: %w", err)
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
	order, err := regionOrder(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, table := range Tables() {
		actual := tablePlacement(tables, columns, table, l.Localities)
		if actual == "" && l.Survive != surviveRegion {
			if actual, err = rangePlacement(ctx, db, table, order); err != nil {
				return nil, err
			}
		}
		if actual != "" {
			found = append(found, TablePlacement{Table: table, Has: actual})
		}
	}
	return found, nil
}

// databasePlacement returns the deviations of the database as a whole.
func databasePlacement(regions map[string]string, goals []string, l Layout) []TablePlacement {
	var found []TablePlacement
	localities, survive := l.Localities, l.Survive
	for _, code := range region.All() {
		primary, exists := regions[localities[code]]
		switch {
		case !exists:
			found = append(found, TablePlacement{Has: fmt.Sprintf("the database has no region %s (for %s)", localities[code], code)})
		case code == l.primary() && primary != "true":
			found = append(found, TablePlacement{Has: fmt.Sprintf("the primary region is not %s (for %s)", localities[code], code)})
		}
	}
	if survive == "" {
		survive = "zone"
	}
	if !slices.Equal(goals, []string{survive}) {
		found = append(found, TablePlacement{Has: fmt.Sprintf("the survival goal is %s instead of %s", strings.Join(goals, ","), survive)})
	}
	return found
}

// tablePlacement returns how the definition of a table deviates, or "".
func tablePlacement(tables, columns map[string]string, table string, localities map[region.Code]string) string {
	locality, exists := tables[table]
	switch {
	case !exists:
		return "no such table"
	case locality != "REGIONAL BY ROW AS region" && locality != `REGIONAL BY ROW AS "region"`:
		if locality == "" {
			return "no locality"
		}
		return locality
	}
	for _, code := range region.All() {
		if at := homeRegion(columns[table], code); at != localities[code] {
			return fmt.Sprintf("rows of %s are stored in %q instead of %q", code, at, localities[code])
		}
	}
	return ""
}

// caseArm matches the region of a home in the expression of the region column: WHEN home = 'eu':::STRING THEN
// 'europe-west1':::…. Versions of CockroachDB differ in type annotations and parentheses.
var caseArm = regexp.MustCompile(`WHEN\s+\(?\s*home\s*=\s*'([a-z]+)'[^']*THEN\s+\(?\s*'([^']+)'`)

func homeRegion(expression string, code region.Code) string {
	for _, arm := range caseArm.FindAllStringSubmatch(expression, -1) {
		if arm[1] == string(code) {
			return arm[2]
		}
	}
	return ""
}
