package chat

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
)

// ReadChannel reads a channel by either of its ids, and how the caller stands to it. Once the reads have run, ResolveLiveAccess
// completes it.
func ReadChannel(d *service.Deps, r *service.Request, id string, a *Access) {
	internal := ChannelID(d, id)
	r.Channel(internal, &a.Channel)
	if r.Caller.UserID != "" {
		r.ChannelUser(internal, r.Caller.UserID, &a.User)
	}
}

// ResolveLiveAccess finds out whether the caller sees what a live channel is the chat of, where that decides anything.
func ResolveLiveAccess(ctx context.Context, d *service.Deps, caller *auth.Caller, a *Access) error {
	isMember := a.User.IsMember()
	if a.Channel == nil || a.Channel.Type != store.ChannelLive || SeesEveryChannel(caller) || isMember && a.Channel.DeletedAt != nil {
		return nil
	}
	sees, err := seesAttachedContent(ctx, d, caller, a.Channel)
	a.SeesAttached, a.HiddenMember = sees, isMember && !sees
	return err
}

// seesAttachedContent reports whether the caller sees what a live channel is the chat of. Everybody who knows its id sees one that is the
// chat of nothing.
func seesAttachedContent(ctx context.Context, d *service.Deps, caller *auth.Caller, c *store.Channel) (bool, error) {
	var room *store.Room
	var stream *store.VideoStream
	reads := d.Store.NewReadBatch()
	reads.Room(c.RoomID, &room)
	reads.VideoStream(c.VideoStreamID, &stream)
	if err := reads.Run(ctx); err != nil {
		return false, err
	}
	var err error
	switch {
	case c.RoomID != "":
		err = live.RequireSeeRoom(ctx, d, caller, room)
	case c.VideoStreamID != "":
		err = live.RequireSeeStream(ctx, d, caller, stream)
	case c.PostID != "":
		_, err = visibility.LoadPost(ctx, d, caller, c.PostID)
	}
	if err != nil && fail.From(err).Code == fail.CodeUnexpected {
		return false, err
	}
	return err == nil, nil
}

// CreatorRoles are the roles of whoever makes a channel, MemberRoles those of whoever joins it or is added.
func CreatorRoles() []string { return []string{auth.RoleChannelModerator} }

// MemberRoles see CreatorRoles.
func MemberRoles() []string { return []string{auth.RoleChannelMember} }

// Join is the change that makes somebody a member with roles; who is one already keeps the roles they have. A mute outlasts
// leaving and coming back.
func Join(channelID, userID, publicID string, old *store.ChannelUser, roles []string, now time.Time) store.ChannelUserChange {
	if old.IsMember() {
		return store.ChannelUserChange{Old: old, New: *old}
	}
	joined := store.ChannelUser{
		ChannelID: channelID, UserID: userID, UserPublicID: publicID, Membership: store.ChannelMember, Roles: roles,
		JoinedAt: now, CreatedAt: now, UpdatedAt: now,
	}
	if old != nil {
		joined.CreatedAt, joined.MutedUntil = old.CreatedAt, old.MutedUntil
	}
	return store.ChannelUserChange{Old: old, New: joined}
}

// firstFeedName is the name of the subchannel that every channel has.
const firstFeedName = "General"

// InsertChannel adds a channel to a transaction at its home, with its first subchannel and its users. taken is as in
// store.Write.InsertChannel.
func InsertChannel(tx *store.Tx, c store.Channel, users []store.ChannelUserChange, taken error) {
	tx.InsertChannel(c, taken, c.CreatedAt)
	tx.InsertMessageFeed(store.MessageFeed{
		ID: c.ID, EntityID: c.ID, Name: firstFeedName, ChannelPublicID: c.PublicID, ChannelType: c.Type, CreatorID: c.CreatorID,
		CreatorPublicID: c.CreatorPublicID, CreatedAt: c.CreatedAt,
	})
	tx.ChangeChannelUsers(c.ID, users, c.CreatedAt)
}

// maxChannelName is the most characters of a channel's name.
const maxChannelName = 100

// LiveChannel is the live channel of a room or stream: it has its id and its title, and its creator moderates it. Being at the same
// home, it is made in the transaction that makes the room or stream.
func LiveChannel(id, title, creatorID, creatorPublicID string, now time.Time) (store.Channel, []store.ChannelUserChange) {
	name := []rune(title)
	c := store.Channel{
		ID: id, PublicID: id, Type: store.ChannelLive, CreatorID: creatorID, CreatorPublicID: creatorPublicID,
		DisplayName: string(name[:min(len(name), maxChannelName)]), Metadata: []byte("{}"), NotificationMode: "default", AutoDeleteFlags: DefaultAutoDeleteFlags,
		LastActivity: now, CreatedAt: now, UpdatedAt: now,
	}
	return c, []store.ChannelUserChange{Join(id, creatorID, creatorPublicID, nil, CreatorRoles(), now)}
}

// DefaultAutoDeleteFlags is how many flags delete a message where a channel does not say.
const DefaultAutoDeleteFlags = 10

// InsertRoomChannel makes the live channel of a room, beside the room in the transaction w. taken is as in store.Write.InsertChannel.
func InsertRoomChannel(tx *store.Tx, r store.Room, taken error, now time.Time) {
	c, users := LiveChannel(r.ID, r.Title, r.CreatorID, r.CreatorPublicID, now)
	c.RoomID, c.PostID = r.ID, r.PostID
	InsertChannel(tx, c, users, taken)
}

// InsertStreamChannel is InsertRoomChannel for a video stream.
func InsertStreamChannel(tx *store.Tx, s store.VideoStream, taken error, now time.Time) {
	c, users := LiveChannel(s.ID, s.Title, s.CreatorID, s.CreatorPublicID, now)
	c.VideoStreamID, c.PostID = s.ID, s.PostID
	InsertChannel(tx, c, users, taken)
}

// AllowsPublicID reports whether a client may give a channel the id: those of the form that we give are ours alone, or one channel
// could hide another.
func AllowsPublicID(id string) bool { return !region.ValidID(id) }
