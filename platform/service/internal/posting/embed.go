package posting

import (
	"context"
	"encoding/json"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store"
)

// Embed is the poll, stream or room that a draft embeds, as it was read. A field is nil if the draft has none or it
// does not exist.
type Embed struct {
	Poll   *store.Poll
	Stream *store.VideoStream
	Room   *store.Room
}

// Read adds the reads of what a draft embeds.
func (c *Embed) Read(d *Draft, reads *store.ReadBatch) {
	if d.PollID != "" {
		reads.Poll(d.PollID, &c.Poll)
	}
	if d.StreamID != "" {
		reads.VideoStream(d.StreamID, &c.Stream)
	}
	if d.RoomID != "" {
		reads.Room(d.RoomID, &c.Room)
	}
}

// Text returns the user-written text of what is embedded, which may have been written under older rules.
func (c *Embed) Text() textrules.UserText {
	var w textrules.UserText
	if c.Poll != nil {
		w = textrules.TextOfPoll(*c.Poll)
	}
	if c.Stream != nil {
		w.Texts = append(w.Texts, c.Stream.Title, c.Stream.Description)
	}
	if c.Room != nil {
		w.Texts = append(w.Texts, c.Room.Title, c.Room.Description)
	}
	return w
}

// Refusals of what belongs to other users or is already part of a post.
var (
	errPoll   = fail.New(fail.CodeBadRequest, "The poll must be one of your own and must not be part of another post")
	errStream = fail.New(fail.CodeBadRequest, "The stream must be one of your own and must not be part of another post")
	errRoom   = fail.New(fail.CodeBadRequest, "The room must be one of your own and must not be part of another post")
)

// RequireEmbed returns nil if what was read for the draft may become part of the post.
func (p *PostContext) RequireEmbed(d *Draft, c Embed) error {
	poll, stream, room := c.Poll, c.Stream, c.Room
	switch {
	case d.PollID != "" && (poll == nil || poll.DeletedAt != nil || poll.CreatorID != p.AuthorID || poll.PostID != ""):
		return errPoll
	case d.StreamID != "" && (stream == nil || stream.DeletedAt != nil || stream.CreatorID != p.AuthorID || stream.PostID != ""):
		return errStream
	case d.RoomID != "" && (room == nil || room.DeletedAt != nil || room.CreatorID != p.AuthorID || room.PostID != ""):
		return errRoom
	}
	return nil
}

// TopicEmbedAttached is the topic of outbox rows that tell the home of a poll, stream or room which post it is part
// of; EmbedAttached is their payload.
const TopicEmbedAttached = "carried"

// EmbedAttached reports that a poll, stream or room became part of a post. Exactly one of the first three fields is
// set.
type EmbedAttached struct {
	PollID         string `json:"pollId,omitempty"`
	StreamID       string `json:"streamId,omitempty"`
	RoomID         string `json:"roomId,omitempty"`
	PostID         string `json:"postId"`
	TargetType     string `json:"targetType"`
	TargetID       string `json:"targetId"` // internal id
	TargetPublicID string `json:"targetPublicId"`
}

// id returns the id of the poll, stream or room, or "" if nothing is embedded.
func (c EmbedAttached) id() string { return c.PollID + c.StreamID + c.RoomID }

// write attaches what is embedded to the post, unless it is already part of one.
func (c EmbedAttached) write(tx *store.Tx) {
	switch {
	case c.PollID != "":
		tx.AttachPoll(c.PollID, c.PostID)
	case c.StreamID != "":
		tx.AttachVideoStream(c.StreamID, c.PostID)
	case c.RoomID != "":
		tx.AttachRoom(c.RoomID, c.PostID, c.TargetType, c.TargetID, c.TargetPublicID)
	}
}

// attach attaches what the draft embeds to the post: in the same transaction if it is stored at the same home,
// through the outbox otherwise.
func attach(d *service.Deps, tx *store.Tx, parent store.Post, draft *Draft) []store.OutboxRow {
	c := EmbedAttached{
		PollID: draft.PollID, StreamID: draft.StreamID, RoomID: draft.RoomID, PostID: parent.ID,
		TargetType: parent.TargetType, TargetID: parent.TargetID, TargetPublicID: parent.TargetPublicID,
	}
	switch {
	case c.id() == "":
		return nil
	case service.HomeOf(c.id()) == tx.Home():
		c.write(tx)
		return nil
	}
	return []store.OutboxRow{tx.Emit(TopicEmbedAttached, c, d.Now(), d.Outbox.FirstTry())}
}

// RegisterEmbedAttached registers the handler of TopicEmbedAttached rows.
func RegisterEmbedAttached(d *service.Deps) {
	d.Outbox.Handle(TopicEmbedAttached, func(ctx context.Context, row store.OutboxRow) error {
		var c EmbedAttached
		if err := json.Unmarshal(row.Payload, &c); err != nil {
			return err
		}
		tx := d.Store.NewTx(service.HomeOf(c.id()))
		c.write(tx)
		return tx.Commit(ctx)
	})
}
