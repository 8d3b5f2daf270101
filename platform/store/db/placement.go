package db

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/region"
)

// The statements of this file exist on CockroachDB only. They concern regions rather than rows and have no home.

// Layout configures where CockroachDB stores rows. PostgreSQL ignores it.
type Layout struct {
	// Localities are the database's region names by home.
	Localities map[region.Code]string
	// Primary is the home whose region is the primary region of the database; us when empty.
	Primary region.Code
	// Survive is the survival goal of the database: "zone" (default) or "region".
	Survive string
}

func (l Layout) primary() region.Code {
	if l.Primary == "" {
		return region.US
	}
	return l.Primary
}

// prepareRegions makes the database multi-region and each home a super region, so that replicas of its rows stay in its
// jurisdiction. It is idempotent.
func prepareRegions(ctx context.Context, db *sql.DB, opts MigrateOptions) error {
	database, err := currentDatabase(ctx, db)
	if err != nil {
		return err
	}
	for _, statement := range RegionStatements(database, opts.Layout) {
		if _, err := db.ExecContext(ctx, statement); err != nil && !strings.Contains(err.Error(), "already") {
			return fmt.Errorf("prepare the database's regions: %w", err)
		}
	}
	return addSuperRegions(ctx, db, database, opts.Localities)
}

func currentDatabase(ctx context.Context, db *sql.DB) (string, error) {
	var name string
	err := db.QueryRowContext(ctx, "SELECT current_database()").Scan(&name)
	return name, err
}

// RegionStatements returns the statements that make a CockroachDB database multi-region.
func RegionStatements(database string, l Layout) []string {
	name := quoteIdent(database)
	out := []string{fmt.Sprintf("ALTER DATABASE %s SET PRIMARY REGION %s", name, quoteIdent(l.Localities[l.primary()]))}
	for _, code := range region.All() {
		if code != l.primary() {
			out = append(out, fmt.Sprintf("ALTER DATABASE %s ADD REGION IF NOT EXISTS %s", name, quoteIdent(l.Localities[code])))
		}
	}
	goal := "ZONE"
	if l.Survive == "region" {
		goal = "REGION"
	}
	return append(out, fmt.Sprintf("ALTER DATABASE %s SURVIVE %s FAILURE", name, goal))
}

// SuperRegionStatement returns the statement that keeps a home's replicas in its jurisdiction.
func SuperRegionStatement(database string, code region.Code, locality string) string {
	return fmt.Sprintf("ALTER DATABASE %s ADD SUPER REGION %s VALUES %s",
		quoteIdent(database), quoteIdent(string(code)), quoteIdent(locality))
}

func addSuperRegions(ctx context.Context, db *sql.DB, database string, localities map[region.Code]string) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SET enable_super_regions = 'on'"); err != nil {
		return fmt.Errorf("super regions: %w", err)
	}
	for _, code := range region.All() {
		var n int
		err := conn.QueryRowContext(ctx, fmt.Sprintf(
			"SELECT count(*) FROM [SHOW SUPER REGIONS FROM DATABASE %s] WHERE super_region_name = $1", quoteIdent(database)), string(code)).Scan(&n)
		if err != nil {
			return fmt.Errorf("super regions: %w", err)
		}
		if n > 0 {
			continue
		}
		if _, err := conn.ExecContext(ctx, SuperRegionStatement(database, code, localities[code])); err != nil {
			return fmt.Errorf("super region %s: %w", code, err)
		}
	}
	return nil
}

// waitForPlacement waits until the lease of every range is held in its region. Placement is asynchronous: a row that is
// written before it is complete can be stored in the wrong jurisdiction.
func waitForPlacement(ctx context.Context, db *sql.DB, opts MigrateOptions, report *reporter) error {
	for {
		wrong, err := misplacedRanges(ctx, db, opts.Localities)
		if err != nil {
			return fmt.Errorf("verify the placement: %w", err)
		}
		if wrong == 0 {
			return nil
		}
		report.waiting(fmt.Sprintf("the placement of %d ranges", wrong))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Second):
		}
	}
}

// misplacedRanges returns the number of ranges whose lease is held outside the region of the range's key. The key of a
// REGIONAL BY ROW range starts with the region's enum value, which SHOW RANGES prints by name.
func misplacedRanges(ctx context.Context, db *sql.DB, localities map[region.Code]string) (int, error) {
	wrong := 0
	for _, table := range Tables() {
		n, err := misplacedRangesOf(ctx, db, table, localities)
		if err != nil {
			return 0, err
		}
		wrong += n
	}
	return wrong, nil
}

func misplacedRangesOf(ctx context.Context, db querier, table string, localities map[region.Code]string) (int, error) {
	rows, err := db.QueryContext(ctx, rangesStatement(table))
	if err != nil {
		return 0, err
	}
	return countMisplaced(rows, localities)
}

func rangesStatement(table string) string {
	return fmt.Sprintf("SELECT start_key, lease_holder_locality FROM [SHOW RANGES FROM TABLE %s WITH DETAILS]", quoteIdent(table))
}

func countMisplaced(rows *sql.Rows, localities map[region.Code]string) (int, error) {
	defer rows.Close()
	wrong := 0
	for rows.Next() {
		var start, locality string
		if err := rows.Scan(&start, &locality); err != nil {
			return 0, err
		}
		if leaseOutsideHome(start, locality, localities) {
			wrong++
		}
	}
	return wrong, rows.Err()
}

// leaseOutsideHome reports whether the range of a home's partition has its lease in another region.
func leaseOutsideHome(startKey, locality string, localities map[region.Code]string) bool {
	for _, name := range localities {
		tiers := strings.Split(locality, ",") // region=europe-west1,zone=b
		if strings.Contains(startKey, encodedRegion(name)) && !slices.Contains(tiers, "region="+name) {
			return true
		}
	}
	return false
}

// encodedRegion returns the region as SHOW RANGES prints it in a key.
func encodedRegion(name string) string { return "\"" + name + "\"" }

// Tables returns the names of the platform's tables.
func Tables() []string {
	var tables []string
	for _, m := range RenderedMigrations(PostgreSQL) {
		_, after, found := strings.Cut(m.SQL, "CREATE TABLE IF NOT EXISTS ")
		if !found {
			continue
		}
		name, _, _ := strings.Cut(after, " ")
		tables = append(tables, name)
	}
	return tables
}

func quoteIdent(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
