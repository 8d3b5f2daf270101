package visibility

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
)

// LoadTargets reads the places of many things. targets holds the type, `community` or `user`, by internal id. A place that is not
// there, or whose home does not answer, is nowhere: its RequireSee refuses.
func LoadTargets(ctx context.Context, d *service.Deps, caller *auth.Caller, targets map[string]string) (map[string]Target, error) {
	places := map[string]Target{}
	walls := map[string]*store.Wall{}
	var ids []string
	for id, kind := range targets {
		if kind == "user" {
			walls[id] = &store.Wall{Blocked: caller.UserID != ""} // until its home says otherwise
		} else {
			ids = append(ids, id)
		}
	}
	var communities []store.Community
	var members []store.Member
	reads := d.Store.NewBestEffortBatch()
	reads.Communities(ids, &communities)
	if caller.UserID != "" {
		reads.Memberships(caller.UserID, ids, &members)
		for ownerID, wall := range walls {
			reads.Wall(ownerID, caller.UserID, wall)
		}
	}
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	for ownerID, wall := range walls {
		places[ownerID] = Target{WallOwnerID: ownerID, Wall: *wall}
	}
	for i := range communities {
		place := Target{Community: &communities[i]}
		if at := slices.IndexFunc(members, func(m store.Member) bool { return m.CommunityID == communities[i].ID }); at >= 0 {
			place.Member = &members[at]
		}
		places[communities[i].ID] = place
	}
	return places, nil
}
