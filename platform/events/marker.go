package events

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// What happens to messages, message feeds and channels moves the markers of users. The transaction in which it happens, at the home of
// the channel, leaves a row for each home whose users it concerns, so that a home that is away holds up its own users alone. Package
// marker takes the rows in. A row may arrive twice and out of order: markers never go back.

// The topics of rows for markers.
const (
	TopicFeedMarkers    = "feedMarkers"    // a FeedNews
	TopicMessage        = "message"        // a InsertMessage
	TopicChannelMembers = "channelMembers" // a ChangedMembers
)

// FeedNews is what happened to a feed, for users of one home: a message for the users that it names, or the end of the feed.
type FeedNews struct {
	Home    region.Code         `json:"home"`
	Segment store.FeedSegment   `json:"segment"`
	Users   []store.MarkAdvance `json:"users,omitempty"`
	Deleted bool                `json:"deleted,omitempty"` // the feed is; for all of its users
	At      time.Time           `json:"at"`
}

// FeedTold tells some users of a home of a message.
func FeedTold(w *store.Tx, news FeedNews) store.OutboxRow {
	return w.Emit(TopicFeedMarkers, news, news.At, news.At.Add(Grace))
}

// FeedDeleted tells the users of a feed that it is deleted.
func FeedDeleted(w *store.Tx, feedID string, now time.Time) []store.OutboxRow {
	var told []store.OutboxRow
	for _, home := range region.All() {
		told = append(told, FeedTold(w, FeedNews{Home: home, Segment: store.FeedSegment{FeedID: feedID}, Deleted: true, At: now}))
	}
	return told
}

// InsertMessage is a message of a subchannel, for those members of its channel who live at one home. Who they are, what the message says
// and where the subchannel stands is read when the row is delivered, in pages: the row is as small for ten thousand as for two.
type NewMessage struct {
	Home      region.Code `json:"home"`
	ChannelID string      `json:"channelId"`
	FeedID    string      `json:"feedId"`
	MessageID string      `json:"messageId"`
}

// MessageAdded tells the members of a channel of a message; m.Home is set for each home.
func MessageAdded(w *store.Tx, m NewMessage, now time.Time) []store.OutboxRow {
	var told []store.OutboxRow
	for _, home := range region.All() {
		m.Home = home
		told = append(told, w.Emit(TopicMessage, m, now, now.Add(Grace)))
	}
	return told
}

// ChangedMembers names users of one home whose membership in a channel changed. What it is now is read when the row is delivered.
type ChangedMembers struct {
	Home      region.Code `json:"home"`
	ChannelID string      `json:"channelId"`
	UserIDs   []string    `json:"userIds"`
}

// ChannelMembersChanged has the markers of users follow their membership in a channel: who joins has read what came before, and who
// leaves has nothing unread there. A channel without messages has no markers.
func ChannelMembersChanged(w *store.Tx, channelID string, userIDs []string, now time.Time) []store.OutboxRow {
	byHome := map[region.Code][]string{}
	for _, id := range userIDs {
		if home, err := region.HomeOf(id); err == nil {
			byHome[home] = append(byHome[home], id)
		}
	}
	var told []store.OutboxRow
	for _, home := range region.All() {
		if ids := byHome[home]; len(ids) > 0 {
			told = append(told, w.Emit(TopicChannelMembers, ChangedMembers{home, channelID, ids}, now, now.Add(Grace)))
		}
	}
	return told
}
