package service

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
)

// CommitChange commits a transaction that changes an object, together with the event called name about it, and delivers
// the outbox rows in the background. Without a name there is no event.
func (d *Deps) CommitChange(ctx context.Context, tx *store.Tx, name string, c events.Change, rows ...core.OutboxRow) error {
	return d.CommitSoon(ctx, tx, append(rows, d.EmitChange(ctx, tx, name, c)...)...)
}

// EmitChange writes the event called name about a change by the caller to the outbox of tx, and returns the outbox row.
// Without a name there is none.
func (d *Deps) EmitChange(ctx context.Context, tx *store.Tx, name string, c events.Change) []core.OutboxRow {
	if name == "" {
		return nil
	}
	rows := []core.OutboxRow{events.EmitChange(tx, name, c, auth.CallerFrom(ctx).UserID, d.Now())}
	if n, ok := noticeOf(name, c); ok {
		rows = append(rows, d.EmitNotice(tx, n))
	}
	if pushedToMembers(name, c) {
		rows = append(rows, d.EmitPush(tx, Notice{Event: name, ID: c.ID})...)
	}
	return rows
}

// EmitChanges writes the events called name about several changes by the caller to the outbox of tx, and no notices.
func (d *Deps) EmitChanges(ctx context.Context, tx *store.Tx, name string, changes []events.Change) []core.OutboxRow {
	senders := slices.Repeat([]string{auth.CallerFrom(ctx).UserID}, len(changes))
	return events.EmitChanges(tx, name, changes, senders, d.Now())
}

// PostChange returns the change of a post.
func (d *Deps) PostChange(p content.Post) events.Change {
	return events.Change{
		Kind: events.KindPost, ID: p.ID, Place: events.Place{Kind: p.TargetType, ID: p.TargetID}, Topics: []string{d.View.PostPath(p)},
		Mentions: len(view.Mentions(p.Mentionees)) > 0,
	}
}

// LiveReactionChange returns the change of live reactions to a post.
func (d *Deps) LiveReactionChange(p content.Post) events.Change {
	c := d.PostChange(p)
	c.Kind, c.Topics, c.Mentions = events.KindLive, []string{d.View.PostPath(p) + "/liveReaction"}, false
	return c
}

// CommentChange returns the change of a comment.
func (d *Deps) CommentChange(c content.Comment) events.Change {
	return events.Change{
		Kind: events.KindComment, ID: c.ID, Place: events.Place{Kind: c.TargetType, ID: c.TargetID},
		Topics: []string{d.View.CommentPath(c)},
	}
}

// StoryChange returns the change of a story.
func (d *Deps) StoryChange(s content.Story) events.Change {
	return events.Change{
		Kind: events.KindStory, ID: s.ID, Place: events.Place{Kind: s.TargetType, ID: s.TargetID},
		Topics: []string{d.View.StoryPath(s)},
	}
}

// MessageChange returns the change of a message.
func (d *Deps) MessageChange(m messaging.Message) events.Change {
	return events.Change{
		Kind: events.KindMessage, ID: m.ID, Place: channelPlace(m.ChannelID), Topics: []string{d.View.MessagePath(m)}, Sequence: m.FeedID,
	}
}

// MessageFeedChange returns the change of a subchannel.
func (d *Deps) MessageFeedChange(f messaging.MessageFeed) events.Change {
	return events.Change{
		Kind: events.KindMessageFeed, ID: f.ID, Place: channelPlace(f.EntityID),
		Topics: []string{d.View.MessageFeedPath(f.EntityID, f.ID)},
	}
}

// ChannelChange returns the change of a channel that concerns the users with the given internal ids.
func (d *Deps) ChannelChange(channelID string, userIDs ...string) events.Change {
	return events.Change{
		Kind: events.KindChannel, ID: channelID, Place: channelPlace(channelID),
		Topics: []string{d.View.ChannelPath(channelID)}, UserIDs: userIDs,
	}
}

// CommunityChange returns the change of a community that concerns the users with the given internal ids.
func (d *Deps) CommunityChange(communityID string, userIDs ...string) events.Change {
	return events.Change{
		Kind: events.KindCommunity, ID: communityID, Place: events.Place{Kind: events.PlaceCommunity, ID: communityID},
		Topics: []string{d.View.CommunityPath(communityID)}, UserIDs: userIDs,
	}
}

// UserChange returns the change of a user.
func (d *Deps) UserChange(userID string) events.Change {
	return events.Change{
		Kind: events.KindUser, ID: userID, Place: events.Place{Kind: events.PlaceProfile, ID: userID},
		Topics: []string{d.View.UserPath(userID)},
	}
}

