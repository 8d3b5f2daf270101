package content

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// EventRsvp is a row of event_rsvps: the answer of a user to an event. It is stored at the home of the event.
type EventRsvp struct {
	EventID     string
	UserID      string // internal id
	Status      string // one of RsvpStatuses
	RespondedAt time.Time
	CreatedAt   time.Time
}

// The answers to an event.
const (
	RsvpGoing      = "going"
	RsvpInterested = "interested"
	RsvpNotGoing   = "not_going"
)

// RsvpStatuses returns the answers to an event.
func RsvpStatuses() []string { return []string{RsvpGoing, RsvpInterested, RsvpNotGoing} }

// CountRsvps returns the kind of the count of an answer to an event.
func CountRsvps(status string) core.CounterKind { return core.CounterKind("rsvp:" + status) }

var rsvpColumns = db.Columns[EventRsvp]()

var (
	sqlRsvpsOf = db.Register("eventRsvps.ofUser", `SELECT `+rsvpColumns+` FROM event_rsvps WHERE home = $1 AND event_id = ANY($2::text[])
		AND user_id = $3`)
	sqlRsvpInsert = db.Register("eventRsvps.insert", `INSERT INTO event_rsvps (home, event_id, user_id, status, responded_at, created_at) VALUES ($1,
		$2, $3, $4, $5, $5)`)
	sqlRsvpUpdate = db.Register("eventRsvps.update", `WITH updated AS (UPDATE event_rsvps SET status = $5, responded_at = $6
		WHERE home = $1 AND event_id = $2 AND user_id = $3 AND status = $4 RETURNING user_id) SELECT 1 / count(*) FROM updated`)

	rsvpsOfEvent = rsvpList("OfEvent", "event_id", "user_id")
	rsvpsOfUser  = rsvpList("OfUser", "user_id", "event_id")
)

// rsvpList registers the statements of a list of the answers with one status of the event or user in the column of.
func rsvpList(name, of, id string) core.Directions {
	return core.OrderedBy(core.PlainOrders, "responded_at", core.Source{
		Name: "eventRsvps.list" + name, Columns: rsvpColumns,
		From: `event_rsvps WHERE home = $1 AND ` + of + ` = $2 AND status = $3`, ID: id, After: 4,
	}.List)
}

// RsvpsOf reads a user's answers to events of any homes and appends them to into.
func (r ReadBatch) RsvpsOf(eventIDs []string, userID string, into *[]EventRsvp) {
	core.AddMany(r.ReadBatch, eventIDs, sqlRsvpsOf, into, userID)
}

// RsvpList is a page of the answers to an event or of a user.
type RsvpList struct {
	EventID  string
	UserID   string   // internal id; one of the two is set
	Statuses []string // distinct; empty means all
	Desc     bool
	// The position that the page starts after.
	After   time.Time
	AfterID string
	Limit   int
}

// ListRsvps reads up to Limit answers of each home concerned and each status, in no particular order. The caller merges
// them.
func (r ReadBatch) ListRsvps(l RsvpList, into *[]EventRsvp) {
	*into = nil
	for _, status := range core.OrAll(l.Statuses, RsvpStatuses()) {
		if l.EventID != "" {
			core.AppendRows(r.ReadBatch, r.HomeOrNone(l.EventID), rsvpsOfEvent.In(l.Desc), into, l.EventID, status, l.After, l.AfterID, l.Limit)
			continue
		}
		core.ReadEveryHome(r.ReadBatch, rsvpsOfUser.In(l.Desc), into, l.UserID, status, l.After, l.AfterID, l.Limit)
	}
}

// InsertRsvp inserts and counts the answer of a user to an event. The transaction fails with closed if the event is
// deleted, cancelled or over, and with exists if the user has answered.
func (w Tx) InsertRsvp(a EventRsvp, closed, exists error) {
	w.Guard(sqlPlannedEventGuard, closed, a.EventID, a.RespondedAt)
	w.Exec(sqlRsvpInsert, a.EventID, a.UserID, a.Status, a.RespondedAt).OnConflict("event_rsvps_pkey", exists)
	w.Count(a.EventID, CountRsvps(a.Status), +1)
}

// UpdateRsvp changes and counts the answer of a user from the one that was read. The transaction fails with closed if the
// event is deleted, cancelled or over, and with conflict if the answer has changed since.
func (w Tx) UpdateRsvp(read, changed EventRsvp, closed, conflict error) {
	w.Guard(sqlPlannedEventGuard, closed, read.EventID, changed.RespondedAt)
	w.Guard(sqlRsvpUpdate, conflict, read.EventID, read.UserID, read.Status, changed.Status, changed.RespondedAt)
	if read.Status != changed.Status {
		w.Count(read.EventID, CountRsvps(read.Status), -1)
		w.Count(read.EventID, CountRsvps(changed.Status), +1)
	}
}
