package store

import (
	"crypto/sha256"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// ReferenceMessage is what reactions to messages refer to.
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
	ReferenceID     string // what its author's device calls it; its own id where the device has no name for it
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
}

const messageColumns = `id, feed_id, channel_id, channel_public_id, channel_type, parent_id, creator_id, creator_public_id, reference_id,
	segment, data_type, data, file_id, metadata, tags, mentions, flaggers, flag_count, created_at, updated_at, edited_at, deleted_at`

func scanMessage(rows pgx.Rows) (Message, error) {
	var m Message
	err := rows.Scan(&m.ID, &m.FeedID, &m.ChannelID, &m.ChannelPublicID, &m.ChannelType, &m.ParentID, &m.CreatorID, &m.CreatorPublicID, &m.ReferenceID,
		&m.Segment, &m.DataType, &m.Data, &m.FileID, &m.Metadata, &m.Tags, &m.Mentions, &m.Flaggers, &m.FlagCount,
		&m.CreatedAt, &m.UpdatedAt, &m.EditedAt, &m.DeletedAt)
	return m, err
}

var (
	sqlMessagesByID = stmt("messages.byID", `SELECT `+messageColumns+` FROM messages WHERE home = $1 AND id = ANY($2::text[])`)
	sqlMessageByRef = stmt("messages.byReference", `SELECT `+messageColumns+` FROM messages
		WHERE home = $1 AND feed_id = $2 AND creator_id = $3 AND reference_hash = $4`)
	sqlMessagesLast = stmt("messages.last", `SELECT `+prefixed("m", messageColumns)+` FROM unnest($2::text[]) AS f (id) CROSS JOIN LATERAL (
		SELECT `+messageColumns+` FROM messages WHERE home = $1 AND feed_id = f.id AND ($3::boolean OR deleted_at IS NULL)
		ORDER BY segment DESC LIMIT 1) AS m`)
	sqlMessageInsert = stmt("messages.insert", `INSERT INTO messages (home, id, feed_id, channel_id, channel_public_id, channel_type, parent_id,
			creator_id, creator_public_id, reference_id, data_type, data, file_id, metadata, tags, mentions, created_at, updated_at, edited_at,
			reference_hash, segment)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::jsonb, $13, $14::jsonb, $15::text[], $16::jsonb, $17, $17, $17, $18,
			(SELECT last_segment FROM message_feeds WHERE home = $1 AND id = $3))`)
	sqlMessageAlive  = stmt("messages.guardAlive", `SELECT 1 / count(*) FROM messages WHERE home = $1 AND id = $2 AND deleted_at IS NULL`)
	sqlMessageUpdate = stmt("messages.update", `UPDATE messages SET data = $3::jsonb, metadata = $4::jsonb, tags = $5::text[], mentions = $6::jsonb,
		edited_at = $7, updated_at = $7 WHERE home = $1 AND id = $2`)
	sqlMessageDelete = stmt("messages.delete", `UPDATE messages SET deleted_at = $3, updated_at = $3 WHERE home = $1 AND id = $2`)
	sqlMessagesWipe  = stmt("messages.wipe", `DELETE FROM messages WHERE home = $1 AND id = ANY($2::text[])`)
	sqlMessagesSome  = stmt("messages.some", `SELECT id FROM messages WHERE home = $1 AND feed_id = $2 ORDER BY segment LIMIT 500`)
	sqlMessagesUpTo  = stmt("messages.segmentsBefore", `SELECT t.n, m.segment FROM unnest($3::timestamptz[]) WITH ORDINALITY AS t (at, n) CROSS JOIN LATERAL (
		SELECT segment FROM messages WHERE home = $1 AND feed_id = $2 AND created_at < t.at ORDER BY created_at DESC, segment DESC LIMIT 1) AS m`)
)

// referenceHash is what stands in a key for the name that a client gave a message.
func referenceHash(referenceID string) []byte {
	sum := sha256.Sum256([]byte(referenceID))
	return sum[:]
}

// Message reads one message, live or deleted; nil where there is none.
func (r *ReadBatch) Message(id string, into **Message) {
	if home, err := region.HomeOf(id); err == nil {
		r.add(home, sqlMessagesByID, scanOne(into, scanMessage), []string{id})
	}
}

