package store

import (
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/store/db"
)

// messageFeedFilter is the filter that has no index.
const messageFeedFilter = ` AND ($6::text = 'any' OR ($6::text = 'deleted') = (deleted_at IS NOT NULL)) AND NOT ($7::boolean AND id = entity_id)`

// The statements of ListMessageFeeds, and those of their windows.
var (
	messageFeedsByLastMessage = inBoth(plainOrders, func(o db.Order) *db.Statement {
		return stmt("messageFeeds.list"+o.Name, boundedPage(messageFeedColumns, db.Zeros[MessageFeed](), o.By("last_message_at", "id"), messageFeedsOf(o), messageFeedFilter, 5))
	})
	messageFeedWindows = inBoth(plainOrders, func(o db.Order) *db.Statement {
		return window("messageFeeds.list", o, timeKey(o, "last_message_at", "id"), messageFeedsOf(o), messageFeedFilter, 5, 8)
	})
)

func messageFeedsOf(o db.Order) string {
	return `message_feeds WHERE home = $1 AND entity_id = $2 AND is_own AND ` + o.After("last_message_at", "id", "$3::timestamptz", "$4")
}

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
	home, err := r.HomeOf(l.ChannelID)
	if err != nil {
		return
	}
	*into = nil
	readPage[listedMessageFeed](r, messageFeedsByLastMessage.in(l.Desc), l.Desc, positionOfFeed, windows[MessageFeed]{
		home: home, after: Position{Time: l.After, ID: l.AfterID}, limit: l.Limit, statement: messageFeedWindows.in(l.Desc),
		args: func(after Position, limit int) []any {
			return []any{l.ChannelID, after.Time, after.ID, limit, string(l.Deleted), l.WithoutDefault}
		},
		rows: func(found []Position, into *[]MessageFeed) { r.messageFeedsAt(l, found, into) },
	}, into)
}

func positionOfFeed(f MessageFeed) Position { return Position{Time: f.LastMessageAt, ID: f.ID} }

// listedMessageFeed is a row of a statement of messageFeedsByLastMessage.
type listedMessageFeed struct {
	MessageFeed
	IsMore bool
}

func (f listedMessageFeed) split() (MessageFeed, bool) { return f.MessageFeed, f.IsMore }

// messageFeedsAt reads the subchannels at some positions of a list, without those that have left their position.
func (r *ReadBatch) messageFeedsAt(l MessageFeedList, found []Position, into *[]MessageFeed) {
	var feeds []MessageFeed
	times := timesAt(found)
	r.MessageFeeds(idsAt(found), &feeds)
	r.Then(func() {
		*into = slices.DeleteFunc(feeds, func(f MessageFeed) bool {
			return !f.LastMessageAt.Equal(times[f.ID]) || !l.Deleted.includes(f.DeletedAt)
		})
	})
}

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
