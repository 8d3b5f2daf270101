package events

import (
	"encoding/json"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// Realtime events notify connected users.
//
// The transaction that makes a change writes an event to its outbox, so that the event is published if and only if the
// transaction commits. The outbox appends the event to the log of each home with users who may receive it, and package
// realtime streams it to connected users. proto/plaza/v1/realtime.proto documents the streams.
//
//	event                  emitted by
//	community.userAdded    AddMembers, CreateCommunity with userIds (for those users, not for the creator), JoinCommunity,
//	                       RequestJoin without approval, ApproveJoin and AcceptInvitation: whenever a user becomes a
//	                       member. One event per operation, for all users that it added.
//	marker.user-sync       whenever markers of a user change: by a message in one of the user's feeds, its deletion,
//	                       mark-read, mark-delivering, reading, joining and leaving a channel. Not by SyncMarkers, which
//	                       clients call in response to the event.

// The names of events, as they appear in streams.
const (
	CommunityUserAdded = "community.userAdded"
	MarkerUserSync     = "marker.user-sync"
)

// Retention is how long events are kept for clients that resume a stream.
const Retention = 24 * time.Hour

// MembersAdded is the payload of CommunityUserAdded. It identifies the users by id, which every region stores for the
// members of its communities; their other properties are read on delivery.
type MembersAdded struct {
	CommunityID string        `json:"communityId"`
	Members     []AddedMember `json:"members"`
}

// AddedMember is a new membership.
type AddedMember struct {
	UserID    string    `json:"userId"` // internal id
	PublicID  string    `json:"publicId"`
	Roles     []string  `json:"roles"`
	JoinedAt  time.Time `json:"joinedAt"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// EmitMembersAdded writes an event for the users whom changes made members of a community, except the user with the id
// except, to the outbox of w, the transaction of the changes. It returns the outbox row, or none if no user became a
// member. mirrors are the outbox rows that the changes wrote.
func EmitMembersAdded(w *store.Tx, communityID, senderID, except string, changes []store.MemberChange, mirrors []store.OutboxRow, now time.Time) []store.OutboxRow {
	payload := MembersAdded{CommunityID: communityID}
	for _, c := range changes {
		if c.New.IsMember() && !c.Old.IsMember() && c.New.UserID != except {
			m := c.New
			payload.Members = append(payload.Members, AddedMember{m.UserID, m.UserPublicID, m.Roles, m.JoinedAt, m.CreatedAt, m.UpdatedAt})
		}
	}
	if len(payload.Members) == 0 {
		return nil
	}
	e := store.Event{Name: CommunityUserAdded, Topic: communityID, SenderID: senderID, SentAt: now, Homes: region.All()}
	for _, row := range mirrors {
		var mirrored []store.MirroredMember
		if row.Topic == store.TopicMembership && json.Unmarshal(row.Payload, &mirrored) == nil {
			e.Mirrors = append(e.Mirrors, mirrored...)
		}
	}
	return []store.OutboxRow{emitEvent(w, e, payload, now)}
}

// MarkersChanged is the payload of MarkerUserSync.
type MarkersChanged struct {
	FeedIDs   []string `json:"feedIds"`
	EntityIDs []string `json:"entityIds"`
}

// EmitMarkersChanged writes an event for a user whose markers changed to the outbox of w, the transaction of the
// change.
func EmitMarkersChanged(w *store.Tx, userID string, changed MarkersChanged, now time.Time) store.OutboxRow {
	return emitEvent(w, store.Event{
		Name: MarkerUserSync, Topic: userID, SenderID: userID, SentAt: now, Homes: []region.Code{w.Home()},
	}, changed, now)
}

// EmitMarkersChangedOf is EmitMarkersChanged for several users of the home of w. It returns no row if there are none.
func EmitMarkersChangedOf(w *store.Tx, userIDs []string, changed MarkersChanged, now time.Time) []store.OutboxRow {
	if len(userIDs) == 0 {
		return nil
	}
	raw := payloadOf(changed)
	all := make([]store.Event, len(userIDs))
	for i, id := range userIDs {
		all[i] = store.Event{Name: MarkerUserSync, Topic: id, SenderID: id, Payload: raw, SentAt: now, Homes: []region.Code{w.Home()}}
	}
	return []store.OutboxRow{w.EmitEvents("", all, now, now.Add(Grace))}
}

func payloadOf(payload any) json.RawMessage {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic("events: payload: " + err.Error()) // plain structs of this package
	}
	return raw
}

// emitEvent writes an event that other events may overtake: each home that does not answer delays its own log only.
func emitEvent(w *store.Tx, e store.Event, payload any, now time.Time) store.OutboxRow {
	e.Payload = payloadOf(payload)
	return w.EmitEvent("", e, now, now.Add(Grace))
}
