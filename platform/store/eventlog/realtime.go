package eventlog

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// TopicRealtime is the outbox topic of events for the logs of homes; the payload is a list of Event.
const TopicRealtime = "realtime"

// Event is an event for users. The transaction that causes it inserts it into the outbox, and a worker copies it to the
// log of every home with users who may receive it.
type Event struct {
	ID       string          `json:"id"` // the same in every log
	Name     string          `json:"name"`
	Topic    string          `json:"topic"`    // the user or community that it concerns
	SenderID string          `json:"senderId"` // internal id; empty for an administrator
	Payload  json.RawMessage `json:"payload"`
	SentAt   time.Time       `json:"sentAt"`
	Homes    []region.Code   `json:"homes"`
	// Mirrors are the memberships that the event changes. They are stored in the same transaction as the event in the
	// log, so that readers of the event see the new members.
	Mirrors []communities.MirroredMember `json:"mirrors,omitempty"`
	// Trace is that of the request, as span.Of returns it. It is not part of the outbox row's payload.
	Trace string `json:"-"`
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
	Trace    string // see span.Of
}

// EventHead is the state of a home's log: it contains the events after Trimmed up to Last.
type EventHead struct {
	Last    int64
	Trimmed int64
}

var eventColumns = db.Columns[LoggedEvent]()

const insertEvents = `INSERT INTO realtime_events (home, seq, id, name, topic, sender_id, payload, sent_at, created_at, trace)
		SELECT $1, (SELECT last_seq FROM realtime_heads WHERE home = $1) - e.n, e.id, e.name, e.topic, e.sender_id, e.payload::jsonb, e.sent_at,
		$9, e.trace
		FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[], $10::text[])
			AS e (n, id, name, topic, sender_id, payload, sent_at, trace)`

// The number of an event is the head's minus the number of events after it in the transaction. Every transaction
// updates the head's row first, so that concurrent ones are serialized: no event appears later with a smaller number
// than one that was read already.
var (
	sqlEventsAdvance = db.Register("realtime.advance", `INSERT INTO realtime_heads (home, last_seq, trimmed) VALUES ($1, $2::bigint, 0)
		ON CONFLICT (home) DO UPDATE SET last_seq = realtime_heads.last_seq + $2::bigint`)
	sqlEventsInsert        = db.Register("realtime.insert", insertEvents)
	sqlEventsInsertMissing = db.Register("realtime.insertMissing", insertEvents+`
		LEFT JOIN realtime_events AS old ON old.home = $1 AND old.id = e.id WHERE old.id IS NULL`)
	sqlEventHead   = db.Register("realtime.head", `SELECT last_seq, trimmed FROM realtime_heads WHERE home = $1`)
	sqlEventsAfter = db.Register("realtime.after", `SELECT `+eventColumns+` FROM realtime_events /*@{FORCE_INDEX=realtime_events_pkey}*/
		WHERE home = $1 AND seq > $2::bigint AND seq <= $3::bigint ORDER BY seq LIMIT $4::bigint`)
	eventsOfTopics = core.ForEach("realtime.ofTopics", 3, "", `SELECT `+eventColumns+`
		FROM realtime_events /*@{FORCE_INDEX=realtime_events_by_topic}*/
		WHERE home = $1 AND topic = {value} AND seq > $2::bigint AND seq <= $3::bigint
		ORDER BY seq LIMIT $4::bigint`, ` ORDER BY seq LIMIT $4::bigint`)
	sqlEventsSweep = db.Register("realtime.sweep", `WITH gone AS (DELETE FROM realtime_events WHERE home = $1 AND seq IN
		(SELECT seq FROM (SELECT seq, created_at FROM realtime_events /*@{FORCE_INDEX=realtime_events_pkey}*/ WHERE home = $1 ORDER BY seq
		LIMIT 500) AS oldest WHERE created_at < $2::timestamptz)
		RETURNING seq)
		UPDATE realtime_heads SET trimmed = GREATEST(trimmed, (SELECT max(seq) FROM gone)) WHERE home = $1 AND EXISTS (SELECT 1 FROM gone)
		RETURNING (SELECT count(*) FROM gone)`)

	sqlMembersAmong = db.Register("realtime.membersAmong", `SELECT u.id FROM unnest($3::text[]) AS u (id)
		CROSS JOIN LATERAL (SELECT 1 FROM user_communities WHERE home = $1 AND user_id = u.id AND community_id = $2 AND state = 'member' LIMIT 1)
		AS m`)
	sqlSessionsLive = db.Register("realtime.sessionsLive", `SELECT s.id FROM unnest($2::text[], $3::text[]) AS s (user_id, id)
		CROSS JOIN LATERAL (SELECT 1 FROM sessions WHERE home = $1 AND sessions.user_id = s.user_id AND sessions.id = s.id AND revoked_at IS NULL
		LIMIT 1) AS l
		CROSS JOIN LATERAL (SELECT 1 FROM users WHERE home = $1 AND users.id = s.user_id AND deleted_at IS NULL AND NOT is_global_ban LIMIT 1)
		AS u`)
)

