package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/statusz"
	"github.com/plaza-social/plaza/platform/store/db"
)

func TestPlacementOf(t *testing.T) {
	at := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)
	posts, database := db.TablePlacement{Table: "posts", Has: "GLOBAL"}, db.TablePlacement{Has: "no region x"}
	for name, c := range map[string]struct {
		found                  db.Placement
		err                    error
		state, reason, message string
		notPinned              int
	}{
		"pinned":     {db.Placement{Engine: db.CockroachDB}, nil, statusz.Pinned, statusz.ReasonAllTablesPinned, "", 0},
		"postgresql": {db.Placement{Engine: db.PostgreSQL}, db.ErrNoPlacement, statusz.Unknown, statusz.ReasonNoPlacement, "", 0},
		"without regions": {
			db.Placement{Engine: db.CockroachDB},
			db.ErrNotRegional, statusz.Unknown, statusz.ReasonNotRegional,
			"not regional: the nodes of the CockroachDB cluster have no localities", 0,
		},
		"a table": {db.Placement{Misplaced: []db.TablePlacement{posts}}, nil, statusz.NotPinned, statusz.ReasonTablesNotPinned, "", 1},
		"the database": {
			db.Placement{Misplaced: []db.TablePlacement{database}}, nil, statusz.NotPinned, statusz.ReasonDatabaseRegionsDiffer, "", 1,
		},
		"both": {
			db.Placement{Misplaced: []db.TablePlacement{database, posts}}, nil, statusz.NotPinned, statusz.ReasonTablesNotPinned, "", 2,
		},
		"failed": {db.Placement{}, errors.New("no\npermission"), statusz.Unknown, statusz.ReasonCheckFailed, "no permission", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := &report{
				dependencies: &dependencies{cfg: config.Default()}, now: func() time.Time { return at },
				placed: func(context.Context) (db.Placement, error) { return c.found, c.err },
			}
			p := r.readPlacement(t.Context())
			require.Equal(t, p, r.placement)
			require.Equal(t, c.state, p.State)
			require.Equal(t, c.reason, p.Reason)
			require.Equal(t, c.message, p.Message)
			require.NotNil(t, p.NotPinned)
			require.Len(t, p.NotPinned, c.notPinned)
			require.Equal(t, at, p.CheckedAt)
			require.Equal(t, c.state != statusz.Unknown, r.placedAt.Equal(at), "when it was last known")
			require.Equal(t, "europe-west1", p.Want.Localities["eu"])
		})
	}
}

func TestPlacementNamesThePriceOfSurvivingARegion(t *testing.T) {
	cfg := config.Default()
	cfg.Survive = "region"
	r := &report{dependencies: &dependencies{cfg: cfg}, now: time.Now, placed: func(context.Context) (db.Placement, error) {
		return db.Placement{Engine: db.CockroachDB}, nil
	}}
	p := r.readPlacement(t.Context())
	require.Equal(t, statusz.Pinned, p.State)
	require.Contains(t, p.Message, "the replicas of all rows are in all regions")
}

// TestPlacementIsWatched checks the placement more often while it is not as configured, or the check fails.
func TestPlacementIsWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		start, placed := time.Now(), db.Placement{Engine: db.CockroachDB}
		misplaced := db.Placement{Engine: db.CockroachDB, Misplaced: []db.TablePlacement{{Table: "posts"}}}
		var at []time.Duration
		r := &report{dependencies: &dependencies{cfg: config.Default()}, now: time.Now, placed: func(context.Context) (db.Placement, error) {
			at = append(at, time.Since(start))
			switch len(at) {
			case 1:
				return misplaced, nil
			case 2:
				return db.Placement{}, errors.New("no answer")
			case 3:
				return placed, nil
			case 4:
				return db.Placement{Engine: db.PostgreSQL}, db.ErrNoPlacement
			}
			stop()
			return placed, nil
		}}
		require.NoError(t, r.watchPlacement(ctx))
		require.Equal(t, []time.Duration{0, 30 * time.Second, time.Minute, 6 * time.Minute, 11 * time.Minute}, at)
	})
}

// TestStatesOfHomes keeps the status of a home and its time while the home does not answer.
func TestStatesOfHomes(t *testing.T) {
	now := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)
	h := newHomeStates(nil, "")
	h.now = func() time.Time { return now }
	_, asked := h.last(region.US)
	require.False(t, asked)
	away := errors.New("no answer")
	for _, c := range []struct {
		version int64
		err     error
		want    homeState
	}{
		{0, away, homeState{err: away}},
		{7, nil, homeState{status: db.Status{SchemaVersion: 7}, asOf: now.Add(time.Second)}},
		{0, away, homeState{status: db.Status{SchemaVersion: 7}, asOf: now.Add(time.Second), err: away}},
		{8, nil, homeState{status: db.Status{SchemaVersion: 8}, asOf: now.Add(3 * time.Second)}},
	} {
		h.put(region.US, db.Status{SchemaVersion: c.version}, c.err)
		state, asked := h.last(region.US)
		require.True(t, asked)
		require.Equal(t, c.want, state)
		now = now.Add(time.Second)
	}
	_, asked = h.last(region.EU)
	require.False(t, asked)
}

func TestSince(t *testing.T) {
	now := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)
	for want, at := range map[time.Duration]time.Time{time.Minute: now.Add(-time.Minute), 0: {}} {
		require.Equal(t, want, *since(at, now))
	}
	require.Zero(t, *since(now.Add(time.Minute), now), "it is not due yet")
}

// TestEvacuatedStatus checks what a server says about the regions that are evacuated to it.
func TestEvacuatedStatus(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	require.Nil(t, evacuatedStatus(nil, now))
	path := filepath.Join(t.TempDir(), "evacuation.json")
	e, err := auth.OpenEvacuation(path, auth.WithLogger(slog.New(slog.DiscardHandler)), auth.WithClock(func() time.Time { return now }))
	require.NoError(t, err)
	got := evacuatedStatus(e, now)
	require.Equal(t, []statusz.EvacuatedRegion{}, got.Regions)

	key := func(id string, notAfter time.Time) auth.EvacuatedKey {
		return auth.NewEvacuatedKey(id, "a-server-key-of-"+id, notAfter)
	}
	file := auth.EvacuationFile{Regions: []auth.EvacuatedRegion{
		{Region: "us", ServerKeys: []auth.EvacuatedKey{key("k1", now.Add(time.Hour)), key("k2", now.Add(-time.Hour))}},
		{Region: "eu", ServerKeys: []auth.EvacuatedKey{key("k3", now.Add(time.Hour))}},
	}}
	require.NoError(t, os.WriteFile(path, file.Content(), 0o600))
	e, err = auth.OpenEvacuation(path, auth.WithLogger(slog.New(slog.DiscardHandler)), auth.WithClock(func() time.Time { return now }))
	require.NoError(t, err)
	got = evacuatedStatus(e, now)
	require.Equal(t, []statusz.EvacuatedRegion{
		{Region: "eu", ServerKeys: []statusz.Key{{ID: "k3", NotAfter: now.Add(time.Hour), Valid: true}}},
		{Region: "us", ServerKeys: []statusz.Key{
			{ID: "k1", NotAfter: now.Add(time.Hour), Valid: true},
			{ID: "k2", NotAfter: now.Add(-time.Hour)},
		}},
	}, got.Regions)
	require.Equal(t, now, got.CheckedAt)
	require.Empty(t, got.Error)
}
