package messaging

import (
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// The statements of ListMessageFeeds, and those of their windows.
var (
	messageFeedsByLastMessage = core.OrderedBy(core.PlainOrders, "last_message_at", messageFeeds.Page)
	messageFeedWindows        = core.OrderedBy(core.PlainOrders, "last_message_at", messageFeeds.Window)

	messageFeeds = core.Source{
		Name: "messageFeeds.list", Columns: messageFeedColumns, Zeros: db.Zeros[MessageFeed](),
		From:   `message_feeds WHERE home = $1 AND entity_id = $2 AND is_own`,
		Filter: ` AND ($6::text = 'any' OR ($6::text = 'deleted') = (deleted_at IS NOT NULL)) AND NOT ($7::boolean AND id = entity_id)`,
		After:  3, Args: 7,
	}
)

// MessageFeedList is a page of the subchannels of a channel, ordered by their last message.
type MessageFeedList struct {
	ChannelID      string // internal id
	Deleted        core.Deleted
	WithoutDefault bool
	Desc           bool
	// The position that the page starts after.
	After   time.Time
	AfterID string
	Limit   int
}

// ListMessageFeeds reads up to Limit subchannels of the list.
func (r ReadBatch) ListMessageFeeds(l MessageFeedList, into *[]MessageFeed) {
	home := r.HomeOrNone(l.ChannelID)
	*into = nil
	core.ReadPage(r.ReadBatch, messageFeedsByLastMessage.In(l.Desc), l.Desc, positionOfFeed, core.Windows[MessageFeed]{
		Home: home, After: core.Position{Time: l.After, ID: l.AfterID}, Limit: l.Limit, Statement: messageFeedWindows.In(l.Desc),
		Args: func(after core.Position, limit int) []any {
			return []any{l.ChannelID, after.Time, after.ID, limit, string(l.Deleted), l.WithoutDefault}
		},
		Rows: core.RowsAt(r.ReadBatch, r.MessageFeeds, func(f MessageFeed, at map[string]core.Position) (MessageFeed, bool) {
			return f, f.LastMessageAt.Equal(at[f.ID].Time) && l.Deleted.Includes(f.DeletedAt)
		}),
	}, into)
}

func positionOfFeed(f MessageFeed) core.Position {
	return core.Position{Time: f.LastMessageAt, ID: f.ID}
}

// Next returns the list of what follows a page, and reports whether there may be more. feeds are those of the page and stops
// are the stops of its batch.
func (l MessageFeedList) Next(feeds []MessageFeed, stops []core.Position) (MessageFeedList, bool) {
	var end core.Position
	switch {
	case len(stops) > 0:
		end = stops[0]
	case len(feeds) >= l.Limit:
		end = positionOfFeed(slices.MaxFunc(feeds, func(a, b MessageFeed) int {
			c := core.CompareKeys(a.LastMessageAt, a.ID, b.LastMessageAt, b.ID)
			return core.Pick(l.Desc, -c, c)
		}))
	default:
		return l, false
	}
	l.After, l.AfterID = end.Time, end.ID
	return l, true
}
