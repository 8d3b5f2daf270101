package db_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

func TestReleases(t *testing.T) {
	for version, want := range map[string]string{
		"CockroachDB CCL v24.3.0 (x86_64-pc-linux-gnu, built 2024/11/18, go1.22.8)": "",
		"CockroachDB CCL v25.4.1 (x86_64-pc-linux-gnu, built 2026/01/05, go1.25.5)": "",
		"CockroachDB CCL v100.1.0 (x86_64-pc-linux-gnu)":                            "",
		"CockroachDB OSS v24.2.9 (x86_64-pc-linux-gnu, built 2025/01/01, go1.22.8)": "the database is CockroachDB v24.2: Plaza requires " +
			"CockroachDB v24.3 or later",
		"CockroachDB CCL v22.1.0-beta.1 (darwin, built 2022/04/01)": "the database is CockroachDB v22.1: Plaza requires CockroachDB " +
			"v24.3 or later",
		"PostgreSQL 9.6.1 on x86_64-pc-linux-gnu, compiled by gcc (v12.2) ": "",
		"PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on x86_64-pc-linux-gnu":  "",
		"CockroachDB of a branch without a version":                         "",
		"": "",
	} {
		err := db.CheckRelease(version)
		if want == "" {
			require.NoError(t, err, version)
		} else {
			require.ErrorContains(t, err, want, version)
		}
	}
}

// oldCockroach makes the database tell, to those who connect with the URL that it returns, that it is an old CockroachDB.
func oldCockroach(t *testing.T, database string) string {
	t.Helper()
	_, err := connect(t, database).Exec(t.Context(), `CREATE SCHEMA old;
		CREATE FUNCTION old.version() RETURNS text LANGUAGE SQL AS $$ SELECT 'CockroachDB CCL v22.1.0 (x86_64-pc-linux-gnu)'::text $$`)
	require.NoError(t, err)
	u, err := url.Parse(database)
	require.NoError(t, err)
	query := u.Query()
	query.Set("search_path", "old,pg_catalog,public")
	u.RawQuery = query.Encode()
	return u.String()
}

const tooOld = "the database is CockroachDB v22.1: Plaza requires CockroachDB v24.3 or later"

// TestOldReleaseIsRefused checks that a migration changes nothing on an old release, and that servers are told why they cannot run.
func TestOldReleaseIsRefused(t *testing.T) {
	if testdb.Cockroach(t) {
		t.Skip("the test pretends an old release on PostgreSQL")
	}
	database := testdb.New(t)
	old := oldCockroach(t, database)
	require.EqualError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: old}), tooOld)
	current, _, err := db.MigrationStatus(t.Context(), database)
	require.NoError(t, err)
	require.Zero(t, current)

	requireStatus := func() {
		d := open(t, old)
		status, err := d.Status(t.Context(), region.EU)
		require.NoError(t, err)
		require.EqualError(t, status.Check(""), tooOld)
	}
	requireStatus()
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: database}))
	requireStatus()
}
