package realtime

import (
	"cmp"
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/eventlog"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func (h *Hub) readEvent(ctx context.Context, home region.Code, _ eventlog.LoggedEvent, c events.Change) (proto.Message, audience, error) {
	a, err := h.eventOf(ctx, home, c, []content.EventRsvp{})
	return view.Fill(a, &plazav1.EventResponse{}), everyone, err
}

func (h *Hub) readEventRsvp(
	ctx context.Context, home region.Code, _ eventlog.LoggedEvent, c events.Change,
) (proto.Message, audience, error) {
	rsvps := []content.EventRsvp{}
	reads := h.Store.NewBestEffortBatch()
	reads.RsvpsOf([]string{c.ID}, c.OtherID, &rsvps)
	if err := h.run(ctx, reads, home); err != nil || len(rsvps) == 0 {
		return nil, nil, cmp.Or(err, errGone)
	}
	a, err := h.eventOf(ctx, home, c, rsvps)
	return view.Fill(a, &plazav1.EventRsvpResponse{}), everyone, err
}

// eventOf reads the event of a change, for a response with the given answers.
func (h *Hub) eventOf(ctx context.Context, home region.Code, c events.Change, rsvps []content.EventRsvp) (*view.EventAggregate, error) {
	var wall content.Wall
	var place view.Rows
	rows := view.EventRows{Rsvps: rsvps}
	reads := h.Store.NewBestEffortBatch()
	reads.PlannedEvents([]string{c.ID}, &rows.Events)
	h.readPlace(reads, c.Place, &place)
	if c.Place.Kind == events.PlaceWall {
		reads.Wall(c.Place.ID, "", &wall)
	}
	if err := h.run(ctx, reads, home); err != nil || len(rows.Events) == 0 {
		return nil, cmp.Or(err, errGone)
	}
	rows.Communities, rows.IsPrivate = place.Communities, wall.Private
	return h.View.LoadEvents(ctx, h.Store, "", rows)
}
