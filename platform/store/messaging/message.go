package messaging

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// ReferenceMessage is the type of references to messages.
const ReferenceMessage = "message"

// Message is a row of messages.
type Message struct {
	ID              string
	FeedID          string // the subchannel
	ChannelID       string // internal id
	ChannelPublicID string
	ChannelType     string
	ParentID        string // of replies
	CreatorID       string // internal id
	CreatorPublicID string
	ReferenceID     string // chosen by the author's client; the message id if the client chose none
	Segment         int64
	DataType        string
	Data            []byte // JSON object
	FileID          string // of messages that carry a file
	Metadata        []byte // JSON object
	Tags            []string
	Mentions        []byte // JSON array
	Flaggers        []string
	FlagCount       int64
	CreatedAt       time.Time
	UpdatedAt       time.Time
	EditedAt        time.Time
	DeletedAt       *time.Time
	HiddenAt        *time.Time // when flags hid it; nil if it is visible
}

var messageColumns = db.Columns[Message]()

var (
	sqlMessagesByID = db.Register("messages.byID", `SELECT `+messageColumns+` FROM messages WHERE home = $1 AND id = ANY($2::text[])`)
	sqlMessageHeads = db.Register("messages.heads", `SELECT `+db.Without(messageColumns, content.ContentColumns)+` FROM messages WHERE home = $1 AND id
		= ANY($2::text[])`)
	sqlMessageByReference = db.Register("messages.byReference", `SELECT `+messageColumns+` FROM messages
		WHERE home = $1 AND feed_id = $2 AND creator_id = $3 AND reference_hash = $4`)
	messagesLast            = lastMessages("messages.last", `NOT is_deleted AND feed_id = {value}`, `created_at DESC, id DESC`)
	messagesLastWithDeleted = lastMessages("messages.lastWithDeleted", `feed_id = {value}`, `segment DESC`)
	sqlMessageInsert        = db.Register("messages.insert", `INSERT INTO messages (home, id, feed_id, channel_id, channel_public_id, channel_type,
		parent_id,
			creator_id, creator_public_id, reference_id, data_type, data, file_id, metadata, tags, mentions, created_at, updated_at, edited_at,
			reference_hash, segment)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::jsonb, $13, $14::jsonb, $15::text[], $16::jsonb, $17, $17, $17, $18,
			(SELECT last_segment FROM message_feeds WHERE home = $1 AND id = $3) - $19::bigint) RETURNING `+messageColumns)
	sqlMessageGuard  = db.Register("messages.guardAlive", `SELECT 1 / count(*) FROM messages WHERE home = $1 AND id = $2 AND deleted_at IS NULL`)
	sqlMessageUpdate = db.Register("messages.update", `UPDATE messages SET data = $3::jsonb, metadata = $4::jsonb, tags = $5::text[],
		mentions = $6::jsonb,
		edited_at = $7, updated_at = $7 WHERE home = $1 AND id = $2`).Updates(core.SharedMessages, 2)
	sqlMessageDelete = db.Register("messages.delete",
		`UPDATE messages SET deleted_at = $3, updated_at = $3 WHERE home = $1 AND id = $2`).Updates(core.SharedMessages, 2)
	sqlMessagesPurge      = db.Register("messages.purge", `DELETE FROM messages WHERE home = $1 AND id = ANY($2::text[])`).Updates(core.SharedMessages, 2)
	sqlMessageSomeIDs     = db.Register("messages.someIDs", `SELECT id FROM messages WHERE home = $1 AND feed_id = $2 ORDER BY segment LIMIT 500`)
	messageSegmentsBefore = core.ForEach("messages.segmentsBefore", 1, time.Time{}, `SELECT {n} AS n, segment FROM messages
		WHERE home = $1 AND feed_id = $2 AND created_at < {value}::timestamptz ORDER BY created_at DESC, segment DESC LIMIT 1`, "")
)

