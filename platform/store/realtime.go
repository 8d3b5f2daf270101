package store

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// TopicRealtime is the outbox topic of events for the logs of homes; the payload is an Event.
const TopicRealtime = "realtime"

// Event is something to tell users. It is written to the outbox by the transaction that it tells of, and from there to the
// log of each home whose users may hear of it.
type Event struct {
	ID       string          `json:"id"` // the same in every log
	Name     string          `json:"name"`
	Topic    string          `json:"topic"`    // the user or the community that it is about
	SenderID string          `json:"senderId"` // internal id; empty for an administrator
	Payload  json.RawMessage `json:"payload"`
	SentAt   time.Time       `json:"sentAt"`
	Homes    []region.Code   `json:"homes"`
	// Mirrors are memberships that the event is about. A log gets them in one transaction with the event, so that whoever
	// reads the event knows who belongs to its community.
	Mirrors []MirroredMember `json:"mirrors,omitempty"`
}

// LoggedEvent is a row of realtime_events.
type LoggedEvent struct {
	Seq      int64
	ID       string
	Name     string
	Topic    string
	SenderID string
	Payload  json.RawMessage
	SentAt   time.Time
}

// EventHead is where the log of a home stands. Events 1 to Trimmed are gone, those to Last are there.
type EventHead struct {
	Last    int64
	Trimmed int64
}

const eventColumns = `seq, id, name, topic, sender_id, payload, sent_at`

// An event's number is that of the head minus the events that follow it in the batch. Every batch changes the head's row
// before it reads it, so a second one waits for the first to end, or fails and is run again: nobody who reads up to a
// number misses a smaller one that comes later.
var (
	sqlEventsAdvance = stmt("realtime.advance", `INSERT INTO realtime_heads (home, last_seq, trimmed) VALUES ($1, $2::bigint, 0)
		ON CONFLICT (home) DO UPDATE SET last_seq = realtime_heads.last_seq + $2::bigint`)
	sqlEventInsert = stmt("realtime.insert", `INSERT INTO realtime_events (home, seq, id, name, topic, sender_id, payload, sent_at, created_at)
		VALUES ($1, (SELECT last_seq FROM realtime_heads WHERE home = $1) - $2::bigint, $3, $4, $5, $6, $7::jsonb, $8, $9)
		ON CONFLICT (home, id) DO NOTHING`)
	sqlEventHead   = stmt("realtime.head", `SELECT last_seq, trimmed FROM realtime_heads WHERE home = $1`)
	sqlEventsAfter = stmt("realtime.after", `SELECT `+eventColumns+` FROM realtime_events
		WHERE home = $1 AND seq > $2::bigint AND seq <= $3::bigint ORDER BY seq LIMIT $4::bigint`)
	sqlEventsOfTopics = stmt("realtime.ofTopics", `SELECT `+prefixed("e", eventColumns)+` FROM unnest($2::text[]) AS t (topic) CROSS JOIN LATERAL (
		SELECT `+eventColumns+` FROM realtime_events WHERE home = $1 AND realtime_events.topic = t.topic AND seq > $3::bigint AND seq <= $4::bigint
		ORDER BY seq LIMIT $5::bigint) AS e ORDER BY e.seq LIMIT $5::bigint`)
	sqlEventsSweep = stmt("realtime.sweep", `WITH gone AS (DELETE FROM realtime_events WHERE home = $1 AND seq IN
		(SELECT seq FROM (SELECT seq, created_at FROM realtime_events WHERE home = $1 ORDER BY seq LIMIT 500) AS oldest WHERE created_at < $2::timestamptz)
		RETURNING seq)
		UPDATE realtime_heads SET trimmed = GREATEST(trimmed, (SELECT max(seq) FROM gone)) WHERE home = $1 AND EXISTS (SELECT 1 FROM gone)
		RETURNING (SELECT count(*) FROM gone)`)

	sqlMembersAmong = stmt("realtime.membersAmong", `SELECT u.id, c.id FROM unnest($2::text[]) AS u (id) CROSS JOIN unnest($3::text[]) AS c (id)
		CROSS JOIN LATERAL (SELECT 1 FROM user_communities WHERE home = $1 AND user_id = u.id AND community_id = c.id AND state = 'member' LIMIT 1) AS m`)
	sqlSessionsLive = stmt("realtime.sessionsLive", `SELECT s.id FROM unnest($2::text[], $3::text[]) AS s (user_id, id)
		CROSS JOIN LATERAL (SELECT 1 FROM sessions WHERE home = $1 AND sessions.user_id = s.user_id AND sessions.id = s.id AND revoked_at IS NULL LIMIT 1) AS l
		CROSS JOIN LATERAL (SELECT 1 FROM users WHERE home = $1 AND users.id = s.user_id AND deleted_at IS NULL AND NOT is_global_ban LIMIT 1) AS u`)
)

