package service

import (
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/store"
)

// TopicNotice is the outbox topic of notices; the payload is a Notice.
const TopicNotice = "notice"

// Notice is a change that users are notified of in their trays and on their devices. Package notification determines these users, and
// what they may see, on delivery.
type Notice struct {
	// Event is the name of the realtime event, or one of the constants below.
	Event string `json:"event"`
	// ID is the id of the post, comment, message or invitation, of the object of a reaction, of the follower, or of the community of a join
	// request.
	ID string `json:"id"`
	// OtherID is the followed user of a follow, the requestor of a join request, or a reaction.
	OtherID string `json:"otherId,omitempty"`
	// ActorID is the internal id of the user who reacted or answered; empty for an administrator, and if the object contains it.
	ActorID string    `json:"actorId,omitempty"`
	At      time.Time `json:"at"`
	// Trace is that of the request, as span.Of returns it. It is not part of the outbox row's payload.
	Trace string `json:"-"`
}

// The events of notices that are no realtime events.
const (
	NoticeJoinRequested = "joinRequest.created"
	NoticeJoinApproved  = "joinRequest.approved"
	NoticeJoinRejected  = "joinRequest.rejected"
	NoticeInvited       = "invitation.created"
	NoticeMessage       = "message.created"
)

// EmitNotice writes a notice to the outbox of tx, and returns the outbox row.
func (d *Deps) EmitNotice(tx *store.Tx, n Notice) store.OutboxRow {
	n.At = d.Now()
	return tx.Emit(TopicNotice, n, n.At, d.Outbox.FirstTry())
}

// TopicPush is the outbox topic of what is pushed to the members of a channel or community; the payload is a Notice. Package
// notification adds to it how many members have been told.
const TopicPush = "push"

// EmitPush writes what is pushed to the members of a channel or community to the outbox of tx, and returns the outbox rows; none if
// nothing is pushed to devices.
func (d *Deps) EmitPush(tx *store.Tx, n Notice) []store.OutboxRow {
	if !d.Pushes() {
		return nil
	}
	n.At = d.Now()
	return []store.OutboxRow{tx.Emit(TopicPush, n, n.At, d.Outbox.FirstTry())}
}

// pushedToMembers reports whether the members of a community are told of a change.
func pushedToMembers(name string, c events.Change) bool {
	return (name == "post.created" || name == "post.approved") && c.Place.Kind == events.PlaceCommunity
}

// Pushes reports whether notifications are pushed to devices.
func (d *Deps) Pushes() bool { return len(d.Push) > 0 }

// noticeOf returns the notice of a realtime event, false if there is none.
func noticeOf(name string, c events.Change) (Notice, bool) {
	n := Notice{Event: name, ID: c.ID, OtherID: c.OtherID}
	switch name {
	case "post.created", "post.approved":
		return n, c.Mentions
	case "post.addReaction", "comment.addReaction":
		n.OtherID, n.ActorID = c.Reaction.ID, c.Reaction.UserID
		return n, true
	}
	return n, slices.Contains([]string{"comment.created", "follow.created", "follow.requested", "follow.accepted"}, name)
}
