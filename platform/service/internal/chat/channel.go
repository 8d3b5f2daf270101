package chat

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// defaultFeedName is the name of the subchannel that every channel has.
const defaultFeedName = "General"

// DefaultAutoDeleteFlags is the number of flags after which a message is deleted, unless the channel sets another one.
const DefaultAutoDeleteFlags = 10

// InsertChannel adds to tx, which must be at the channel's home, a channel with its default subchannel and its users.
// exists is the error if the id is in use.
func InsertChannel(tx *store.Tx, c messaging.Channel, users []messaging.ChannelUserChange, exists error) {
	tx.InsertChannel(c, exists, c.CreatedAt)
	tx.InsertMessageFeed(messaging.MessageFeed{
		ID: c.ID, EntityID: c.ID, Name: defaultFeedName, ChannelPublicID: c.PublicID, ChannelType: c.Type, CreatorID: c.CreatorID,
		CreatorPublicID: c.CreatorPublicID, CreatedAt: c.CreatedAt,
	})
	tx.ChangeChannelUsers(c.ID, users, c.CreatedAt)
}

// maxNameLength is the maximum length of a channel's name, in characters.
const maxNameLength = 100

// LiveChannel returns the live channel of a room or stream and its first user. It has the id and the title of the
// room or stream and therefore its home, so that one transaction creates both. The creator moderates it.
func LiveChannel(id, title, creatorID, creatorPublicID string, now time.Time) (messaging.Channel, []messaging.ChannelUserChange) {
	name := []rune(title)
	c := messaging.Channel{
		ID: id, PublicID: id, Type: messaging.ChannelLive, CreatorID: creatorID, CreatorPublicID: creatorPublicID,
		DisplayName: string(name[:min(len(name), maxNameLength)]), Metadata: []byte("{}"), NotificationMode: "default",
		AutoDeleteFlags: DefaultAutoDeleteFlags, LastActivity: now, CreatedAt: now, UpdatedAt: now,
	}
	return c, []messaging.ChannelUserChange{Join(id, creatorID, creatorPublicID, nil, CreatorRoles(), now)}
}

// InsertRoomChannel adds the live channel of a room to tx. exists is the error if the room has one.
func InsertRoomChannel(tx *store.Tx, r media.Room, exists error, now time.Time) {
	c, users := LiveChannel(r.ID, r.Title, r.CreatorID, r.CreatorPublicID, now)
	c.RoomID, c.PostID = r.ID, r.PostID
	InsertChannel(tx, c, users, exists)
}

// InsertStreamChannel adds the live channel of a video stream to tx. exists is the error if the stream has one.
func InsertStreamChannel(tx *store.Tx, s media.VideoStream, exists error, now time.Time) {
	c, users := LiveChannel(s.ID, s.Title, s.CreatorID, s.CreatorPublicID, now)
	c.VideoStreamID, c.PostID = s.ID, s.PostID
	InsertChannel(tx, c, users, exists)
}

// AllowsPublicID reports whether a client may choose the id for a channel. Ids of the form of internal ids are
// reserved, because such a channel could hide another one.
func AllowsPublicID(id string) bool { return !region.ValidID(id) }
