package content

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// PlannedEvent is a row of planned_events: an event that users attend. It is stored at the home of its origin.
type PlannedEvent struct {
	ID                    string
	CreatorID             string // internal id
	CreatorPublicID       string
	Title                 string
	Description           string
	Type                  string // virtual or in_person
	StartTime             time.Time
	EndTime               time.Time
	Location              string
	ExternalURL           string
	CoverImageFileID      string
	OriginType            string // community or user
	OriginID              string // internal id
	OriginPublicID        string
	DiscussionCommunityID string // empty without one
	PostID                string // the post that shows its room; empty without one
	Tags                  []string
	Metadata              []byte // JSON
	CreatedAt             time.Time
	UpdatedAt             time.Time
	CancelledAt           *time.Time
	DeletedAt             *time.Time
}

// The statuses of an event, and the state of its row that the first three have.
const (
	EventScheduled = "scheduled"
	EventLive      = "live"
	EventEnded     = "ended"
	EventCancelled = "cancelled"

	eventOpen = "open"
)

// Status returns the status of an event at a time.
func (e *PlannedEvent) Status(now time.Time) string {
	switch {
	case e.CancelledAt != nil:
		return EventCancelled
	case now.Before(e.StartTime):
		return EventScheduled
	case now.Before(e.EndTime):
		return EventLive
	}
	return EventEnded
}

// MaxEventDuration is the maximum duration of an event. Lists of events that are live depend on it.
const MaxEventDuration = 31 * 24 * time.Hour

var plannedEventColumns = db.Columns[PlannedEvent]()

var (
	sqlPlannedEventsByID = db.Register("plannedEvents.byID", `SELECT `+plannedEventColumns+` FROM planned_events WHERE home = $1
		AND id = ANY($2::text[])`)
	sqlPlannedEventInsert = db.Register("plannedEvents.insert", `INSERT INTO planned_events (home, id, creator_id, creator_public_id, title,
		description, type,
		start_time, end_time, location, external_url, cover_image_file_id, origin_type, origin_id, origin_public_id, discussion_community_id,
		tags, metadata,
		created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18::jsonb, $19, $19)`)
	// The row must be as it was read, because what a change allows depends on all of the times.
	sqlPlannedEventUpdate = db.Register("plannedEvents.update", `WITH updated AS (UPDATE planned_events SET title = $4, description = $5, type = $6,
		start_time = $7,
		end_time = $8, location = $9, external_url = $10, cover_image_file_id = $11, tags = $12, metadata = $13::jsonb,
		cancelled_at = $14::timestamptz,
		updated_at = $15 WHERE home = $1 AND id = $2 AND updated_at = $3::timestamptz AND deleted_at IS NULL RETURNING id) SELECT 1 / count(*)
		FROM updated`)
	sqlPlannedEventDelete = db.Register("plannedEvents.delete", `WITH deleted AS (UPDATE planned_events SET deleted_at = $3, updated_at = $3
		WHERE home = $1 AND id = $2 AND deleted_at IS NULL RETURNING id) SELECT 1 / count(*) FROM deleted`)
	sqlPlannedEventGuard = db.Register("plannedEvents.guardOpen", `SELECT 1 / count(*) FROM planned_events WHERE home = $1 AND id = $2
		AND state = 'open'
		AND end_time > $3::timestamptz`)
)

// PlannedEvents reads events of any homes, including deleted ones, in no particular order.
func (r ReadBatch) PlannedEvents(ids []string, into *[]PlannedEvent) {
	core.ReadMany(r.ReadBatch, ids, sqlPlannedEventsByID, into)
}

// PlannedEvent reads one event; nil if there is none.
func (r ReadBatch) PlannedEvent(id string, into **PlannedEvent) {
	r.AddAt(id, sqlPlannedEventsByID, db.Row(into), []string{id})
}

// InsertPlannedEvent inserts an event. A retry after a lost connection inserts it once.
func (w Tx) InsertPlannedEvent(e PlannedEvent) {
	w.IdempotentBy("planned_events_pkey")
	w.Exec(sqlPlannedEventInsert, e.ID, e.CreatorID, e.CreatorPublicID, e.Title, e.Description, e.Type, e.StartTime, e.EndTime, e.Location,
		e.ExternalURL, e.CoverImageFileID, e.OriginType, e.OriginID, e.OriginPublicID, e.DiscussionCommunityID, core.EmptyIfNil(e.Tags),
		e.Metadata,
		e.CreatedAt)
	w.InsertFileUses(e.fileUse(e.CreatorID), []string{e.CoverImageFileID})
}

func (e *PlannedEvent) fileUse(authorID string) core.FileUse {
	return core.FileUse{ObjectID: e.ID, Kind: core.UseEvent, AuthorID: authorID, PlaceID: e.OriginID}
}

// UpdatePlannedEvent stores an event that was changed since it was read, by a user with the internal id editorID, empty for
// an administrator. The transaction fails with conflict if its row is not as it was read, or is deleted.
func (w Tx) UpdatePlannedEvent(read, changed PlannedEvent, editorID string, now time.Time, conflict error) {
	w.Guard(sqlPlannedEventUpdate, conflict, changed.ID, read.UpdatedAt, changed.Title, changed.Description, changed.Type, changed.StartTime,
		changed.EndTime,
		changed.Location, changed.ExternalURL, changed.CoverImageFileID, core.EmptyIfNil(changed.Tags), changed.Metadata, changed.CancelledAt,
		now)
	if changed.CoverImageFileID != read.CoverImageFileID {
		w.ReplaceFileUses(changed.fileUse(editorID), []string{changed.CoverImageFileID})
	}
}

// DeletePlannedEvent marks an event as deleted. The transaction fails with gone if it is deleted already.
func (w Tx) DeletePlannedEvent(id string, now time.Time, gone error) {
	w.Guard(sqlPlannedEventDelete, gone, id, now)
}

// SelectPlannedEvent reads an event after the preceding statements.
func (w Tx) SelectPlannedEvent(id string, into **PlannedEvent) {
	w.Query(sqlPlannedEventsByID, db.Row(into), []string{id})
}
