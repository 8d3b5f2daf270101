package events

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// Changes to messages, message feeds and channel memberships update the markers of users. The transaction that makes
// the change, at the home of the channel, writes one outbox row for each home with affected users, so that an
// unavailable home delays its own users only. Package marker handles the rows. Rows may be delivered twice and out of
// order, because markers only move forward.

// The topics of outbox rows for markers.
const (
	TopicFeedMarkers    = "feedMarkers"    // a FeedUpdate
	TopicMessages       = "messages"       // a MessagesCreated
	TopicChannelMembers = "channelMembers" // a MembershipChanged
)

// FeedUpdate is a change of a message feed for the users of one home: a new message for Users, or the feed's deletion.
type FeedUpdate struct {
	Home    region.Code               `json:"home"`
	Segment messaging.FeedSegment     `json:"segment"`
	Users   []messaging.MarkerAdvance `json:"users,omitempty"`
	Deleted bool                      `json:"deleted,omitempty"` // the feed was deleted, for all users
	At      time.Time                 `json:"at"`
}

// EmitFeedUpdate writes an update for some users of one home to the outbox.
func EmitFeedUpdate(w *store.Tx, update FeedUpdate) core.OutboxRow {
	return w.Emit(TopicFeedMarkers, update, update.At, update.At.Add(Grace))
}

// EmitFeedDeleted writes the deletion of a feed to the outbox, for the users of every home.
func EmitFeedDeleted(w *store.Tx, feedID string, now time.Time) []core.OutboxRow {
	var rows []core.OutboxRow
	for _, home := range region.All() {
		rows = append(rows, EmitFeedUpdate(w, FeedUpdate{Home: home, Segment: messaging.FeedSegment{FeedID: feedID}, Deleted: true, At: now}))
	}
	return rows
}

// MessagesCreated says that one transaction inserted messages. The members, the messages and the feed's position are read page by page on
// delivery, so the size of the row does not depend on the number of members.
type MessagesCreated struct {
	ChannelID  string        `json:"channelId"`
	FeedID     string        `json:"feedId"`
	MessageIDs []string      `json:"messageIds"`
	Homes      []region.Code `json:"homes,omitempty"` // of the members whose markers are to be updated; all if empty
}

// EmitMessagesCreated writes m to the outbox.
func EmitMessagesCreated(w *store.Tx, m MessagesCreated, now time.Time) core.OutboxRow {
	return w.Emit(TopicMessages, m, now, now.Add(Grace))
}

// MembershipChanged names users of one home whose membership in a channel changed. The new membership is read on
// delivery.
type MembershipChanged struct {
	Home      region.Code `json:"home"`
	ChannelID string      `json:"channelId"`
	UserIDs   []string    `json:"userIds"`
}

// EmitMembershipChanged writes a change of the users' memberships in a channel to the outbox, once for each of their
// homes. On delivery, earlier messages count as read for users who joined, and users who left have nothing unread. A
// channel without messages has no markers.
func EmitMembershipChanged(w *store.Tx, channelID string, userIDs []string, now time.Time) []core.OutboxRow {
	byHome := w.ByHome(userIDs)
	var rows []core.OutboxRow
	for _, home := range region.All() {
		if ids := byHome[home]; len(ids) > 0 {
			rows = append(rows, w.Emit(TopicChannelMembers, MembershipChanged{home, channelID, ids}, now, now.Add(Grace)))
		}
	}
	return rows
}
