package service

import (
	"context"
	"encoding/json"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store"
)

// Carried is what a draft wants to make part of its post, as it was read; nil where the draft has none, or there is none.
type Carried struct {
	Poll   *store.Poll
	Stream *store.VideoStream
	Room   *store.Room
}

// Read adds the reads of what a draft carries.
func (c *Carried) Read(d *Draft, reads *store.Reads) {
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

// Texts is what the carried holds to read: it was written before, perhaps when other rules held.
func (c *Carried) Texts() Written {
	var w Written
	if c.Poll != nil {
		w = TextsOfPoll(*c.Poll)
	}
	if c.Stream != nil {
		w.Texts = append(w.Texts, c.Stream.Title, c.Stream.Description)
	}
	if c.Room != nil {
		w.Texts = append(w.Texts, c.Room.Title, c.Room.Description)
	}
	return w
}

// Refusals of what belongs to others, and of what is part of a post already.
var (
	errPoll   = fail.New(fail.CodeBadRequest, "The poll of a post has to be its author's own, and part of no other post")
	errStream = fail.New(fail.CodeBadRequest, "The stream of a post has to be its author's own, and part of no other post")
	errRoom   = fail.New(fail.CodeBadRequest, "The room of a post has to be its author's own, and part of no other post")
)

// RequireCarried returns nil where what was read for the draft may become part of the post.
func (p *Posting) RequireCarried(d *Draft, c Carried) error {
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

// TopicCarried names the outbox rows that tell the home of a poll, stream or room which post it is part of; CarriedBy is what
// they hold.
const TopicCarried = "carried"

// CarriedBy says that a poll, stream or room became part of a post. One of the first three is set.
type CarriedBy struct {
	PollID         string `json:"pollId,omitempty"`
	StreamID       string `json:"streamId,omitempty"`
	RoomID         string `json:"roomId,omitempty"`
	PostID         string `json:"postId"`
	TargetType     string `json:"targetType"`
	TargetID       string `json:"targetId"` // internal id
	TargetPublicID string `json:"targetPublicId"`
}

// id is that of the poll, stream or room; empty where nothing is carried.
func (c CarriedBy) id() string { return c.PollID + c.StreamID + c.RoomID }

// write makes what is carried part of the post, unless it is part of one already.
func (c CarriedBy) write(w *store.Write) {
	switch {
	case c.PollID != "":
		w.AttachPoll(c.PollID, c.PostID)
	case c.StreamID != "":
		w.AttachVideoStream(c.StreamID, c.PostID)
	case c.RoomID != "":
		w.AttachRoom(c.RoomID, c.PostID, c.TargetType, c.TargetID, c.TargetPublicID)
	}
}

// attach makes what the draft carries part of the post: in the transaction where it lives at the same home, through the outbox
// elsewhere.
func (d *Deps) attach(w *store.Write, parent store.Post, draft *Draft) []store.OutboxRow {
	c := CarriedBy{
		PollID: draft.PollID, StreamID: draft.StreamID, RoomID: draft.RoomID, PostID: parent.ID,
		TargetType: parent.TargetType, TargetID: parent.TargetID, TargetPublicID: parent.TargetPublicID,
	}
	switch {
	case c.id() == "":
		return nil
	case HomeOf(c.id()) == w.Home():
		c.write(w)
		return nil
	}
	return []store.OutboxRow{w.Emit(TopicCarried, c, d.Now(), d.Outbox.FirstTry())}
}

// RegisterCarried registers what takes TopicCarried rows in.
func RegisterCarried(d *Deps) {
	d.Outbox.Handle(TopicCarried, func(ctx context.Context, row store.OutboxRow) error {
		var c CarriedBy
		if err := json.Unmarshal(row.Payload, &c); err != nil {
			return err
		}
		w := d.Store.Write(HomeOf(c.id()))
		c.write(w)
		return w.Commit(ctx)
	})
}