// referenceHash returns the hash of a client's reference id that is stored in the index.
func referenceHash(referenceID string) []byte {
	sum := sha256.Sum256([]byte(referenceID))
	return sum[:]
}

// Message reads one message, including a deleted one; nil if there is none.
func (r ReadBatch) Message(id string, into **Message) {
	r.AddAt(id, sqlMessagesByID, db.Row(into), []string{id})
}

// MessagesByID reads messages of any homes, including deleted ones, in no particular order.
func (r ReadBatch) MessagesByID(ids []string, into *[]Message) {
	core.AddMany(r.ReadBatch, ids, sqlMessagesByID, into)
}

// MessageHeads is MessagesByID without content, for operations that check who may read messages.
func (r ReadBatch) MessageHeads(ids []string, into *[]Message) {
	core.AddMany(r.ReadBatch, ids, sqlMessageHeads, into)
}

// MessageByReference reads the message that a user sent to a subchannel with a reference id; nil if there is none.
func (r ReadBatch) MessageByReference(feedID, creatorID, referenceID string, into **Message) {
	r.AddAt(feedID, sqlMessageByReference, db.Row(into), feedID, creatorID, referenceHash(referenceID))
}

// previewsAmong is the number of messages of a subchannel among which the last one that is not hidden is looked for.
const previewsAmong = 20

// lastMessages registers the statements for the last message of each subchannel in an order that is not hidden.
func lastMessages(name, condition, order string) core.Each {
	return core.ForEach(name, 0, "", fmt.Sprintf(`SELECT %[1]s FROM (SELECT %[1]s FROM messages WHERE home = $1 AND %[2]s ORDER BY %[3]s
		LIMIT %[4]d) AS recent
		WHERE hidden_at IS NULL ORDER BY %[3]s LIMIT 1`, messageColumns, condition, order, previewsAmong), "")
}

// LastMessages reads the last message of each subchannel that is neither deleted nor hidden, for previews. Subchannels without one have
// no row, and neither have those whose last 20 messages are hidden. Among messages that were created at the same time, the last one is
// not necessarily the one with the highest segment: the index of segments has deleted messages too.
func (r ReadBatch) LastMessages(feedIDs []string, into *[]Message) {
	core.ReadEach(r.ReadBatch, feedIDs, messagesLast, into)
}

// LastMessagesWithDeleted is like LastMessages and includes deleted messages.
func (r ReadBatch) LastMessagesWithDeleted(feedIDs []string, into *[]Message) {
	core.ReadEach(r.ReadBatch, feedIDs, messagesLastWithDeleted, into)
}

// SegmentsBefore reads, for each time, the segment of the last message of a subchannel before that time; 0 if there is
// none.
func (r ReadBatch) SegmentsBefore(feedID string, times []time.Time, into *[]int64) {
	home := r.HomeOrNone(feedID)
	*into = make([]int64, len(times))
	core.EachPart(r.ReadBatch, home, messageSegmentsBefore, times, func(first int) func(pgx.Rows) error {
		return func(rows pgx.Rows) error {
			for rows.Next() {
				var n, segment int64
				if err := rows.Scan(&n, &segment); err != nil {
					return err
				}
				(*into)[int64(first)+n] = segment
			}
			return nil
		}
	}, feedID)
}

// SomeMessageIDs reads the ids of up to 500 messages of a subchannel, including deleted ones.
func (r ReadBatch) SomeMessageIDs(feedID string, into *[]string) {
	r.AddAt(feedID, sqlMessageSomeIDs, db.Values(into), feedID)
}

