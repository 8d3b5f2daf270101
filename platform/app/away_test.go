package app_test

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/dburl"
	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// silentDatabase accepts connections and never answers, as the database of a region does that is away.
func silentDatabase(t *testing.T) dburl.URL {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		var open []net.Conn
		defer func() {
			for _, conn := range open {
				_ = conn.Close()
			}
		}()
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open = append(open, conn)
		}
	}()
	return dburl.MustParse("postgresql://plaza@" + l.Addr().String() + "/plaza")
}

// TestServesAloneWhileOtherRegionsAreAway starts a server whose own home is the only one that answers. It becomes ready,
// and every background job works. The tables of the migrations, which CockroachDB keeps in the primary region, are locked:
// nothing that a server runs may read them.
func TestServesAloneWhileOtherRegionsAreAway(t *testing.T) {
	url := testdb.New(t)
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url}))
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	locks, err := conn.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	if !testdb.Cockroach(t) {
		_, err = locks.Exec(t.Context(), "LOCK TABLE goose_db_version, goose_lock IN ACCESS EXCLUSIVE MODE")
		require.NoError(t, err)
	}

	cfg := fullConfig(t, url)
	cfg.StorageURL = config.StorageURL("file://" + t.TempDir())
	cfg.StatementTimeout = config.Duration(500 * time.Millisecond)
	cfg.DatabaseURLUS, cfg.DatabaseURLSG = silentDatabase(t), silentDatabase(t)
	require.Equal(t, region.EU, cfg.Region)
	r := run(t, cfg)
	require.Eventually(t, func() bool { return r.Ready(t.Context()).Ready }, patience, 10*time.Millisecond)
	status, _ := get(t, http.DefaultClient, "http://"+r.APIAddr()+"/api/v3/posts/unknown")
	require.Equal(t, http.StatusUnauthorized, status)
	require.Eventually(t, func() bool { return len(r.DrainJobs(t.Context())) == 0 }, patience, time.Millisecond)
}
