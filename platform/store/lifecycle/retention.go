package lifecycle

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// Expired is a row whose retention has ended.
type Expired struct {
	ID       string
	ParentID string    // of messages that reply
	At       time.Time // when its retention began
}

// ExpiredRows are the rows of a table that ExpiredRows of ReadBatch reads.
type ExpiredRows struct{ statement *db.Statement }

// The rows that were deleted. Comments and messages that are empty are left out.
var (
	ExpiredPosts    = expiredIn("posts", "")
	ExpiredStories  = expiredIn("stories", "")
	ExpiredComments = expiredIn("comments", " AND has_deleted_content")
	ExpiredMessages = expiredIn("messages", " AND has_deleted_content")
)

func expiredIn(table, condition string) ExpiredRows {
	return ExpiredRows{db.Register(table+".expired", `SELECT id, '', deleted_at FROM `+table+` WHERE home = $1`+condition+
		` AND deleted_at IS NOT NULL AND deleted_at < $2::timestamptz ORDER BY deleted_at, id LIMIT $3::bigint`)}
}

// ExpiredRows reads up to limit rows of a home whose retention began before a time, the oldest first.
func (r ReadBatch) ExpiredRows(rows ExpiredRows, home region.Code, before time.Time, limit int, into *[]Expired) {
	r.Add(home, rows.statement, db.Rows(into), before, limit)
}

// The statements that read the rows whose retention may have ended.
var (
	sqlMessageFeedsAfter = db.Register("messageFeeds.after", `SELECT id FROM message_feeds WHERE home = $1 AND id > $2 ORDER BY id LIMIT $3::bigint`)
	messagesOld          = core.ForEach("messages.old", 2, "", `SELECT id, parent_id, created_at FROM messages WHERE home = $1
		AND feed_id = {value} AND NOT is_deleted
		AND created_at < $2::timestamptz ORDER BY created_at, id LIMIT $3::bigint`, ` LIMIT $3::bigint`)
)

// The statements that end the retention of rows.
var (
	sqlCommentsEmpty = db.Register("comments.empty", `UPDATE comments SET data = '{}', metadata = '{}', mentionees = '[]', attachments = '[]',
		annotations = '{}', flaggers = '{}',
		flag_count = 0, emptied_at = $3::timestamptz WHERE home = $1 AND id = ANY($2::text[]) AND deleted_at IS NOT NULL`).Updates(
		core.SharedComments, 2)
	sqlMessagesEmpty = db.Register("messages.empty", `UPDATE messages SET data = '{}', metadata = '{}', tags = '{}', mentions = '[]', file_id = '',
		reference_id = '',
		reference_hash = convert_to(id, 'UTF8'), flaggers = '{}', flag_count = 0, emptied_at = $3::timestamptz
		WHERE home = $1 AND id = ANY($2::text[]) AND deleted_at IS NOT NULL`).Updates(core.SharedMessages, 2)
	sqlMessagesGuardLive = db.Register("messages.guardAllLive", `SELECT 1 / CASE WHEN count(*) = $3::bigint THEN 1 ELSE 0 END FROM messages
		WHERE home = $1 AND id = ANY($2::text[]) AND deleted_at IS NULL`)
	sqlAuditExpire = db.Register("auditEvents.expire", `SELECT COALESCE(delete_audit_events($1, array_agg(at), array_agg(id)), 0) FROM (SELECT at, id
		FROM audit_events
		WHERE home = $1 AND at < LEAST($2::timestamptz, now() - INTERVAL '30 days') ORDER BY at, id LIMIT $3::bigint) AS old`)
	sqlAuditOldest = db.Register("auditEvents.oldest", `SELECT id, '', at FROM audit_events WHERE home = $1 ORDER BY at, id LIMIT 1`)
)

// MessageFeedsAfter reads the ids of up to limit subchannels of a home after an id.
func (r ReadBatch) MessageFeedsAfter(home region.Code, after string, limit int, into *[]string) {
	r.Add(home, sqlMessageFeedsAfter, db.Values(into), after, limit)
}

// OldMessages reads up to limit live messages of subchannels of a home that were sent before a time.
func (r ReadBatch) OldMessages(home region.Code, feedIDs []string, before time.Time, limit int, into *[]Expired) {
	core.ReadEachAt(r.ReadBatch, home, feedIDs, messagesOld, into, before, limit)
	r.Then(func() { *into = (*into)[:min(len(*into), limit)] })
}

// EmptyComments removes the content of deleted comments and what refers to it. The rows remain, because their replies
// belong to them.
func (w Tx) EmptyComments(ids []string, now time.Time) {
	content.Tx{Tx: w.Tx}.PurgeReferences(ids)
	content.Tx{Tx: w.Tx}.DeletePendingEdits(ids...)
	w.Exec(sqlCommentsEmpty, ids, now)
}

// EmptyMessages removes the content of deleted messages and what refers to it. The rows remain, so that the segments of a
// subchannel have no gaps.
func (w Tx) EmptyMessages(ids []string, now time.Time) {
	content.Tx{Tx: w.Tx}.PurgeReferences(ids)
	w.Exec(sqlMessagesEmpty, ids, now)
}

// DeleteOldMessages marks live messages as deleted and empties them. The transaction fails with ErrConflict if one of them
// has been deleted since it was read, because replies are counted.
func (w Tx) DeleteOldMessages(messages []Expired, now time.Time) {
	ids := make([]string, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	w.Guard(sqlMessagesGuardLive, core.ErrConflict, ids, len(ids))
	for _, m := range messages {
		messaging.Tx{Tx: w.Tx}.DeleteMessage(messaging.Message{ID: m.ID, ParentID: m.ParentID}, now)
	}
	w.EmptyMessages(ids, now)
}

// OldestAuditEvent reads the oldest audit event of a home.
func (r ReadBatch) OldestAuditEvent(home region.Code, into *[]Expired) {
	r.Add(home, sqlAuditOldest, db.Rows(into))
}

// DeleteAuditEvents deletes up to limit audit events from before a time, with their targets and details, and reads their
// number. The last 30 days remain.
func (w Tx) DeleteAuditEvents(before time.Time, limit int, deleted *int64) {
	w.Query(sqlAuditExpire, db.Value(deleted), before, limit)
}