// InsertMessages inserts messages of one subchannel with its next segments, in their order, reads the rows, and counts
// replies with their parents. The transaction fails with gone if the subchannel is deleted, and with exists if an author has used a
// reference id; neither consumes a segment. A retry after a lost connection inserts the messages once.
func (w Tx) InsertMessages(all []Message, gone, exists error, into *[]Message) {
	feedID, last := all[0].FeedID, len(all)-1
	ids := make([]string, len(all))
	for i, m := range all {
		ids[i] = m.ID
	}
	w.IdempotentBy("messages_pkey")
	w.Recover(sqlMessagesByID, db.Rows(into), ids)
	w.Guard(sqlMessageFeedGuard, gone, feedID)
	w.Exec(sqlMessageFeedNextSegment, feedID, latest(all), len(all))
	for i, m := range all {
		w.Query(sqlMessageInsert, appendRow(into, i == 0), m.ID, m.FeedID, m.ChannelID, m.ChannelPublicID, m.ChannelType, m.ParentID,
			m.CreatorID, m.CreatorPublicID,
			m.ReferenceID, m.DataType, m.Data, m.FileID, m.Metadata, core.EmptyIfNil(m.Tags), m.Mentions, m.CreatedAt,
			referenceHash(m.ReferenceID), last-i).OnConflict("messages_reference_key", exists)
		w.InsertFileUses(m.fileUse(), append(core.FileIDs(m.Data), m.FileID))
		if m.ParentID != "" {
			w.Count(m.ParentID, core.CountReplies, +1)
		}
	}
	w.UpdateChannelActivity(all[0].ChannelID, latest(all))
}

// appendRow returns a function that scans a row and appends it to into, after removing the rows of earlier attempts if it
// is the first one.
func appendRow(into *[]Message, first bool) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var row []Message
		err := db.Rows(&row)(rows)
		if first {
			*into = nil
		}
		*into = append(*into, row...)
		return err
	}
}

// latest returns the time of the newest message.
func latest(all []Message) time.Time {
	return slices.MaxFunc(all, func(a, b Message) int { return a.CreatedAt.Compare(b.CreatedAt) }).CreatedAt
}

// GuardMessage makes the transaction fail with refusal if the message is deleted.
func (w Tx) GuardMessage(id string, refusal error) { w.Guard(sqlMessageGuard, refusal, id) }

// SelectMessage reads a message after the preceding statements.
func (w Tx) SelectMessage(id string, into **Message) {
	w.Query(sqlMessagesByID, db.Row(into), []string{id})
}

// UpdateMessage stores the fields that the author may change: Data, Metadata, Tags and Mentions. GuardMessage must
// precede it.
func (w Tx) UpdateMessage(m Message, now time.Time) {
	w.Exec(sqlMessageUpdate, m.ID, m.Data, m.Metadata, core.EmptyIfNil(m.Tags), m.Mentions, now)
	w.ReplaceFileUses(m.fileUse(), append(core.FileIDs(m.Data), m.FileID))
}

// HiddenFrom reports whether flags hide the message from a user, by internal id: from all but its author and those who moderate
// its channel.
func (m Message) HiddenFrom(userID string, moderates bool) bool {
	return m.HiddenAt != nil && m.CreatorID != userID && !moderates
}

func (m Message) fileUse() core.FileUse {
	return core.FileUse{ObjectID: m.ID, Kind: core.UseMessage, AuthorID: m.CreatorID, PlaceID: m.ChannelID}
}

// DeleteMessage marks a message as deleted. It keeps its segment. GuardMessage must precede it.
func (w Tx) DeleteMessage(m Message, now time.Time) {
	w.Exec(sqlMessageDelete, m.ID, now)
	content.Tx{Tx: w.Tx}.CloseFlagItems(m.ID, now)
	if m.ParentID != "" {
		w.Count(m.ParentID, core.CountReplies, -1)
	}
}

// PurgeMessages deletes the rows of messages with their reactions, flags and counts. Their segments are not reused.
func (w Tx) PurgeMessages(ids []string) {
	content.Tx{Tx: w.Tx}.PurgeReferences(ids)
	w.Exec(core.CountersPurge, ids)
	w.Exec(sqlMessagesPurge, ids)
}