// MessagesByID reads messages of any homes, live and deleted; their order is not defined.
func (r *ReadBatch) MessagesByID(ids []string, into *[]Message) {
	for home, ids := range byHome(ids) {
		part := new([]Message)
		r.add(home, sqlMessagesByID, scanAll(part, scanMessage), ids)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// MessageByReference reads the message that a user sent to a subchannel under a name of their device's.
func (r *ReadBatch) MessageByReference(feedID, creatorID, referenceID string, into **Message) {
	if home, err := region.HomeOf(feedID); err == nil {
		r.add(home, sqlMessageByRef, scanOne(into, scanMessage), feedID, creatorID, referenceHash(referenceID))
	}
}

// LastMessages reads the last live message of each subchannel, of any homes; one without a live message has none. It is what
// previews show.
func (r *ReadBatch) LastMessages(feedIDs []string, into *[]Message) {
	r.lastMessages(feedIDs, false, into)
}

// LastMessagesEver is LastMessages, of the deleted messages too.
func (r *ReadBatch) LastMessagesEver(feedIDs []string, into *[]Message) {
	r.lastMessages(feedIDs, true, into)
}

func (r *ReadBatch) lastMessages(feedIDs []string, deletedToo bool, into *[]Message) {
	for home, ids := range byHome(feedIDs) {
		part := new([]Message)
		r.add(home, sqlMessagesLast, scanAll(part, scanMessage), ids, deletedToo)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// SegmentsBefore reads, for each time, the segment of the last message that a subchannel had before it; 0 for none.
func (r *ReadBatch) SegmentsBefore(feedID string, times []time.Time, into *[]int64) {
	home, err := region.HomeOf(feedID)
	if err != nil || len(times) == 0 {
		return
	}
	r.add(home, sqlMessagesUpTo, func(rows pgx.Rows) error {
		*into = make([]int64, len(times))
		for rows.Next() {
			var n, segment int64
			if err := rows.Scan(&n, &segment); err != nil {
				return err
			}
			(*into)[n-1] = segment
		}
		return nil
	}, feedID, times)
}

// SomeMessages reads the ids of up to 500 messages of a subchannel, live or deleted.
func (r *ReadBatch) SomeMessages(feedID string, into *[]string) {
	if home, err := region.HomeOf(feedID); err == nil {
		r.add(home, sqlMessagesSome, scanAll(into, scanText), feedID)
	}
}

// InsertMessage gives a message the next segment of its subchannel and stores it; a reply is counted with its parent. gone answers
// where the subchannel is deleted, there where its author sent it before; neither uses up a segment. Sent again after a lost
// connection it is stored once.
func (w *Tx) InsertMessage(m Message, gone, there error) {
	w.once = "messages_pkey"
	w.guard(sqlMessageFeedLive, gone, m.FeedID)
	w.exec(sqlMessageFeedNext, m.FeedID, m.CreatedAt)
	w.exec(sqlMessageInsert, m.ID, m.FeedID, m.ChannelID, m.ChannelPublicID, m.ChannelType, m.ParentID, m.CreatorID, m.CreatorPublicID,
		m.ReferenceID, m.DataType, m.Data, m.FileID, m.Metadata, emptyIfNil(m.Tags), m.Mentions, m.CreatedAt,
		referenceHash(m.ReferenceID)).conflict("messages_reference_key", there)
	if m.ParentID != "" {
		w.Count(m.ParentID, CountReplies, +1)
	}
}

// GuardMessage refuses the transaction where the message is deleted.
func (w *Tx) GuardMessage(id string, refusal error) { w.guard(sqlMessageAlive, refusal, id) }

// SelectMessage reads a message as it stands once the statements before it have run.
func (w *Tx) SelectMessage(id string, into **Message) {
	w.query(sqlMessagesByID, scanOne(into, scanMessage), []string{id})
}

// UpdateMessage writes what its author may change: Data, Metadata, Tags and Mentions. GuardMessage goes before it.
func (w *Tx) UpdateMessage(m Message, now time.Time) {
	w.exec(sqlMessageUpdate, m.ID, m.Data, m.Metadata, emptyIfNil(m.Tags), m.Mentions, now)
}

// DeleteMessage marks a message deleted; it keeps its segment. GuardMessage goes before it.
func (w *Tx) DeleteMessage(m Message, now time.Time) {
	w.exec(sqlMessageDelete, m.ID, now)
	if m.ParentID != "" {
		w.Count(m.ParentID, CountReplies, -1)
	}
}

// WipeMessages removes messages with their reactions, flags and counts for good. Their segments are nobody's then.
func (w *Tx) WipeMessages(ids []string) {
	w.exec(sqlReactionPurge, ids)
	w.exec(sqlFlagsPurge, ids)
	w.exec(sqlCountersPurge, ids)
	w.exec(sqlMessagesWipe, ids)
}
