package store

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
)

// RoomStatuses are the states of a room.
func RoomStatuses() []string {
	return []string{"idle", "live", "waitingReconnect", "ended", "recorded", "terminated", "error"}
}

// RoomTypes are the types of a room.
func RoomTypes() []string { return []string{"directStreaming", "coHosts"} }

// roomLists are the statements of ListRooms and ListLiveRooms by what they list and order.
var roomLists = makeRoomLists()

func makeRoomLists() map[string]*Statement {
	lists := map[string]*Statement{}
	for name, where := range map[string]string{
		"":             `type = $2 AND status = $6 AND deleted_at IS NULL`,
		"Deleted":      `type = $2 AND status = $6 AND deleted_at IS NOT NULL`,
		"LiveOfTarget": `target_id = $2 AND status = 'live' AND deleted_at IS NULL`,
		"LiveOfType":   `target_type = $2 AND status = 'live' AND deleted_at IS NULL`,
	} {
		for _, o := range []listOrder{orderCreatedDesc, orderCreatedAsc} {
			lists[name+o.name] = stmt("rooms.list"+name+o.name, `SELECT `+roomColumns+` FROM rooms WHERE home = $1 AND `+where+
				` AND `+o.after("created_at", "id", "$3::timestamptz", "$4")+` ORDER BY `+o.by("created_at", "id")+` LIMIT $5::bigint`)
		}
	}
	return lists
}

// RoomList is a page of the rooms of all homes.
type RoomList struct {
	Types    []string // each once; empty means both
	Statuses []string // each once; empty means all
	Deleted  bool     // only deleted ones, instead of only the others
	// Live lists those that are live in posts, whatever is said above: on TargetIDs, or where those are none, on TargetTypes.
	Live        bool
	TargetIDs   []string // internal ids, each once
	TargetTypes []string
	Desc        bool
	// The position after which the page starts.
	After   time.Time
	AfterID string
	Limit   int
}

// ListRooms reads up to Limit rooms for each home, type and state, or for each home and target; the caller merges them.
func (r *ReadBatch) ListRooms(l RoomList, into *[]Room) {
	*into = nil
	for _, home := range region.All() {
		switch {
		case l.Live && len(l.TargetIDs) > 0:
			for _, id := range l.TargetIDs {
				r.listRooms(home, "LiveOfTarget", l, into, id)
			}
		case l.Live:
			for _, kind := range l.TargetTypes {
				r.listRooms(home, "LiveOfType", l, into, kind)
			}
		default:
			r.listRoomsByStatus(home, l, into)
		}
	}
}

func (r *ReadBatch) listRoomsByStatus(home region.Code, l RoomList, into *[]Room) {
	name := ""
	if l.Deleted {
		name = "Deleted"
	}
	types, statuses := l.Types, l.Statuses
	if len(types) == 0 {
		types = RoomTypes()
	}
	if len(statuses) == 0 {
		statuses = RoomStatuses()
	}
	for _, kind := range types {
		for _, status := range statuses {
			r.listRooms(home, name, l, into, kind, status)
		}
	}
}

func (r *ReadBatch) listRooms(home region.Code, name string, l RoomList, into *[]Room, key string, more ...any) {
	part := new([]Room)
	st := roomLists[name+pick(l.Desc, orderCreatedDesc, orderCreatedAsc).name]
	r.add(home, st, scanAll(part, scanRoom), append([]any{key, l.After, l.AfterID, l.Limit}, more...)...)
	r.Then(func() { *into = append(*into, *part...) })
}
