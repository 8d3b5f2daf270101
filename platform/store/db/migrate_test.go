package db_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// requireMigrated fails unless the schema of url is the program's.
func requireMigrated(t *testing.T, url string) {
	t.Helper()
	current, target, err := db.MigrationStatus(t.Context(), url)
	require.NoError(t, err)
	require.Equal(t, db.TargetVersion(), target)
	require.Equal(t, target, current)
}

func TestMigrate(t *testing.T) {
	url := testdb.New(t)
	current, target, err := db.MigrationStatus(t.Context(), url)
	require.NoError(t, err)
	require.Zero(t, current)
	require.Equal(t, db.TargetVersion(), target)

	var steps []string
	progress := func(p db.Progress) {
		if p.State != db.StepDone {
			return // a slow machine
		}
		steps = append(steps, p.Name)
		require.Equal(t, len(steps), p.Step)
		require.Len(t, db.RenderedMigrations(db.PostgreSQL), p.Total)
		require.Positive(t, p.Elapsed)
	}
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url, Progress: progress}))
	require.Len(t, steps, len(db.RenderedMigrations(db.PostgreSQL)))
	requireMigrated(t, url)

	steps = nil
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url, Progress: progress}))
	require.Empty(t, steps)
	requireMigrated(t, url)
}

// TestMigrateRefusesOtherSteps gives a database a step that the program does not have. One before the program's last
// step means another schema; one after it, a newer version of the program.
func TestMigrateRefusesOtherSteps(t *testing.T) {
	url := testdb.New(t)
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url}))
	conn := connect(t, url)
	add := func(version int64) {
		_, err := conn.Exec(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, true)", version)
		require.NoError(t, err)
	}
	add(db.TargetVersion() + 1)
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url}))
	steps := db.RenderedMigrations(db.PostgreSQL)
	require.Less(t, int64(len(steps)), db.TargetVersion())
	unknown := int64(1)
	for slices.ContainsFunc(steps, func(m db.RenderedMigration) bool { return m.Version == unknown }) {
		unknown++
	}
	add(unknown)
	require.ErrorContains(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url}), "use an empty database")
}

// TestMigrateRefusesGaps gives a database that lacks a step before its version.
func TestMigrateRefusesGaps(t *testing.T) {
	url := testdb.New(t)
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url}))
	steps := db.RenderedMigrations(db.PostgreSQL)
	lost := steps[len(steps)/2].Version
	_, err := connect(t, url).Exec(t.Context(), "DELETE FROM goose_db_version WHERE version_id = $1", lost)
	require.NoError(t, err)
	require.ErrorContains(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url}), fmt.Sprintf("lacks step %d before it", lost))
}

