package app

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/config"
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
			db.Placement{Engine: db.CockroachDB}, db.ErrNotRegional, statusz.Unknown, statusz.ReasonNotRegional,
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
				cfg: config.Default(), now: func() time.Time { return at },
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
			require.Equal(t, "europe-west1", p.Want.Localities["eu"])
		})
	}
}

func TestPlacementNamesThePriceOfSurvivingARegion(t *testing.T) {
	cfg := config.Default()
	cfg.Survive = "region"
	r := &report{cfg: cfg, now: time.Now, placed: func(context.Context) (db.Placement, error) { return db.Placement{Engine: db.CockroachDB}, nil }}
	p := r.readPlacement(t.Context())
	require.Equal(t, statusz.Pinned, p.State)
	require.Contains(t, p.Message, "the replicas of all rows are in all regions")
}
