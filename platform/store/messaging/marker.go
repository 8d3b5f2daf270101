package messaging

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// FeedSegment is a row of message_feed_segments: a message and its position in a feed.
type FeedSegment struct {
	FeedID    string `json:"feedId"`
	EntityID  string `json:"entityId"`
	MessageID string `json:"messageId"`
	Segment   int64  `json:"segment"`
	CreatorID string `json:"creatorId"` // internal id; may be empty
}

// FeedMarker is a row of user_feed_markers.
type FeedMarker struct {
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

// Unread returns the number of unread messages in the feed.
func (m *FeedMarker) Unread() int64 {
	if m.IsDeleted {
		return 0
	}
	return max(0, m.LastSegment-m.ReadTo)
}

// IsMentioned reports whether an unread message mentions the user.
func (m *FeedMarker) IsMentioned() bool { return m.Unread() > 0 && m.LastMention > m.ReadTo }

// EntityMarker is the sum of a user's markers of the feeds of one channel.
type EntityMarker struct {
	EntityID    string
	Unread      int64
	IsMentioned bool
	IsDeleted   bool // whether all feeds are deleted
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// UserMarker is the sum of all markers of a user. The times are nil for a user without markers.
type UserMarker struct {
	Unread      int64
	IsMentioned bool
	CreatedAt   *time.Time
	UpdatedAt   *time.Time
	LastSyncAt  *time.Time
}

var feedMarkerColumns = db.Columns[FeedMarker]()

// sumOfMarkers aggregates markers by the rules of FeedMarker.Unread and FeedMarker.IsMentioned.
const sumOfMarkers = `COALESCE(sum(CASE WHEN is_deleted THEN 0 ELSE GREATEST(last_segment - read_to, 0) END), 0)::bigint,
		COALESCE(bool_or(NOT is_deleted AND last_segment > read_to AND last_mention > read_to), false)`

var (
	sqlMessageFeedAdvance = db.Register("messageFeeds.advance", `INSERT INTO message_feeds (home, id, entity_id, last_segment, created_at, updated_at)
		VALUES ($1, $2, $3, $4::bigint, $5, $5) ON CONFLICT (home, id) DO UPDATE SET
		last_segment = excluded.last_segment, updated_at = excluded.updated_at
		WHERE message_feeds.last_segment < excluded.last_segment`).Updates(core.SharedMessageFeeds, 2)
	sqlSegmentInsert = db.Register("messageFeedSegments.insert", `INSERT INTO message_feed_segments (home, feed_id, message_id, segment, creator_id,
		created_at)
		VALUES ($1, $2, $3, $4::bigint, $5, $6) ON CONFLICT (home, feed_id, message_id) DO NOTHING`)
	// Messages of subchannels and of external message stores are in different tables.
	sqlSegmentByMessage = db.Register("messageFeedSegments.byMessage", `SELECT segment FROM message_feed_segments WHERE home = $1 AND feed_id = $2
		AND message_id = $3
		UNION ALL SELECT segment FROM messages WHERE home = $1 AND id = $3 AND feed_id = $2`)

	sqlFeedMarkersByFeed = db.Register("feedMarkers.ofFeeds", `SELECT `+db.Prefixed("m", feedMarkerColumns)+` FROM unnest($3::text[]) AS f (id) CROSS
		JOIN LATERAL (
		SELECT `+feedMarkerColumns+` FROM user_feed_markers WHERE home = $1 AND user_id = $2 AND feed_id = f.id LIMIT 1) AS m ORDER BY m.feed_id`)
	// The order and the range, instead of equality, make PostgreSQL choose the index by entity.
	feedMarkersByEntity = core.ForEach("feedMarkers.ofEntities", 1, "", `SELECT `+feedMarkerColumns+` FROM user_feed_markers WHERE home = $1
		AND user_id = $2 AND entity_id >= {value} AND entity_id <= {value}
		ORDER BY entity_id LIMIT 1000`, "")
	sqlFeedMarkersChanged = db.Register("feedMarkers.changed", `SELECT `+feedMarkerColumns+` FROM user_feed_markers WHERE home = $1 AND user_id = $2
		AND updated_at > $3::timestamptz
		ORDER BY updated_at, feed_id LIMIT $4::bigint`)
	sqlFeedMarkersOfUsers = db.Register("feedMarkers.ofUsers", `SELECT `+db.Prefixed("m", feedMarkerColumns)+` FROM unnest($3::text[]) AS u (id)
		CROSS JOIN LATERAL (
		SELECT `+feedMarkerColumns+` FROM user_feed_markers WHERE home = $1 AND user_id = u.id AND feed_id = $2 LIMIT 1) AS m`)
	sqlFeedMarkersLive = db.Register("feedMarkers.ofFeed", `SELECT `+feedMarkerColumns+` FROM user_feed_markers WHERE home = $1 AND feed_id = $2
		AND NOT is_deleted
		ORDER BY user_id LIMIT $3::bigint`)
	sqlEntityMarkers = db.Register("feedMarkers.sumByEntity", `SELECT e.id, s.unread, s.mentioned, s.deleted, s.created_at, s.updated_at
		FROM unnest($3::text[]) AS e (id) CROSS JOIN LATERAL (
		SELECT `+sumOfMarkers+`, bool_and(is_deleted), min(created_at), max(updated_at) FROM user_feed_markers
		WHERE home = $1 AND user_id = $2 AND entity_id = e.id) AS s (unread, mentioned, deleted, created_at, updated_at)
		WHERE s.created_at IS NOT NULL ORDER BY e.id`)
	sqlUserMarker = db.Register("feedMarkers.sumOfUser", `SELECT `+sumOfMarkers+`, min(created_at), max(updated_at),
		(SELECT last_sync_at FROM user_markers WHERE home = $1 AND user_id = $2) FROM user_feed_markers WHERE home = $1 AND user_id = $2`)
	sqlFeedMarkersMove = db.Register("feedMarkers.advance", `UPDATE user_feed_markers SET
			is_deleted = is_deleted AND NOT $7::boolean,
			last_segment = GREATEST(last_segment, $4::bigint),
			last_mention = GREATEST(last_mention, ($6::bigint[])[array_position($2::text[], user_id)]),
			read_to = GREATEST(read_to, ($5::bigint[])[array_position($2::text[], user_id)], CASE WHEN reading_until > $8 THEN $4::bigint ELSE 0
			END),
			delivered_to = GREATEST(delivered_to, ($5::bigint[])[array_position($2::text[], user_id)], CASE WHEN reading_until > $8 THEN $4::bigint
			ELSE 0 END),
			updated_at = GREATEST(updated_at, $8)
		WHERE home = $1 AND user_id = ANY($2::text[]) AND feed_id = $3`).UpdatesFirst(core.SharedFeedMarkers, 2, 3)
	// The rows must be new: ON CONFLICT with several rows would look for them in every region.
	sqlFeedMarkersInsert = db.Register("feedMarkers.insert", `INSERT INTO user_feed_markers (home, user_id, feed_id, entity_id, last_segment, read_to,
			delivered_to, last_mention, is_deleted, created_at, updated_at)
		SELECT $1, m.user_id, $3, $4, $5::bigint, m.seen AS read_to, m.seen AS delivered_to, m.last_mention, false, $8, $8
		FROM unnest($2::text[], $6::bigint[], $7::bigint[]) AS m (user_id, seen, last_mention)`)
	sqlFeedMarkerDelete = db.Register("feedMarkers.delete", `UPDATE user_feed_markers SET is_deleted = true, updated_at = $4 WHERE home = $1
		AND user_id = $2 AND feed_id = $3`).UpdatesFirst(core.SharedFeedMarkers, 2, 3)
	sqlFeedMarkerUpdateRead = db.Register("feedMarkers.read", `UPDATE user_feed_markers SET read_to = GREATEST(read_to, LEAST($4::bigint,
		last_segment)),
		delivered_to = GREATEST(delivered_to, LEAST($5::bigint, last_segment)), updated_at = GREATEST(updated_at, $6)
		WHERE home = $1 AND user_id = $2 AND feed_id = $3`).UpdatesFirst(core.SharedFeedMarkers, 2, 3)
	sqlFeedMarkerUpdateReadingUntil = db.Register("feedMarkers.reading", `UPDATE user_feed_markers SET reading_until = $4 WHERE home = $1 AND user_id
		= $2 AND feed_id = $3`).UpdatesFirst(core.SharedFeedMarkers, 2, 3)
	sqlUserMarkerUpdateLastSync = db.Register("userMarkers.sync", `INSERT INTO user_markers (home, user_id, last_sync_at, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $4)
		ON CONFLICT (home, user_id) DO UPDATE SET last_sync_at = GREATEST(user_markers.last_sync_at, excluded.last_sync_at),
		updated_at = excluded.updated_at`)
)

// SegmentOf reads the segment of a message in a feed; 0 if there is no such message.
func (r ReadBatch) SegmentOf(feedID, messageID string, into *int64) {
	*into = 0
	r.AddAt(feedID, sqlSegmentByMessage, db.Value(into), feedID, messageID)
}

// FeedMarkers reads a user's markers of feeds, which must be distinct.
func (r ReadBatch) FeedMarkers(userID string, feedIDs []string, into *[]FeedMarker) {
	r.AddAt(userID, sqlFeedMarkersByFeed, db.Rows(into), userID, core.EmptyIfNil(feedIDs))
}

// FeedMarkersOfEntities reads a user's markers of the feeds of channels, which must be distinct; at most 1000 of each
// channel.
func (r ReadBatch) FeedMarkersOfEntities(userID string, entityIDs []string, into *[]FeedMarker) {
	home := r.HomeOrNone(userID)
	*into = nil
	core.ReadEachAt(r.ReadBatch, home, entityIDs, feedMarkersByEntity, into, userID)
}

// ChangedFeedMarkers reads up to limit markers of a user that changed after a time, oldest change first.
func (r ReadBatch) ChangedFeedMarkers(userID string, after time.Time, limit int, into *[]FeedMarker) {
	r.AddAt(userID, sqlFeedMarkersChanged, db.Rows(into), userID, after, limit)
}

// EntityMarkers reads a user's markers of channels, which must be distinct.
func (r ReadBatch) EntityMarkers(userID string, entityIDs []string, into *[]EntityMarker) {
	r.AddAt(userID, sqlEntityMarkers, db.Rows(into), userID, core.EmptyIfNil(entityIDs))
}

// UserMarker reads the sum of a user's markers.
func (r ReadBatch) UserMarker(userID string, into **UserMarker) {
	r.AddAt(userID, sqlUserMarker, db.Row(into), userID)
}

// FeedMarkersOfUsers reads the markers of a feed of users of one home.
func (r ReadBatch) FeedMarkersOfUsers(home region.Code, feedID string, userIDs []string, into *[]FeedMarker) {
	r.Add(home, sqlFeedMarkersOfUsers, db.Rows(into), feedID, core.EmptyIfNil(userIDs))
}

// LiveFeedMarkers reads up to limit markers of a feed of users of one home, without those that are marked as deleted.
func (r ReadBatch) LiveFeedMarkers(home region.Code, feedID string, limit int, into *[]FeedMarker) {
	r.Add(home, sqlFeedMarkersLive, db.Rows(into), feedID, limit)
}

// AdvanceMessageFeed records a message of a feed and inserts the feed with its first message. The transaction fails
// with gone if the feed is deleted.
func (w Tx) AdvanceMessageFeed(s FeedSegment, now time.Time, gone error) {
	w.Exec(sqlMessageFeedAdvance, s.FeedID, s.EntityID, s.Segment, now)
	w.Guard(sqlMessageFeedGuard, gone, s.FeedID)
	w.Exec(sqlSegmentInsert, s.FeedID, s.MessageID, s.Segment, s.CreatorID, now)
}

// MarkerAdvance is the arrival of a message for a user.
type MarkerAdvance struct {
	UserID    string `json:"userId"`
	Mentioned bool   `json:"mentioned,omitempty"`
	Author    bool   `json:"author,omitempty"` // the author has read the message
}

// MarkerMove is a new position of a user's marker. Markers never move backward, so that applying it is idempotent.
type MarkerMove struct {
	UserID      string
	ReadTo      int64
	LastMention int64
}

// MarkerMoves are moves of the markers of users for one feed, to the same last segment. The users are distinct.
type MarkerMoves struct {
	FeedID      string
	EntityID    string
	LastSegment int64
	Moved       []MarkerMove // of markers that exist
	Restored    []MarkerMove // of markers that exist, which reverts DeleteFeedMarker for users who have rejoined
	Inserted    []MarkerMove // of users without markers
}

// ErrMarkerExists is returned if a transaction inserts a marker that exists.
var ErrMarkerExists = errors.New("the marker exists")

// MoveFeedMarkers moves and inserts markers. If a user is reading the feed, the messages count as read. The transaction
// fails with ErrMarkerExists if another one has inserted a marker.
func (w Tx) MoveFeedMarkers(m MarkerMoves, now time.Time) {
	for _, part := range []struct {
		moves   []MarkerMove
		restore bool
	}{{m.Moved, false}, {m.Restored, true}} {
		if len(part.moves) > 0 {
			users, readTo, mentions := markerArgs(part.moves)
			w.Exec(sqlFeedMarkersMove, users, m.FeedID, m.LastSegment, readTo, mentions, part.restore, now)
		}
	}
	if len(m.Inserted) > 0 {
		users, readTo, mentions := markerArgs(m.Inserted)
		w.Exec(sqlFeedMarkersInsert, users, m.FeedID, m.EntityID, m.LastSegment, readTo, mentions, now).
			OnConflict("user_feed_markers_pkey", ErrMarkerExists)
	}
}

// markerArgs returns the fields of moves in the order in which the rows are locked.
func markerArgs(moves []MarkerMove) (users []string, readTo, mentions []int64) {
	for _, move := range slices.SortedFunc(slices.Values(moves), func(a, b MarkerMove) int { return cmp.Compare(a.UserID, b.UserID) }) {
		users, readTo, mentions = append(users, move.UserID), append(readTo, move.ReadTo), append(mentions, move.LastMention)
	}
	return users, readTo, mentions
}

// MoveTo returns the move of a user's marker to a message.
func (a MarkerAdvance) MoveTo(segment int64) MarkerMove {
	m := MarkerMove{UserID: a.UserID}
	if a.Author {
		m.ReadTo = segment
	}
	if a.Mentioned {
		m.LastMention = segment
	}
	return m
}

// DeleteFeedMarker marks a user's marker as deleted, because the feed was deleted or the user has left it.
func (w Tx) DeleteFeedMarker(userID, feedID string, now time.Time) {
	w.Exec(sqlFeedMarkerDelete, userID, feedID, now)
}

// UpdateReadPosition moves a user's marker forward, at most to the last segment of the feed and never backward.
func (w Tx) UpdateReadPosition(userID, feedID string, readTo, deliveredTo int64, now time.Time) {
	w.Exec(sqlFeedMarkerUpdateRead, userID, feedID, readTo, deliveredTo, now)
}

// UpdateReadingUntil stores until when a user is reading a feed; nil if the user has stopped.
func (w Tx) UpdateReadingUntil(userID, feedID string, until *time.Time) {
	w.Exec(sqlFeedMarkerUpdateReadingUntil, userID, feedID, until)
}

// UpdateLastSync stores up to when a user's devices have received the user's markers. It never moves backward.
func (w Tx) UpdateLastSync(userID string, upTo, now time.Time) {
	w.Exec(sqlUserMarkerUpdateLastSync, userID, upTo, now)
}
