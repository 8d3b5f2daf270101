package store_test

import (
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/network"
)

// Most servers have stopped, which an actual table has for a day only.
var _ = planned((*collector).collectServers,
	`INSERT INTO servers (home, id, version, capabilities, seen_at)
		SELECT HOME(n), ID(s, n, n), 'v1', '{moves}', now() - n * INTERVAL '10 seconds' FROM generate_series(1, 6000) AS n`,
)

func (c *collector) collectServers() {
	var servers []network.Server
	c.write(func(w *store.Tx) { w.AnnounceServer(network.Server{ID: region.NewID(region.US), Version: "v1"}) })
	c.write(func(w *store.Tx) { w.WithdrawServer(region.NewID(region.US)) })
	c.reads(func(r *store.ReadBatch) { r.ServersWithout("other", &servers) })
	c.reads(func(r *store.ReadBatch) { r.ServersBehind(userID(3), 2, new(bool)) })
}
