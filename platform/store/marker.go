package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// FeedSegment is a row of message_feed_segments: a message and its place in a feed.
type FeedSegment struct {
	FeedID    string `json:"feedId"`
	EntityID  string `json:"entityId"`
	MessageID string `json:"messageId"`
	Segment   int64  `json:"segment"`
	CreatorID string `json:"creatorId"` // internal id; empty for nobody
}

// FeedMark is a row of user_feed_markers.
type FeedMark struct {
	UserID       string // internal id
	FeedID       string
	EntityID     string
	LastSegment  int64
	ReadTo       int64
	DeliveredTo  int64
	LastMention  int64
	ReadingUntil *time.Time
	IsDeleted    bool
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Unread is how many messages of the feed the user has not read.
func (m *FeedMark) Unread() int64 {
	if m.IsDeleted {
		return 0
	}
	return max(0, m.LastSegment-m.ReadTo)
}

// IsMentioned reports whether one of them mentions the user.
func (m *FeedMark) IsMentioned() bool { return m.Unread() > 0 && m.LastMention > m.ReadTo }

// EntityMark is what a user has not read of a channel, made of the markers of its feeds.
type EntityMark struct {
	EntityID    string
	Unread      int64
	IsMentioned bool
	IsDeleted   bool // all of its feeds are
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// UserMark is what a user has not read of anything. The times are nil for a user without a feed.
type UserMark struct {
	Unread      int64
	IsMentioned bool
	CreatedAt   *time.Time
	UpdatedAt   *time.Time
	LastSyncAt  *time.Time
}

const (
	feedMarkColumns = `user_id, feed_id, entity_id, last_segment, read_to, delivered_to, last_mention, reading_until, is_deleted, created_at, updated_at`
	// Sums over markers, by the rules of FeedMark.
	sumOfMarks = `COALESCE(sum(CASE WHEN is_deleted THEN 0 ELSE GREATEST(last_segment - read_to, 0) END), 0)::bigint,
		COALESCE(bool_or(NOT is_deleted AND last_segment > read_to AND last_mention > read_to), false)`
)

var (
	sqlMessageFeedUp = stmt("messageFeeds.advance", `INSERT INTO message_feeds (home, id, entity_id, last_segment, created_at, updated_at)
		VALUES ($1, $2, $3, $4::bigint, $5, $5) ON CONFLICT (home, id) DO UPDATE SET
		last_segment = excluded.last_segment, updated_at = excluded.updated_at WHERE message_feeds.last_segment < excluded.last_segment`)
	sqlSegmentInsert = stmt("messageFeedSegments.insert", `INSERT INTO message_feed_segments (home, feed_id, message_id, segment, creator_id, created_at)
		VALUES ($1, $2, $3, $4::bigint, $5, $6) ON CONFLICT (home, feed_id, message_id) DO NOTHING`)
	// A message is in the one table or in the other: a feed is our own or of an outside message store.
	sqlSegment = stmt("messageFeedSegments.byMessage", `SELECT segment FROM message_feed_segments WHERE home = $1 AND feed_id = $2 AND message_id = $3
		UNION ALL SELECT segment FROM messages WHERE home = $1 AND id = $3 AND feed_id = $2`)

	sqlMarksOfFeeds = stmt("feedMarks.ofFeeds", `SELECT `+prefixed("m", feedMarkColumns)+` FROM unnest($3::text[]) AS f (id) CROSS JOIN LATERAL (
		SELECT `+feedMarkColumns+` FROM user_feed_markers WHERE home = $1 AND user_id = $2 AND feed_id = f.id LIMIT 1) AS m ORDER BY m.feed_id`)
	sqlMarksOfEntities = stmt("feedMarks.ofEntities", `SELECT `+prefixed("m", feedMarkColumns)+` FROM unnest($3::text[]) AS e (id) CROSS JOIN LATERAL (
		SELECT `+feedMarkColumns+` FROM user_feed_markers WHERE home = $1 AND user_id = $2 AND entity_id = e.id LIMIT 1000) AS m`)
	sqlMarksChanged = stmt("feedMarks.changed", `SELECT `+feedMarkColumns+` FROM user_feed_markers WHERE home = $1 AND user_id = $2 AND updated_at > $3::timestamptz
		ORDER BY updated_at, feed_id LIMIT $4::bigint`)
	sqlMarksOfUsers = stmt("feedMarks.ofUsers", `SELECT `+prefixed("m", feedMarkColumns)+` FROM unnest($3::text[]) AS u (id) CROSS JOIN LATERAL (
		SELECT `+feedMarkColumns+` FROM user_feed_markers WHERE home = $1 AND user_id = u.id AND feed_id = $2 LIMIT 1) AS m`)
	sqlMarksOfFeed = stmt("feedMarks.ofFeed", `SELECT `+feedMarkColumns+` FROM user_feed_markers WHERE home = $1 AND feed_id = $2 AND NOT is_deleted
		ORDER BY user_id LIMIT $3::bigint`)
	sqlMarksByEntity = stmt("feedMarks.sumByEntity", `SELECT e.id, s.unread, s.mentioned, s.deleted, s.created_at, s.updated_at FROM unnest($3::text[]) AS e (id) CROSS JOIN LATERAL (
		SELECT `+sumOfMarks+`, bool_and(is_deleted), min(created_at), max(updated_at) FROM user_feed_markers
		WHERE home = $1 AND user_id = $2 AND entity_id = e.id) AS s (unread, mentioned, deleted, created_at, updated_at)
		WHERE s.created_at IS NOT NULL ORDER BY e.id`)
	sqlMarksOfUser = stmt("feedMarks.sumOfUser", `SELECT `+sumOfMarks+`, min(created_at), max(updated_at),
		(SELECT last_sync_at FROM user_markers WHERE home = $1 AND user_id = $2) FROM user_feed_markers WHERE home = $1 AND user_id = $2`)
	sqlMarkAdvance = stmt("feedMarks.advance", `INSERT INTO user_feed_markers (home, user_id, feed_id, entity_id, last_segment, read_to, delivered_to,
			last_mention, is_deleted, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5::bigint, $6::bigint, $6::bigint, $7::bigint, false, $8, $8)
		ON CONFLICT (home, user_id, feed_id) DO UPDATE SET
			last_segment = GREATEST(user_feed_markers.last_segment, excluded.last_segment),
			last_mention = GREATEST(user_feed_markers.last_mention, excluded.last_mention),
			read_to = GREATEST(user_feed_markers.read_to, $9::bigint,
				CASE WHEN user_feed_markers.reading_until > $8 THEN excluded.last_segment ELSE 0 END),
			delivered_to = GREATEST(user_feed_markers.delivered_to, $9::bigint,
				CASE WHEN user_feed_markers.reading_until > $8 THEN excluded.last_segment ELSE 0 END),
			updated_at = GREATEST(user_feed_markers.updated_at, excluded.updated_at)`)
	sqlMarkRestore = stmt("feedMarks.restore", `UPDATE user_feed_markers SET is_deleted = false, updated_at = $4
		WHERE home = $1 AND user_id = $2 AND feed_id = $3 AND is_deleted`)
	sqlMarkDelete = stmt("feedMarks.delete", `UPDATE user_feed_markers SET is_deleted = true, updated_at = $4 WHERE home = $1 AND user_id = $2 AND feed_id = $3`)
	sqlMarkRead   = stmt("feedMarks.read", `UPDATE user_feed_markers SET read_to = GREATEST(read_to, LEAST($4::bigint, last_segment)),
		delivered_to = GREATEST(delivered_to, LEAST($5::bigint, last_segment)), updated_at = GREATEST(updated_at, $6)
		WHERE home = $1 AND user_id = $2 AND feed_id = $3`)
	sqlMarkReading = stmt("feedMarks.reading", `UPDATE user_feed_markers SET reading_until = $4 WHERE home = $1 AND user_id = $2 AND feed_id = $3`)
	sqlMarkSync    = stmt("userMarks.sync", `INSERT INTO user_markers (home, user_id, last_sync_at, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)
		ON CONFLICT (home, user_id) DO UPDATE SET last_sync_at = GREATEST(user_markers.last_sync_at, excluded.last_sync_at), updated_at = excluded.updated_at`)
)

func scanFeedMark(rows pgx.Rows) (FeedMark, error) {
	var m FeedMark
	err := rows.Scan(&m.UserID, &m.FeedID, &m.EntityID, &m.LastSegment, &m.ReadTo, &m.DeliveredTo, &m.LastMention, &m.ReadingUntil,
		&m.IsDeleted, &m.CreatedAt, &m.UpdatedAt)
	return m, err
}

func scanEntityMark(rows pgx.Rows) (EntityMark, error) {
	var m EntityMark
	err := rows.Scan(&m.EntityID, &m.Unread, &m.IsMentioned, &m.IsDeleted, &m.CreatedAt, &m.UpdatedAt)
	return m, err
}

func scanUserMark(rows pgx.Rows) (UserMark, error) {
	var m UserMark
	err := rows.Scan(&m.Unread, &m.IsMentioned, &m.CreatedAt, &m.UpdatedAt, &m.LastSyncAt)
	return m, err
}

// SegmentOf reads the segment of a message of a feed; 0 where there is none.
func (r *ReadBatch) SegmentOf(feedID, messageID string, into *int64) {
	*into = 0
	if home, err := region.HomeOf(feedID); err == nil {
		r.add(home, sqlSegment, scanValue(into), feedID, messageID)
	}
}

// ofUser queues a statement about a user at the user's home.
func (r *ReadBatch) ofUser(userID string, st *Statement, scan func(pgx.Rows) error, args ...any) {
	if home, err := region.HomeOf(userID); err == nil {
		r.add(home, st, scan, append([]any{userID}, args...)...)
	}
}

// FeedMarks reads a user's markers of feeds, each named once.
func (r *ReadBatch) FeedMarks(userID string, feedIDs []string, into *[]FeedMark) {
	r.ofUser(userID, sqlMarksOfFeeds, scanAll(into, scanFeedMark), texts(feedIDs))
}

// FeedMarksOf reads a user's markers of the feeds of channels, each named once; at most 1000 of each channel.
func (r *ReadBatch) FeedMarksOf(userID string, entityIDs []string, into *[]FeedMark) {
	r.ofUser(userID, sqlMarksOfEntities, scanAll(into, scanFeedMark), texts(entityIDs))
}

// ChangedFeedMarks reads up to limit markers of a user that changed after a time, oldest change first.
func (r *ReadBatch) ChangedFeedMarks(userID string, after time.Time, limit int, into *[]FeedMark) {
	r.ofUser(userID, sqlMarksChanged, scanAll(into, scanFeedMark), after, limit)
}

// EntityMarks reads what a user has not read of channels, each named once.
func (r *ReadBatch) EntityMarks(userID string, entityIDs []string, into *[]EntityMark) {
	r.ofUser(userID, sqlMarksByEntity, scanAll(into, scanEntityMark), texts(entityIDs))
}

// UserMark reads what a user has not read.
func (r *ReadBatch) UserMark(userID string, into **UserMark) {
	r.ofUser(userID, sqlMarksOfUser, scanOne(into, scanUserMark))
}

// FeedMarksOfUsers reads the markers that users of one home have of a feed.
func (r *ReadBatch) FeedMarksOfUsers(home region.Code, feedID string, userIDs []string, into *[]FeedMark) {
	r.add(home, sqlMarksOfUsers, scanAll(into, scanFeedMark), feedID, texts(userIDs))
}

// LiveMarksOfFeed reads up to limit markers that users of one home have of a feed, but not those that know of its end.
func (r *ReadBatch) LiveMarksOfFeed(home region.Code, feedID string, limit int, into *[]FeedMark) {
	r.add(home, sqlMarksOfFeed, scanAll(into, scanFeedMark), feedID, limit)
}

// AdvanceFeed notes a message of a feed, and makes the feed with its first one. gone answers where the feed is deleted.
func (w *Tx) AdvanceFeed(s FeedSegment, now time.Time, gone error) {
	w.exec(sqlMessageFeedUp, s.FeedID, s.EntityID, s.Segment, now)
	w.guard(sqlMessageFeedLive, gone, s.FeedID)
	w.exec(sqlSegmentInsert, s.FeedID, s.MessageID, s.Segment, s.CreatorID, now)
}

// MarkAdvance is a message that arrived for a user.
type MarkAdvance struct {
	UserID    string `json:"userId"`
	Mentioned bool   `json:"mentioned,omitempty"`
	Author    bool   `json:"author,omitempty"` // who has read what they wrote
}

// MarkMove takes a user's marker of a feed to where the feed stands. It never goes back: any number of times gives the same.
type MarkMove struct {
	UserID      string
	FeedID      string
	EntityID    string
	LastSegment int64
	ReadNew     int64 // what a user without a marker has read
	ReadTo      int64 // what a user with one has read at least
	LastMention int64
}

// MoveFeedMark moves a user's marker of a feed, and makes it where there is none. Who looks at the feed reads it at once.
func (w *Tx) MoveFeedMark(m MarkMove, now time.Time) {
	w.exec(sqlMarkAdvance, m.UserID, m.FeedID, m.EntityID, m.LastSegment, m.ReadNew, m.LastMention, now, m.ReadTo)
}

// AdvanceFeedMark moves a user's marker of a feed to a message. One who is new to the feed has read what came before.
func (w *Tx) AdvanceFeedMark(a MarkAdvance, s FeedSegment, now time.Time) {
	m := MarkMove{UserID: a.UserID, FeedID: s.FeedID, EntityID: s.EntityID, LastSegment: s.Segment, ReadNew: s.Segment - 1}
	if a.Author {
		m.ReadNew, m.ReadTo = s.Segment, s.Segment
	}
	if a.Mentioned {
		m.LastMention = s.Segment
	}
	w.MoveFeedMark(m, now)
}

// RestoreFeedMark takes back what DeleteFeedMark said, for a user who belongs to the feed again.
func (w *Tx) RestoreFeedMark(userID, feedID string, now time.Time) {
	w.exec(sqlMarkRestore, userID, feedID, now)
}

// DeleteFeedMark tells a user's marker that its feed is deleted, or that the user left it.
func (w *Tx) DeleteFeedMark(userID, feedID string, now time.Time) {
	w.exec(sqlMarkDelete, userID, feedID, now)
}

// ReadFeed moves a user's marker forward, up to the last segment of the feed and never back.
func (w *Tx) ReadFeed(userID, feedID string, readTo, deliveredTo int64, now time.Time) {
	w.exec(sqlMarkRead, userID, feedID, readTo, deliveredTo, now)
}

// Reading says until when a user looks at a feed; nil for not at all.
func (w *Tx) Reading(userID, feedID string, until *time.Time) {
	w.exec(sqlMarkReading, userID, feedID, until)
}

// SyncMarks notes up to when a user's devices know the user's markers; earlier than noted changes nothing.
func (w *Tx) SyncMarks(userID string, upTo, now time.Time) {
	w.exec(sqlMarkSync, userID, upTo, now)
}
