package store

import (
	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// A page of users is read in the order of their ids, which the index of a feed has. The sums, and last_segment, which is true of all
// that arrived, keep the index by delivered_to from being taken, from which all of them would have to be sorted.
const marksWithMessage = `delivered_to + 0 >= $3::bigint AND last_segment >= $3::bigint AND user_id <> $4 AND NOT is_deleted`

var (
	sqlMarksCount = stmt("feedMarks.countOfMessages", `SELECT m.n, c.read, c.delivered FROM
		unnest($2::text[], $3::bigint[], $4::text[]) WITH ORDINALITY AS m (feed_id, segment, creator_id, n) CROSS JOIN LATERAL (
		SELECT count(*) FILTER (WHERE read_to >= m.segment), count(*) FROM user_feed_markers
		WHERE home = $1 AND feed_id = m.feed_id AND delivered_to >= m.segment AND user_id <> m.creator_id AND NOT is_deleted) AS c (read, delivered)`)
	sqlMarksDelivered = stmt("feedMarks.withDelivered", `SELECT user_id FROM user_feed_markers WHERE home = $1 AND feed_id = $2
		AND `+marksWithMessage+` AND user_id > $5 ORDER BY user_id LIMIT $6::bigint`)
	sqlMarksRead = stmt("feedMarks.withRead", `SELECT user_id FROM user_feed_markers WHERE home = $1 AND feed_id = $2
		AND `+marksWithMessage+` AND read_to + 0 >= $3::bigint AND user_id > $5 ORDER BY user_id LIMIT $6::bigint`)
)

// ContentMark is how far a message has come: how many users other than its author have read it, and how many got it.
type ContentMark struct{ Read, Delivered int64 }

// ContentMarks adds up how far messages have come with the users of all homes. The marks go in step with the messages.
func (r *ReadBatch) ContentMarks(messages []FeedSegment, into *[]ContentMark) {
	*into = make([]ContentMark, len(messages))
	if len(messages) == 0 {
		return
	}
	feeds, segments, creators := make([]string, len(messages)), make([]int64, len(messages)), make([]string, len(messages))
	for i, m := range messages {
		feeds[i], segments[i], creators[i] = m.FeedID, m.Segment, m.CreatorID
	}
	for _, home := range region.All() {
		part := make([]ContentMark, len(messages))
		r.add(home, sqlMarksCount, func(rows pgx.Rows) error {
			for rows.Next() {
				var n int64
				var c ContentMark
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

// MarkedUserList is a page of the users who have a message, other than its author, by their internal ids.
type MarkedUserList struct {
	Message   FeedSegment
	Read      bool // who have read it, and not just got it
	AfterUser string
	Limit     int
}

// MarkedUsers reads up to Limit internal ids of users of each home, in no order.
func (r *ReadBatch) MarkedUsers(l MarkedUserList, into *[]string) {
	for _, home := range region.All() {
		part := new([]string)
		r.add(home, pick(l.Read, sqlMarksRead, sqlMarksDelivered), scanAll(part, scanText),
			l.Message.FeedID, l.Message.Segment, l.Message.CreatorID, l.AfterUser, l.Limit)
		r.Then(func() { *into = append(*into, *part...) })
	}
}
