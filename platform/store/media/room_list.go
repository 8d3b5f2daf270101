package media

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/core"
)

// RoomStatuses returns the statuses of a room.
func RoomStatuses() []string {
	return []string{"idle", "live", "waitingReconnect", "ended", "recorded", "terminated", "error"}
}

// RoomTypes returns the types of a room.
func RoomTypes() []string { return []string{"directStreaming", "coHosts"} }

// The statements of ListRooms.
var (
	roomsByStatus        = roomList("", `type = $2 AND status = $6 AND NOT is_deleted`)
	deletedRoomsByStatus = roomList("Deleted", `type = $2 AND status = $6 AND is_deleted`)
	liveRoomsByTarget    = roomList("LiveOfTarget", `target_id = $2 AND status = 'live' AND NOT is_deleted`)
	liveRoomsByType      = roomList("LiveOfType", `target_type = $2 AND status = 'live' AND NOT is_deleted`)
)

func roomList(name, where string) core.Directions {
	return core.OrderedBy(core.CreatedOrders, "created_at", core.Source{
		Name: "rooms.list" + name, Columns: roomColumns, From: `rooms WHERE home = $1 AND ` + where, After: 3,
	}.List)
}

// RoomList is a page of the rooms of all homes.
type RoomList struct {
	Types    []string // distinct; empty means all
	Statuses []string // distinct; empty means all
	Deleted  bool     // deleted rooms instead of the others
	// Live lists the rooms that are live in posts, on TargetIDs or, if empty, on TargetTypes. It ignores the fields
	// above.
	Live        bool
	TargetIDs   []string // distinct internal ids
	TargetTypes []string
	Desc        bool
	// The position that the page starts after.
	After   time.Time
	AfterID string
	Limit   int
}

// ListRooms reads up to Limit rooms for each home, type and status, or for each home and target. The caller merges
// them.
func (r ReadBatch) ListRooms(l RoomList, into *[]Room) {
	*into = nil
	read := func(list core.Directions, key string, more ...any) {
		core.ReadEveryHome(r.ReadBatch, list.In(l.Desc), into, append([]any{key, l.After, l.AfterID, l.Limit}, more...)...)
	}
	switch {
	case l.Live && len(l.TargetIDs) > 0:
		for _, id := range l.TargetIDs {
			read(liveRoomsByTarget, id)
		}
	case l.Live:
		for _, kind := range l.TargetTypes {
			read(liveRoomsByType, kind)
		}
	default:
		for _, kind := range core.OrAll(l.Types, RoomTypes()) {
			for _, status := range core.OrAll(l.Statuses, RoomStatuses()) {
				read(core.Pick(l.Deleted, deletedRoomsByStatus, roomsByStatus), kind, status)
			}
		}
	}
}
