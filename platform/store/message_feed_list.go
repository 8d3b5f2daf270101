package store

import (
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/store/db"
)

// The statements of ListMessageFeeds, and those of their windows.
var (
	messageFeedsByLastMessage = by(plainOrders, "last_message_at", messageFeeds.page)
	messageFeedWindows        = by(plainOrders, "last_message_at", messageFeeds.window)

	messageFeeds = source{
		name: "messageFeeds.list", columns: messageFeedColumns, zeros: db.Zeros[MessageFeed](),
		from:   `message_feeds WHERE home = $1 AND entity_id = $2 AND is_own`,
		filter: ` AND ($6::text = 'any' OR ($6::text = 'deleted') = (deleted_at IS NOT NULL)) AND NOT ($7::boolean AND id = entity_id)`,
		after:  3, args: 7,
	}
)

// MessageFeedList is a page of the subchannels of a channel, ordered by their last message.
type MessageFeedList struct {
	ChannelID      string // internal id
	Deleted        Deleted
	WithoutDefault bool
	Desc           bool
	// The position that the page starts after.
	After   time.Time
	AfterID string
	Limit   int
}

// ListMessageFeeds reads up to Limit subchannels of the list.
func (r *ReadBatch) ListMessageFeeds(l MessageFeedList, into *[]MessageFeed) {
	home := r.homeOf(l.ChannelID)
	*into = nil
	readPage(r, messageFeedsByLastMessage.in(l.Desc), l.Desc, positionOfFeed, windows[MessageFeed]{
		home: home, after: Position{Time: l.After, ID: l.AfterID}, limit: l.Limit, statement: messageFeedWindows.in(l.Desc),
		args: func(after Position, limit int) []any {
			return []any{l.ChannelID, after.Time, after.ID, limit, string(l.Deleted), l.WithoutDefault}
		},
		rows: rowsAt(r, r.MessageFeeds, func(f MessageFeed, at map[string]Position) (MessageFeed, bool) {
			return f, f.LastMessageAt.Equal(at[f.ID].Time) && l.Deleted.includes(f.DeletedAt)
		}),
	}, into)
}

func positionOfFeed(f MessageFeed) Position { return Position{Time: f.LastMessageAt, ID: f.ID} }

// Next returns the list of what follows a page, and reports whether there may be more. feeds are those of the page and stops
// are the stops of its batch.
func (l MessageFeedList) Next(feeds []MessageFeed, stops []Position) (MessageFeedList, bool) {
	var end Position
	switch {
	case len(stops) > 0:
		end = stops[0]
	case len(feeds) >= l.Limit:
		end = positionOfFeed(slices.MaxFunc(feeds, func(a, b MessageFeed) int {
			c := compareKeys(a.LastMessageAt, a.ID, b.LastMessageAt, b.ID)
			return pick(l.Desc, -c, c)
		}))
	default:
		return l, false
	}
	l.After, l.AfterID = end.Time, end.ID
	return l, true
}
