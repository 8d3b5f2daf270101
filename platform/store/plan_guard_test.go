package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// TestGuardsRefuseWithoutRows runs every guard that counts rows in an empty database, where it has to refuse. What else they require is
// tested where transactions are refused, see TestGuards of package conformance.
func TestGuardsRefuseWithoutRows(t *testing.T) {
	url := dbtest.New(t)
	conn := connect(t, url)
	samples := newCollector(t, open(t, url)).collect()
	_, err := conn.Exec(t.Context(), emptyTables())
	require.NoError(t, err)
	guards := 0
	for _, s := range samples {
		if !strings.Contains(s.SQL, "SELECT 1 / count(*)") {
			continue
		}
		guards++
		_, err := conn.Exec(t.Context(), s.SQL, s.Args...)
		refused, ok := errors.AsType[*pgconn.PgError](err)
		require.True(t, ok && refused.Code == divisionByZero, "%s does not refuse: %v", s.name, err)
	}
	require.Positive(t, guards)
}