func scanEvent(rows pgx.Rows) (LoggedEvent, error) {
	var e LoggedEvent
	err := rows.Scan(&e.Seq, &e.ID, &e.Name, &e.Topic, &e.SenderID, &e.Payload, &e.SentAt)
	return e, err
}

func scanHead(rows pgx.Rows) (EventHead, error) {
	var h EventHead
	err := rows.Scan(&h.Last, &h.Trimmed)
	return h, err
}

// EmitEvent leaves an event in the outbox of the transaction. firstTry is when a worker may take it.
func (w *Tx) EmitEvent(e Event, now, firstTry time.Time) OutboxRow {
	e.ID = region.NewID(w.home)
	return w.Emit(TopicRealtime, e, now, firstTry)
}

// InsertEvents adds events to the log of this home, in their order. One that is in the log stays as it is; its number is then
// nobody's.
func (w *Tx) InsertEvents(events []Event, now time.Time) {
	w.exec(sqlEventsAdvance, len(events))
	for i, e := range events {
		w.MirrorMembers(slices.DeleteFunc(slices.Clone(e.Mirrors), func(m MirroredMember) bool { return w.elsewhere(m.UserID) }))
		w.exec(sqlEventInsert, len(events)-1-i, e.ID, e.Name, e.Topic, e.SenderID, e.Payload, e.SentAt, now)
	}
}

// elsewhere reports whether an id's row lives at another home.
func (w *Tx) elsewhere(id string) bool {
	home, err := region.HomeOf(id)
	return err != nil || home != w.home
}

// EventHead reads where the log of a home stands; a log without events is at 0.
func (r *ReadBatch) EventHead(home region.Code, into *EventHead) {
	*into = EventHead{}
	r.add(home, sqlEventHead, func(rows pgx.Rows) error {
		var found *EventHead
		err := scanOne(&found, scanHead)(rows)
		if found != nil {
			*into = *found
		}
		return err
	})
}

// EventSpan is a part of a log: up to Limit events with numbers after After and up to To.
type EventSpan struct {
	Home  region.Code
	After int64
	To    int64
	Limit int
}

// Events reads a part of a log in the order of the numbers.
func (r *ReadBatch) Events(s EventSpan, into *[]LoggedEvent) {
	r.add(s.Home, sqlEventsAfter, scanAll(into, scanEvent), s.After, s.To, s.Limit)
}

// EventsOfTopics is Events for some topics, each named once.
func (r *ReadBatch) EventsOfTopics(s EventSpan, topics []string, into *[]LoggedEvent) {
	r.add(s.Home, sqlEventsOfTopics, scanAll(into, scanEvent), texts(topics), s.After, s.To, s.Limit)
}

// MembersAmong reads which users of a home belong to which of some communities, as the home's mirrors say: pairs of a user
// and a community.
func (r *ReadBatch) MembersAmong(home region.Code, userIDs, communityIDs []string, into *[][2]string) {
	r.add(home, sqlMembersAmong, scanAll(into, func(rows pgx.Rows) ([2]string, error) {
		var pair [2]string
		err := rows.Scan(&pair[0], &pair[1])
		return pair, err
	}), texts(userIDs), texts(communityIDs))
}

// LiveSessions reads which sessions of a home's users still hold: not ended, and of users who are neither banned nor deleted.
// The two lists go in step.
func (r *ReadBatch) LiveSessions(home region.Code, userIDs, sessionIDs []string, into *[]string) {
	r.add(home, sqlSessionsLive, scanAll(into, scanText), texts(userIDs), texts(sessionIDs))
}

// SweepEvents removes up to 500 events that were logged before a time, and says how many.
func (w *Tx) SweepEvents(before time.Time, removed *int64) {
	w.query(sqlEventsSweep, func(rows pgx.Rows) error { *removed = 0; return scanValue(removed)(rows) }, before)
}
