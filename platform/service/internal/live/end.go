package live

import (
	"context"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
)

// maxEnds is the maximum number of broadcasts of a user whose end by a ban is announced.
const maxEnds = 100

// EmitEnds writes the realtime events to the outbox of tx that moderation ends rooms and streams. Those that have not started are
// watched by few and have none.
func EmitEnds(ctx context.Context, d *service.Deps, tx *store.Tx, open []communities.OpenBroadcast) []core.OutboxRow {
	var rooms, streams []events.Change
	for _, b := range open {
		switch {
		case !b.Started || len(rooms)+len(streams) >= maxEnds:
		case b.IsRoom:
			rooms = append(rooms, d.RoomChange(b.ID))
		default:
			streams = append(streams, d.StreamChange(b.ID))
		}
	}
	return append(d.EmitChanges(ctx, tx, "room.terminated", rooms), d.EmitChanges(ctx, tx, "video-streaming.didTerminate", streams)...)
}
