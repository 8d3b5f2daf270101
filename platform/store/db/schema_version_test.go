package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// TestSchemaVersions checks that each home has the version of the schema, that the database has the lowest one of its
// homes, and that a migration completes an interrupted one but does not lower the version of a newer program.
func TestSchemaVersions(t *testing.T) {
	url := testdb.New(t)
	s := open(t, url)
	versionOf := func(home region.Code) int64 {
		t.Helper()
		status, err := s.Status(t.Context(), home)
		require.NoError(t, err)
		return status.SchemaVersion
	}
	require.Zero(t, versionOf(region.EU))
	migrate := func() { require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url})) }
	migrate()
	for _, home := range region.All() {
		require.Equal(t, db.TargetVersion(), versionOf(home))
	}

	conn := connect(t, url)
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := conn.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	exec("DELETE FROM schema_versions WHERE home = 'sg'")
	exec("UPDATE schema_versions SET version = 5 WHERE home = 'eu'")
	exec("UPDATE schema_versions SET version = $1 WHERE home = 'us'", db.TargetVersion()+1)
	require.Zero(t, versionOf(region.SG))
	current, _, err := db.MigrationStatus(t.Context(), url)
	require.NoError(t, err)
	require.Zero(t, current, "sg has no version")
	migrate()
	requireMigrated(t, url)
	require.Equal(t, db.TargetVersion(), versionOf(region.SG))
	require.Equal(t, db.TargetVersion(), versionOf(region.EU))
	require.Equal(t, db.TargetVersion()+1, versionOf(region.US))
}
