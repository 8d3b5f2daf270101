package visibility

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/content"
)

// RequireSeeEvent returns the origin of an event that users attend, in a round trip of its own. It is an error unless the
// caller may read what is published there, and 400400 if the event is nil or deleted.
func RequireSeeEvent(ctx context.Context, d *service.Deps, caller *auth.Caller, e *content.PlannedEvent) (Target, error) {
	if e == nil || e.DeletedAt != nil {
		return Target{}, fail.NotFound()
	}
	targets, err := LoadTargets(ctx, d, caller, map[string]string{e.OriginID: e.OriginType})
	if err != nil {
		return Target{}, err
	}
	return targets[e.OriginID], targets[e.OriginID].RequireSee(caller)
}

// VisibleEvents returns the events that are not deleted and whose origin the caller may read, in their order.
func (t Targets) VisibleEvents(caller *auth.Caller, events []content.PlannedEvent) []content.PlannedEvent {
	var visible []content.PlannedEvent
	for _, e := range events {
		if e.DeletedAt == nil && t[e.OriginID].RequireSee(caller) == nil {
			visible = append(visible, e)
		}
	}
	return visible
}