// FollowChange returns the change of a follow. Both users receive it.
func (d *Deps) FollowChange(f people.Follow) events.Change {
	return events.Change{
		Kind: events.KindFollow, ID: f.FollowerID, OtherID: f.FolloweeID, Place: events.Place{Kind: events.PlaceUsers},
		Topics: []string{d.View.FollowPath(f)},
	}
}

// RoomChange returns the change of a room.
func (d *Deps) RoomChange(roomID string) events.Change {
	path := d.View.RoomPath(roomID)
	return events.Change{
		Kind: events.KindRoom, ID: roomID, Place: events.Place{Kind: events.PlaceRoom, ID: roomID},
		Topics: []string{path, path + "/streamer"},
	}
}

// ParticipantChange returns the change of a room by which a user, by internal id, takes part in it or does not any more.
func (d *Deps) ParticipantChange(roomID, userID string) events.Change {
	c := d.RoomChange(roomID)
	c.ParticipantID = userID
	return c
}

// StreamChange returns the change of a video stream.
func (d *Deps) StreamChange(streamID string) events.Change {
	return events.Change{
		Kind: events.KindStream, ID: streamID, Place: events.Place{Kind: events.PlaceStream, ID: streamID},
		Topics: []string{d.View.StreamsPath()},
	}
}

// StreamBanChange returns the change by which viewers, by internal id, are banned from a video stream, or not any more.
func (d *Deps) StreamBanChange(streamID string, userIDs []string) events.Change {
	c := d.StreamChange(streamID)
	c.Kind, c.UserIDs = events.KindStreamBan, userIDs
	return c
}

// CoHostInvitationChanges returns the changes of the invitation of a co-host: for those who take part in the room, and for the
// invited user.
func (d *Deps) CoHostInvitationChanges(i communities.Invitation) []events.Change {
	onStage := events.Change{
		Kind: events.KindInvitation, ID: i.ID, Place: events.Place{Kind: events.PlaceStage, ID: i.TargetID},
		Topics: []string{d.View.RoomPath(i.TargetID) + "/streamer"},
	}
	forInvited := events.Change{
		Kind: events.KindInvitation, ID: i.ID, Place: events.Place{Kind: events.PlaceUsers},
		UserIDs: []string{i.InvitedID},
	}
	return []events.Change{onStage, forInvited}
}

// EventChange returns the change of an event that users attend.
func (d *Deps) EventChange(e content.PlannedEvent) events.Change {
	return events.Change{
		Kind: events.KindEvent, ID: e.ID, Place: events.Place{Kind: e.OriginType, ID: e.OriginID},
		Topics: []string{d.View.OriginPath(e), d.View.EventPath(e)},
	}
}

// EventRsvpChange returns the change of the answer of a user, by internal id, to an event.
func (d *Deps) EventRsvpChange(e content.PlannedEvent, userID string) events.Change {
	return events.Change{
		Kind: events.KindEventRsvp, ID: e.ID, OtherID: userID, Place: events.Place{Kind: e.OriginType, ID: e.OriginID},
		Topics: []string{d.View.EventPath(e)},
	}
}

// MarkersChange returns the change of the markers of a user in message feeds and channels. Only the user receives it.
func (d *Deps) MarkersChange(userID string, feedIDs, channelIDs []string) events.Change {
	return events.Change{
		Kind: events.KindMarkers, ID: userID, Place: events.Place{Kind: events.PlaceUsers},
		Topics:  []string{d.NetworkID + "/marker/user/" + userID},
		FeedIDs: feedIDs, EntityIDs: channelIDs,
	}
}

func channelPlace(id string) events.Place { return events.Place{Kind: events.PlaceChannel, ID: id} }

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
func (d *Deps) EmitNotice(tx *store.Tx, n Notice) core.OutboxRow {
	n.At = d.Now()
	return tx.Emit(TopicNotice, n, n.At, d.Outbox.FirstTry())
}

// TopicPush is the outbox topic of what is pushed to the members of a channel or community; the payload is a Notice. Package
// notification adds to it how many members have been told.
const TopicPush = "push"

// EmitPush writes what is pushed to the members of a channel or community to the outbox of tx, and returns the outbox rows; none if
// nothing is pushed to devices.
func (d *Deps) EmitPush(tx *store.Tx, n Notice) []core.OutboxRow {
	if !d.Pushes() {
		return nil
	}
	n.At = d.Now()
	return []core.OutboxRow{tx.Emit(TopicPush, n, n.At, d.Outbox.FirstTry())}
}

// pushedToMembers reports whether the members of a community are notified of a change.
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
