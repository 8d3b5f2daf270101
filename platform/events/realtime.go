package events

import (
	"encoding/json"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// Realtime events: what users are told while they listen.
//
// The transaction that changes something leaves an event in its outbox, so that the event is told if and only if the
// transaction committed. From there it goes to the log of each home whose users may hear of it, and package realtime tells
// the users who are connected. proto/plaza/v1/realtime.proto describes the streams.
//
//	event                  emitted by
//	community.userAdded    AddMembers, CreateCommunity with userIds (for the users named, not for the creator), JoinCommunity,
//	                       RequestJoin where no moderator decides, ApproveJoin and AcceptInvitation: whenever somebody
//	                       becomes a member who was none, by whomever. One event an operation, for all users that it added.
//	marker.user-sync       whenever markers of a user change: a message in a feed of theirs, its deletion, mark-read,
//	                       mark-delivering, reading, joining and leaving a channel. Not by SyncMarkers, which clients call because
//	                       of the event.

// The names of events, as streams say them.
const (
	CommunityUserAdded = "community.userAdded"
	MarkerUserSync     = "marker.user-sync"
)

// Retention is how long events are kept for clients that resume.
const Retention = 24 * time.Hour

// AddedUsers is the payload of CommunityUserAdded. Of the users it holds their ids, which every region knows of the members of
// its communities; what else they are is read when they are shown.
type AddedUsers struct {
	CommunityID string        `json:"communityId"`
	Members     []AddedMember `json:"members"`
}

// AddedMember is a membership as it was made.
type AddedMember struct {
	UserID    string    `json:"userId"` // internal id
	PublicID  string    `json:"publicId"`
	Roles     []string  `json:"roles"`
	JoinedAt  time.Time `json:"joinedAt"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// Added tells of the users whom changes made members of a community, other than except. It leaves the event in the
// transaction w of the changes, and returns the outbox row, or nothing where nobody became a member. mirrors are the rows
// that the changes left.
func Added(w *store.Tx, communityID, senderID, except string, changes []store.MemberChange, mirrors []store.OutboxRow, now time.Time) []store.OutboxRow {
	payload := AddedUsers{CommunityID: communityID}
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
	return []store.OutboxRow{announce(w, e, payload, now)}
}

// ChangedMarkers is the payload of MarkerUserSync.
type ChangedMarkers struct {
	FeedIDs   []string `json:"feedIds"`
	EntityIDs []string `json:"entityIds"`
}

// MarkersChanged tells a user that their markers changed. It leaves the event in the transaction w of the change.
func MarkersChanged(w *store.Tx, userID string, changed ChangedMarkers, now time.Time) store.OutboxRow {
	return announce(w, store.Event{
		Name: MarkerUserSync, Topic: userID, SenderID: userID, SentAt: now, Homes: []region.Code{w.Home()},
	}, changed, now)
}

func announce(w *store.Tx, e store.Event, payload any, now time.Time) store.OutboxRow {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic("events: payload: " + err.Error()) // plain structs of our own
	}
	e.Payload = raw
	return w.EmitEvent(e, now, now.Add(Grace))
}
