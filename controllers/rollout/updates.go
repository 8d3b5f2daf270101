package rollout

import (
	"slices"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

// templateUpdates returns the regions that get the template of the spec in this pass.
//
// A region that is new or evacuated, or has the template already, always gets it; one with another template may if
// spec.rollout.maxRegionsRolling allows one more region to roll.
func (r *run) templateUpdates() map[*region]bool {
	r.reportProgress()
	updates := map[*region]bool{}
	for _, g := range r.regions {
		if !g.waitsForTurn() {
			updates[g] = g.hasTemplate() || r.canStart(g)
		}
	}
	queue, slots := r.queue(), r.freeSlots()
	if slots == 0 && len(queue) > 0 { // the requests that fail are reported before the region has soaked
		r.setHold(r.failing())
	}
	for _, g := range queue[:min(slots, len(queue))] {
		updates[g] = r.mayBegin(g)
	}
	return updates
}

// reportProgress records that the network is being updated, before it asks whether further updates may begin.
func (r *run) reportProgress() {
	if slices.ContainsFunc(r.regions, func(g *region) bool { return g.isRolling() && !g.isEvacuated() }) {
		r.pass.UpdateInProgress()
	}
}

// waitsForTurn reports whether a region waits until other regions are updated. No other region waits for an evacuated one.
//
// A template that was edited by hand is restored in the same order: if the edit was made for a good reason, only one region
// suffers. But a region that has unavailable pods since gets its template back immediately, regardless of the other regions
// and of the schema: its template has run before.
func (g *region) waitsForTurn() bool {
	return !g.isEvacuated() && (g.state == outdated || g.state == drifted && !hasUnavailable(g.live))
}

// queue returns the regions that wait for their turn and could start. Those with incomplete rollouts come first, so that a fix reaches them
// before it reaches healthy regions.
func (r *run) queue() []*region {
	var incomplete, healthy []*region
	for _, g := range r.regions {
		switch {
		case !g.waitsForTurn() || !r.canStart(g):
		case IsComplete(g.live):
			healthy = append(healthy, g)
		default:
			incomplete = append(incomplete, g)
		}
	}
	return append(incomplete, healthy...)
}

// freeSlots returns how many more regions may roll. Those of a paused network all may: its changes are only listed.
func (r *run) freeSlots() int {
	if r.pass.SN.Spec.Paused {
		return len(r.regions)
	}
	slots := int(max(r.pass.SN.Spec.Rollout.MaxRegionsRolling, 1))
	for _, g := range r.regions {
		isRestored := g.state == drifted && !g.waitsForTurn()
		if !g.isEvacuated() && (g.isRolling() || g.state == degraded || isRestored) {
			slots--
		}
	}
	return max(slots, 0)
}

// canStart reports whether the update of a region is applied, or listed for a paused network.
func (r *run) canStart(g *region) bool { return r.pass.SN.Spec.Paused || r.mayStart(g) }

// mayStart reports whether new pods of a region could start: the database has their schema, and no Secret that they read is missing.
func (r *run) mayStart(g *region) bool {
	return r.pass.SchemaReady && !slices.ContainsFunc(r.pass.Status.MissingKeys, func(secret string) bool {
		return !slices.ContainsFunc(v1alpha1.RegionCodes(), func(code v1alpha1.RegionCode) bool {
			return code != g.spec.Code && secret == render.ServerKeysSecret(r.pass.SN.Name, code)
		})
	})
}

// mayBegin reports whether the update of a region may begin now. One that is in progress and did not succeed may be replaced by another
// at any time, and one whose pods fail too many requests may be taken back.
func (r *run) mayBegin(g *region) bool {
	if !allUpdated(g.live) || r.isTakenBack(g) {
		return true
	}
	hold := r.failing()
	if hold.Reason == "" {
		hold = r.pass.HoldUpdate()
	}
	r.setHold(hold)
	return hold.Reason == ""
}

// setHold records why the update of a region that waits may not begin; the zero Hold if it may.
func (r *run) setHold(hold stage.Hold) {
	r.hold = hold
	r.out.RequeueAfter(hold.Again)
}
