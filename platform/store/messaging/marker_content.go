package messaging

import (
	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// markersWithMessage is the condition for users who have received a message. The additions of 0, and the condition on
// last_segment, prevent the use of the index on delivered_to, which would require sorting all rows by user id.
const markersWithMessage = `delivered_to + 0 >= $3::bigint AND last_segment >= $3::bigint AND user_id <> $4 AND NOT is_deleted`

var (
	// Messages that were delivered to no user have no row.
	sqlContentMarkers = db.Register("feedMarkers.countOfMessages", `SELECT m.n, count(*) FILTER (WHERE u.read_to >= m.segment), count(*) FROM
		unnest($2::text[], $3::bigint[], $4::text[]) WITH ORDINALITY AS m (feed_id, segment, creator_id, n) JOIN user_feed_markers AS u
			ON u.home = $1 AND u.feed_id = m.feed_id AND u.delivered_to >= m.segment AND u.user_id <> m.creator_id AND NOT u.is_deleted
		GROUP BY m.n`)
	sqlMessageReceivers = db.Register("feedMarkers.withDelivered", `SELECT user_id
		FROM user_feed_markers /*@{FORCE_INDEX=user_feed_markers_by_feed}*/ WHERE home = $1 AND feed_id = $2
		AND `+markersWithMessage+` AND user_id > $5 ORDER BY user_id LIMIT $6::bigint`)
	sqlMessageReaders = db.Register("feedMarkers.withRead", `SELECT user_id FROM user_feed_markers /*@{FORCE_INDEX=user_feed_markers_by_feed}*/
		WHERE home = $1 AND feed_id = $2
		AND `+markersWithMessage+` AND read_to + 0 >= $3::bigint AND user_id > $5 ORDER BY user_id LIMIT $6::bigint`)
)

// ContentMarker is the number of users other than the author who have read a message, and to whom it was delivered.
type ContentMarker struct{ Read, Delivered int64 }

// ContentMarkers sums the markers of the users of all homes for each message, in the order of messages.
func (r ReadBatch) ContentMarkers(messages []FeedSegment, into *[]ContentMarker) {
	*into = make([]ContentMarker, len(messages))
	if len(messages) == 0 {
		return
	}
	feeds, segments, creators := make([]string, len(messages)), make([]int64, len(messages)), make([]string, len(messages))
	for i, m := range messages {
		feeds[i], segments[i], creators[i] = m.FeedID, m.Segment, m.CreatorID
	}
	for _, home := range region.All() {
		part := make([]ContentMarker, len(messages))
		r.Add(home, sqlContentMarkers, func(rows pgx.Rows) error {
			for rows.Next() {
				var n int64
				var c ContentMarker
				if err := rows.Scan(&n, &c.Read, &c.Delivered); err != nil {
					return err
				}
				part[n-1] = c
			}
			return nil
		}, feeds, segments, creators)
		r.Then(func() {
			for i, c := range part {
				(*into)[i].Read += c.Read
				(*into)[i].Delivered += c.Delivered
			}
		})
	}
}

// MessageReaderList is a page of the users, other than the author, who have received a message, ordered by internal id.
type MessageReaderList struct {
	Message   FeedSegment
	Read      bool // only users who have read it
	AfterUser string
	Limit     int
}

// ListMessageReaders reads up to Limit internal ids of users of each home in no particular order.
func (r ReadBatch) ListMessageReaders(l MessageReaderList, into *[]string) {
	for _, home := range region.All() {
		part := new([]string)
		r.Add(home, core.Pick(l.Read, sqlMessageReaders, sqlMessageReceivers), db.Values(part),
			l.Message.FeedID, l.Message.Segment, l.Message.CreatorID, l.AfterUser, l.Limit)
		r.Then(func() { *into = append(*into, *part...) })
	}
}
