package network

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// The kinds of actors of audit events.
const (
	ActorAdministrator = "administrator" // the holder of an administrator's token; Actor is the name in it
	ActorUser          = "user"          // Actor is the internal id
	ActorServerKey     = "serverKey"     // Actor is the id of the key
	ActorMediaServer   = "mediaServer"   // Actor is empty: there is one media key
)

// AuditEvent is a row of audit_events: what an actor did by a privilege.
type AuditEvent struct {
	At         time.Time
	ID         string
	ActorKind  string
	Actor      string
	KeyID      string   // of the server key or API key that was presented
	Roles      []string // the user's, in the network and in the community or channel concerned
	Permission string   // that the user exercised
	Operation  string   // such as UserService/BanUser
	Targets    []byte   // JSON array of AuditTarget
	RequestID  string
}

// AuditTarget is an object that an operation concerns.
type AuditTarget struct {
	Type string `json:"type"`
	ID   string `json:"id"` // internal, if the object has an internal id
}

// The parts of the details of an audit event.
const (
	AuditOrigin = "origin"
	AuditBefore = "before"
	AuditAfter  = "after"
)

// AuditDetail is a row of audit_details. Type and ID are those of the target, empty for the origin.
type AuditDetail struct {
	EventID string
	Part    string
	Type    string
	ID      string
	Value   []byte // JSON object
}

// AuditSource is where a request came from.
type AuditSource struct {
	UserID    string `json:"userId,omitempty"` // public id of the actor
	Address   string `json:"address,omitempty"`
	UserAgent string `json:"userAgent,omitempty"`
}

var (
	auditEventColumns  = db.Columns[AuditEvent]()
	auditDetailColumns = db.Columns[AuditDetail]()
)

var (
	sqlAuditEventInsert = db.Register("auditEvents.insert", `INSERT INTO audit_events (home, `+auditEventColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7::text[], $8, $9, $10::jsonb, $11) ON CONFLICT (home, at, id) DO NOTHING`)
	sqlAuditTargetsInsert = db.Register("auditTargets.insert", `INSERT INTO audit_targets (home, event_id, type, id, at)
		SELECT $1, $2, t.type, t.id, $5::timestamptz FROM (SELECT unnest($3::text[]) AS type, unnest($4::text[]) AS id) AS t
		WHERE NOT EXISTS (SELECT 1 FROM audit_targets AS a WHERE a.home = $1 AND a.event_id = $2)`)
	sqlAuditOriginInsert = db.Register("auditDetails.insert", `INSERT INTO audit_details (home, event_id, part, type, id, subject_id, value)
		VALUES ($1, $2, '`+AuditOrigin+`', '', '', $3, $4::jsonb) ON CONFLICT (home, event_id, part, type, id) DO NOTHING`)
	sqlAuditDetails = db.Register("auditDetails.ofEvents", `SELECT `+auditDetailColumns+` FROM audit_details
		WHERE home = $1 AND event_id = ANY($2::text[]) ORDER BY event_id, part, type, id LIMIT 5000`)
)

// InsertAuditEvent inserts an event with its origin and targets. It is safe to repeat. subjectID is the internal id of the
// actor, empty if the actor is no user.
func (w Tx) InsertAuditEvent(e AuditEvent, targets []AuditTarget, source AuditSource, subjectID string) {
	w.Exec(sqlAuditEventInsert, e.At, e.ID, e.ActorKind, e.Actor, e.KeyID, core.EmptyIfNil(e.Roles), e.Permission, e.Operation,
		targetsJSON(targets), e.RequestID)
	var types, ids []string
	for _, t := range targets {
		types, ids = append(types, t.Type), append(ids, t.ID)
	}
	if len(targets) > 0 {
		w.Exec(sqlAuditTargetsInsert, e.ID, types, ids, e.At)
	}
	w.Exec(sqlAuditOriginInsert, e.ID, subjectID, core.PlainJSON(source))
}

func targetsJSON(targets []AuditTarget) []byte {
	if len(targets) == 0 {
		return []byte("[]")
	}
	return core.PlainJSON(targets)
}

// AuditDetails reads the details of events.
func (r ReadBatch) AuditDetails(eventIDs []string, into *[]AuditDetail) {
	core.AddMany(r.ReadBatch, eventIDs, sqlAuditDetails, into)
}

// AuditList is a page of the audit events of the homes.
type AuditList struct {
	Homes []region.Code
	// Actor, Operation and Target select the events with these values, unless they are empty.
	Actor     string
	Operation string
	Target    AuditTarget
	From, To  time.Time // the range of times, without To
	Desc      bool
	After     time.Time // the position that the page starts after
	AfterID   string
	Limit     int
}

// The statements of ListAuditEvents, each with an index for one of the filters.
var (
	auditByTarget = core.OrderedBy(core.CreatedOrders, "t.at", core.Source{
		Name: "auditEvents.listOfTarget", Columns: db.Prefixed("e", auditEventColumns), From: `audit_targets AS t
			JOIN audit_events AS e ON e.home = $1 AND e.at = t.at AND e.id = t.event_id
			WHERE t.home = $1 AND t.id = $10 AND t.type = $9 AND t.at >= $5::timestamptz AND t.at < $6::timestamptz`,
		Filter: ` AND ($7::text = '' OR e.actor = $7) AND ($8::text = '' OR e.operation = $8)`, ID: "t.event_id", After: 2,
	}.List)
	auditByActor     = auditList("OfActor", `actor = $7 AND ($8::text = '' OR operation = $8)`)
	auditByOperation = auditList("OfOperation", `$7::text = '' AND operation = $8`)
	auditByTime      = auditList("All", `$7::text = '' AND $8::text = ''`)
)

func auditList(name, filter string) core.Directions {
	return core.OrderedBy(core.CreatedOrders, "at", core.Source{
		Name: "auditEvents.list" + name, Columns: auditEventColumns, After: 2,
		From: `audit_events WHERE home = $1 AND ` + filter + ` AND at >= $5::timestamptz AND at < $6::timestamptz`,
	}.List)
}

// ListAuditEvents reads up to Limit events of each home, in no particular order.
func (r ReadBatch) ListAuditEvents(l AuditList, into *[]AuditEvent) {
	*into = nil
	args := []any{l.After, l.AfterID, l.Limit, l.From, l.To, l.Actor, l.Operation}
	list := auditByTime
	switch {
	case l.Target != AuditTarget{}:
		list, args = auditByTarget, append(args, l.Target.Type, l.Target.ID)
	case l.Actor != "":
		list = auditByActor
	case l.Operation != "":
		list = auditByOperation
	}
	for _, home := range l.Homes {
		core.AppendRows(r.ReadBatch, home, list.In(l.Desc), into, args...)
	}
}