// TestMigrateSeveralAtOnce starts as many migrations as a rollout might.
func TestMigrateSeveralAtOnce(t *testing.T) {
	url := testdb.New(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if err := db.Migrate(t.Context(), db.MigrateOptions{URL: url}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	requireMigrated(t, url)
}

func TestMigrateTellsNoPassword(t *testing.T) {
	const url = "postgresql://plaza:hunter2@db:port/"
	err := db.Migrate(t.Context(), db.MigrateOptions{URL: url})
	require.EqualError(t, err,
		"the database URL has a port that is not a number from 1 to 65535: a user name and a password must be followed by @ and the host")
	_, _, err = db.MigrationStatus(t.Context(), url)
	require.EqualError(t, err,
		"the database URL has a port that is not a number from 1 to 65535: a user name and a password must be followed by @ and the host")
	err = db.Migrate(t.Context(), db.MigrateOptions{URL: "postgresql://plaza:hunter2@127.0.0.1:1/plaza"})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "hunter2")
}

var (
	stepName = regexp.MustCompile(`^\d{5}_[a-z_]+$`)
	comment  = regexp.MustCompile(`(?m)^ *--.*$`)
	body     = regexp.MustCompile(`(?s)\$\$.*\$\$`)
)

func TestMigrationsAreSingleSteps(t *testing.T) {
	for _, engine := range []db.Engine{db.PostgreSQL, db.CockroachDB} {
		var last int64
		for _, m := range db.RenderedMigrations(engine) {
			require.Regexp(t, stepName, m.Name)
			require.Greater(t, m.Version, last, m.Name)
			last = m.Version
			statements := strings.Count(body.ReplaceAllString(comment.ReplaceAllString(m.SQL, ""), ""), ";")
			if engine == db.CockroachDB || !strings.Contains(m.SQL, "CREATE TABLE") {
				require.Equal(t, 1, statements, "%s is one statement", m.Name)
			}
			require.Equal(t, statements, strings.Count(m.SQL, " IF NOT EXISTS ")+strings.Count(m.SQL, "CREATE OR REPLACE ")+
				strings.Count(m.SQL, "DROP INDEX IF EXISTS ")+
				strings.Count(m.SQL, "DROP CONSTRAINT IF EXISTS "), "%s can run again", m.Name)
			require.NotContains(t, m.SQL, "{{", m.Name)
			require.NotContains(t, m.SQL, "+goose", m.Name)
		}
	}
	require.Len(t, db.RenderedMigrations(db.PostgreSQL), len(db.RenderedMigrations(db.CockroachDB)))
}

func TestMigrationsForCockroach(t *testing.T) {
	const pinned = `,
  region crdb_internal_region NOT VISIBLE NOT NULL AS (CASE WHEN home = 'us' THEN 'us-east1'` +
		` WHEN home = 'eu' THEN 'europe-west1' WHEN home = 'sg' THEN 'asia-southeast1' END) STORED`
	tables := 0
	for i, m := range db.RenderedMigrations(db.CockroachDB) {
		plain := db.RenderedMigrations(db.PostgreSQL)[i].SQL
		require.NotContains(t, plain, "region crdb", m.Name)
		require.NotContains(t, plain, "LOCALITY", m.Name)
		if !strings.Contains(m.SQL, "CREATE TABLE") {
			require.Equal(t, strings.ReplaceAll(plain, " SET search_path = pg_catalog, pg_temp", ""), m.SQL, m.Name)
			continue
		}
		tables++
		require.True(t, strings.HasSuffix(m.SQL, "\n) LOCALITY REGIONAL BY ROW AS region;\n"), m.Name)
		require.Equal(t, 1, strings.Count(m.SQL, pinned), m.Name)
		require.Equal(t, strings.Count(plain, "CREATE INDEX"), strings.Count(m.SQL, "\n  INDEX "), m.Name)
		require.Equal(t, strings.Count(plain, "CREATE UNIQUE INDEX"), strings.Count(m.SQL, "\n  UNIQUE INDEX "), m.Name)
	}
	require.Len(t, db.Tables(), tables)
	require.Subset(t, db.Tables(), []string{"directory", "users", "posts", "comments", "flags", "counters", "settings", "outbox"})
}

func TestMigrationsWithoutRegions(t *testing.T) {
	regional := db.RenderedMigrations(db.CockroachDB)
	for i, m := range db.MigrationsWithoutRegions() {
		require.NotContains(t, m.SQL, "crdb_internal_region", m.Name)
		require.NotContains(t, m.SQL, "LOCALITY", m.Name)
		require.Equal(t, strings.Count(regional[i].SQL, "\n  INDEX "), strings.Count(m.SQL, "\n  INDEX "), m.Name)
	}
}

func TestInlineIndexes(t *testing.T) {
	const table = "CREATE TABLE IF NOT EXISTS t (\n  home TEXT NOT NULL\n){{locality}};\n"
	for name, c := range map[string]struct{ sql, want, problem string }{
		"an index only": {sql: "CREATE INDEX IF NOT EXISTS i ON t (home);\n", want: "CREATE INDEX IF NOT EXISTS i ON t (home);\n"},
		"a table only":  {sql: table, want: table},
		"both": {
			sql: table + "CREATE INDEX IF NOT EXISTS i ON t (home, a);\n-- Why; j.\nCREATE INDEX IF NOT EXISTS j ON t (home, b)\n  WHERE c;\n",
			want: "CREATE TABLE IF NOT EXISTS t (\n  home TEXT NOT NULL,\n  INDEX i (home, a),\n  INDEX j (home, b)\n  WHERE c\n" +
				"){{locality}};\n",
		},
		"a unique index": {
			sql:  table + "CREATE UNIQUE INDEX IF NOT EXISTS i ON t (home, a);\n",
			want: "CREATE TABLE IF NOT EXISTS t (\n  home TEXT NOT NULL,\n  UNIQUE INDEX i (home, a)\n){{locality}};\n",
		},
		"an index that runs once": {sql: table + "CREATE INDEX i ON t (home);\n", problem: "may follow a table"},
		"another statement":       {sql: table + "UPDATE t SET home = 'us';\n", problem: "may follow a table"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := db.InlineIndexes(c.sql)
			if c.problem != "" {
				require.ErrorContains(t, err, c.problem)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

const directoryForCockroach = `-- Who a client's user id is: a keyed hash, so that no personal data stands in a key. The row at the home that the hash
-- names decides; rows at other homes are copies made by those who looked it up.
CREATE TABLE IF NOT EXISTS directory (
  home       TEXT        NOT NULL,
  user_hash  BYTEA       NOT NULL,
  user_id    TEXT        NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  region crdb_internal_region NOT VISIBLE NOT NULL AS (CASE WHEN home = 'us' THEN 'us-east1' WHEN home = 'eu' THEN 'europe-west1' WHEN home = 'sg' THEN 'asia-southeast1' END) STORED,
  CONSTRAINT directory_home_check CHECK (home IN ('us', 'eu', 'sg')),
  CONSTRAINT directory_pkey PRIMARY KEY (home, user_hash)
) LOCALITY REGIONAL BY ROW AS region;
`

func TestOneMigrationToTheLetter(t *testing.T) {
	require.Equal(t, directoryForCockroach, db.RenderedMigrations(db.CockroachDB)[0].SQL)
}

func TestRegionStatements(t *testing.T) {
	localities := map[region.Code]string{region.US: "us-east1", region.EU: `eu"west`, region.SG: "asia-southeast1"}
	require.Equal(t, []string{
		`ALTER DATABASE "pla""za" SET PRIMARY REGION "us-east1"`,
		`ALTER DATABASE "pla""za" ADD REGION IF NOT EXISTS "eu""west"`,
		`ALTER DATABASE "pla""za" ADD REGION IF NOT EXISTS "asia-southeast1"`,
		`ALTER DATABASE "pla""za" SURVIVE ZONE FAILURE`,
	}, db.RegionStatements(`pla"za`, db.Layout{Localities: localities}))
	require.Equal(t, `ALTER DATABASE "plaza" SET PRIMARY REGION "asia-southeast1"`,
		db.RegionStatements("plaza", db.Layout{Localities: localities, Primary: region.SG})[0])
	require.Equal(t, `ALTER DATABASE "plaza" SURVIVE REGION FAILURE`,
		db.RegionStatements("plaza", db.Layout{Localities: localities, Survive: "region"})[3])
	require.Equal(t, `ALTER DATABASE "plaza" ADD SUPER REGION "eu" VALUES "europe-west1"`,
		db.SuperRegionStatement("plaza", region.EU, "europe-west1"))
}

// TestQueueStatements holds the tables whose deleted rows CockroachDB forgets after ten minutes.
func TestQueueStatements(t *testing.T) {
	var tables []string
	for _, statement := range db.QueueStatements() {
		table, ok := strings.CutSuffix(strings.TrimPrefix(statement, "ALTER TABLE "), " CONFIGURE ZONE USING gc.ttlseconds = 600")
		require.True(t, ok, statement)
		tables = append(tables, table)
	}
	require.Subset(t, db.Tables(), tables)
	require.Subset(t, tables, []string{"outbox", "webhook_deliveries", "idempotency_keys", "idempotency_marks", "realtime_events"})
}

// TestRegionKey reads keys as versions of CockroachDB print them.
func TestRegionKey(t *testing.T) {
	for start, want := range map[string]string{
		`/" "`: " ", `/"@"`: "@", `/"\x80"`: "\x80", `…/1/"\x80"/"us"`: "\x80", `/"@"/"eu"/"02ab"`: "@",
		`/"@"/PrefixEnd`: "", ``: "", `…/<TableMin>`: "", `<before:/Table/106>`: "",
	} {
		got, ok := db.RegionKey(start)
		require.Equal(t, want, got, start)
		require.Equal(t, want != "", ok, start)
	}
}