// EmitEvents inserts events into the outbox as one row. Workers deliver it from firstTry on. They are appended to the log after the events
// of this home that were emitted before with the same key; without a key there is no order.
func (w Tx) EmitEvents(orderKey string, all []Event, now, firstTry time.Time) core.OutboxRow {
	for i := range all {
		all[i].ID = region.NewID(w.Home())
	}
	return w.EmitInOrder(orderKey, TopicRealtime, all, now, firstTry)
}

// ErrEventExists is returned if a transaction inserts an event that is in the log already.
var ErrEventExists = errors.New("the event is in the log already")

// InsertEvents appends events to the log of this home. The transaction fails with ErrEventExists if one of them is in the
// log already.
func (w Tx) InsertEvents(events []Event, now time.Time) {
	w.insertEvents(sqlEventsInsert, events, now).OnConflict("realtime_events_id_key", ErrEventExists)
}

// InsertMissingEvents is InsertEvents without the events that are in the log already, whose numbers are not used. It looks
// for each of them, which takes longer than inserting them.
func (w Tx) InsertMissingEvents(events []Event, now time.Time) {
	w.insertEvents(sqlEventsInsertMissing, events, now)
}

func (w Tx) insertEvents(st *db.Statement, events []Event, now time.Time) *db.Step {
	w.Exec(sqlEventsAdvance, len(events))
	n := len(events)
	before, sentAt := make([]int64, n), make([]time.Time, n)
	ids, names, topics, senders, payloads, traces := make([]string, n), make([]string, n), make([]string, n), make([]string, n),
		make([]string, n), make([]string, n)
	for i, e := range events {
		communities.Tx{Tx: w.Tx}.MirrorMembers(slices.DeleteFunc(slices.Clone(e.Mirrors),
			func(m communities.MirroredMember) bool { return w.Elsewhere(m.UserID) }))
		before[i], sentAt[i] = int64(n-1-i), e.SentAt
		ids[i], names[i], topics[i], senders[i], payloads[i], traces[i] = e.ID, e.Name, e.Topic, e.SenderID, string(e.Payload), e.Trace
	}
	return w.Exec(st, before, ids, names, topics, senders, payloads, sentAt, now, traces)
}

// EventHead reads the state of a home's log; zero for a log without events.
func (r ReadBatch) EventHead(home region.Code, into *EventHead) {
	r.Add(home, sqlEventHead, db.RowOrZero(into))
}

// EventSpan is a part of a log: up to Limit events with numbers greater than After and up to To.
type EventSpan struct {
	Home  region.Code
	After int64
	To    int64
	Limit int
}

// Events reads a part of a log ordered by number.
func (r ReadBatch) Events(s EventSpan, into *[]LoggedEvent) {
	r.Add(s.Home, sqlEventsAfter, db.Rows(into), s.After, s.To, s.Limit)
}

// EventsOfTopics is like Events for some topics, which must be distinct.
func (r ReadBatch) EventsOfTopics(s EventSpan, topics []string, into *[]LoggedEvent) {
	core.ReadEachAt(r.ReadBatch, s.Home, topics, eventsOfTopics, into, s.After, s.To, s.Limit)
	r.Then(func() {
		slices.SortFunc(*into, func(a, b LoggedEvent) int { return cmp.Compare(a.Seq, b.Seq) })
		*into = (*into)[:min(len(*into), s.Limit)]
	})
}

// MembersAmong reads the ids of those of the users, who have the given home, who are members of a community.
func (r ReadBatch) MembersAmong(home region.Code, communityID string, userIDs []string, into *[]string) {
	r.Add(home, sqlMembersAmong, db.Values(into), communityID, core.EmptyIfNil(userIDs))
}

// LiveSessions reads the ids of the valid sessions: not revoked, and of users who are neither banned nor deleted. The
// lists contain one user id and one session id per session.
func (r ReadBatch) LiveSessions(home region.Code, userIDs, sessionIDs []string, into *[]string) {
	r.Add(home, sqlSessionsLive, db.Values(into), core.EmptyIfNil(userIDs), core.EmptyIfNil(sessionIDs))
}

// SweepEvents deletes up to 500 events that were logged before a time, and reads their number.
func (w Tx) SweepEvents(before time.Time, removed *int64) {
	w.Query(sqlEventsSweep, db.Value(removed), before)
}
