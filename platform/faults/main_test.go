//go:build faults

package faults

import (
	"net/http"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
)

func TestMain(m *testing.M) {
	if isServerProcess() {
		os.Exit(serveRegion())
	}
	os.Exit(apptest.Main(m))
}

// startAll starts a network with the servers of all regions: what fails may concern one that no client has called.
func startAll(t testing.TB, opts ...apptest.Option) *apptest.Network {
	t.Helper()
	n := apptest.Start(t, opts...)
	n.StartAll(t)
	return n
}

// object is a JSON object of a request.
type object = apptest.Object

// post sends a POST request that must succeed.
func post(t testing.TB, c *apptest.Client, path string, body any) *apptest.Response {
	t.Helper()
	return c.Do(t, http.MethodPost, path, body).OK(t)
}

// connect returns a connection to the database that is independent of the servers.
func connect(t testing.TB, n *apptest.Network) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), n.DatabaseURL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return conn
}

// rows returns the rows of a query as maps.
func rows(t testing.TB, conn *pgx.Conn, sql string, args ...any) []map[string]any {
	t.Helper()
	found, err := conn.Query(t.Context(), sql, args...)
	require.NoError(t, err)
	all, err := pgx.CollectRows(found, pgx.RowToMap)
	require.NoError(t, err, sql)
	return all
}
