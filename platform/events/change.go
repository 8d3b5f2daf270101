package events

import (
	"cmp"
	"encoding/json"
	"errors"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/eventlog"
)

// A Change is a realtime event about one object, such as a new post. The transaction that changes the object emits it.
// It is logged at the home of the object, and every server with subscribers reads the logs of all homes. The event does
// not contain the object: a server that has subscribers for one of its topics reads the object on delivery.
type Change struct {
	Kind  ObjectKind `json:"kind"`
	ID    string     `json:"id"` // internal id of the object
	Place Place      `json:"place"`
	// Topics are the topics of the event.
	Topics []string `json:"topics"`
	// OtherID is the internal id of the followed user of a follow, whose ID is that of the follower, or of the user who answered
	// an event.
	OtherID string `json:"otherId,omitempty"`
	// UserIDs are the internal ids of the users whom the event concerns, such as those who were added. They also receive
	// the event on their own topics.
	UserIDs []string `json:"userIds,omitempty"`
	// Reaction is the reaction that was added or removed, if any.
	Reaction *ChangedReaction `json:"reaction,omitempty"`
	// Live are the reactions of an event about live reactions to the post.
	Live []LiveReaction `json:"live,omitempty"`
	// ParticipantID is the internal id of the user who joined, left or was removed from a room, if any.
	ParticipantID string `json:"participantId,omitempty"`
	// Members are the new memberships of an event CommunityUserAdded, by which users became members; UserIDs are their users. The event is
	// in the logs of all homes, since its streams depend on the home of their user only, and contains what only the home of the community
	// stores. The other properties of the users are read on delivery.
	Members []AddedMember `json:"members,omitempty"`
	// Mirrors are the rows of these memberships in the homes of their users, which are stored together with the event.
	Mirrors []communities.MirroredMember `json:"-"`
	// FeedIDs and EntityIDs are the ids of the message feeds and channels whose markers changed.
	FeedIDs   []string `json:"feedIds,omitempty"`
	EntityIDs []string `json:"entityIds,omitempty"`
	// Mentions reports whether the object mentions users, who get an item in their tray.
	Mentions bool `json:"-"`
	// Sequence is the internal id of what orders the events, if that is not the object itself: those of the messages of a subchannel
	// appear in one order.
	Sequence string `json:"-"`
}

// ErrUndeliverable means that an event cannot be encoded, now or later, for example because its object was removed for good.
var ErrUndeliverable = errors.New("event is undeliverable")

// orderKey returns the key of the events that this one may neither overtake nor be overtaken by. Live reactions and markers have no
// order, nor have events in the logs of several homes: each home that does not answer delays its own log only.
func (c Change) orderKey() string {
	if c.Kind == KindLive || c.Kind == KindMarkers || len(c.Members) > 0 {
		return ""
	}
	return cmp.Or(c.Sequence, c.ID)
}

// ObjectKind is the kind of the object that an event is about.
type ObjectKind string

// The kinds of objects.
const (
	KindPost        ObjectKind = "post"
	KindComment     ObjectKind = "comment"
	KindStory       ObjectKind = "story"
	KindCommunity   ObjectKind = "community"
	KindChannel     ObjectKind = "channel"
	KindMessageFeed ObjectKind = "messageFeed"
	KindMessage     ObjectKind = "message"
	KindUser        ObjectKind = "user"
	KindFollow      ObjectKind = "follow"
	KindRoom        ObjectKind = "room"
	KindStream      ObjectKind = "stream"
	KindStreamBan   ObjectKind = "streamBan"  // viewers, UserIDs, who are banned from a stream, or not any more
	KindInvitation  ObjectKind = "invitation" // of a co-host to a room
	KindLive        ObjectKind = "live"       // live reactions to a post
	KindEvent       ObjectKind = "event"      // that users attend
	KindEventRsvp   ObjectKind = "eventRsvp"  // the answer of a user, OtherID, to an event
	KindMarkers     ObjectKind = "markers"    // of a user
)

// Place is where an object is. It decides who receives events about the object.
type Place struct {
	Kind string `json:"kind"` // one of the constants below
	ID   string `json:"id"`   // internal id
}

// The kinds of places.
const (
	PlaceCommunity = "community" // a community and its content
	PlaceWall      = "user"      // the content on the wall of a user
	PlaceContent   = "content"   // posts on content of the client's
	PlaceChannel   = "channel"   // a channel, its subchannels and messages
	PlaceProfile   = "profile"   // a user's properties
	PlaceRoom      = "room"      // a room, for those who may watch it
	PlaceStage     = "stage"     // a room, for those who take part in it
	PlaceStream    = "stream"    // a video stream
	PlaceUsers     = "users"     // only the users whom the event names
)

// ChangedReaction is a reaction that was added or removed.
type ChangedReaction struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	UserID string `json:"userId"` // internal id
}

// The names of events that several packages know.
const (
	// CommunityUserAdded is the event of users who became members of a community: one for each operation, for all users that it added.
	CommunityUserAdded = "community.userAdded"
	// LiveReactionCreated is the event of live reactions.
	LiveReactionCreated = "liveReaction.created"
	// MarkerUserSync is the event of a user whose markers change, whatever changes them but SyncMarkers, which clients call in response to
	// the event.
	MarkerUserSync = "marker.user-sync"
	// UserDeleted is the event of an erased user.
	UserDeleted = "user.deleted"
)

// Retention is how long events are kept for clients that resume a stream.
const Retention = 24 * time.Hour

// AddedMember is a new membership.
type AddedMember struct {
	UserID    string    `json:"userId"` // internal id
	PublicID  string    `json:"publicId"`
	Roles     []string  `json:"roles"`
	JoinedAt  time.Time `json:"joinedAt"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// LiveReaction is a reaction that viewers of a live post see for a moment. It is not stored apart from its event.
type LiveReaction struct {
	UserID     string    `json:"userId"` // public id
	Name       string    `json:"name"`
	OccurredAt time.Time `json:"occurredAt"`
}

// EmitChange writes the event called name to the outbox of w, the transaction of the change. senderID is the internal id
// of the user who made the change; it is empty for an administrator.
func EmitChange(w *store.Tx, name string, c Change, senderID string, now time.Time) core.OutboxRow {
	return w.EmitEvents(c.orderKey(), []eventlog.Event{c.event(w, name, senderID, now)}, now, now.Add(Grace))
}

func (c Change) event(w *store.Tx, name, senderID string, now time.Time) eventlog.Event {
	payload, err := json.Marshal(c)
	if err != nil {
		panic("events: payload: " + err.Error()) // a plain struct
	}
	e := eventlog.Event{
		Name: name, Topic: c.ID, SenderID: senderID, Payload: payload, SentAt: now, Homes: []region.Code{w.Home()}, Mirrors: c.Mirrors,
	}
	if len(c.Members) > 0 {
		e.Homes = region.All()
	}
	return e
}

// EmitChanges is EmitChange for several changes, each with the internal id of its sender. Those with the same order are one outbox
// row.
func EmitChanges(w *store.Tx, name string, changes []Change, senderIDs []string, now time.Time) []core.OutboxRow {
	var keys []string
	byKey := map[string][]eventlog.Event{}
	for i, c := range changes {
		key := c.orderKey()
		if byKey[key] == nil {
			keys = append(keys, key)
		}
		byKey[key] = append(byKey[key], c.event(w, name, senderIDs[i], now))
	}
	rows := make([]core.OutboxRow, len(keys))
	for i, key := range keys {
		rows[i] = w.EmitEvents(key, byKey[key], now, now.Add(Grace))
	}
	return rows
}
