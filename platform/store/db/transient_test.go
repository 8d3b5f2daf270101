package db_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/store/db"
)

func TestTransient(t *testing.T) {
	state := func(code string) error { return fmt.Errorf("schema step 3: %w", &pgconn.PgError{Code: code}) }
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"interrupted":         {fmt.Errorf("step: %w", context.Canceled), true},
		"out of time":         {context.DeadlineExceeded, true},
		"serialization":       {state("40001"), true},
		"shutdown":            {state("57P01"), true},
		"starting":            {state("57P03"), true},
		"too many clients":    {state("53300"), true},
		"connection lost":     {state("08006"), true},
		"lock":                {state("55P03"), true},
		"wrong password":      {state("28P01"), false},
		"no such database":    {state("3D000"), false},
		"no permission":       {state("42501"), false},
		"syntax":              {state("42601"), false},
		"another error":       {errors.New("the address is not a database URL"), false},
		"nothing on the port": {db.Migrate(t.Context(), db.MigrateOptions{URL: "postgresql://plaza@127.0.0.1:1/plaza"}), true},
	} {
		t.Run(name, func(t *testing.T) {
			require.Error(t, c.err)
			require.Equal(t, c.want, db.Transient(c.err), "%v", c.err)
		})
	}
}

func TestMissingDatabaseIsNotTransient(t *testing.T) {
	err := db.Migrate(t.Context(), db.MigrateOptions{URL: withDatabase(t, testdb.New(t), "no_such_database")})
	require.Error(t, err)
	require.False(t, db.Transient(err), "%v", err)
}

// withDatabase is url with another database in its path.
func withDatabase(t *testing.T, address, name string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	u.Path = "/" + name
	return u.String()
}
