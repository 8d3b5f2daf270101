package erasure

import (
	"context"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
	"github.com/plaza-social/plaza/platform/store/network"
)

// publish stores a state of the erasure at every home, where servers read it. A server that follows RouteErasing has ended the
// requests that began before it knew, and no longer finds the user by a cached public id.
func (r *run) publish(ctx context.Context, state lifecycle.MoveState) error {
	return r.Store.CommitAtHomes(ctx, func(tx *store.Tx) {
		tx.SetErasureRoute(r.erasure.ID, r.HomeOf(r.erasure.ID), state, r.version(state))
	})
}

// version returns the version of the route of the user in a state. It is higher than that of any move.
func (r *run) version(state lifecycle.MoveState) int64 {
	version := r.erasure.RequestedAt.UnixMilli()
	if state == lifecycle.RouteErased {
		version++
	}
	return version
}

// awaitServers waits until all running servers follow the erasure, and reports whether they do within the limit. A server that
// does not answer counts as running for a minute.
func (r *run) awaitServers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, r.Store.Limits().FollowErasure)
	defer cancel()
	unable, err := service.Read(ctx, r.Deps, (*store.ReadBatch).ServersWithout, network.CapabilityErasures)
	if err != nil || len(unable) > 0 {
		return false
	}
	return r.Store.AwaitServers(ctx, r.erasure.ID, r.version(lifecycle.RouteErasing)) == nil
}
