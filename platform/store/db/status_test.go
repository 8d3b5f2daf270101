package db_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

func TestStatus(t *testing.T) {
	url := testdb.New(t)
	s := open(t, url)
	status := func() db.Status {
		t.Helper()
		status, err := s.Status(t.Context(), region.EU)
		require.NoError(t, err)
		require.NotEmpty(t, status.Version)
		status.Version = ""
		return status
	}
	require.Zero(t, status())
	require.ErrorContains(t, status().Check("own"), "schema version is 0, required is ")
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url}))
	require.Equal(t, db.Status{SchemaVersion: db.TargetVersion()}, status())
	require.NoError(t, status().Check("own"))
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: url, Identity: "own"}))
	require.Equal(t, db.Status{SchemaVersion: db.TargetVersion(), Identity: "own"}, status())
	require.NoError(t, status().Check("own"))
	require.ErrorIs(t, status().Check("another"), db.ErrOtherNetwork)
	require.NoError(t, db.Status{SchemaVersion: db.TargetVersion() + 1}.Check("own"), "a newer schema")
}

// TestStatusOfABusyHome uses all connections of a home: the last status holds while it answers other statements.
func TestStatusOfABusyHome(t *testing.T) {
	s := open(t, dbtest.New(t))
	first, err := s.Status(t.Context(), region.EU)
	require.NoError(t, err)
	release, err := s.TakeConnections(t.Context(), region.EU)
	require.NoError(t, err)
	defer release()
	s.SetAnswered(region.EU, time.Now().Add(time.Hour))
	last, err := s.Status(t.Context(), region.EU)
	require.NoError(t, err)
	require.Equal(t, first, last)
	s.SetAnswered(region.EU, time.Now().Add(-time.Hour))
	gone, leave := context.WithCancel(t.Context())
	leave()
	_, err = s.Status(gone, region.EU)
	require.Error(t, err, "it is asked, and waits for a connection")
}

// TestStatusOfAHomeThatRefuses checks that a home that refuses connections is dialed twice, and not at all while its breaker is open.
func TestStatusOfAHomeThatRefuses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	var dialed atomic.Int32
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			dialed.Add(1)
			_ = conn.Close()
		}
	}()
	s := open(t, "postgresql://plaza@"+l.Addr().String()+"/plaza?sslmode=disable", func(c *db.Config) { c.StatementTimeout = time.Minute })
	s.SetProbeTimer(func(time.Duration) <-chan time.Time { return nil })
	for range 3 {
		_, err = s.Status(t.Context(), region.EU)
		requireUnavailable(t, err)
		require.EqualValues(t, 2, dialed.Load())
	}
}

func TestEngine(t *testing.T) {
	engine, err := open(t, dbtest.New(t)).Engine(t.Context(), region.US)
	require.NoError(t, err)
	require.Equal(t, testdb.Cockroach(t), engine == db.CockroachDB)
}
